"""Exact eigenvectors without nested roots: linear algebra in the field of one eigenvalue.

For an irreducible factor f of the characteristic polynomial, (M - λ I) x = 0 is solved with polynomials in λ modulo f.
The result holds for every root of f at once; roots are inserted at the end. The square of each entry of a unit vector,
x_i^2 / (x^T x), is thus found without a nested root, and only then its root is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy as sp
from sympy.polys.polyerrors import CoercionFailed

from eckart.worked.numerals import GUARD

if TYPE_CHECKING:
    from eckart.worked.solution import Value

Element = Any
"""A member of the field: it can be added, multiplied and divided."""


@dataclass(frozen=True)
class Eigenpair:
    """An eigenvalue with one eigenvector, of any length: M x = λ x.

    With weights w it represents the vector with entries sqrt(w_i) x_i. Eigenvectors of correlation matrices, whose
    entries are roots, therefore come from matrices of fractions.
    """

    value: sp.Expr
    entries: tuple[Element, ...]
    at_root: Callable[[Element], sp.Expr]
    real: bool = True
    weights: tuple[Value, ...] | None = None
    lift: Callable[[sp.Expr], Element] = sp.QQ.from_sympy

    @cached_property
    def squares(self) -> list[Element]:
        """w_i x_i^2, in the field; without weights x_i^2."""
        if self.weights is None:
            return [x * x for x in self.entries]
        return [x * x * self.lift(w) for x, w in zip(self.entries, self.weights, strict=True)]

    @cached_property
    def squared_length(self) -> Element:
        """∑ w_i x_i^2, in the field."""
        return sum(self.squares[1:], self.squares[0])

    @cached_property
    def direction(self) -> sp.Matrix:
        """x as a column of numbers."""
        return sp.Matrix([self.at_root(entry) for entry in self.entries])

    @cached_property
    def length(self) -> sp.Expr:
        """‖x‖."""
        if self.real:
            return tidy_root(self.at_root(self.squared_length))
        return tidy_root(sp.expand(sum(sp.expand(x * sp.conjugate(x)) for x in self.direction)))

    @cached_property
    def unit(self) -> sp.Matrix:
        """x / ‖x‖."""
        if not self.real:
            return self.direction.applyfunc(lambda x: sp.radsimp(sp.expand(x) / self.length))
        pairs, inverse = zip(self.entries, self.squares, strict=True), reciprocal(self.squared_length)
        return sp.Matrix([_signed_root(self.at_root(x), self.at_root(s * inverse)) for x, s in pairs])

    def scaled(self, entries: Sequence[Element], squared: Element) -> sp.Matrix:
        """y / sqrt(s) for y and s of the field: each entry is the signed root of y_i^2 / s."""
        inverse = reciprocal(squared)
        return sp.Matrix([_signed_root(self.at_root(y), self.at_root(y * y * inverse)) for y in entries])

    def through(self, matrix: object, squared: Element | None = None) -> sp.Matrix:
        """A x / ‖x‖, or A x / sqrt(squared): scores, left singular vectors."""
        return self.scaled(self.image(matrix), self.squared_length if squared is None else squared)

    def image(self, matrix: sp.Matrix) -> list[Element]:
        """A x, in the field; A has rational entries, or the field's own."""
        return [self._dot(matrix[i, :]) for i in range(matrix.rows)]

    def outer(self, left: Sequence[Element], right: Sequence[Element], squared: Element | None = None) -> sp.Matrix:
        """left right^T / s at the root: one term of A = ∑ σ u v^T."""
        inverse = reciprocal(self.squared_length if squared is None else squared)
        return sp.Matrix([[self.at_root(a * b) for b in right] for a in (a * inverse for a in left)])

    def suited(self, matrix: sp.Matrix) -> Eigenpair:
        """The pair for computations with this matrix: as expressions, if the field does not contain its entries."""
        try:
            for entry in matrix:
                self.lift(entry)
        except CoercionFailed:
            return replace(self, entries=tuple(self.direction), at_root=rationalised, lift=_itself)
        return self

    def negated(self) -> Eigenpair:
        """The same direction with the opposite sign."""
        return replace(self, entries=tuple(-entry for entry in self.entries))

    def _dot(self, row: sp.Matrix) -> Element:
        zero = self.entries[0] - self.entries[0]
        return sum((x * self.lift(a) for a, x in zip(row, self.entries, strict=True)), zero)


def _itself(number: sp.Expr) -> sp.Expr:
    return number


def rationalised(value: sp.Expr) -> sp.Expr:
    return sp.expand(sp.radsimp(sp.expand(value)))


def reciprocal(element: Element) -> Element:
    """1 / element; division is expensive in these fields, so it is done once."""
    return element**-1


def polynomial_at(root: sp.Expr) -> Callable[[Element], sp.Expr]:
    """Evaluate a polynomial modulo its minimal polynomial at a root."""

    rounded, (real, imaginary) = root.has(sp.Float), root.as_real_imag()
    powers = [sp.Integer(1)]

    def evaluate(element: Element) -> sp.Expr:
        coefficients = [sp.QQ.to_sympy(c) for c in (element.to_list() if hasattr(element, "to_list") else [element])]
        if rounded:
            return by_horner(coefficients)
        while len(powers) < len(coefficients):
            powers.append(sp.expand(powers[-1] * root))
        # Powers are sums of expanded terms, over which SymPy distributes a rational factor.
        return sp.Add(*(c * power for c, power in zip(reversed(coefficients), powers, strict=False)))

    def by_horner(coefficients: list[sp.Rational]) -> sp.Expr:
        x, y = sp.Integer(0), sp.Integer(0)
        for c in coefficients:
            if imaginary == 0:
                x = x * real + c
            else:
                x, y = x * real - y * imaginary + c, x * imaginary + y * real
        value = x + y * sp.I
        return value if root.is_Float or value == 0 else sp.N(value, GUARD)

    return evaluate


def tidy_root(square: sp.Expr) -> sp.Expr:
    """sqrt(square), with nested roots simplified if possible.

    >>> tidy_root(3 + 2 * sp.sqrt(2)), tidy_root(2 + sp.sqrt(5)), tidy_root((3 + sp.sqrt(5)) / 2)
    (1 + sqrt(2), sqrt(2 + sqrt(5)), 1/2 + sqrt(5)/2)
    """
    if square.has(sp.Float):
        return sp.sqrt(square)
    root = sp.sqrt(square)
    return root if square.is_Rational else sp.expand(sp.radsimp(sp.sqrtdenest(root)))


def _signed_root(value: object, square: sp.Expr) -> sp.Expr:
    if value == 0:
        return sp.Integer(0)
    if square.has(sp.Float):
        square = abs(square)
    return tidy_root(square) * (1 if sp.N(value, 20) > 0 else -1)
