"""One CUR for one k: choose columns and rows, make one more pass over A, join them, measure the error."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from eckart.aliases import Keywords
from eckart.arrays import Array, Matrix, astype, from_numpy, is_sparse, namespace, to_numpy
from eckart.components.find import find_components, plan_components
from eckart.cur import core as cur_core
from eckart.cur.constants import CANCELLED, DENSE_WORK, SMALL_VALUE
from eckart.cur.core import Core, RowSpace, SliceSums
from eckart.cur.select import Chosen, by_leverage, by_norm, by_pivot, by_volume
from eckart.cur.slices import additions, fold_slices, squares_both_ways
from eckart.engine.backends.cuda.arrays import on_device_of
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.engine.backends.cuda.gather import dense
from eckart.engine.backends.select import backend_of
from eckart.engine.exponent import times_power_of_two
from eckart.engine.matrix import Opened
from eckart.errors import MemoryBudgetError
from eckart.formatting import allowed
from eckart.result import Decomposition
from eckart.wording import MEMORY


@dataclass(frozen=True)
class CURSettings:
    """Checked settings for choosing and joining columns and rows."""

    select: str
    core: str
    cutoff: float | None
    n_columns: int | None
    n_rows: int | None
    seed: int
    memory: int | None = None

    def counts(self, k: int, shape: tuple[int, int]) -> tuple[int, int]:
        """(columns, rows) for k: k each, 4k if they are sampled; more rows for the intersection core."""
        drawn = self.select in ("norm", "leverage")
        count = 4 * k if drawn else k
        rows = count if self.core == "best" or self.select == "norm" else count + (count // 2 if drawn else min(k, 10))
        if self.select != "norm":
            # No more are independent; only a pseudo-inverse gains from more rows.
            count, rows = min(count, *shape), min(rows, shape[0] if self.core == "intersection" else min(shape))
        return self.n_columns or count, self.n_rows or rows


@dataclass(frozen=True)
class RankComponents:
    """The certified singular vectors for choosing columns and rows, in float64, on the device of the data."""

    found: Decomposition
    right: Array
    left: Array | None
    whole: bool
    """Whether all components were computed."""

    @property
    def rank(self) -> int:
        """Number of components whose value exceeds rounding."""
        d = self.found
        level = 4 * float(np.finfo(np.float64).eps) * max(d.rows, d.columns) ** 0.5 * d.norm
        return int(np.sum(to_numpy(d.values).astype(np.float64) > level))

    def captured(self, k: int) -> tuple[float, float]:
        """Bounds of the largest share of ||A||^2 that rank k can explain, for any k."""
        certificate, norm = self.found.certificate, self.found.norm
        assert certificate is not None
        if norm == 0.0:
            return 1.0, 1.0
        if k == self.found.k and not self.whole:
            return certificate.explained
        sides = zip(certificate.values, _around(norm), strict=True)
        squares = [(np.asarray(bound) / size) ** 2 for bound, size in sides]
        low, high = (float(np.sum(part[:k])) for part in squares)
        beyond = (k - self.found.k) * float(squares[1][-1]) if k > self.found.k else 0.0
        return min(1.0, low), min(1.0, max(low, high + beyond))

    def best(self, k: int) -> tuple[float, float]:
        """Bounds of ||A - A_k|| / ||A||."""
        certificate, norm = self.found.certificate, self.found.norm
        if self.whole and certificate is not None and norm > 0.0:
            # All values left out are known, so no difference is needed.
            sides = zip(certificate.values, _around(norm), strict=True)
            low, high = (float(np.linalg.norm(np.asarray(part)[k:] / size)) for part, size in sides)
            return low, high
        low, high = self.captured(k)
        return max(0.0, 1.0 - high) ** 0.5, max(0.0, 1.0 - low) ** 0.5


def _around(norm: float) -> tuple[float, float]:
    """Divisors of lower and upper bounds: a subnormal norm is off by half the smallest number."""
    smallest = float(np.finfo(np.float64).smallest_subnormal)
    return norm + smallest, max(norm - smallest, smallest)


@dataclass(frozen=True)
class Found:
    """A ~ C U R in the units of the opened matrix."""

    k: int
    columns: Chosen
    rows: Chosen
    core: Core
    space: RowSpace
    seen: SliceSums
    stored_rows: Matrix
    """R as stored, not scaled."""
    kept: np.ndarray
    """Which of the collected columns are kept."""
    error: float
    """||A - C U R|| / ||A||."""
    rounding: float
    asked: tuple[int, int]
    rank: tuple[int, int]
    """Independent columns, independent rows."""
    missed: float | None = None
    """The requested relative error, if it is not proved to be reached."""


def certified_components(
    opened: Opened, wanted: CURSettings, data: Matrix, *, k: int | None, error: float | None, **options: Any
) -> RankComponents:
    """k components of `data`, or as many as reach `error`; all of them if they cost no more."""
    if k is not None:
        _check_memory(opened, wanted, k)
    short = min(opened.matrix.shape)
    target: Keywords = {"k": k} if error is None else {"error": error}
    whole = plan_components(data, "svd", left=True, **target, **options).solver == "direct"
    if whole:
        target = {"k": short}
    # The vectors of the short side are free; those of the long side take one product.
    wide = opened.matrix.shape[0] <= short
    found = find_components(data, "svd", left=whole or wide, **target, **options)
    float64 = namespace(found.right).float64
    right = astype(found.right, float64)
    if wanted.select == "norm":
        return RankComponents(found, right, None, whole)
    left = _long_vectors(opened, found) if found.left is None else astype(found.left, float64)
    return RankComponents(found, right, left, whole)


def _long_vectors(opened: Opened, found: Decomposition) -> Array:
    """A v / ||A v||. For small values, QR removes what rounding left along the leading vectors."""
    image = opened.matrix.matmat(found.right)
    xp = namespace(image)
    image = astype(image, xp.float64)
    values = to_numpy(found.values).astype(np.float64)
    if values.min(initial=np.inf) > SMALL_VALUE * values.max(initial=0.0):
        return image / xp.sqrt(xp.sum(image * image, axis=0))
    return xp.linalg.qr(image)[0]


def raw(opened: Opened) -> Matrix:
    """The data behind an opened matrix, to be opened again."""
    return opened.matrix.matrix if opened.matrix.resident else opened.matrix.source


def fit(
    opened: Opened,
    components: RankComponents,
    k: int,
    wanted: CURSettings,
    squares: tuple[np.ndarray, np.ndarray] | None,
) -> Found:
    """The CUR of rank at most k; select='norm' needs the `squares` of rows and columns."""
    _check_memory(opened, wanted, k)
    cutoff = _cutoff(opened, wanted, k)
    columns, rows = _chosen(opened, components, k, wanted, squares)
    stored, space, rows, row_rank = _rows(opened, rows, cutoff, wanted)
    sums = partial(cur_core.slice_sums, scales=columns.scales, dtype=_precision(opened))
    seen: SliceSums = fold_slices(opened.matrix, columns.indices, space.basis, sums, SliceSums.joined)
    count = len(columns.indices)
    rank, kept = cur_core.column_rank(seen, cutoff)
    if wanted.select == "norm" or rank == count:
        kept = np.arange(count)
    else:
        seen, columns = seen.of_columns(kept), columns.only(kept)
    if wanted.core == "best":
        core, missed = cur_core.best_core(seen, space, cutoff)
    else:
        crossing = to_numpy(_scaled(opened, backend_of(stored).take_columns(stored, columns.indices)))
        crossing = crossing * rows.scales[:, None] * columns.scales
        core, missed = cur_core.intersection_core(seen, space, crossing, cutoff)
    error, rounding = _error(opened, seen, missed, space)
    if seen.total > 0.0:
        wide = float(np.linalg.norm(seen.triangle[:, : seen.count]))
        high = float(np.linalg.norm(space.values))
        off = cur_core.core_rounding(core, wide, high, best=wanted.core == "best")
        off += _of_subnormal(opened, core, space, wide, (columns.scales, rows.scales))
        rounding += off / seen.total**0.5
    asked = wanted.counts(k, opened.matrix.shape)
    return Found(k, columns, rows, core, space, seen, stored, kept, error, rounding, asked, (rank, row_rank))


def _of_subnormal(
    opened: Opened, core: Core, space: RowSpace, wide: float, scales: tuple[np.ndarray, np.ndarray]
) -> float:
    """The error from rounding to subnormal numbers, for ||C|| <= wide: entries of scaled columns C and of scaled rows
    R, and the error itself, are off by 2^-1074 each (2^-149 in float32).

    C U R is then off by |dC| |U R| + |C + dC| |U| |dR|.
    """
    if opened.exponent <= 0:
        return 0.0
    unit = float(np.ldexp(1.0, (-149 if _precision(opened) == "float32" else -1074) + opened.exponent))
    height, width = (
        unit * math.sqrt(side * np.sum(given != 1.0)) for side, given in zip(opened.matrix.shape, scales, strict=True)
    )
    image = float(np.linalg.norm(core.before(space.right * space.values)))
    return unit + height * image + (wide + height) * cur_core.length(core) * width


def working_bytes(opened: Opened, wanted: CURSettings, k: int) -> int:
    """Bytes of the singular vectors of both sides, C, and R with its basis, in float64; sparse C and R take less."""
    (rows, columns), (n_columns, n_rows) = opened.matrix.shape, wanted.counts(k, opened.matrix.shape)
    kept = 0 if opened.matrix.sparse else n_columns
    return int(8 * (rows * (k + kept) + columns * (k + 2 * n_rows)))


def _check_memory(opened: Opened, wanted: CURSettings, k: int) -> None:
    needed = working_bytes(opened, wanted, k)
    if wanted.memory is not None and needed > wanted.memory:
        raise MemoryBudgetError(
            f"The computation needs about {needed:,} bytes in addition to the data for the chosen "
            f"columns, rows and singular vectors, but only {allowed(wanted.memory)}. Allow "
            f"more memory with {MEMORY}, or request fewer components."
        )


def rows_as_stored(opened: Opened, indices: np.ndarray) -> Matrix:
    """Some rows in the units of the data."""
    matrix = opened.matrix
    stored = matrix.backend.take_rows(matrix.matrix, indices) if matrix.resident else matrix.rows(indices)
    return unscaled(opened, stored) if matrix.sparse and matrix.resident else stored


def unscaled(opened: Opened, stored: Matrix) -> Matrix:
    """Stored entries of an opened matrix in the units of the data."""
    if not opened.exponent:
        return stored
    if isinstance(stored, DeviceCsr):
        with on_device_of(stored.prototype):
            return replace(stored, data=times_power_of_two(stored.data, -opened.exponent))
    stored = stored.copy()
    stored.data = np.ldexp(stored.data, -opened.exponent)
    return stored


def _scaled(opened: Opened, stored: Matrix) -> Array:
    """Dense, float64, times the power of two of the opened matrix."""
    if isinstance(stored, DeviceCsr):
        return times_power_of_two(dense(stored), opened.exponent)
    whole = stored.toarray() if is_sparse(stored) else stored
    return times_power_of_two(astype(whole, namespace(whole).float64), opened.exponent)


def _cutoff(opened: Opened, wanted: CURSettings, k: int) -> float:
    """Singular values of C, R and W below this share of the largest count as rounding."""
    if wanted.cutoff is not None:
        return wanted.cutoff
    return 16.0 * float(np.finfo(_precision(opened)).eps) * math.sqrt(k)


def _precision(opened: Opened) -> str:
    """dtype of C and R."""
    return "float32" if "float32" in str(opened.matrix.dtype) else "float64"


def _chosen(
    opened: Opened,
    components: RankComponents,
    k: int,
    wanted: CURSettings,
    squares: tuple[np.ndarray, np.ndarray] | None,
) -> tuple[Chosen, Chosen]:
    rng = np.random.Generator(np.random.Philox(wanted.seed))
    n_columns, n_rows = wanted.counts(k, opened.matrix.shape)
    if wanted.select == "norm":
        by_row, by_column = squares_both_ways(opened.matrix) if squares is None else squares
        return by_norm(by_column, n_columns, rng), by_norm(by_row, n_rows, rng)
    assert components.left is not None
    used = max(1, min(k, components.rank))
    sides = ((components.right[:, :used], n_columns), (components.left[:, :used], n_rows))
    if components.rank == 0:
        return by_pivot(np.zeros((1, 1)), 1), by_pivot(np.zeros((1, 1)), 1)
    if wanted.select == "pivot":
        first, second = (by_pivot(vectors, count) for vectors, count in sides)
    else:
        draw = by_leverage if wanted.select == "leverage" else by_volume
        first, second = (draw(vectors, count, rng) for vectors, count in sides)
    return first, second


def _rows(
    opened: Opened, rows: Chosen, cutoff: float, wanted: CURSettings
) -> tuple[Matrix, RowSpace, Chosen, int]:  # fmt: skip
    """(R as stored, its space, the rows, how many are independent); dependent rows are dropped unless all are kept."""
    stored = rows_as_stored(opened, rows.indices)
    whole = _scaled(opened, stored)
    whole = cur_core.scaled_as_returned(whole, from_numpy(rows.scales, whole)[:, None], _precision(opened))
    if wanted.core == "intersection":
        # W^+ multiplies all of R, including small directions, which belong to the error.
        space = cur_core.row_space(whole, 4.0 * float(np.finfo(np.float64).eps))
        return stored, space, rows, cur_core.numerical_rank(space.values, cutoff)
    space = cur_core.row_space(whole, cutoff)
    rank = len(space.values)
    if wanted.select == "norm" or rank == len(rows.indices):
        return stored, space, rows, rank
    rows = rows.only(space.independent)
    stored = rows_as_stored(opened, rows.indices)
    return stored, cur_core.row_space(_scaled(opened, stored), cutoff), rows, rank


def _error(opened: Opened, seen: SliceSums, missed: float, space: RowSpace) -> tuple[float, float]:
    """(||A - C U R||, its rounding), both over ||A||."""
    total = seen.total
    if total == 0.0:
        return 0.0, 0.0
    squared = max(0.0, total - seen.image) + missed
    rows, columns = opened.matrix.shape
    affordable = not opened.matrix.sparse or float(rows) * columns * space.basis.shape[1] <= DENSE_WORK
    direct = squared < CANCELLED * total and affordable
    if direct:
        nothing = np.zeros(0, dtype=np.int64)
        outside = fold_slices(
            opened.matrix, nothing, space.basis, operator.attrgetter("outside"), operator.add, outside=True
        )
        squared = outside + missed
    terms = additions(columns, sparse=opened.matrix.sparse)
    rounding = cur_core.rounding(total, squared, (rows, columns), int(space.basis.shape[1]), terms, direct=direct)
    return (squared / total) ** 0.5, rounding / total**0.5
