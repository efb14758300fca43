"""Eigenvalues and eigenvectors, exact if square roots can express them: M x = λ x.

The characteristic polynomial is split into irreducible factors over the rationals. Factors of degree one and two, and
λ^4 + b λ^2 + c, have roots that square roots can express. Other roots are given to 40 digits, and `exact` is False.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import mpmath  # type: ignore[import-untyped]
import sympy as sp
from sympy.polys.matrices import DomainMatrix

from eckart.worked.fields import Eigenpair, polynomial_at, reciprocal, tidy_root
from eckart.worked.numerals import GUARD, is_exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eckart.worked.solution import Value

LAMBDA = sp.Symbol("lambda")


@dataclass(frozen=True)
class Root:
    """A root of the characteristic polynomial, with its multiplicity and eigenvectors."""

    value: sp.Expr
    factor: sp.Poly
    multiplicity: int
    eigenpairs: tuple[Eigenpair, ...]

    @property
    def exact(self) -> bool:
        return is_exact(self.value)

    @property
    def real(self) -> bool:
        return is_real(self.value)


@dataclass(frozen=True)
class Spectrum:
    """All roots, largest first."""

    polynomial: sp.Poly
    factors: tuple[tuple[Value, int], ...]
    roots: tuple[Root, ...]

    @property
    def eigenpairs(self) -> tuple[Eigenpair, ...]:
        return tuple(pair for root in self.roots for pair in root.eigenpairs)

    def positive(self, above: float) -> list[Eigenpair]:
        """Eigenpairs whose values exceed `above`, which separates them from zeros with rounding errors."""
        return [pair for pair in self.eigenpairs if sp.N(pair.value) > above]

    @property
    def values(self) -> tuple[Value, ...]:
        """Each eigenvalue, repeated by its multiplicity."""
        return tuple(root.value for root in self.roots for _ in range(root.multiplicity))

    @property
    def exact(self) -> bool:
        return all(root.exact for root in self.roots)


def spectrum(matrix: sp.Matrix, *, symmetric: bool | None = None, weights: tuple[Value, ...] | None = None) -> Spectrum:
    """The eigenpairs of a square matrix; for a symmetric one the vectors of each eigenvalue are orthogonal.

    With weights, the matrix is D^-1 S for a symmetric S and D = diag(weights); the vectors are those of D^-1/2 S
    D^-1/2.

    >>> found = spectrum(sp.Matrix([[2, 1], [3, 2]]))
    >>> found.values, found.eigenpairs[0].unit.T
    ((sqrt(3) + 2, 2 - sqrt(3)), Matrix([[1/2, sqrt(3)/2]]))
    """
    symmetric = (weights is not None or matrix.is_symmetric()) if symmetric is None else symmetric
    if not all(entry.is_Rational for entry in matrix):
        from eckart.worked.irrational import irrational_spectrum

        return irrational_spectrum(matrix, symmetric)
    over = DomainMatrix.from_Matrix(matrix).convert_to(sp.QQ)
    polynomial = sp.Poly([sp.QQ.to_sympy(c) for c in over.charpoly()], LAMBDA, domain=sp.QQ)
    factors = tuple((factor.monic(), times) for factor, times in polynomial.factor_list()[1])
    roots = [root for factor, times in factors for root in _family(over, factor, times, symmetric, weights)]
    return Spectrum(polynomial, factors, tuple(sorted(roots, key=lambda root: _rank(root, symmetric))))


def factor_roots(factor: sp.Poly) -> list[Value]:
    """Roots of an irreducible polynomial over the rationals, by square roots if possible, otherwise to 40 digits."""
    coefficients = factor.monic().all_coeffs()
    if len(coefficients) == 2:
        return [-coefficients[1]]
    if len(coefficients) == 3:
        _, b, c = coefficients
        width = sp.sqrt(b * b - 4 * c)
        return [sp.expand((-b + width) / 2), sp.expand((-b - width) / 2)]
    if len(coefficients) == 5 and coefficients[1] == coefficients[3] == 0:
        squares = factor_roots(sp.Poly([1, coefficients[2], coefficients[4]], LAMBDA))
        if all(square.is_real and square > 0 for square in squares):
            first, second = map(tidy_root, squares)
            return [first, -first, second, -second]
    return [_real_if_real(root) for root in _numeric_roots(factor)]


def _numeric_roots(factor: sp.Poly) -> list[sp.Expr]:
    """Roots to many digits: simultaneous iteration, or isolation by exact arithmetic if that does not converge."""
    try:
        return list(factor.nroots(n=GUARD, maxsteps=500))
    except mpmath.mp.NoConvergence:  # roots of very different magnitude
        return [root.evalf(GUARD) for root in factor.all_roots(radicals=False)]


def kernel(matrix: DomainMatrix, symmetric: bool, weights: tuple[Value, ...] | None = None) -> list[tuple[Value, ...]]:
    """A basis of the null space over the matrix's field, scaled to simple numbers; orthogonal if requested."""
    rows = _identity(matrix) if matrix.is_zero_matrix else matrix.to_field().nullspace().to_list()
    vectors = [_whole(tuple(row)) for row in rows]
    if not symmetric or len(vectors) == 1:
        return vectors
    return _orthogonal(vectors, [sp.QQ.from_sympy(w) for w in weights or [sp.Integer(1)] * matrix.shape[1]])


