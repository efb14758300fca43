"""Dense data in memory with more columns than rows: B is A^T, whose rows are whole in a block and centred there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eckart.arrays import Array, astype, from_numpy, namespace
from eckart.engine.operator import Operator
from eckart.engine.prepare import RecordRows, Scale, Shift, StandardizeRows, Step
from eckart.engine.rows import RowBlocks
from eckart.engine.standardize.case import Case, Given
from eckart.engine.standardize.moments import Moments, describe, scales
from eckart.engine.standardize.rounding import ENTRY, gamma
from eckart.engine.standardize.sums import ones
from eckart.engine.transformed import Centered

_GRAM_AMPLIFIED = 100.0
"""Maximum loss of accuracy for centring a Gram matrix afterwards; beyond it, the rows are centred before."""


class Wide(Case):
    """B with the columns of A as its rows."""

    transposed = True

    def __init__(
        self, given: Given, *, center: bool, scale: bool, shift: Array | None = None, exponent: int = 0, ddof: int = 1
    ) -> None:
        super().__init__(given, center=center, scale=scale, shift=shift, exponent=exponent, ddof=ddof)
        self._gram_after = shift is None and center and not scale and given.weight_roots is None

    @property
    def _in_memory(self) -> RowBlocks:
        assert isinstance(self._given, RowBlocks)
        return self._given

    @property
    def _weight(self) -> float:
        roots = self._given.weight_roots
        return float(self._given.shape[0]) if roots is None else float(namespace(roots).sum(roots * roots))

    def _first(self, right: Array | None, *, gram: bool) -> Array | None:
        if gram and self._gram_after:
            product = self._first_gram()
            if self.moments.raw_total <= _GRAM_AMPLIFIED * self.moments.total:
                return product
            self._gram_after = False
        count = self._given.shape[1]
        shift, rest, squares = np.zeros(count), np.zeros(count), np.zeros(count)
        weights = None if self.weights is None else from_numpy(self.weights, self.prototype)
        step = StandardizeRows(
            weights, self._weight, self.center, self._scales if self.scale else None, shift, rest, squares
        )
        standardized = self._in_memory.transposed().prepared(step)
        if gram:
            product = standardized.gram()
        else:
            product = standardized.normal(ones(self.shape[1], self.prototype)[:, None] if right is None else right)
        self._moments = self._describe(shift, rest, squares, squares + self._weight * rest**2)
        self._operator = self._with_known_means()
        return product if gram or right is not None else None

    def _scales(self, columns: slice, squares: np.ndarray, mean: np.ndarray) -> np.ndarray:
        return scales(squares, mean, self._weight, self._units.of(columns))

    def _first_gram(self) -> Array:
        """A A^T of data whose means do not far exceed their spread, centred afterwards: H A A^T H, H = I - 1 1^T/m."""
        base = self._in_memory.transposed()
        rows, count = base.shape
        means, raw = np.zeros(rows), np.zeros(rows)
        gram = base.prepared(RecordRows(means, raw)).gram()
        xp, one = namespace(gram), ones(count, base.prototype)
        # Added pairwise, unlike in BLAS, so that a sum has no more roundings than an entry of A A^T.
        sums = xp.sum(gram, axis=1) / count
        left = from_numpy(means, base.prototype)
        self._operator = Centered(base, left, one, sums, float(xp.sum(sums)) / count)
        self._moments = self._describe(None, means, raw - count * means**2, raw)
        return self._operator.correct_gram(gram)

    def _describe(self, shift: np.ndarray | None, rest: np.ndarray, squares: np.ndarray, raw: np.ndarray) -> Moments:
        additions = self._given.shape[0] + 8
        near = np.flatnonzero(squares <= 8.0 * gamma(additions + ENTRY) * raw) if self.center else np.zeros(0, int)
        if self.precision == "float32" and self.center:
            near = np.flatnonzero(squares <= 1e-4 * raw)
        return describe(
            center=self.center, scale=self.scale, rest=rest, raw=raw, squares=squares, weight=self._weight,
            constant=self._given.constant_columns(near), shift=shift, additions=additions, units=self._units,
        )  # fmt: skip

    def _better_shift(self) -> Array | None:
        return None  # the mean of each row is subtracted in two parts

    def _with_known_means(self) -> RowBlocks:
        """A^T with its rows centred and scaled by known means and scales: cheaper than computing them again."""
        moments, dtype = self.moments, getattr(namespace(self.prototype), self.precision)
        steps: list[Step] = []
        if moments.mean is not None:
            assert moments.shift is not None
            assert moments.rest is not None
            steps.append(Shift(astype(from_numpy(moments.shift, self.prototype), dtype), by_row=True))
            if np.any(moments.rest):
                steps.append(Shift(astype(from_numpy(moments.rest, self.prototype), dtype), by_row=True))
        if moments.scale is not None:
            steps.append(Scale(from_numpy(1.0 / moments.scale, self.prototype), by_row=True))
        return self._in_memory.transposed().prepared(*steps)

    def recentred_gram(self, right: Array) -> tuple[Array, float]:
        if isinstance(self._operator, RowBlocks):
            return self.exact().gram(right), self._error_of_means()
        moments = self.moments
        shift = np.zeros(self.shape[0]) if moments.mean is None else moments.mean
        self._moments = replace(moments, shift=shift, rest=np.zeros_like(shift))
        operator: Operator = self._with_known_means().precise()
        self._moments = moments
        return operator.gram(right), self._error_of_means()
