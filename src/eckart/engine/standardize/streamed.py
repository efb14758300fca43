"""Rows read in blocks. B^T B Q takes one pass over tall data, and two over wide data."""

from __future__ import annotations

from typing import Any

from eckart.arrays import Array, astype, from_numpy, namespace
from eckart.engine.operator import Operator
from eckart.engine.standardize.case import Case
from eckart.engine.standardize.sums import ones
from eckart.engine.standardize.tall import Tall
from eckart.engine.transformed import Centered


class StreamedTall(Tall):
    """The same as in memory: the sums of the blocks are added in order."""


class StreamedWide(Case):
    """B is A^T, whose rows are not available: the moments of A come first, then products from both sides.

    B = D^T - r u^T with D = diag(u) (A - 1 c^T) diag(1/scale), so B^T B is corrected as for tall data with the roles of
    r and u exchanged: s = D r, and r^T r instead of W.
    """

    transposed = True

    def _first(self, right: Array | None, *, gram: bool) -> Array | None:
        given: Any = self._given if self._shift is None else self._given.shifted(self._shift)
        moments_and_product = given.moments_and_product()
        self._arriving, self._moments = None, self._after_first_pass(moments_and_product)
        mean, scale = moments_and_product.sums / moments_and_product.weight, self._moments.scale
        if scale is not None:
            given = given.scaled_columns(1.0 / scale)
            mean = mean / from_numpy(scale, mean)
        base = given.transposed()
        operator: Operator = base
        if self.center:
            roots = given.weight_roots
            one = ones(base.shape[1], base.prototype) if roots is None else roots
            sums = astype(given.matmat(mean[:, None])[:, 0], namespace(base.prototype).float64)
            # BLAS would share a long sum among its threads, and the last bits would depend on their number.
            operator = Centered(base, mean, one, sums, float(namespace(mean).sum(mean * mean)))
        self._operator = operator
        if gram:
            return operator.gram()
        return None if right is None else operator.normal(right)
