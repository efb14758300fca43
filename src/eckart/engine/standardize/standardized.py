"""The matrix that a solver works on: centred, scaled, weighted, and turned so that its short side is its columns.

B = diag(u) (A - 1 mean^T) diag(1/scale), or its transpose when A is wider than tall. Means, norms and the first product
share one read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eckart.arrays import Array, astype, fetch_later, from_numpy, namespace, to_numpy
from eckart.engine.blocks.stacked import StackedBlocks
from eckart.engine.measured import image_and_squares, pack
from eckart.engine.operator import Operator, Survey
from eckart.engine.prepare import TOGETHER, RecordRows, ScaleRows, ShiftRows, StandardizeRows, Step
from eckart.engine.rows import RowBlocks
from eckart.engine.standardize.rounding import DEVIATIONS, deviation_of_sum
from eckart.engine.transformed import Centered, Scaled, Wrapped


@dataclass(frozen=True)
class Moments:
    """Column means, sums of squares about them (before scaling), and scales, of the matrix as it was given."""

    mean: np.ndarray | None
    squares: np.ndarray
    scale: np.ndarray | None
    weight: float

    @property
    def total(self) -> float:
        """||B||_F^2."""
        squares = self.squares if self.scale is None else self.squares / self.scale**2
        return float(np.sum(squares))

    @property
    def constant(self) -> np.ndarray:
        """Columns without variance."""
        return np.flatnonzero(self.squares <= 0.0)


_UNIT = float(np.finfo(np.float64).eps)


class Standardized:
    """B, as above; `moments` and the products other than the first are there after `first`."""

    def __init__(
        self, base: RowBlocks | StackedBlocks, *, center: bool, scale: bool, shift: Array | None = None
    ) -> None:
        rows, columns = base.shape
        self.center, self.scale = center, scale
        self.turned = columns > rows
        self._given = base
        self._shift = shift
        self._operator: Operator | None = None
        self._moments: Moments | None = None
        self._amplification = 1.0
        self._offset: np.ndarray | None = None
        self._survey: Survey | None = None
        self._arriving: Callable[[], Survey] | None = None
        """The survey whose moments nobody has asked for yet: beside a GPU it is still on its way."""
        self._longest = np.inf
        self._total: float | None = None
        self._unread: Centered | None = None
        """A^T about means that are not known yet: those come with the next read."""
        self.row_squares: np.ndarray | None = None
        """Sum of squares of each row of A, as in B; there after `materialize`, or `image` with `measure`."""

    @property
    def shape(self) -> tuple[int, int]:
        """(long side, short side)."""
        rows, columns = self._given.shape
        return (columns, rows) if self.turned else (rows, columns)

    @property
    def operator(self) -> Operator:
        if self._operator is None and self._unread is None:
            self.first()
        if self._unread is not None:
            self._read_columns()
        assert self._operator is not None
        return self._operator

    @property
    def moments(self) -> Moments:
        if self._moments is None and self._unread is None and self._arriving is None:
            self.first()
        if self._unread is not None:
            self._read_columns()
        self._settle()
        assert self._moments is not None
        return self._moments

    @property
    def total(self) -> float:
        """||B||_F^2; known before the moments are, where a Gram matrix came first."""
        return self.moments.total if self._total is None else self._total

    @property
    def _in_memory(self) -> RowBlocks:
        assert isinstance(self._given, RowBlocks)
        return self._given

    @property
    def reads(self) -> int:
        return self._given.reads

    @property
    def like(self) -> Array:
        return self._given.like

    @property
    def sparse(self) -> bool:
        return bool(self._given.sparse)

    @property
    def precision(self) -> str:
        return self._given.precision

    @property
    def tile(self) -> int:
        """Columns that products take at a time: more of them, up to a multiple of this, cost nothing."""
        operator: Any = self.operator
        while isinstance(operator, Wrapped):
            operator = operator.base
        return operator.tile if isinstance(operator, RowBlocks) else 1

    @property
    def weights(self) -> np.ndarray | None:
        """The weights of A's rows; None when each counts once."""
        roots = self._given.weight_roots
        return None if roots is None else to_numpy(roots) ** 2

    def image(self, right: Array, *, measure: bool) -> Array:
        """B Q; with `measure` the same read gives `row_squares` too."""
        if self._unread is not None and not measure:
            image = self._read_columns(right)
            assert image is not None
            return image
        if not measure or (self.turned and not self._given.resident):
            return self.operator.matmat(right)
        if not self._given.resident:
            blocks, packed = pack(self.operator, right)
            product = blocks.measured(packed)
            self.row_squares = product[:, -1].astype(np.float64)
            return product[:, :-1]
        product, self.row_squares = image_and_squares(self.operator, right, across=self.turned)
        return product

    @property
    def workbench(self) -> Array:
        """A small array where large eigenproblems are solved soonest: on the card that the blocks are taken to."""
        mover = None if isinstance(self._given, RowBlocks) else self._given.reading.mover
        return self.like if mover is None else mover.like

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of how the products were formed."""
        return self._given.counter.notes

    def note(self, step: int, lower: float, upper: float) -> None:
        """A solver's word on the share that is certified so far."""
        if isinstance(self._given, StackedBlocks):
            self._given.reading.note(step, lower, upper)

    def sharpen(self) -> None:
        """From here on form products in float64; the first read is to come (again)."""
        self._given = self._given.precise()
        self._operator = self._moments = self._total = self._unread = self._arriving = None

    def sample_blocks(self) -> tuple[list[Array], int]:
        """The first and the last block that a Gram matrix is made of, and how many there are."""
        base = self._in_memory.transposed() if self.turned else self._given
        if not self.turned and self._shift is not None:
            base = base.shifted(self._shift)
        rows, size = base.shape[0], base.rows_per_gram
        starts = sorted({0, max(0, rows - size)})
        return [next(base.blocks(start, min(start + size, rows), size))[1] for start in starts], -(-rows // size)

    def raw_trace(self, trace: float) -> float:
        """The trace before centring, in the units of B: what rounding in the products is relative to."""
        self._settle()
        return trace * self._amplification

    @property
    def longest_row(self) -> float:
        """Bound of the largest squared length of a row of B; infinite where it is not known."""
        moments = self.moments
        if self.turned:
            squares = moments.squares if moments.scale is None else moments.squares / moments.scale**2
            return float(squares.max(initial=0.0))
        return self._longest

    def exact(self) -> Operator:
        """B with products in float64."""
        operator: Operator = _precisely(self.operator)
        return operator

    def sum_error(self, total: float) -> float:
        """Rounding in a float64 sum over the long side that comes to `total`; stored entries are added one by one."""
        rows = self.shape[0] if self._given.sparse else min(self.shape[0], 64)
        return _UNIT * (4.0 + float(np.sqrt(rows))) * total

    def total_error(self) -> float:
        """Rounding in `total`; squares of float32 numbers are added up in float32 over some rows at a time."""
        error = self.sum_error(self.raw_trace(self.total))
        if self.precision == "float64" or self.sparse:
            return error
        moments = self.moments
        squares = moments.squares if moments.scale is None else moments.squares / moments.scale**2
        unit = float(np.finfo(self.precision).eps) * self._amplification
        spread = DEVIATIONS * (deviation_of_sum(TOGETHER) + 0.5) * _length(squares)
        # What is small beside a sum is lost, always to the same side: half a unit in common.
        return error + unit * (spread + 0.5 * self.total)

    def centring_error(self, vectors: Array) -> np.ndarray:
        """What the rounding of the means does to ||B v||^2 = ||A v||^2 - 2 (s^T v) (r^T v) + w (r^T v)^2."""
        operator: Any = self.operator
        if isinstance(operator, Scaled):
            operator, vectors = operator.base, vectors / operator.scale[:, None]
        plain = self.precision == "float64" or self.sparse or self.turned
        if plain or not isinstance(operator, Centered):
            return np.zeros(vectors.shape[1])
        mean = operator.right
        along, across = to_numpy(namespace(mean).stack([mean @ vectors, (mean * mean) @ (vectors * vectors)]))
        unit = float(np.finfo(self.precision).eps) * DEVIATIONS * deviation_of_sum(TOGETHER)
        return np.asarray(np.abs(along) * np.sqrt(across) * (2.0 * operator.weight * unit))

    def recentred(self) -> tuple[Operator, float]:
        """B with the means, now known, subtracted block by block, and the rounding that centring still costs.

        Sparse rows cannot be shifted: their centring is a difference of sums.
        """
        moments = self.moments
        if isinstance(self._given, RowBlocks) and self.turned and not self._given.sparse:
            return self._with_known_steps() if self._given.weight_roots is None else self.operator, 0.0
        if self._given.sparse or moments.mean is None or self.turned:
            raw = self.raw_trace(moments.total)
            return self.operator, self.sum_error(max(raw - moments.total, 0.0))
        operator: Operator = self._given.shifted(from_numpy(moments.mean, self.like))
        if moments.scale is not None:
            operator = Scaled(operator, from_numpy(moments.scale, self.like))
        return operator, 0.0

    def rough(self, right: Array) -> Array | None:
        """About B^T B Q, up to the means: which way to begin, where that is cheaper than a read; else None."""
        if not isinstance(self._given, RowBlocks) or self.scale:
            return None
        base = self._given if self._shift is None or self._given.sparse else self._given.shifted(self._shift)
        found: Array | None = (base.transposed() if self.turned and not base.sparse else base).rough(right)
        return found

    def materialize(self) -> np.ndarray:
        """B itself, centred twice, for small matrices."""
        base = self._given.precise()
        matrix = base.dense()
        roots = None if base.weight_roots is None else to_numpy(base.weight_roots)
        weight = float(matrix.shape[0]) if roots is None else float(roots @ roots)
        column = np.ones(matrix.shape[0]) if roots is None else roots
        mean = np.zeros(matrix.shape[1])
        for _ in range(2 if self.center else 0):
            step = (column @ matrix) / weight
            mean += step
            matrix = matrix - np.outer(column, step)
        self._shift = None
        self._moments = self._describe(mean, np.einsum("ij,ij->j", matrix, matrix), weight)
        if self._moments.scale is not None:
            matrix = matrix / self._moments.scale
        if self.center:
            matrix[:, self._moments.constant] = 0.0
        self.row_squares = np.einsum("ij,ij->i", matrix, matrix)
        return np.ascontiguousarray(matrix.T) if self.turned else matrix

    def first(self, right: Array | None = None, *, gram: bool = False) -> Array | None:
        """The first read: moments, and B^T B Q or B^T B if asked for."""
        if self.turned and not self._given.sparse and self._given.resident:
            return self._first_wide(right, gram=gram)
        route = self._first_wide_by_rows if self.turned else self._first_tall
        product = route(right, gram=gram)
        if self._given.sparse and self.center and self._offset is None and self._shift_full_columns():
            product = route(right, gram=gram)
        return product

    def _shift_full_columns(self) -> bool:
        """Columns without a single zero may hide a small spread behind a large mean: take it out of their entries."""
        survey = self._survey
        self._offset = np.zeros(self._given.shape[1])
        assert survey is not None
        hidden = np.flatnonzero(to_numpy(survey.squares) > 4.0 * self.moments.squares)
        full = np.intersect1d(hidden, self._full_columns(survey)) if hidden.size else hidden
        if not full.size:
            return False
        self._offset[full] = to_numpy(survey.sums / survey.weight)[full]
        self._given = self._given.full_columns_shifted(self._offset)
        return True

    def _full_columns(self, survey: Survey) -> np.ndarray:
        """Columns of which every entry is stored."""
        if isinstance(self._given, RowBlocks):
            found: np.ndarray = self._given.stored_rows.full_columns(self._given)
            return found
        return np.flatnonzero(survey.stored == survey.weight) if self._given.weights is None else np.zeros(0, int)

    def _first_tall(self, right: Array | None, *, gram: bool) -> Array | None:
        base = self._given if self._shift is None else self._given.shifted(self._shift)
        # With scaling, the first product has to wait until the scales are known.
        survey = self._survey = base.survey(None if self.scale else right, gram=gram)
        mean = survey.sums / survey.weight
        self._arriving = _later(survey)
        if self.scale or self.sparse:
            self._settle()
        operator: Operator = base
        if self.center:
            roots = base.weight_roots
            left = _ones(base.shape[0], base.like, whole=base.resident) if roots is None else roots
            operator = Centered(operator, left, mean, survey.sums, survey.weight)
        if self._moments is not None and self._moments.scale is not None:
            operator = Scaled(operator, from_numpy(self._moments.scale, base.like))
        self._operator = operator
        if gram:
            return self._correct_gram(survey.product, mean, survey.weight)
        if right is None:
            return None
        if isinstance(operator, Scaled):
            return operator.normal(right)
        return operator.correct(right, survey.product) if isinstance(operator, Centered) else survey.product

    def _settle(self) -> None:
        """The moments from a survey that has arrived."""
        arriving, self._arriving = self._arriving, None
        if arriving is None:
            return
        survey = arriving()
        squares = self._centred_squares(survey)
        self._moments = self._describe(to_numpy(survey.sums) / survey.weight, squares, survey.weight)
        self._amplification = self._amplify(to_numpy(survey.squares))
        if survey.longest is not None and not self.scale:
            mean = _length(to_numpy(survey.sums) / survey.weight) if self.center else 0.0
            self._longest = (float(to_numpy(survey.longest)[0]) ** 0.5 + mean) ** 2

    def _correct_gram(self, gram: Array, mean: Array, weight: float) -> Array:
        if self.center:
            # Blocks that were taken to a GPU leave a large sum there, and small ones here.
            mean = from_numpy(mean, gram) if isinstance(mean, np.ndarray) else mean
            gram = gram - weight * (mean[:, None] * mean[None, :])
        if self._moments is not None and self._moments.scale is not None:
            scale = from_numpy(self._moments.scale, gram)
            gram = gram / (scale[:, None] * scale[None, :])
        return gram

    def _first_wide(self, right: Array | None, *, gram: bool) -> Array | None:
        """Each row of A^T is whole in its block, so it is standardised there: exact, and still one read."""
        if gram and self.center and not self.scale and self._shift is None and self._given.weight_roots is None:
            return self._first_wide_gram()
        base = self._in_memory.transposed()
        rows = base.shape[0]
        means, squares = np.zeros(rows), np.zeros(rows)
        roots = None if self._given.weight_roots is None else self._given.weight_roots
        weight = float(base.shape[1]) if roots is None else float(namespace(roots).sum(roots * roots))
        step = StandardizeRows(roots, weight, self.center, self.scale, means, squares)
        operator = replace(base, steps=(*base.steps, step))
        product = operator.gram() if gram else (operator.normal(right) if right is not None else None)
        if product is None:
            operator.normal(_ones(base.shape[1], base.like)[:, None])
        self._moments = self._describe(means, squares, weight)
        self._operator = operator if roots is not None else self._with_known_steps()
        return product

    def _first_wide_gram(self) -> Array:
        """A A^T of data whose means are not far beyond their spread: centred afterwards, H A A^T H.

        That needs no means. They, and the sums of squares, come with the read that makes the long vectors.
        """
        base = self._in_memory.transposed()
        count = base.shape[1]
        gram = base.gram()
        xp, ones = namespace(gram), _ones(count, base.like)
        sums = gram @ ones / count
        self._unread = Centered(base, base.like, ones, sums, float(ones @ sums) / count)
        centred = self._unread.correct_gram(gram)
        raw, self._total = (float(xp.linalg.trace(g)) for g in (gram, centred))
        self._amplification = raw / max(self._total, 1e-300)
        return centred

    def _read_columns(self, right: Array | None = None) -> Array | None:
        """Means and sums of squares of A's columns, and B Q if asked for, in one read."""
        assert self._unread is not None
        base, ones = self._unread.base, self._unread.right
        assert isinstance(base, RowBlocks)
        rows, count = base.shape
        means, raw = np.zeros(rows), np.zeros(rows)
        recording = replace(base, steps=(*base.steps, RecordRows(means, raw)))
        product = recording.matmat(ones[:, None] if right is None else right)
        self._operator = replace(self._unread, left=from_numpy(means, base.like))
        self._unread = None
        self._moments = self._describe(means, np.maximum(raw - count * means**2, 0.0), float(count))
        if right is None:
            return None
        left, along = (astype(a, product.dtype) for a in (from_numpy(means, product), ones @ right))
        return product - left[:, None] * along

    def _with_known_steps(self) -> RowBlocks:
        """A^T with its rows standardised by means and scales that are known: cheaper than finding them again.

        A mean that exceeds the spread is subtracted in two parts, so that its rounding is gone as well.
        """
        moments, dtype = self.moments, getattr(namespace(self.like), self.precision)
        steps: list[Step] = []
        if moments.mean is not None:
            first = astype(from_numpy(moments.mean, self.like), dtype)
            steps.append(ShiftRows(first))
            if np.any(moments.weight * moments.mean**2 > moments.squares):
                rest = moments.mean - to_numpy(first).astype(np.float64)
                steps.append(ShiftRows(astype(from_numpy(rest, self.like), dtype)))
        if moments.scale is not None:
            steps.append(ScaleRows(from_numpy(1.0 / moments.scale, self.like)))
        base = self._in_memory.transposed()
        return replace(base, steps=(*base.steps, *steps))

    def _first_wide_by_rows(self, right: Array | None, *, gram: bool) -> Array | None:
        """A^T whose rows are not at hand: sparse, or read in blocks of A's rows."""
        given = self._given if self._shift is None or self._given.sparse else self._given.shifted(self._shift)
        survey = self._survey = given.survey()
        mean = survey.sums / survey.weight
        squares = self._centred_squares(survey)
        self._moments = self._describe(to_numpy(mean), squares, survey.weight)
        self._amplification = self._amplify(to_numpy(survey.squares))
        scale = self._moments.scale
        if scale is not None:
            given = given.scaled_columns(1.0 / scale)
            mean = mean / from_numpy(scale, mean)
        base = given.transposed()
        operator: Operator = base
        if self.center:
            ones = _ones(base.shape[1], base.like) if given.weight_roots is None else given.weight_roots
            sums = astype(given.matmat(mean[:, None])[:, 0], namespace(base.like).float64)
            operator = Centered(base, mean, ones, sums, float(mean @ mean))
        self._operator = operator
        if gram:
            return operator.gram()
        return None if right is None else operator.normal(right)

    def _centred_squares(self, survey: Survey) -> np.ndarray:
        squares = to_numpy(survey.squares)
        if not self.center:
            return squares
        if survey.stored is not None and isinstance(self._given, RowBlocks):
            about: np.ndarray = self._given.stored_rows.squares_about_mean(self._given, survey)
            return about
        return np.asarray(np.maximum(squares - to_numpy(survey.sums) ** 2 / survey.weight, 0.0))

    def _amplify(self, raw: np.ndarray) -> float:
        """Sum of squares before centring over that after: how much of the digits centring costs."""
        assert self._moments is not None
        scale = 1.0 if self._moments.scale is None else self._moments.scale
        return float(np.sum(raw / scale**2)) / max(self._moments.total, 1e-300)

    def _describe(self, mean: np.ndarray, squares: np.ndarray, weight: float) -> Moments:
        """Moments, with scale 1 for columns whose variance is nothing but the rounding of their mean."""
        unused = self._shift is None or (self.turned and self._given.resident)
        shift = 0.0 if unused else to_numpy(self._shift).astype(np.float64)
        whole = mean + shift + (0.0 if self._offset is None else self._offset)
        rounding = np.finfo(self._given.precision).eps * np.abs(whole)
        squares = np.where(squares <= weight * rounding**2, 0.0, squares) if self.center else squares
        scale = None
        if self.scale:
            deviation = np.sqrt(squares / max(weight - 1.0, 1.0))
            scale = np.where(deviation > 0.0, deviation, 1.0)
        return Moments(whole if self.center else None, squares, scale, weight)


def _later(survey: Survey) -> Callable[[], Survey]:
    """The survey with its sums on the host, once it is asked for; that of sparse rows stays where it is."""
    if survey.stored is not None:
        return lambda: survey
    both = fetch_later(namespace(survey.sums).stack([survey.sums, survey.squares]))
    longest = None if survey.longest is None else fetch_later(survey.longest)

    def arrived() -> Survey:
        sums, squares = both()
        return replace(survey, sums=sums, squares=squares, longest=None if longest is None else longest())

    return arrived


def _precisely(operator: Any) -> Any:
    """The same with products in float64, whatever it is wrapped in."""
    if isinstance(operator, Wrapped):
        return replace(operator, base=_precisely(operator.base))
    return operator.precise()


def _length(vector: np.ndarray) -> float:
    """Without BLAS, whose threads take longer to wake than this takes."""
    return float(np.sqrt(np.sum(vector * vector)))


def _ones(count: int, like: Array, *, whole: bool = True) -> Array:
    """A vector of ones; not `whole`: one number, seen `count` times."""
    xp = namespace(like)
    if not whole:
        return np.broadcast_to(np.ones(1), (count,))
    return np.ones(count) if xp is np else xp.ones(count, dtype=xp.float64, device=like.device)
