"""Isomap: coordinates whose straight-line distances equal the distances along the data, through neighbours.

Join each row with its neighbours, measure distances along the graph (squared: S), and take the leading eigenpairs of B
= -1/2 J S J = V diag(l) V^T: coordinates V sqrt(l). A new row at squared distances s has -1/2 (s - mean) V / sqrt(l).
With landmarks, this is done for a few well-spread rows, and all others are placed like new rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from eckart.arrays import Array, Matrix, from_numpy, is_sparse
from eckart.engine.finite import refuse_not_finite
from eckart.engine.matrix import Opened
from eckart.engine.parallel import each
from eckart.engine.settings import generator
from eckart.engine.threads import one_blas_thread
from eckart.errors import AccuracyWarning, DataWarning, InputError, ParameterError
from eckart.formatting import counted, percent
from eckart.io.open_matrix import open_matrix
from eckart.isomap import geodesic
from eckart.isomap import neighbors as neighbours
from eckart.isomap.constants import LONGEST, PLACED_TOGETHER
from eckart.isomap.details import IsomapDetails
from eckart.isomap.embedding import Embedding, embed_all, embed_landmarks
from eckart.isomap.geodesic import Graph
from eckart.isomap.neighbors import Neighbours
from eckart.isomap.options import IsomapKeywords, IsomapOptions
from eckart.notes import Note
from eckart.options import Seed, check_choice, check_count, is_number, memory_bytes
from eckart.result import Decomposition, Plan, details_of
from eckart.wording import either

SOLVERS = ("auto", "direct", "lanczos")


@dataclass(frozen=True)
class EmbeddingRequest:
    """Checked options of the embedding."""

    k: int
    n_landmarks: int | None = None
    solver: str = "auto"
    tolerance: float = 1e-14
    memory: int | None = None
    rng: Seed = None


@dataclass(frozen=True)
class Given:
    """The data from which a graph was built."""

    points: Matrix | None
    n_neighbors: int | None
    radius: float | None
    connected_components: int
    exponent: int = 0


def decompose(data: object, **given: Unpack[IsomapKeywords]) -> Decomposition[IsomapDetails]:
    """Isomap of a table: `left * values` are the coordinates of its rows; `project` places new ones.

    There is no linear reconstruction, so `right` is empty. `details` contains the rows, the graph (first, index,
    weight) and figures of merit: negative_share, residual_variance (with 1, ..., k coordinates), reconstruction_error.
    """
    options = IsomapOptions(**given)
    opened = open_matrix(data)
    points = finite_points(opened)
    graph, count = join_neighbours(points, options.n_neighbors, options.radius)
    request = checked_request(graph.rows, options)
    source = Given(points, options.n_neighbors, options.radius, count, opened.exponent)
    made = of_graph(graph, request, columns=opened.matrix.shape[1], given=source, prototype=opened)
    return _keep_distances(made.named(opened.metadata.row_names, opened.metadata.column_names), made)


def project(decomposition: Decomposition, data: object) -> Array:
    """Coordinates of rows, fitted or new, through their neighbours along the graph."""
    d = decomposition
    opened = open_matrix(data)
    if opened.matrix.shape[1] != d.columns:
        raise InputError(
            f"The data have {counted(opened.matrix.shape[1], 'column')}, but the decomposition has {d.columns}. "
            "Use the same columns in the same order."
        )
    queries, details = finite_points(opened), details_of(d, IsomapDetails)
    apart = details.exponent - opened.exponent
    if apart:
        queries = np.ldexp(queries, apart) if isinstance(queries, np.ndarray) else queries * 2.0**apart
    points = details.points
    if points is None:
        raise InputError(
            "The model was fitted on precomputed distances, so new rows need distances too. Use the "
            "transform method of the estimator."
        )
    if is_sparse(queries) and not is_sparse(points):
        queries = queries.toarray()
    if details.radius is not None:
        found = neighbours.within(queries, points, float(np.ldexp(details.radius, details.exponent)))
    else:
        assert details.n_neighbors is not None  # one of the two was given
        found = neighbours.nearest(queries, points, details.n_neighbors)
    return from_numpy(place(d, found).astype(str(d.values.dtype).rpartition(".")[2]), opened.matrix.prototype)


def reconstruct(decomposition: Decomposition, scores: Array) -> Array:
    """Not possible."""
    raise InputError(
        "Isomap has no inverse, because it uses only the distances between rows. Use PCA, or kernel PCA "
        "with pre-images."
    )


def finite_points(opened: Opened) -> Matrix:
    """Rows on the host in float64, dense or CSR, without missing or infinite values."""
    matrix = opened.matrix
    points = matrix.matrix.astype(np.float64) if matrix.sparse else matrix.dense()
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(np.sum(np.abs(points.data if matrix.sparse else points)))
    if not np.isfinite(total):
        refuse_not_finite(matrix.matrix, opened.metadata)
    return points


def checked_request(rows: int, options: IsomapOptions) -> EmbeddingRequest:
    """The checked_request request; errors if it is impossible."""
    n_landmarks, tol = options.n_landmarks, options.tol
    check_choice("solver", options.solver, SOLVERS)
    if n_landmarks is not None:
        check_count("n_landmarks", n_landmarks, rows)
    most = rows if n_landmarks is None else int(n_landmarks)
    tolerance = 1e-14 if not tol else float(tol)
    k = check_count("k", options.k, most)
    return EmbeddingRequest(k, n_landmarks, options.solver, tolerance, memory_bytes(options.memory), options.rng)


def join_neighbours(points: Matrix, n_neighbors: object, radius: float | None) -> tuple[Graph, int]:
    """The connected graph of the rows, and its number of components before they were joined."""
    rows = points.shape[0]
    if (n_neighbors is None) == (radius is None):
        raise ParameterError("n_neighbors and radius each determine the neighbours of a row. Use only one of them.")
    if radius is not None:
        if not is_number(radius) or radius < 0:
            raise ParameterError(f"radius={radius!r} is not a distance. Use a non-negative number.")
        found = neighbours.within(points, points, float(radius)).without_self(None)
    else:
        count = check_count("n_neighbors", n_neighbors, None)
        if count >= rows:
            raise InputError(
                either(
                    f"Expected n_neighbors < n_samples_fit, but n_neighbors = {count}, n_samples_fit = {rows}, "
                    f"n_samples = {rows}: only the other rows can be neighbours of a row.",
                    f"--neighbors {count} is too large: the table has {counted(rows, 'row')}, so a row has at "
                    f"most {rows - 1} neighbours.",
                )
            )
        found = neighbours.nearest(points, points, count + 1).without_self(count)
    graph = geodesic.join(found.owner, found.index, found.distance, rows)
    pieces, labels = geodesic.components(graph)
    if pieces > 1:
        warn_of_pieces(pieces)
        graph = geodesic.join_components(graph, points, pieces, labels)
    return graph, pieces


def warn_of_pieces(count: int) -> None:
    """Warn with scikit-learn's text, so that filters for its warning still work."""
    warnings.warn(
        f"The number of connected components of the neighbors graph is {count} > 1. Each pair of "
        "components was joined at its two nearest rows, so distances between components are "
        f"unreliable. Increase {either('the number of neighbors', '--neighbors')}, or embed the "
        "components one by one.",
        DataWarning,
        stacklevel=4,
    )


