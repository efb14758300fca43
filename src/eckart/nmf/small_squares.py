"""1/2 |A - W H|^2 of small dense data: the same steps with few calls, which would otherwise take most of the time."""

from __future__ import annotations

import numpy as np

from eckart.arrays import Array
from eckart.nmf.problem import FactorUpdate, Penalties, Penalty
from eckart.nmf.squares import Product, Squares, in_order, scikit_learn_sweep


class SmallSquares(Squares):
    """The squared error of float64 data by scikit-learn's compiled sweeps, on one thread."""

    def __init__(
        self, matmat: Product, rmatmat: Product, squared_norm: float, penalties: Penalties, *, sweeps: int, end: float
    ) -> None:
        super().__init__(matmat, rmatmat, squared_norm, penalties, sweeps=sweeps, compiled=False, end=end)
        sweep = scikit_learn_sweep()
        assert sweep is not None
        self._sweep = sweep

    def _step(
        self, product: Product, penalty: Penalty, begin: Array, other: Array, old: Array, extrapolation: float,
        sweeps: int | None,
    ) -> FactorUpdate:  # fmt: skip
        if sweeps is not None:
            return super()._step(product, penalty, begin, other, old, extrapolation, sweeps)
        gram, target, order = other.T @ other, product(other), in_order(begin.shape[1])
        if penalty.ridge:
            gram.flat[:: gram.shape[0] + 1] += penalty.ridge
        if penalty.lasso:
            target -= penalty.lasso
        new = begin.copy()
        violation = self._sweep(new, gram, target, order)
        for _ in range(self.sweeps - 1):
            self._sweep(new, gram, target, order)
        slopes = new @ gram
        slopes *= 0.5
        slopes -= target
        ahead = new
        if extrapolation:
            ahead = new - old
            ahead *= extrapolation
            ahead += new
            np.maximum(ahead, 0.0, out=ahead)
        return FactorUpdate(new, ahead, float(np.vdot(new, slopes)), violation)
