"""The data of a PCA: centred, scaled, cross-products, components, scores, reconstruction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import sympy as sp

from eckart.errors import InputError
from eckart.worked.fields import Eigenpair, tidy_root
from eckart.worked.irrational import numeric_spectrum
from eckart.worked.messages import tr
from eckart.worked.numerals import GUARD, is_exact
from eckart.worked.spectral_steps import columns
from eckart.worked.spectrum import Spectrum, spectrum
from eckart.worked.svd import canonical

DIVISORS = ("n-1", "n", "1")


@dataclass(frozen=True)
class Prepared:
    """A table ready for PCA. `centred` is not yet scaled; `variances` are the weights of scaling, if any."""

    table: sp.Matrix
    means: sp.Matrix
    centred: sp.Matrix
    divisor: sp.Expr
    variances: tuple[sp.Expr, ...] | None
    centered: bool = True
    flip: tuple[int, ...] = ()

    @cached_property
    def raw(self) -> sp.Matrix:
        """Cross-products of the centred columns."""
        return (self.centred.T * self.centred).applyfunc(sp.expand)

    @cached_property
    def used(self) -> sp.Matrix:
        """The matrix whose cross-products are taken: centred, and scaled if requested."""
        if self.variances is None:
            return self.centred
        return self.centred * sp.diag(*[1 / sp.sqrt(v) for v in self.variances])

    @cached_property
    def cross_products(self) -> sp.Matrix:
        if self.variances is None or all(variance.is_Rational for variance in self.variances):
            return (self.used.T * self.used).applyfunc(sp.expand)
        # s_ij / sqrt(v_i v_j): if the variances contain roots, the products of `used` would be sums of nested roots.
        v, size = self.variances, len(self.variances)
        return sp.Matrix(
            size,
            size,
            lambda i, j: self.divisor if i == j else self.raw[i, j] / tidy_root(sp.expand(v[i] * v[j])),
        )

    @cached_property
    def working(self) -> sp.Matrix:
        """The matrix for scores and reconstructions: decimals of 40 digits if the components are."""
        exact = all(is_exact(pair.value) for pair in self.eigenpairs)
        return self.used if exact else sp.N(self.used, GUARD)

    @cached_property
    def found(self) -> Spectrum:
        """Eigenpairs of the cross-products, with the requested signs."""
        found, roots, place = self._spectrum(), [], 0
        data = sp.Matrix.vstack(self.centred, self.used) if self.variances is None else self.centred
        for root in found.roots:
            signs = [place + i in self.flip for i in range(1, len(root.eigenpairs) + 1)]
            place += len(root.eigenpairs)
            eigenpairs = (pair.negated() if turn else pair for pair, turn in zip(root.eigenpairs, signs, strict=True))
            roots.append(replace(root, eigenpairs=tuple(pair.suited(data) for pair in eigenpairs)))
        return replace(found, roots=tuple(roots))

    @property
    def eigenpairs(self) -> tuple[Eigenpair, ...]:
        return self.found.eigenpairs

    def _spectrum(self) -> Spectrum:
        if self.variances is None:
            return spectrum(self.raw, symmetric=True)
        inverse = sp.diag(*[1 / v for v in self.variances])
        if not all(entry.is_Rational for entry in inverse * self.raw):
            # Nested roots: compute the spectrum numerically, and all that follows from it.
            nested = not all(variance.is_Rational for variance in self.variances)
            return (numeric_spectrum if nested else spectrum)(self.cross_products, symmetric=True)
        return spectrum(inverse * self.raw, weights=self.variances)

    @property
    def vectors(self) -> sp.Matrix:
        return columns([pair.unit for pair in self.eigenpairs], self.table.cols)

    @property
    def scores(self) -> sp.Matrix:
        return columns([pair.through(self.seen_by(pair)) for pair in self.eigenpairs], self.table.rows)

    def seen_by(self, pair: Eigenpair) -> sp.Matrix:
        """Components with weights apply to the unscaled columns: X D^-1/2 (D^1/2 w) = X w."""
        return self.centred if pair.weights is not None else self.working

    def projected(self, k: int) -> sp.Matrix:
        """∑ X v v^T over the first k components, in the units of PCA."""
        total = sp.zeros(*self.table.shape)
        for pair in self.eigenpairs[:k]:
            total += (
                pair.through(self.seen_by(pair)) * pair.unit.T
                if pair.weights
                else pair.outer(pair.image(self.working), pair.entries)
            )
        return total.applyfunc(canonical)

    def reconstruction(self, k: int) -> sp.Matrix:
        """The rows from k components, in the units of the table, with the mean added back."""
        near = self.projected(k)
        if self.variances is not None:
            near = near * sp.diag(*[sp.sqrt(v) for v in self.variances])
        return (near + sp.ones(self.table.rows, 1) * self.means).applyfunc(canonical)


def prepared(table: sp.Matrix, *, center: bool, scale: bool, divide: str, flip: tuple[int, ...] = ()) -> Prepared:
    """Centre and scale as requested.

    >>> prepared(sp.Matrix([[1, 3], [0, 2], [0, 0], [3, 3]]), center=True, scale=False, divide="n-1").cross_products
    Matrix([
    [6, 4],
    [4, 6]])
    """
    n = table.rows
    if n < 2:
        raise InputError(
            tr("The table has only one row, but variances need at least two rows. Enter one row for each observation.")
        )
    means = sp.Matrix([[sum(table[:, j]) / n for j in range(table.cols)]]) if center else sp.zeros(1, table.cols)
    centred = (table - sp.ones(n, 1) * means).applyfunc(sp.expand)
    divisor = {"n-1": sp.Integer(n - 1), "n": sp.Integer(n), "1": sp.Integer(1)}[divide]
    plain = Prepared(table, means, centred, divisor, None, center, flip)
    if not scale:
        return plain
    variances = tuple(plain.raw[j, j] / divisor for j in range(table.cols))
    if any(variance == 0 for variance in variances):
        column = next(j for j, variance in enumerate(variances, 1) if variance == 0)
        raise InputError(
            tr(
                "Column {number} is constant, so its standard deviation is 0 and it cannot be scaled. Leave it out.",
                number=column,
            )
        )
    return replace(plain, variances=variances)
