"""The data of a PCA before and after: centred, scaled, cross-products, axes, scores, reconstruction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import sympy as sp

from eckart.errors import InputError
from eckart.worked.fields import Axis
from eckart.worked.spectral_steps import columns
from eckart.worked.spectrum import Spectrum, spectrum
from eckart.worked.svd import settled

DIVISORS = ("n-1", "n", "1")


@dataclass(frozen=True)
class Prepared:
    """A table ready for PCA. `centred` is not yet scaled; `variances` are the weights of scaling, if any."""

    table: Any
    means: Any
    centred: Any
    divisor: Any
    variances: tuple[Any, ...] | None
    centered: bool = True
    flip: tuple[int, ...] = ()

    @cached_property
    def raw(self) -> Any:
        """Cross-products of the centred columns."""
        return (self.centred.T * self.centred).applyfunc(sp.expand)

    @cached_property
    def used(self) -> Any:
        """The matrix whose cross-products are taken: centred, and scaled if asked."""
        if self.variances is None:
            return self.centred
        return self.centred * sp.diag(*[1 / sp.sqrt(v) for v in self.variances])

    @cached_property
    def cross_products(self) -> Any:
        return (self.used.T * self.used).applyfunc(sp.expand)

    @cached_property
    def found(self) -> Spectrum:
        """Eigenpairs of the cross-products, signs as asked."""
        found, roots, place = self._spectrum(), [], 0
        data = sp.Matrix.vstack(self.centred, self.used) if self.variances is None else self.centred
        for root in found.roots:
            signs = [place + i in self.flip for i in range(1, len(root.axes) + 1)]
            place += len(root.axes)
            axes = (axis.turned() if turn else axis for axis, turn in zip(root.axes, signs, strict=True))
            roots.append(replace(root, axes=tuple(axis.suited(data) for axis in axes)))
        return replace(found, roots=tuple(roots))

    @property
    def axes(self) -> tuple[Axis, ...]:
        return self.found.axes

    def _spectrum(self) -> Spectrum:
        if self.variances is None:
            return spectrum(self.raw, symmetric=True)
        inverse = sp.diag(*[1 / v for v in self.variances])
        if not all(entry.is_Rational for entry in inverse * self.raw):
            return spectrum(self.cross_products, symmetric=True)
        return spectrum(inverse * self.raw, weights=self.variances)

    @property
    def vectors(self) -> Any:
        return columns([axis.unit for axis in self.axes], self.table.cols)

    @property
    def scores(self) -> Any:
        return columns([axis.through(self.seen_by(axis)) for axis in self.axes], self.table.rows)

    def seen_by(self, axis: Axis) -> Any:
        """An axis with weights works on the columns before scaling: X D^-1/2 (D^1/2 w) = X w."""
        return self.centred if axis.weights is not None else self.used

    def projected(self, k: int) -> Any:
        """∑ X v v^T over the first k axes, in the units of PCA."""
        total = sp.zeros(*self.table.shape)
        for axis in self.axes[:k]:
            total += (
                axis.through(self.seen_by(axis)) * axis.unit.T
                if axis.weights
                else axis.outer(axis.image(self.used), axis.entries)
            )
        return total.applyfunc(settled)

    def reconstruction(self, k: int) -> Any:
        """The rows from k axes, in the units of the table, mean added again."""
        near = self.projected(k)
        if self.variances is not None:
            near = near * sp.diag(*[sp.sqrt(v) for v in self.variances])
        return (near + sp.ones(self.table.rows, 1) * self.means).applyfunc(settled)


def prepared(table: Any, *, center: bool, scale: bool, divide: str, flip: tuple[int, ...] = ()) -> Prepared:
    """Centre and scale as asked.

    >>> prepared(sp.Matrix([[1, 3], [0, 2], [0, 0], [3, 3]]), center=True, scale=False, divide="n-1").cross_products
    Matrix([
    [6, 4],
    [4, 6]])
    """
    n = table.rows
    if n < 2:
        raise InputError("The table has one row. Variances need at least two: give one row for each observation.")
    means = sp.Matrix([[sum(table[:, j]) / n for j in range(table.cols)]]) if center else sp.zeros(1, table.cols)
    centred = (table - sp.ones(n, 1) * means).applyfunc(sp.expand)
    divisor = {"n-1": sp.Integer(n - 1), "n": sp.Integer(n), "1": sp.Integer(1)}[divide]
    plain = Prepared(table, means, centred, divisor, None, center, flip)
    if not scale:
        return plain
    variances = tuple(plain.raw[j, j] / divisor for j in range(table.cols))
    if any(variance == 0 for variance in variances):
        column = next(j for j, variance in enumerate(variances, 1) if variance == 0)
        raise InputError(f"Column {column} does not vary, so it has no standard deviation to divide by. Leave it out.")
    return replace(plain, variances=variances)