def of_graph(
    graph: Graph, request: EmbeddingRequest, *, columns: int, given: Given, prototype: Opened | None
) -> Decomposition[IsomapDetails]:
    """The decomposition of a connected graph."""
    seed, random = generator(request.rng)
    _refuse_range(graph)
    with one_blas_thread():  # more threads would sum in another order
        if request.n_landmarks is None or request.n_landmarks >= graph.rows:
            found = embed_all(
                graph, request.k, solver=request.solver, tolerance=request.tolerance, memory=request.memory,
                seed=int(random.integers(2**63)) if seed is None else seed, returned=_precision(prototype),
            )  # fmt: skip
        else:
            found = embed_landmarks(graph, request.k, request.n_landmarks, memory=request.memory)
    if found.certificate is not None and not found.certificate.certificate.proved:
        warnings.warn(
            (
                "The requested accuracy could not be proved, because the bounds of the certificate are "
                "wider than requested. "
            )
            + either("Request less accuracy with a larger tol, or use solver='direct'.", "Use --solver direct."),
            AccuracyWarning,
            stacklevel=4,
        )
    return _assembled(graph, found, columns, given, prototype)


def _refuse_range(graph: Graph) -> None:
    """Refuse distances whose squares and sums leave the range of float64."""
    longest = float(np.max(graph.weight, initial=0.0))
    if longest > LONGEST or 0.0 < longest < 1.0 / LONGEST:
        raise InputError(
            f"The largest distance between neighbours is {longest:.3g}, so sums of squared distances "
            "overflow float64. Divide all distances by a large number, which does not change the "
            "shape of the result."
        )


