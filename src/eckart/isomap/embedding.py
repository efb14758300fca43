"""From a graph to coordinates: all rows at once, or landmarks first and the others by their distances to these."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

import numpy as np

from eckart.arrays import DType
from eckart.engine.backends.orthogonal import flip_signs
from eckart.engine.certificate import undetermined_groups
from eckart.engine.digest import ArrayDigest
from eckart.engine.solution import Solution
from eckart.engine.threads import threads
from eckart.errors import MemoryBudgetError
from eckart.formatting import counted, percent
from eckart.isomap import geodesic, scaling
from eckart.isomap.constants import DENSE_ROWS, DOUBLE_ROWS, KEPT_BYTES, RESIDUAL_SAMPLE
from eckart.isomap.geodesic import Graph
from eckart.isomap.scaling import Squares
from eckart.result import Certificate, SolveInfo
from eckart.wording import assigned


@dataclass(frozen=True)
class Bounds:
    """A certificate whose values may still be in scaled units."""

    certificate: Certificate

    def in_units(self, exponent: int) -> Certificate:
        with np.errstate(over="ignore", under="ignore"):
            lower, upper = (np.ldexp(side, -exponent) for side in self.certificate.values)
        return replace(self.certificate, lower=lower, upper=upper)


@dataclass(frozen=True)
class Figures:
    """How well coordinates reproduce the distances."""

    negative_share: float
    residual_variance: np.ndarray
    reconstruction_error: float
    eigenvalues: np.ndarray


@dataclass(frozen=True)
class Embedding:
    """Coordinates left * values, and the formula for new points: -1/2 (d^2 - means) weights - shift."""

    left: np.ndarray
    values: np.ndarray
    norm: float
    """Square root of the sum of all eigenvalues: of all squared distances along the graph, divided by 2 rows."""
    sources: np.ndarray
    """The rows to which distances are computed: all, or the landmarks."""
    weights: np.ndarray
    means: np.ndarray
    shift: np.ndarray
    figures: Figures
    solver: str
    why: str
    peak_bytes: int
    info: SolveInfo
    certificate: Bounds | None = None
    distances: np.ndarray | None = None
    """Distances between all rows in float64, if they take little memory; they make `transform` fast."""


def embed_all(
    graph: Graph, k: int, *, solver: str, tolerance: float, memory: int | None, seed: int, returned: str
) -> Embedding:
    """Coordinates of all rows from all their distances, which are kept meanwhile, in float32 if there are many.

    `returned` is the dtype to which the coordinates will be rounded.
    """
    rows = graph.rows
    dense = solver == "direct" or (solver == "auto" and (rows <= DENSE_ROWS or 10 * k >= rows))
    dtype = np.float64 if dense or rows <= DOUBLE_ROWS else np.float32
    peak = (4 if dense else 1) * np.dtype(dtype).itemsize * rows**2 + 8 * rows * (64 * threads() + 256)
    _check_memory(peak, memory, rows)
    squares = _all_squares(graph, dtype)
    # Whoever makes the data must not know the probes, so they depend on every edge.
    rng = ArrayDigest().add(graph.first).add(graph.index).add(graph.weight).generator(seed, "Isomap")
    solution = scaling.scale(squares, k, dense=dense, tolerance=tolerance, rng=rng)
    positive = _positive(solution)
    signs = flip_signs(solution.vectors)
    left = solution.vectors * signs
    values = np.sqrt(np.where(positive, solution.values, 0.0))
    weights = np.where(positive, left / np.where(positive, values, 1.0), 0.0)
    negative = scaling.negative_share(squares, solution)
    sample = scaling.evenly(rows, RESIDUAL_SAMPLE)
    coordinates = left.astype(returned).astype(np.float64) * values.astype(returned)
    variance = scaling.residual_variance(
        lambda i: np.sqrt(squares.matrix[sample[i]].astype(np.float64)), sample, coordinates
    )
    if solution.spectrum is None:
        squared = squares.squared_norm()
        beyond, norm = float(np.sqrt(max(squared - float(np.sum(solution.values**2)), 0.0))), squared**0.5
    else:
        beyond, norm = float(np.linalg.norm(solution.spectrum[k:])), float(np.abs(solution.spectrum).max(initial=0.0))
    figures = Figures(negative, variance, beyond / rows, np.asarray(solution.values))
    why = (
        f"LAPACK computes all eigenvalues of the {rows:,} x {rows:,} matrix of centred squared distances."
        if dense
        else f"Block Lanczos computes {counted(k, 'eigenpair')} of the {rows:,} x {rows:,} matrix of centred "
        "squared distances."
    )
    return Embedding(
        left, values, squares.trace**0.5, np.arange(rows), weights,
        squares.means, np.zeros(k), figures, solution.solver, why, peak, _info(solution),
        Bounds(_certificate(_settled(solution, positive), squares.trace, tolerance, returned, norm)),
        _kept(squares.matrix),
    )  # fmt: skip


def _kept(squares: np.ndarray) -> np.ndarray | None:
    """Distances, overwriting the squared ones, which are no longer needed; None if they take too much memory."""
    if squares.dtype != np.float64 or squares.nbytes > KEPT_BYTES:
        return None
    return np.asarray(np.sqrt(squares, out=squares))


def embed_landmarks(graph: Graph, k: int, count: int, *, memory: int | None) -> Embedding:
    """Coordinates of the landmarks from their distances, and of all rows from their distances to the landmarks.

    The components are then rotated to those of all rows.
    """
    rows = graph.rows
    peak = 4 * count * rows + 32 * count**2 + 8 * 8 * rows * threads() + 8 * rows * (3 * k + 20)
    _check_memory(peak, memory, rows)
    landmarks = geodesic.spread_out(graph, count)
    squares = np.empty((count, rows), dtype=np.float32)

    def keep(chosen: np.ndarray, tile: np.ndarray) -> None:
        np.multiply(tile, tile, out=tile)
        squares[chosen] = tile

    geodesic.each_distance(graph, geodesic.rows_as_sources(landmarks), keep)
    core = Squares(squares[:, landmarks].astype(np.float64), squares[:, landmarks].mean(axis=1, dtype=np.float64))
    solution = scaling.scale(core, k, dense=True, tolerance=0.0, rng=np.random.default_rng(0))
    positive = _positive(solution)
    weights = np.where(positive, solution.vectors / np.sqrt(np.where(positive, solution.values, 1.0)), 0.0)
    placed = _placed(squares, core.means, weights)
    shift = placed.mean(axis=0)
    placed -= shift
    turn = np.linalg.svd(placed, full_matrices=False)
    rotation = turn[2].T * flip_signs(turn[0])
    values = np.where(turn[1] > 1e-12 * max(float(turn[1][0]), 1e-300), turn[1], 0.0)
    left = turn[0] * flip_signs(turn[0])
    assert solution.spectrum is not None
    kept = float(np.sum(solution.values[positive])) / max(core.trace, 1e-300)
    squared = float(np.sum(solution.spectrum**2))
    figures = Figures(
        negative_share=scaling.negative_part(solution.spectrum),
        residual_variance=scaling.residual_variance(
            lambda i: np.sqrt(squares[i].astype(np.float64)), landmarks, left * values
        ),
        reconstruction_error=float(np.sqrt(max(squared - float(np.sum(solution.values**2)), 0.0))) / count,
        eigenvalues=np.asarray(values**2),
    )
    why = (
        f"LAPACK embeds {count:,} landmark rows that are spread over the data. The other rows are "
        "placed by their distances to the landmarks."
    )
    norm = float(np.sqrt(np.sum(values**2) / kept)) if kept > 0 else 0.0
    return Embedding(
        left, values, norm, landmarks, weights @ rotation, core.means, shift @ rotation, figures, "landmarks", why,
        peak, _info(solution),
    )  # fmt: skip


def _placed(squares: np.ndarray, means: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """-1/2 (s - means) weights for the column s of each row, a few thousand at a time."""
    result = np.empty((squares.shape[1], weights.shape[1]))
    for start in range(0, squares.shape[1], 4096):
        part = squares[:, start : start + 4096].T.astype(np.float64)
        result[start : start + 4096] = -0.5 * (part - means) @ weights
    return result


def _all_squares(graph: Graph, dtype: DType) -> Squares:
    matrix, means = np.empty((graph.rows, graph.rows), dtype), np.empty(graph.rows)

    def keep(chosen: np.ndarray, tile: np.ndarray) -> None:
        np.multiply(tile, tile, out=tile)
        means[chosen] = tile.mean(axis=1)
        matrix[chosen] = tile

    geodesic.each_distance(graph, geodesic.rows_as_sources(np.arange(graph.rows)), keep)
    return Squares(matrix, means)


def _positive(solution: Solution) -> np.ndarray:
    """Which eigenvalues give a coordinate: those above rounding."""
    return np.asarray(solution.values > 1e-12 * float(np.abs(solution.values).max(initial=0.0)))


def _settled(solution: Solution, positive: np.ndarray) -> Solution:
    """The bounds if all other eigenvalues are returned as zero: these explain nothing, and their residuals grow."""
    k = len(positive)
    return replace(
        solution, lower=np.append(np.where(positive, solution.lower[:k], 0.0), solution.lower[k:]),
        residuals=solution.residuals + np.where(positive, 0.0, np.abs(solution.values)),
    )  # fmt: skip


def _share(values: np.ndarray, trace: float, factor: float) -> float:
    """The sum of the values relative to the trace."""
    return float(np.sum(values)) / trace * factor if trace > 0 else 0.0


def _reproduced(low: float, high: float) -> str:
    """How well the coordinates reproduce the distances."""
    if low > 1.0:
        return (
            f"The squared distances between the coordinates add up to {percent(low, 4)} of the squared distances along "
            "the graph (summed over all pairs of rows). They exceed 100 %, because no points in a plane or space have "
            "these distances along the graph."
        )
    return (
        f"The coordinates reproduce {percent(low, 4)} of the squared distances along the graph "
        "(summed over all pairs of rows). Without numerical errors, they would reproduce at most "
        f"{percent(max(low, high), 4)}."
    )


def _certificate(solution: Solution, trace: float, tolerance: float, dtype: str, norm: float) -> Certificate:
    """Bounds of the eigenvalues, and their share of the trace: sum |y_i - y_j|^2 / sum d_ij^2 over all pairs.

    Values and vectors are rounded to `dtype`: (B - l) v moves by 4 u |B|, the subspace by u sqrt(k); `norm` bounds |B|.

    With negative eigenvalues the share can exceed 1, because distances in the coordinates exceed those along the graph.
    Then 1 is reported.
    """
    k = len(solution.values)
    lower, upper = np.maximum(solution.lower[:k], 0.0), np.maximum(solution.upper[:k], 0.0)
    # The trace is a sum of squared distances, each accurate to a few units: n^2 of them, row by row.
    spread = 2.0 * solution.vectors.shape[0] * float(np.finfo(np.float64).eps)
    unit = float(np.finfo(dtype).eps)
    # Coordinates are products of two rounded factors: their squares move by at most 2 units.
    low, high = _share(lower, trace, 1.0 - spread - 2.0 * unit), _share(upper, trace, 1.0 + spread)
    largest, least = float(np.abs(solution.values).max(initial=0.0)), float(lower.max(initial=0.0))
    residuals = solution.residuals + solution.rounding + 2.0 * unit * norm
    beyond = float(solution.upper[k]) if len(solution.upper) > k else None
    gap = float(solution.lower[k - 1]) - (beyond if beyond is not None else float(solution.lower[k - 1]))
    residual = float(np.sqrt(np.sum(solution.residuals**2))) + solution.rounding
    known = np.append(upper, [] if beyond is None else [max(beyond, 0.0)])
    groups = undetermined_groups(np.append(lower, known[k:]), known, 0.0)
    return Certificate(
        explained=(min(low, 1.0), min(max(low, high), 1.0)),
        lower=np.sqrt(lower),
        upper=np.sqrt(upper),
        residuals=residuals / least if least else np.full(k, np.inf if largest else 0.0),
        angle=min(1.0, residual / gap + unit * k**0.5) if gap > 0 else 1.0,
        undetermined=tuple((first, min(last, k - 1)) for first, last in groups if first < k),
        failure_probability=solution.failure_probability,
        rounding=solution.rounding / largest if largest else 0.0,
        tolerance=tolerance,
        proved=bool(solution.proved),
        passes=1,
        summary=_reproduced(low, high),
    )


def _info(solution: Solution) -> SolveInfo:
    return SolveInfo(
        solver=solution.solver, passes=1, steps=solution.steps, block=solution.block, basis=solution.basis,
        restarts=solution.restarts, threads=threads(),
    )  # fmt: skip


def _check_memory(needed: int, allowed: int | None, rows: int) -> None:
    limit = allowed if allowed is not None else _physical_memory()
    if limit is None or needed <= limit:
        return
    suggested = max(50, min(1000, rows // 20))
    raise MemoryBudgetError(
        f"Isomap of {rows:,} rows needs {needed / 1000000000.0:.3g} GB in addition to the data, but "
        f"only {limit / 1000000000.0:.3g} GB is allowed. Use fewer landmarks: "
        f"{assigned('n_landmarks', suggested)} needs {4 * suggested * rows / 1000000000.0:.2g} GB."
    )


def _physical_memory() -> int | None:
    """Physical memory in bytes, if the system reports it."""
    names = ("SC_PAGE_SIZE", "SC_PHYS_PAGES")
    if not hasattr(os, "sysconf") or any(name not in os.sysconf_names for name in names):
        return None
    return os.sysconf(names[0]) * os.sysconf(names[1])
