"""Dense rows in memory, at least as many as columns.

B = D - u r^T with D = diag(u) (A - 1 c^T) formed block by block, and

    B^T B Q = D^T D Q - s (r^T Q) - r (s^T Q) + W r (r^T Q),    s = D^T u,  r = s / W:

the means come with the first product, and centring costs nothing afterwards.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from eckart.arrays import Array, from_numpy
from eckart.engine.backends.select import backend_of
from eckart.engine.operator import MomentsAndProduct, Operator
from eckart.engine.standardize.case import Case, later, ones
from eckart.engine.standardize.moments import Moments
from eckart.engine.standardize.rounding import ENTRY, gamma
from eckart.engine.transformed import Centered, Scaled, row_panels

_SINGLE = 1e-4
"""Maximum relative error of sums of squares that a device forms in float32 over a few rows at a time."""


class Tall(Case):
    """B with the rows of A as its rows."""

    def _base(self) -> Any:
        return self._given if self._shift is None else self._given.shifted(self._shift)

    def _first(self, right: Array | None, *, gram: bool) -> Array | None:
        base = self._base()
        # With scaling, the first product must wait until the scales are known.
        moments_and_product: MomentsAndProduct = base.moments_and_product(None if self.scale else right, gram=gram)
        self._moments, self._arriving = None, self._later(moments_and_product)
        if self.scale or backend_of(self.prototype).synchronous:
            _ = self.moments
        self._operator = operator = self._wrapped(moments_and_product.sums, moments_and_product.weight)
        if gram:
            return self._correct_gram(
                moments_and_product.product,
                moments_and_product.sums / moments_and_product.weight,
                moments_and_product.weight,
            )
        if right is None:
            return None
        if isinstance(operator, Scaled):
            return operator.normal(right)
        return (
            operator.correct(right, moments_and_product.product)
            if isinstance(operator, Centered)
            else moments_and_product.product
        )

    def _wrapped(self, sums: Array, weight: float) -> Operator:
        """B as an operator, once the sums D^T u are known."""
        base = self._base()
        operator: Operator = base
        if self.center:
            roots = base.weight_roots
            left = ones(base.shape[0], base.prototype, whole=base.resident) if roots is None else roots
            operator = Centered(operator, left, sums / weight, sums, weight)
        return Scaled(operator, from_numpy(self._scales, base.prototype)) if self.scale else operator

    def _later(self, moments_and_product: MomentsAndProduct) -> Any:
        arriving = later(moments_and_product)

        def moments() -> Moments:
            return self._after_first_pass(arriving())

        return moments

    @property
    def _scales(self) -> np.ndarray:
        scale = self.moments.scale
        assert scale is not None
        return scale

    def _correct_gram(self, gram: object, mean: Array, weight: float) -> Array:
        if self.center:
            # Blocks copied to a device leave a large sum there and small ones on the host.
            mean = from_numpy(mean, gram) if isinstance(mean, np.ndarray) else mean
            if not isinstance(gram, np.ndarray):
                gram = gram - weight * (mean[:, None] * mean[None, :])
            else:
                for rows in row_panels(len(gram)):
                    gram[rows] -= weight * (mean[rows, None] * mean[None, :])  # of our own copy
        if self.scale:
            scale = from_numpy(self._scales, gram)
            gram = gram / scale[:, None] / scale[None, :]
        return gram

    def _centring_factor(self) -> float:
        """1 + 2 t + 2 t^2, with t^2 = W ||r||^2 / ||D||_F^2: the correction's addition to gamma ||D||_F^2.

        The correction is s s^T / W in exact arithmetic, of norm W ||r||^2. The sums s = D^T u are off by at most gamma
        || |D|^T u || <= gamma sqrt(W) ||D||_F, which moves it by 2 gamma t ||D||_F^2. The weight W and the products
        with s and r have relative errors of gamma each. t is known only to the rounding of sums of squares.
        """
        hidden = self._share_of_means()
        return 1.0 + 2.0 * math.sqrt(hidden) + 2.0 * hidden

    def _share_of_means(self) -> float:
        """t^2, and the part of it that rounding may hide."""
        moments = self.moments
        raw = max(moments.raw_total, moments.total, 1e-300)
        allowance = 4.0 * gamma(moments.additions + ENTRY) + (0.0 if self.precision == "float64" else _SINGLE)
        return max(raw - moments.total, 0.0) / raw + allowance

    def _sharper(self, error: float, largest: float) -> float:
        """gamma ||D||_F (||D||_2 + gamma ||D||_F) instead of gamma ||D||_F^2.

        fl(D q) is off by gamma || |D| |q| || <= gamma ||D||_F, which D^T multiplies by at most ||D||_2. The second
        product is off by gamma || |D|^T |fl(D q)| || <= gamma ||D||_F ||fl(D q)||. Since B^T u = 0, D^T D = B^T B + W r
        r^T and ||D||_2^2 <= ||B||_2^2 + t^2 ||D||_F^2.
        """
        moments = self.moments
        raw, growth = max(moments.raw_total, moments.total), gamma(self._product_additions + ENTRY)
        means = self._share_of_means() * raw if self.center else 0.0
        spectral = math.sqrt(max(largest, 0.0) + means) + growth * math.sqrt(raw)
        return min(error, error - growth * raw + growth * math.sqrt(raw) * spectral)

    def exact_product(self, vectors: Array) -> Array:
        """If the first pass summed in float64, as on the host, its means and scales are exact."""
        exact = backend_of(self.prototype).synchronous and not self.sparse and self._given.resident
        return self.exact().normal(vectors) if exact else super().exact_product(vectors)

    def recentred_gram(self, right: Array) -> tuple[Array, float]:
        """Both parts of the mean are subtracted from the rows, so nothing cancels in the sums."""
        moments = self.moments
        base: Any = self._given.precise()
        if moments.rest is not None:
            base = base.shifted(from_numpy(moments.rest, self.prototype))
        if moments.shift is not None:
            base = base.shifted(from_numpy(moments.shift, self.prototype))
        operator: Operator = base if moments.scale is None else Scaled(base, from_numpy(moments.scale, self.prototype))
        return operator.gram(right), self._error_of_means()