def oriented(pair: Eigenpair) -> Eigenpair:
    """The simplest multiple of a vector, with a positive largest entry."""
    axis = _simplest(pair)
    weights = axis.weights or [1] * len(axis.entries)
    numbers = [sp.N(x, 15) for x in axis.direction]
    sizes = [_modulus(number) * sp.N(sp.sqrt(w), 15) for number, w in zip(numbers, weights, strict=True)]
    largest = max(sizes)
    first = next(place for place, size in enumerate(sizes) if size > largest * (1 - sp.Float(1e-9)))
    return axis.negated() if sp.re(numbers[first]) < 0 else axis


def _modulus(number: sp.Expr) -> sp.Expr:
    real, imaginary = number.as_real_imag()
    return sp.sqrt(real * real + imaginary * imaginary)


def _simplest(pair: Eigenpair) -> Eigenpair:
    """Without fractions and common factors, as it is written: (4, 3 + sqrt(33)) for (2, 3/2 + sqrt(33)/2)."""
    terms = [term.as_coeff_Mul() for entry in pair.direction for term in sp.Add.make_args(entry) if entry != 0]
    if not all(number.is_Rational and not other.has(sp.Float) for number, other in terms):
        return pair
    scale = _to_integers([number for number, _ in terms])
    return pair if scale == 1 else replace(pair, entries=tuple(entry * scale for entry in pair.entries))


def _family(
    over: DomainMatrix, factor: sp.Poly, times: int, symmetric: bool, weights: tuple[Value, ...] | None
) -> list[Root]:
    """All roots of one factor, with their eigenvectors from one computation in the field of the factor."""
    field, generator, values = sp.QQ, None, factor_roots(factor)
    if factor.degree() == 1:
        generator = sp.QQ.from_sympy(values[0])
    else:
        field = sp.QQ.algebraic_field((factor, values[0]), alias="lambda")  # any root: it only names the field
        generator = field([1, 0])
    shifted = over.convert_to(field) - DomainMatrix.eye(over.shape[0], field) * generator
    basis = kernel(shifted, symmetric, weights)
    found = []
    for value in values:
        at_root, real = polynomial_at(value), is_real(value)
        eigenpairs = tuple(oriented(Eigenpair(value, vector, at_root, real, weights)) for vector in basis)
        found.append(Root(value, factor, times, eigenpairs))
    return found


def _whole(entries: tuple[Value, ...]) -> tuple[Value, ...]:
    """The simplest multiple: integers without a common divisor, or elements of a field with short coefficients."""
    numbers = _coefficients(entries)
    if any(isinstance(c, sp.Basic) for c in numbers):
        return entries
    pivots = [entry for entry in entries if entry] if len(numbers) > len(entries) else []
    multiples = [entries, *(tuple(entry * inverse for entry in entries) for inverse in map(reciprocal, pivots))]
    return min(map(_scaled, multiples), key=lambda one: sum(len(str(c)) for c in _coefficients(one)))


def _coefficients(entries: tuple[Value, ...]) -> list[Value]:
    return [c for entry in entries for c in (entry.to_list() if hasattr(entry, "to_list") else [entry])]


def _scaled(entries: tuple[Value, ...]) -> tuple[Value, ...]:
    """Multiplied by the common denominator and divided by the common divisor of all coefficients."""
    scale = _to_integers([sp.QQ.to_sympy(c) for c in _coefficients(entries) if c])
    return tuple(entry * scale for entry in entries)


def _to_integers(fractions: list[sp.Rational]) -> Value:
    """The factor that makes fractions integers without a common divisor."""
    below = sp.ilcm(1, *[fraction.q for fraction in fractions])
    above = sp.igcd(0, *[fraction.p * (below // fraction.q) for fraction in fractions])
    return sp.QQ(int(below), int(above) or 1)


def _orthogonal(vectors: list[tuple[Value, ...]], weights: list[Value]) -> list[tuple[Value, ...]]:
    """Gram-Schmidt without roots: x - (x.y / y.y) y."""
    done: list[tuple[Value, ...]] = []
    for vector in vectors:
        rest = list(vector)
        for other in done:
            share = _dot(rest, other, weights) / _dot(other, other, weights)
            rest = [a - share * b for a, b in zip(rest, other, strict=True)]
        done.append(_whole(tuple(rest)))
    return done


def _dot(first: Sequence[Value], second: Sequence[Value], weights: list[Value]) -> Value:
    terms = [a * b * w for a, b, w in zip(first, second, weights, strict=True)]
    return sum(terms[1:], terms[0])


def _identity(matrix: DomainMatrix) -> list[list[Value]]:
    return DomainMatrix.eye(matrix.shape[1], matrix.to_field().domain).to_list()  # type: ignore[no-any-return]


def is_real(value: object) -> bool:
    return bool(sp.im(value) == 0)


def _real_if_real(value: sp.Expr) -> sp.Expr:
    return value if value.is_real else sp.Add(sp.re(value), sp.im(value) * sp.I)


def _rank(root: Root, symmetric: bool) -> tuple[float, float, float]:
    number = complex(sp.N(root.value, 20))
    if symmetric:
        return (-number.real, 0.0, 0.0)
    return (-round(abs(number), 12), -number.real, -number.imag)