def _precision(prototype: Opened | None) -> str:
    """dtype of the result."""
    return "float32" if prototype is not None and prototype.matrix.precision == "float32" else "float64"


def _assembled(
    graph: Graph, found: Embedding, columns: int, given: Given, prototype: Opened | None
) -> Decomposition[IsomapDetails]:
    dtype = np.dtype(_precision(prototype))
    exponent = given.exponent
    host = np.empty(0) if prototype is None else prototype.matrix.prototype
    with np.errstate(over="ignore", under="ignore"):
        values = np.ldexp(found.values, -exponent)
        norm = float(np.ldexp(found.norm, -exponent))
        error = float(np.ldexp(found.figures.reconstruction_error, -2 * exponent))
    details = IsomapDetails(
        points=given.points, n_neighbors=given.n_neighbors, radius=given.radius, exponent=exponent,
        connected_components=given.connected_components,
        first=graph.first, index=graph.index, weight=graph.weight, sources=found.sources,
        weights=found.weights, means=found.means, shift=found.shift, negative_share=found.figures.negative_share,
        residual_variance=found.figures.residual_variance, reconstruction_error=error,
        eigenvalues=found.figures.eigenvalues,
    )  # fmt: skip
    bounds = found.certificate
    made = Decomposition(
        method="isomap",
        values=from_numpy(values.astype(dtype), host),
        right=from_numpy(np.zeros((columns, 0), dtype), host),
        left=from_numpy(found.left.astype(dtype), host),
        rows=graph.rows,
        columns=columns,
        norm=norm,
        weight=float(graph.rows),
        certificate=None if bounds is None else bounds.in_units(exponent),
        plan=Plan("isomap", found.solver, graph.rows, columns, len(values), 1, found.peak_bytes, found.why),
        info=found.info,
        notes=_notes(found, given.connected_components),
        details=details,
    )
    if found.distances is not None:
        made.__dict__[_DISTANCES] = found.distances
    return made


_DISTANCES = "_distances"
"""Where a model keeps the distances between all rows. They are not in pickles and files, but computed again."""


def _keep_distances(
    new: Decomposition[IsomapDetails], old: Decomposition[IsomapDetails]
) -> Decomposition[IsomapDetails]:
    if _DISTANCES in old.__dict__:
        new.__dict__[_DISTANCES] = old.__dict__[_DISTANCES]
    return new


