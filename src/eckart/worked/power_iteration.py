"""Power iteration: x <- A x / ‖A x‖ until x converges up to its sign; λ = x^T A x."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from eckart.documentation import document
from eckart.errors import InputError, ParameterError
from eckart.worked.checks import argument, whole
from eckart.worked.matrices import square, vector
from eckart.worked.messages import mark, tr, trn
from eckart.worked.numerals import GUARD, figure, text_number
from eckart.worked.solution import Equation, Solution, SolutionTable, Step
from eckart.worked.spectrum import Root, Spectrum, spectrum
from eckart.worked.svd import canonical
from eckart.worked.written_out import dot_line, squares, written

if TYPE_CHECKING:
    from eckart.worked.solution import Value

_SHOWN = 8
_ROUNDING = 8 * float(np.finfo(float).eps)
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Run:
    """The iterates of one run; `change` ignores the sign, `plain` does not."""

    iterates: list[Vector]
    quotients: list[float]
    changes: list[float]
    plain: list[float]
    converged: bool


@document
def power_iteration(given: object, start: object = None, *, eps: float = 1e-6, most: int = 200) -> Solution:
    """Find the dominant eigenpair by power iteration.

    Parameters
    ----------
    {given [square]}
    start : str, list or array, default None
        Starting vector. None uses a vector of ones.
    eps : float, default 1e-6
        Stop when the direction of the vector changes by at most this much.
    most : int, default 200
        Maximum number of iterations.

    {Returns: Solution}
        Named parts: eigenvalue, eigenvector, iterations, converged, dominant. If the iteration fails, the solution
        explains why.

    Raises
    ------
    {InputError [exact]}
    ParameterError
        If `eps` is not positive.

    {See Also: deflation, eigen}

    Examples
    --------
    >>> found = power_iteration("2 1; 3 2")
    >>> round(float(found["eigenvalue"]), 6), found["converged"]
    (3.732051, True)
    """
    a = square(given, "power_iteration", side=8)
    whole("most", most, 1, 10_000)
    if not eps > 0:
        raise ParameterError(
            tr(
                "{given} is not valid: eps must be positive, because the iteration stops when the "
                "change is at most eps.",
                given=argument("eps", eps),
            )
        )
    first = sp.ones(a.rows, 1) if start is None else vector(start, mark("The start vector"), a.rows)
    if first.is_zero_matrix:
        raise InputError(tr("The start is the zero vector, which has no direction. Use another start vector."))
    found = spectrum(a, symmetric=False)
    numbers = np.array(a.tolist(), dtype=float), np.array(first.tolist(), dtype=float).ravel()
    run = iterate(*numbers, eps, min(most, _steps_to_zero(a, first, found, most)))
    steps = (
        Step(tr("The matrix and the start vector."), numbers=(Equation("A", a), Equation("x_0", first))),
        _iteration_step(a, first, run, eps),
        _outcome(a, first, found, run, most),
        _truth(found),
    )
    value, unit = sp.Float(run.quotients[-1], 17), sp.Matrix([sp.Float(x, 17) for x in run.iterates[-1]])
    answer = (
        [Equation("λ", value), Equation("x", unit)]
        if run.converged
        else [Equation("", tr("The iteration did not converge."))]
    )
    parts = {
        "eigenvalue": value,
        "eigenvector": unit,
        "iterations": sp.Integer(len(run.iterates) - 1),
        "converged": run.converged,
        "dominant": found.roots[0].value,
    }
    return Solution(tr("Power iteration on a {rows} x {rows} matrix", rows=a.rows), steps, tuple(answer), parts)


def iterate(a: Vector, x: Vector, eps: float, most: int) -> Run:
    """Multiply and divide by the length until the direction changes by at most eps."""
    x = x / np.linalg.norm(x)
    run = Run([x], [_quotient(a, x)], [float("nan")], [float("nan")], False)
    for _ in range(most):
        y = a @ x
        length = np.linalg.norm(y)
        if length == 0:
            return run
        y = y / length
        run.iterates.append(y)
        run.quotients.append(_quotient(a, y))
        run.plain.append(_length(y - x))
        run.changes.append(min(run.plain[-1], _length(y + x)))
        x = y
        if run.changes[-1] <= eps:
            return Run(run.iterates, run.quotients, run.changes, run.plain, True)
    return run


def _steps_to_zero(a: sp.Matrix, start: sp.Matrix, found: Spectrum, most: int) -> int:
    """The number of steps before $A x$ is exactly 0, where rounding errors of decimals would continue; else `most`."""
    if all(value != 0 for value in found.values):
        return most
    image = start
    for steps in range(a.rows):  # A^t x = 0 for some t only if it is 0 for t = n
        image = (a * image).applyfunc(canonical)
        if image.is_zero_matrix:
            return steps
    return most


def _quotient(a: Vector, x: Vector) -> float:
    """The Rayleigh quotient of a unit vector; 0 if it is only rounding."""
    quotient = float(x @ a @ x)
    return quotient if abs(quotient) > _ROUNDING * np.linalg.norm(a) else 0.0


def _length(x: Vector) -> float:
    """The length of a difference of unit vectors; 0 if it is only rounding."""
    length = float(np.linalg.norm(x))
    return length if length > _ROUNDING else 0.0


def iteration_table(run: Run, name: str = "A") -> SolutionTable:
    """The first iterates and the last two: entries, Rayleigh quotient, change."""
    size, last = len(run.iterates[0]), len(run.iterates) - 1
    indices = [*range(min(_SHOWN, last) + 1), *[i for i in (last - 1, last) if i > _SHOWN]]
    rows: list[tuple[Value, ...]] = []
    for before, i in zip([-1, *indices], indices, strict=False):
        if before >= 0 and i > before + 1:
            rows.append(("$…$",) * (size + 3))
        entries = [sp.Float(x, 17) for x in run.iterates[i]]
        change = sp.Float(run.plain[i], 17) if i else ""
        rows.append((sp.Integer(i), *entries, sp.Float(run.quotients[i], 17), change))
    return SolutionTable(("t", *[f"[{j}]" for j in range(1, size + 1)], f"x^T {name} x", "δ"), tuple(rows))


def _iteration_step(a: object, start: object, run: Run, eps: float) -> Step:
    statement = tr(
        "Repeatedly multiply by $A$ and divide by the length, until the direction changes by at most {eps}.",
        eps=f"${figure(eps)}$",
    )
    formula = "x_{t+1} = A x_t / ‖A x_t‖,  δ = ‖x_{t+1} - x_t‖,  λ ≈ x^T A x"
    remark = tr(
        "Columns [1], [2], ... are the entries of $x_t / ‖x_t‖$; $x^T A x$ is the Rayleigh quotient, which estimates "
        "$λ$."
    )
    return Step(statement, formula, (iteration_table(run),), remark, more=lambda: _first_multiplication(a, start))


def _first_multiplication(a: sp.Matrix, start: sp.Matrix) -> tuple[Step, ...]:
    """A x_0 entry by entry, its length, and x_1; nothing if A x_0 = 0."""
    image = a * start
    if image.is_zero_matrix:
        return ()
    length = sp.sqrt(sum(entry**2 for entry in image))
    lines = [dot_line(f"(A x_0)_{i + 1}", a.row(i), start) for i in range(a.rows)]
    step = written([*lines, f"‖A x_0‖^2 = {squares(image)} = {text_number(length**2)}"])[0]
    return (replace(step, numbers=(*step.numbers, Equation("‖A x_0‖", length), Equation("x_1", image / length))),)


def _outcome(a: sp.Matrix, start: sp.Matrix, found: Spectrum, run: Run, most: int) -> Step:
    count = len(run.iterates) - 1
    if run.converged:
        words = trn("The direction converged after {n} step.", "The direction converged after {n} steps.", count)
    elif count < most:
        words = tr("The iteration stops because $A x = 0$, which cannot be divided by its length.")
    else:
        words = trn(
            "The direction still changes after {n} step, so the iteration has not converged.",
            "The direction still changes after {n} steps, so the iteration has not converged.",
            most,
        )
    return Step(" ".join([words, *_reasons(a, start, found)]))


def _reasons(a: sp.Matrix, start: sp.Matrix, found: Spectrum) -> list[str]:
    """Reasons for the behaviour, from the components of the start along the eigenvectors."""
    if all(value == 0 for value in found.values):
        return [tr("All eigenvalues are 0, so a power of $A$ is the zero matrix, and every start vector leads to 0.")]
    image = a * start
    if sp.Matrix.hstack(start, image).rank() == 1:
        return _from_eigenvector(start, image, found)
    top = leaders(found)
    met = [root for root in found.roots if not is_blind(a, start, root, found)]
    seen = [root for root in top if root in met]
    return _one_dominant(seen[0], top, met) if len(seen) == 1 else [_no_dominant(seen)]


def _one_dominant(root: Root, top: list[Root], met: list[Root]) -> list[str]:
    """How the iteration finds `root`, the only one of the largest eigenvalues `top` among those the start meets."""
    reasons = []
    if len(top) > 1:
        reasons.append(
            tr(
                "Two eigenvalues of opposite sign have the largest modulus, but this start vector "
                "has a part along only one of their eigenvectors. The iteration finds that "
                "eigenvalue. From another start vector, it may not converge."
            )
        )
    return [*reasons, *_approach(root, [other for other in met if other is not root])]


def _from_eigenvector(start: sp.Matrix, image: sp.Matrix, found: Spectrum) -> list[str]:
    place = next(i for i, entry in enumerate(start) if entry != 0)
    value = sp.expand(sp.radsimp(image[place] / start[place]))
    words = tr("The start vector is already an eigenvector for $λ = {value}$, so its direction never changes.",
               value=text_number(value))  # fmt: skip
    largest = max(abs(complex(sp.N(root.value, 20))) for root in found.roots)
    reasons = [words, *([_alternation()] if value.is_real and sp.N(value) < 0 else [])]
    if abs(complex(sp.N(value, 20))) < largest * (1 - 1e-12):
        reasons.append(tr("This is not the dominant eigenvalue. Use another start vector."))
    return reasons


def _alternation() -> str:
    """Why vectors that alternate in sign have converged."""
    return tr(
        "This eigenvalue is negative, so the vector changes sign at every step. The distance to the previous vector "
        "stays near 2, so the stopping rule must ignore the sign."
    )


def _no_dominant(seen: list[Root]) -> str:
    """Why the iteration does not find one dominant eigenvalue: the start meets none of them, or two."""
    if not seen:
        return tr(
            "The start vector has no part along the dominant eigenvector, so the iteration finds "
            "another eigenvalue. Only rounding errors can bring in the dominant eigenvector. Use "
            "another start vector."
        )
    if seen[0].real:
        return tr(
            "Two eigenvalues of opposite sign have the largest modulus, so the vector alternates "
            "between two directions."
        )
    return tr("The two eigenvalues of largest modulus are a complex pair, so the vector keeps rotating.")


def _approach(top: Root, others: list[Root]) -> list[str]:
    """How the iteration approaches the dominant eigenvalue that the start has a component along."""
    reasons = []
    slow = len(top.eigenpairs) < top.multiplicity
    if slow:
        reasons.append(
            tr(
                "The dominant eigenvalue has fewer eigenvectors than its multiplicity, so the convergence is "
                "slow, like $1/t$."
            )
        )
    elif top.multiplicity > 1:
        reasons.append(
            tr(
                "The dominant eigenvalue is repeated. The limit is one of its many eigenvectors and "
                "depends on the start vector."
            )
        )
    if top.real and sp.N(top.value) < 0:
        reasons.append(_alternation())
    ratio = max((abs(complex(sp.N(root.value))) for root in others), default=0.0) / abs(complex(sp.N(top.value)))
    if ratio and not slow:
        reasons.append(
            tr(
                "Each step multiplies the error by about {ratio}, the ratio of the two largest "
                "moduli of the eigenvalues.",
                ratio=figure(ratio, 3),
            )
        )
    return reasons


def leaders(found: Spectrum) -> list[Root]:
    """The roots of largest modulus."""
    sizes = [abs(complex(sp.N(root.value, 20))) for root in found.roots]
    return [root for root, size in zip(found.roots, sizes, strict=True) if size >= max(sizes) * (1 - 1e-12)]


def is_blind(a: sp.Matrix, start: sp.Matrix, root: Root, found: Spectrum) -> bool:
    """Whether the start has no component in the eigenspace of an eigenvalue.

    By the Cayley-Hamilton theorem, the product of (A - μ I)^m over all other eigenvalues μ leaves only that component.
    """
    x = start.applyfunc(lambda entry: sp.N(entry, GUARD))
    for other in found.roots:
        for _ in range(other.multiplicity if other is not root else 0):
            x = (a * x - sp.N(other.value, GUARD) * x).applyfunc(lambda entry: sp.N(entry, GUARD))
            size = max(abs(complex(entry)) for entry in x)
            if size < 1e-25:
                return True
            x = x / sp.Float(size, GUARD)
    return False


def _truth(found: Spectrum) -> Step:
    numbers = tuple(Equation(f"λ_{i}", value) for i, value in enumerate(found.values, 1))
    return Step(tr("For comparison, the roots of the characteristic polynomial."), "det(A - λ I) = 0", numbers)
