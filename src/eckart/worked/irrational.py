"""Eigenpairs of matrices with entries that are not fractions: roots such as sqrt(2), or decimals.

With few roots the computation is exact in the field that they span. Otherwise it uses 40 digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from eckart.worked.fields import Eigenpair, tidy_root
from eckart.worked.numerals import GUARD, is_exact
from eckart.worked.spectrum import LAMBDA, Root, Spectrum, factor_roots, is_real, kernel, oriented

if TYPE_CHECKING:
    from sympy.polys.domains.domain import Domain

    from eckart.worked.solution import Value

_LARGEST_FIELD = 4


def irrational_spectrum(matrix: object, symmetric: bool) -> Spectrum:
    """Exact in the field of the entries if that is small, otherwise numerical."""
    found = _exact_spectrum(matrix, symmetric) if is_exact(matrix) else None
    return found or numeric_spectrum(matrix, symmetric)


def _exact_spectrum(matrix: sp.Matrix, symmetric: bool) -> Spectrum | None:
    roots = sorted(matrix.atoms(sp.Pow), key=str)
    if len(roots) > 3:
        return None
    field = sp.QQ.algebraic_field(*roots)
    if field.mod.degree() > _LARGEST_FIELD:
        return None
    over = DomainMatrix.from_Matrix(matrix, field=True).convert_to(field)
    polynomial = sp.Poly.from_list([_number(field, c) for c in over.charpoly()], LAMBDA, extension=True)
    factors = tuple((factor.monic(), times) for factor, times in polynomial.factor_list()[1])
    if any(factor.degree() > 2 for factor, _ in factors):
        return None
    found = _roots(over, roots, factors, symmetric)
    return None if found is None else Spectrum(sp.Poly(polynomial.as_expr(), LAMBDA), factors, found)


def _roots(
    over: DomainMatrix, roots: list[Value], factors: tuple[tuple[Value, int], ...], symmetric: bool
) -> tuple[Root, ...] | None:
    """The roots of all factors, largest first; None if one of them has no eigenvectors in a small field."""
    found: list[Root] = []
    for factor, times in factors:
        for value in _values(factor):
            root = _root(over, roots, value, factor, times, symmetric)
            if root is None:
                return None
            found.append(root)
    return tuple(sorted(found, key=lambda root: _rank(root.value, symmetric)))


def _rank(value: sp.Expr, symmetric: bool) -> float:
    """Sort key: the largest value first, or the largest modulus for matrices that are not symmetric."""
    return -float(sp.N(sp.re(value) if symmetric else abs(value)))


def _values(factor: sp.Poly) -> list[Value]:
    coefficients = [sp.expand(c) for c in factor.monic().all_coeffs()]
    if all(c.is_Rational for c in coefficients):
        return factor_roots(sp.Poly(coefficients, LAMBDA))
    if len(coefficients) == 2:
        return [-coefficients[1]]
    _, b, c = coefficients
    width = tidy_root(sp.expand(b * b - 4 * c))
    return [sp.expand((-b + width) / 2), sp.expand((-b - width) / 2)]


def _root(
    over: DomainMatrix, roots: list[Value], value: sp.Expr, factor: object, times: int, symmetric: bool
) -> Root | None:
    """The eigenvectors of one eigenvalue, in the field of the entries and the eigenvalue."""
    more = [root for root in value.atoms(sp.Pow) if root not in roots]
    field = sp.QQ.algebraic_field(*roots, *more)
    if field.mod.degree() > _LARGEST_FIELD or not value.is_real:
        return None
    shifted = over.convert_to(field) - DomainMatrix.eye(over.shape[0], field) * field.from_sympy(value)

    def at_root(element: object) -> sp.Expr:
        return _number(field, element)

    eigenpairs = tuple(
        oriented(Eigenpair(value, vector, at_root, lift=field.from_sympy)) for vector in kernel(shifted, symmetric)
    )
    return Root(value, factor, times, eigenpairs)


def _number(field: Domain, element: Value) -> sp.Expr:
    return sp.expand(sp.radsimp(sp.expand(field.to_sympy(element))))


def _numeric_root(value: Value, vector: list[Value]) -> Root:
    pair = oriented(Eigenpair(value, tuple(vector), _same, is_real(value), lift=_same))
    return Root(value, sp.Poly(LAMBDA - value, LAMBDA), 1, (pair,))


def numeric_spectrum(matrix: sp.Matrix, symmetric: bool) -> Spectrum:
    """Eigenpairs to many digits."""
    import mpmath  # type: ignore[import-untyped]

    with mpmath.workdps(GUARD + 20):
        given = mpmath.matrix(sp.N(matrix, GUARD + 20).tolist())
        values, vectors = mpmath.eigsy(given) if symmetric else mpmath.eig(given)
        pairs = [(_sympy(values[i]), [_sympy(vectors[j, i]) for j in range(matrix.rows)]) for i in range(matrix.rows)]
    floor = max(abs(value) for value, _ in pairs) * sp.Float("1e-30")
    pairs = [(value if abs(value) > floor else sp.Integer(0), vector) for value, vector in pairs]
    pairs.sort(key=lambda pair: _rank(pair[0], symmetric))
    polynomial = sp.Poly(sp.expand(sp.prod([LAMBDA - value for value, _ in pairs])), LAMBDA)
    roots = [_numeric_root(value, vector) for value, vector in pairs]
    return Spectrum(polynomial, tuple((root.factor, 1) for root in roots), tuple(roots))


def _same(entry: object) -> sp.Expr:
    return entry


def _sympy(number: object) -> sp.Expr:
    """An mpmath number as a SymPy one; real if the imaginary part is rounding."""
    import mpmath

    value = mpmath.mpmathify(number)
    if abs(mpmath.im(value)) <= mpmath.mpf(10) ** (-GUARD) * max(1, abs(value)):
        return sp.Float(mpmath.re(value), GUARD)
    return sp.Float(mpmath.re(value), GUARD) + sp.I * sp.Float(mpmath.im(value), GUARD)
