"""Clusters of rows in the space of the recommended components, and whether there are any.

Ward's method on the scores gives partitions into 2 to 8 clusters (hierarchical clustering on principal components:
Husson, Josse and Pages, 2010), measured by their mean silhouette width (Rousseeuw, 1987). Ward's method divides any
data, even data without clusters, so a partition counts only if two tests support it:

- Separation. On the line through the means of two neighbouring clusters, fewer rows lie in the middle third than
  around either mean. Any distribution with a single mode has at least as many there, however skewed its tails are. The
  probability of the counts (binomial, 1/2) must be at most 1 in 20 for each cluster and its nearest one.
- Reference. Its width exceeds the mean width in 39 normal samples with the same variances by more than any of these
  does for any number of clusters: a test at the level of 1 in 40.

Columns with few different values (answers from 1 to 5, 0 and 1) leave gaps that are not gaps between clusters. A value
that occurs in several rows is therefore spread over its interval, up to halfway to the next values. This needs the rows
in memory. It does not apply to a table of at most 8 different rows, each of which is a cluster.

Of the partitions that pass the first test, the one that exceeds the mean width by the most is chosen. Lloyd's algorithm
then moves rows to their nearest mean (consolidation).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.labels import column_labels, component_labels, row_labels
from eckart.analysis.measures import floats, row_scores
from eckart.arrays import Floats, Matrix, part_on_host
from eckart.formatting import counted, joined, short_names
from eckart.registry import method_of
from eckart.text import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from eckart.result import Decomposition

    Codes = NDArray[np.intp]
    Partitions = dict[int, tuple[float, Codes]]

_MOST_CLUSTERS = 8
_DIGITS = 9
"""Decimals to which the scores of equal rows agree, relative to the largest score."""
_FEWEST_ROWS = 12
_SAMPLE = 400
"""Rows used to choose the number of clusters; the others join the nearest mean."""
_REFERENCES = 39
_MOST_VALUES = 200_000
"""Values of the sampled rows that are spread; of more columns, those with the largest loadings."""
_LEVEL = 0.05
_THIRD = 1 / 3
_MOST_STEPS = 50
_MOST_COMPONENTS = 10
_MOST_COLUMNS = 4
_LEAST_DIFFERENCE = 2.0
"""Standard errors by which a cluster's mean must differ from that of all rows to be named."""


@dataclass(frozen=True)
class Clusters:
    """A partition of the rows; `codes` has the number of the cluster of each row, counted from 0."""

    codes: Codes
    count: int
    k: int
    """Components that the rows were compared on."""
    silhouette: float
    reference: float
    """Largest silhouette of as many clusters in normal samples."""
    lines: tuple[str, ...]
    table: Table | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The cluster of each row, as text."""
        return tuple(f"cluster {code + 1}" for code in self.codes.tolist()) if self.count > 1 else ()


def _sample_of(rows: int, rng: np.random.Generator) -> np.ndarray:
    """Indices of all rows, or of a random sample if there are many."""
    return np.arange(rows) if rows <= _SAMPLE else np.sort(rng.choice(rows, _SAMPLE, replace=False))


def _of_all_rows(unit: np.ndarray, sample: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The clusters of all rows from those of the sample, the largest first."""
    means = np.array([sample[codes == i].mean(axis=0) for i in range(codes.max() + 1)])
    codes = _consolidated(unit, means)
    return np.asarray(np.argsort(np.argsort(-np.bincount(codes), kind="stable"))[codes])


def clusters(d: Decomposition, k: int, matrix: Matrix | None = None) -> Clusters | None:
    """Clusters of the rows on the first k components; None without coordinates of rows or with fewer than 12 rows.

    `matrix` has the rows that were decomposed, if they are in memory.
    """
    if not _has_coordinates(d):
        return None
    k = max(1, min(k, d.k, _MOST_COMPONENTS))
    scores = row_scores(d, components=slice(k))
    if not np.isfinite(scores).all() or not scores.any():
        return None
    largest = max(float(np.abs(scores).max()), np.finfo(float).tiny)
    unit = scores / largest
    rng = np.random.Generator(np.random.Philox(0))
    chosen = _sample_of(d.rows, rng)
    sample = unit[chosen]
    if matrix is not None and len(np.unique(sample.round(_DIGITS), axis=0)) > _MOST_CLUSTERS:
        sample = sample + _spread(d, matrix, chosen, k, rng) / largest
    found = _partitions(sample)
    if not found:
        return None
    normal = [_partitions(rng.standard_normal(sample.shape) * sample.std(axis=0)) for _ in range(_REFERENCES)]
    choice = _compared(sample, found, normal)
    width, codes = found[choice.count]
    reference, components = choice.reference, counted(k, "component")
    if choice.objection:
        line = (
            f"The scores on {components} show no clear clusters. The best partition has {choice.count} "
            f"groups and a mean silhouette width of {width:.2f}. {choice.objection}"
        )
        return Clusters(np.zeros(d.rows, np.intp), 1, k, width, reference, (line,))
    codes = _of_all_rows(unit, sample, codes)
    count = int(codes.max()) + 1
    line = (
        f"The scores on {components} form {count} clusters (Ward's method, refined by k-means). Their "
        f"mean silhouette width is {width:.2f}. If all rows came from a single normal distribution, "
        f"{count} clusters would reach at most {reference:.2f}. Fewer rows lie between neighbouring "
        "clusters than around their means."
    )
    if choice.overlapping is not None:
        line += (
            f" A partition into {choice.overlapping} groups stands out more, with a mean silhouette width of "
            f"{found[choice.overlapping][0]:.2f}, but at least two of its groups are not clearly separated."
        )
    return Clusters(codes, count, k, width, reference, (line,), _described(d, codes, count, scores))


