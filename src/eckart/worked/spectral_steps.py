"""Steps shared by all solutions with eigenvalues: characteristic polynomial, roots, unit eigenvectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import sympy as sp

from eckart.worked.cubic import root_steps
from eckart.worked.determinant_expansion import expansion_steps
from eckart.worked.fields import Eigenpair
from eckart.worked.messages import tr, trn
from eckart.worked.numerals import decimal, is_exact, text_number
from eckart.worked.row_reduction import null_space_steps
from eckart.worked.solution import Equation, Step
from eckart.worked.spectrum import LAMBDA, Root, Spectrum
from eckart.worked.written_out import squares, trace_steps

if TYPE_CHECKING:
    from eckart.worked.solution import Value

_WIDEST = 6
"""Systems of at most this many unknowns are written out."""


def spectral_steps(
    m: object, found: Spectrum, name: str = "M", *, vectors: bool = True, zero: bool = True
) -> tuple[Step, ...]:
    """From M to its eigenpairs; without the vectors, or without those of eigenvalue 0, if not needed."""
    exact_polynomial = not found.polynomial.as_expr().has(sp.Float)
    if not exact_polynomial:
        remark = tr(
            "Exact expressions with such entries would become too long, so the rest is computed with 40 digits."
        )
        table = tuple(Equation(f"λ_{i}", value) for i, value in enumerate(found.values, 1))
        steps: tuple[Step, ...] = (
            Step(
                tr("Eigenvalues of ${name}$.", name=name),
                remark=remark,
                numbers=table,
            ),
        )
    else:
        steps = (_polynomial_step(m, found, name), _roots_step(found))
    return steps + (
        tuple(_vector_step(m, root, found, name) for root in found.roots if zero or root.value != 0) if vectors else ()
    )


def _polynomial_step(m: sp.Matrix, found: Spectrum, name: str) -> Step:
    shifted = m - LAMBDA * sp.eye(m.rows)
    expanded = found.polynomial.as_expr()
    numbers = [Equation(f"{name} - λ I", shifted)] if m.rows <= _WIDEST else []
    numbers.append(Equation("p(λ)", expanded))
    product = sp.Mul(*[factor.as_expr() ** times for factor, times in found.factors], evaluate=False)
    if text_number(product) != text_number(expanded):
        numbers.append(Equation("p(λ)", product))
    statement = tr(
        "$λ$ is an eigenvalue if $({name} - λ I) e = 0$ has a solution other than 0, that is, if the "
        "determinant of ${name} - λ I$ is zero. Up to its sign, this determinant is the "
        "characteristic polynomial.",
        name=name,
    )
    more = partial(expansion_steps, shifted, f"det({name} - λ I)") if m.rows <= 4 else partial(trace_steps, m, name)
    return Step(statement, f"p(λ) = det(λ I - {name}) = 0", tuple(numbers), more=more)


def _roots_step(found: Spectrum) -> Step:
    remarks = []
    for factor, times in found.factors:
        roots = [root for root in found.roots if root.factor == factor]
        if not roots[0].exact:
            remarks.append(_unsolvable(factor))
        if times > 1:
            values = ", ".join(_short(root.value) for root in roots)
            remarks.append(tr("Multiplicity of ${values}$: {times}.", values=values, times=times))
    if any(not root.real for root in found.roots):
        remarks.append(tr("Some roots are complex: the matrix rotates a plane and preserves no real direction in it."))
    numbers = tuple(Equation(f"λ_{i}", value) for i, value in enumerate(found.values, 1))
    more = partial(_more_about_roots, found)
    return Step(tr("Its roots are the eigenvalues."), _root_formula(found), numbers, " ".join(remarks), more)


def _more_about_roots(found: Spectrum) -> tuple[Step, ...]:
    """Quadratics with their numbers inserted, cubics by Cardano, intervals for the rest."""
    steps: list[Step] = []
    for factor, _ in found.factors:
        if factor.degree() == 2:
            _, b, c = factor.all_coeffs()
            line = f"λ = (-({text_number(b)}) ± sqrt(({text_number(b)})^2 - 4 ({text_number(c)}))) / 2"
            inside = Equation("b^2 - 4 c", sp.expand(b * b - 4 * c))
            steps.append(Step(tr("Substitute these numbers into the quadratic formula."), line, (inside,)))
        elif factor.degree() > 2 and factor.domain.is_QQ:
            steps += root_steps(factor)
    return tuple(steps)


def _more_about_vectors(shifted: object, eigenpairs: tuple[Eigenpair, ...]) -> tuple[Step, ...]:
    """The system, its reduction, the length of each solution, and the chosen sign."""
    steps = list(null_space_steps(shifted))
    if len(eigenpairs) > 1 and all((a.direction.T * b.direction)[0] == 0 for a, b in combinations(eigenpairs, 2)):
        steps.append(
            Step(
                tr("Make the solutions orthogonal by Gram-Schmidt, then multiply them so that the numbers are simple."),
                "x_j - ∑ ((x_i · x_j) / (x_i · x_i)) x_i",
            )
        )
    for pair in eigenpairs:
        numbers = (Equation("x", pair.direction), Equation("‖x‖", pair.length), Equation("e", pair.unit))
        statement = tr("A solution with simple numbers, its length, and the unit vector.")
        steps.append(Step(statement, f"‖x‖ = sqrt({squares(pair.direction)})", numbers, _freedom(pair)))
    return tuple(steps)


def _freedom(pair: Eigenpair) -> str:
    """Which other unit vectors are eigenvectors for the same eigenvalue."""
    if not pair.real:
        return tr("Every multiple of this vector by a complex number of modulus 1 is equally valid.")
    return tr(
        "The opposite vector is equally valid. Here, the sign is chosen so that the entry with the largest "
        "absolute value is positive."
    )


def _unsolvable(factor: sp.Poly) -> str:
    shown = f"${text_number(factor.as_expr())}$"
    if factor.degree() > 4:
        return tr(
            "The factor {factor} is irreducible, and there is no general formula above degree 4. Its "
            "roots are computed to 40 digits, of which six are shown.",
            factor=shown,
        )
    return tr(
        "The factor {factor} is irreducible, so its roots are computed to 40 digits, of which six are shown.",
        factor=shown,
    )


def _root_formula(found: Spectrum) -> str:
    quadratic = any(factor.degree() == 2 for factor, _ in found.factors)
    return "λ^2 + b λ + c = 0  →  λ = (-b ± sqrt(b^2 - 4 c)) / 2" if quadratic else ""


def _vector_step(m: sp.Matrix, root: Root, found: Spectrum, name: str) -> Step:
    first = 1 + sum(r.multiplicity for r in found.roots[: found.roots.index(root)])
    statement = tr(
        "For ${root}$, solve $({name} - λ I) x = 0$ and divide by the length.",
        root=f"λ {'=' if root.exact and _is_short(root.value) else '≈'} {_short(root.value)}",
        name=name,
    )
    numbers, remark = tuple(_vector_numbers(m, root, name, first)), _dimension_remark(m, root)
    return Step(statement, numbers=numbers, remark=remark, more=_vector_details(m, root, name))


def _vector_numbers(m: sp.Matrix, root: Root, name: str, first: int) -> Iterator[Equation]:
    """The eigenvectors of a root, numbered from `first`, with their lengths if they are exact."""
    exact = root.exact and is_exact(m)
    if exact and m.rows <= 3:
        yield Equation(f"{name} - λ I", (m - root.value * sp.eye(m.rows)).applyfunc(sp.expand))
    for number, pair in enumerate(root.eigenpairs, first):
        if exact and pair.weights is None and pair.length != 1:
            yield Equation(f"x_{number}", pair.direction)
            yield Equation(f"‖x_{number}‖", pair.length)
        yield Equation(f"e_{number}", pair.unit)


def _dimension_remark(m: sp.Matrix, root: Root) -> str:
    dimension = len(root.eigenpairs)
    if dimension < root.multiplicity:
        return trn(
            "The multiplicity of the root is {multiplicity}, but it has only {n} independent "
            "eigenvector, so the matrix cannot be diagonalised.",
            "The multiplicity of the root is {multiplicity}, but it has only {n} independent "
            "eigenvectors, so the matrix cannot be diagonalised.",
            dimension,
            multiplicity=root.multiplicity,
        )
    if dimension == 1:
        return ""
    if m.is_symmetric():
        return tr(
            "The solutions form a space of dimension {dimension}. The basis chosen here is orthogonal.",
            dimension=dimension,
        )
    return tr(
        "The solutions form a space of dimension {dimension}. Any basis of this space is valid.", dimension=dimension
    )


def _vector_details(m: sp.Matrix, root: Root, name: str) -> Callable[[], tuple[Step, ...]] | None:
    """The system, by row reduction if the roots are exact, otherwise with λ as a symbol."""
    if m.rows > _WIDEST or not is_exact(m) or any(pair.weights for pair in root.eigenpairs):
        return None
    if root.exact and root.factor.degree() <= 2:
        shifted = (m - root.value * sp.eye(m.rows)).applyfunc(sp.expand)
        return partial(_more_about_vectors, shifted, root.eigenpairs)
    if root.real and root.factor.domain.is_QQ and all(map(_is_in_letter, root.eigenpairs)):
        return partial(_by_letter, root, name)
    return None


def _is_in_letter(pair: Eigenpair) -> bool:
    """Whether the entries are polynomials in λ."""
    return all(hasattr(x, "to_list") for x in pair.entries)


def _by_letter(root: Root, name: str) -> tuple[Step, ...]:
    """The eigenvector as a polynomial in λ, the same for all roots of one factor."""
    statement = tr(
        "Solve with $λ$ as a symbol, and use $p(λ) = 0$ to reduce its powers. The same vector is "
        "valid for all roots of this factor. Substitute the root and divide by the length."
    )
    steps = []
    for pair in root.eigenpairs:
        letters = sp.Matrix([sp.Poly([sp.QQ.to_sympy(c) for c in x.to_list()] or [0], LAMBDA).as_expr()
                             for x in pair.entries])  # fmt: skip
        factor = Equation("p(λ)", root.factor.as_expr())
        numbers = (factor, Equation("x(λ)", letters), Equation("x", pair.direction), Equation("‖x‖", pair.length))
        steps.append(Step(statement, f"({name} - λ I) x(λ) = 0", numbers))
    return tuple(steps)


def _short(value: object) -> str:
    return text_number(value) if _is_short(value) else decimal(value)


def _is_short(value: object) -> bool:
    return len(text_number(value)) < 40


def columns(vectors: list[Value], rows: int) -> sp.Matrix:
    """Vectors side by side."""
    return sp.Matrix.hstack(*vectors) if vectors else sp.zeros(rows, 0)