def _notes(found: Embedding, components: int) -> tuple[Note, ...]:
    notes = []
    if components > 1:
        notes.append(
            Note(
                "graph_joined",
                f"The graph of neighbours has {components} connected components. They were joined at "
                "their nearest rows, so distances between components are unreliable.",
            )
        )
    lacking = int(np.sum(found.values == 0.0))
    if lacking:
        notes.append(
            Note(
                "zero_coordinates",
                f"{lacking} of the {len(found.values)} coordinates {'is' if lacking == 1 else 'are'} "
                "zero, because the centred squared distances have no further positive eigenvalues (up to rounding).",
            )
        )
    share = float(np.sum(found.values**2)) / found.norm**2 if found.norm else 0.0
    if found.certificate is not None and round(share, 9) > 1.0:  # not by rounding
        notes.append(
            Note(
                "above_all",
                f"The coordinates together explain {percent(share)} of the squared distances. Shares exceed 100 %, "
                "because some eigenvalues are negative: the distances along the graph are not those of points in a "
                "plane or space. The coordinates with the largest shares are still the best ones.",
            )
        )
    return tuple(notes)


def graph_of(d: Decomposition) -> Graph:
    details = details_of(d, IsomapDetails)
    return Graph(details.first, details.index, details.weight)


def place(d: Decomposition, seeds: Neighbours) -> np.ndarray:
    """Coordinates of points joined to the graph at their seeds: -1/2 (d^2 - means) weights - shift.

    Paths start from the points or from the sources, whichever are fewer; the distances are the same.
    """
    if (np.diff(seeds.first) == 0).any():
        isolated = int(np.flatnonzero(np.diff(seeds.first) == 0)[0])
        raise InputError(
            f"Row {isolated + 1} (counted from 1) has no fitted row within the radius. Use a larger radius."
        )
    graph, details = graph_of(d), details_of(d, IsomapDetails)
    sources, weights, means = details.sources, details.weights, details.means
    result = np.zeros((seeds.rows, d.k))

    def from_points(chosen: np.ndarray, tile: np.ndarray) -> None:
        squares = np.square(tile if len(sources) == tile.shape[1] else tile[:, sources])
        squares -= means
        result[chosen] = squares @ weights

    def from_sources(chosen: np.ndarray, tile: np.ndarray) -> np.ndarray:
        part = np.empty((seeds.rows, d.k))
        for start in range(0, seeds.rows, 4096):
            stop = min(start + 4096, seeds.rows)
            ways = geodesic.through(seeds, tile, start, stop)
            part[start:stop] = (ways**2 - means[chosen]) @ weights[chosen]
        return part

    known = d.__dict__.get(_DISTANCES)
    if known is not None:
        _from_known(seeds, known, from_points)
    elif seeds.rows <= len(sources):
        geodesic.each_distance(graph, seeds, from_points)
    else:
        result = geodesic.fold_distances(graph, geodesic.rows_as_sources(sources), from_sources, np.add)
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.ldexp(-0.5 * result - details.shift, -details.exponent))


def _from_known(seeds: Neighbours, known: np.ndarray, consume: Callable[[np.ndarray, np.ndarray], None]) -> None:
    """consume(i, tile) with the distances of points i to all rows, from those between rows: min over the seeds."""
    counts = np.diff(seeds.first)

    def step(start: int) -> None:
        chosen = np.arange(start, min(start + PLACED_TOGETHER, seeds.rows))
        first, tile = seeds.first[chosen], np.full((len(chosen), known.shape[1]), np.inf)
        for turn in range(int(counts[chosen].max())):  # the seeds of all points, concatenated
            seed = first + np.minimum(turn, counts[chosen] - 1)
            ways = known[seeds.index[seed]]
            ways += seeds.distance[seed][:, None]
            np.minimum(tile, ways, out=tile)
        consume(chosen, tile)

    each(step, range(0, seeds.rows, PLACED_TOGETHER))


def distance_matrix(d: Decomposition) -> np.ndarray:
    """All distances along the graph, rows x rows, computed again: 8 rows^2 bytes."""
    graph = graph_of(d)
    result = np.empty((graph.rows, graph.rows))

    def keep(chosen: np.ndarray, tile: np.ndarray) -> None:
        result[chosen] = tile

    geodesic.each_distance(graph, geodesic.rows_as_sources(np.arange(graph.rows)), keep)
    return np.ldexp(result, -details_of(d, IsomapDetails).exponent)