def _has_coordinates(d: Decomposition) -> bool:
    """Enough rows, with coordinates on the leading orthogonal components."""
    leading = d.which == "largest" and method_of(d).orthogonal
    return d.left is not None and d.rows >= _FEWEST_ROWS and leading and d.norm != 0


def _partitions(points: Floats) -> Partitions:
    """The mean silhouette width of Ward's partition into 2, 3, ... clusters, and the partition."""
    from scipy.cluster.hierarchy import ward
    from scipy.spatial.distance import pdist, squareform

    condensed = pdist(points)
    square, most = squareform(condensed), min(_MOST_CLUSTERS, len(points) // 4)
    return {count: (_silhouette(square, codes), codes) for count, codes in _cuts(ward(condensed), most)}


def _cuts(tree: Floats, most: int) -> Iterator[tuple[int, Codes]]:
    """The partitions of a tree into 2, 3, ... `most` clusters, except those that divide coincident points.

    Each of them undoes one more merge, beginning with the last. In the order of the leaves a cluster is a range. These
    are the partitions of SciPy's `fcluster`, which checks the tree and traverses it again for each of them.
    """
    from scipy.cluster.hierarchy import leaves_list

    leaves, heights = leaves_list(tree), tree[:, 2]
    rows = len(leaves)
    sizes = np.append(np.ones(rows), tree[:, 3]).astype(np.intp)
    starts = {2 * rows - 2: 0}
    for count in range(2, most + 1):
        merge = rows - count
        left, right = tree[merge, :2].astype(np.intp).tolist()
        starts[left] = start = starts.pop(rows + merge)
        starts[right] = start + int(sizes[left])
        if heights[merge - 1] < heights[merge]:
            codes = np.empty(rows, np.intp)
            codes[leaves] = np.searchsorted(np.sort(list(starts.values())), np.arange(rows), side="right") - 1
            yield count, codes


def _spread(d: Decomposition, matrix: Matrix, rows: Codes, k: int, rng: np.random.Generator) -> Floats:
    """How far the scores of some rows move when repeated values are spread over their intervals."""
    right = floats(d.right)[:, :k]
    columns = np.argsort(-(right**2).sum(axis=1), kind="stable")[: max(1, _MOST_VALUES // len(rows))]
    moved = np.zeros((len(rows), len(columns)))
    for j, values in enumerate(part_on_host(matrix, rows, columns).T):
        known, place, times = np.unique(values, return_inverse=True, return_counts=True)
        if not 1 < len(known) < len(values) or not np.isfinite(known).all():
            continue
        steps = np.diff(known) / 2
        below, above = np.concatenate([steps[:1], steps]), np.concatenate([steps, steps[-1:]])
        random = rng.uniform(-below[place], above[place])
        moved[:, j] = np.where(times[place] > 1, random, 0.0)
    scale = 1.0 if d.scale is None else floats(d.scale)[columns]
    return np.asarray((moved / scale) @ right[columns])


@dataclass(frozen=True)
class _Choice:
    count: int
    reference: float
    """The largest width of as many clusters in normal samples."""
    objection: str
    """Why the partition does not count, or ""."""
    overlapping: int | None
    """Number of groups of a partition that stands out more, but whose groups are not separated."""


def _compared(points: Floats, found: Partitions, references: list[Partitions]) -> _Choice:
    """The separated partition that stands out most from normal samples; otherwise the best of all."""
    counts = list(found)
    widths = np.array([[sample.get(count, (0.0,))[0] for count in counts] for sample in (found, *references)])
    # Compare all samples together, including the data: without clusters, each is equally likely to stand out most.
    excess = widths - widths.mean(axis=0)
    separated = np.array([_is_separated(points, found[count][1]) for count in counts])
    best = int(np.where(separated | ~separated.any(), excess[0], -np.inf).argmax())
    objection = ""
    if excess[0, best] <= excess[1:].max():
        objection = "Rows drawn from a single normal distribution can be partitioned just as clearly."
    elif not separated.any():
        smallest = int(np.bincount(found[counts[best]][1]).min())
        objection = "Neighbouring groups are not separated: as many rows lie between them as around their means."
        if 0.5**smallest > _LEVEL:  # too few to show a gap
            few = counted(smallest, "row, which may be an outlier", "rows, which may be outliers")
            objection = f"The smallest group has only {few}."
    most = int(excess[0].argmax())
    overlapping = None if objection or most == best else counts[most]
    return _Choice(counts[best], float(widths[1:, best].max()), objection, overlapping)


def _is_separated(points: Floats, codes: Codes) -> bool:
    """Whether fewer rows lie between each cluster and its nearest one than around both means: see above."""
    from scipy.spatial.distance import cdist

    means = np.array([points[codes == i].mean(axis=0) for i in range(codes.max() + 1)])
    squares = cdist(means, means, "sqeuclidean")
    np.fill_diagonal(squares, np.inf)
    return all(
        _has_valley((points[(codes == i) | (codes == j)] - means[i]) @ (means[j] - means[i]) / squares[i, j])
        for i, j in enumerate(squares.argmin(axis=1).tolist())
    )


def _has_valley(places: Floats) -> bool:
    """Whether significantly fewer places are in the middle third than around 0 and around 1."""
    from scipy.special import bdtr  # the distribution function of scipy.stats.binom, which takes 0.3 s to import

    between, *around = (int((np.abs(places - middle) <= _THIRD / 2).sum()) for middle in (0.5, 0.0, 1.0))
    return bool(bdtr(between, between + min(around), 0.5) <= _LEVEL)


def _silhouette(distances: Floats, codes: Codes) -> float:
    """Mean of (b - a) / max(a, b), where a is the mean distance to the own cluster and b to the nearest other one."""
    counts = np.bincount(codes)
    sums = distances @ np.eye(len(counts))[codes]
    rows = np.arange(len(codes))
    own = sums[rows, codes] / np.maximum(counts[codes] - 1, 1)
    others = sums / counts
    others[rows, codes] = np.inf
    nearest = others.min(axis=1)
    widest = np.maximum(own, nearest)
    widths = np.divide(nearest - own, widest, out=np.zeros_like(own), where=widest > 0)
    return float(np.where(counts[codes] > 1, widths, 0.0).mean())


def _consolidated(points: Floats, means: Floats) -> Codes:
    """Lloyd's algorithm from the given means."""
    codes = np.full(len(points), -1, np.intp)
    for _ in range(_MOST_STEPS):
        squares = (means**2).sum(axis=1) - 2.0 * points @ means.T
        new = np.asarray(squares.argmin(axis=1), np.intp)
        if (new == codes).all():
            break
        codes = new
        counts = np.bincount(codes, minlength=len(means))
        sums = np.stack([np.bincount(codes, column, minlength=len(means)) for column in points.T], axis=1)
        means = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], means)
    return np.unique(codes, return_inverse=True)[1].astype(np.intp)


def _described(d: Decomposition, codes: Codes, count: int, scores: Floats) -> Table:
    """Size, the row nearest to the mean, and the columns in which each cluster differs from all rows."""
    names, columns = row_labels(d), column_labels(d)
    right, values = floats(d.right)[:, : scores.shape[1]], scores
    linear = right.shape == (d.columns, scores.shape[1])
    rows = []
    for code in range(count):
        members = np.flatnonzero(codes == code)
        middle = values[members].mean(axis=0)
        nearest = int(members[((values[members] - middle) ** 2).sum(axis=1).argmin()])
        marks = _distinguishing_columns(middle, right, columns, values, len(members)) if linear else ""
        rows.append((f"cluster\N{NO-BREAK SPACE}{code + 1}", len(members), names[nearest], marks))
    axes = joined(list(component_labels(d)[: scores.shape[1]]))
    caption = f"Clusters of the scores on {axes}. The typical row of a cluster is the row nearest to its mean."
    kinds = ("text", "count", "text", "text")
    return Table("Clusters", ("cluster", "rows", "typical row", "compared with all rows"), tuple(rows), caption, kinds)


def _distinguishing_columns(middle: Floats, right: Floats, columns: tuple[str, ...], scores: Floats, size: int) -> str:
    """Columns whose mean in the cluster, as reconstructed by the components, is far from that of all rows."""
    shift = right @ middle
    spread = np.sqrt(
        np.maximum(((right @ np.cov(scores, rowvar=False).reshape(len(middle), -1)) * right).sum(axis=1), 0)
    )
    error = spread / np.sqrt(size)
    strength = np.divide(shift, error, out=np.zeros_like(shift), where=error > 0)
    order = [j for j in np.argsort(-np.abs(strength), kind="stable").tolist() if abs(strength[j]) >= _LEAST_DIFFERENCE]
    short = short_names(columns, 24)
    words = [f"{'higher' if shift[j] > 0 else 'lower'} {short[columns[j]]}" for j in order[:_MOST_COLUMNS]]
    return ", ".join(words)
