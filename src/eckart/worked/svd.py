"""Singular value decomposition from A^T A: A = U Σ V^T, σ_i = sqrt(λ_i), u_i = A v_i / σ_i."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

from eckart.documentation import document
from eckart.options import check_choice
from eckart.worked.checks import whole
from eckart.worked.determinant_expansion import product_steps
from eckart.worked.fields import Eigenpair, tidy_root
from eckart.worked.matrices import matrix
from eckart.worked.messages import tr, trn
from eckart.worked.numerals import GUARD
from eckart.worked.pictures import unit_circle
from eckart.worked.solution import Equation, Solution, Step
from eckart.worked.spectral_steps import columns, spectral_steps
from eckart.worked.spectrum import Spectrum, spectrum
from eckart.worked.written_out import inner_steps

if TYPE_CHECKING:
    from eckart.worked.solution import Value


@dataclass(frozen=True)
class Factors:
    """The SVD of A in its field representation; vectors belong to the nonzero singular values."""

    a: sp.Matrix
    found: Spectrum
    eigenpairs: tuple[Eigenpair, ...]

    @property
    def values(self) -> list[Value]:
        return [tidy_root(pair.value) for pair in self.eigenpairs]

    @property
    def right(self) -> sp.Matrix:
        return columns([pair.unit for pair in self.eigenpairs], self.a.cols)

    @property
    def left(self) -> sp.Matrix:
        """u_i = A x / ‖A x‖, with ‖A x‖^2 = x^T A^T A x."""
        return columns([pair.scaled(*_image(pair, self.a)) for pair in self.eigenpairs], self.a.rows)

    def approximation(self, k: int) -> sp.Matrix:
        """∑ σ_i u_i v_i^T over the first k, that is ∑ A v_i v_i^T."""
        total = sp.zeros(*self.a.shape)
        for pair in self.eigenpairs[:k]:
            total += pair.outer(pair.image(self.a), pair.entries)
        return total.applyfunc(canonical)

    def error_squared(self, k: int) -> sp.Expr:
        return canonical(sum((pair.value for pair in self.eigenpairs[k:]), sp.Integer(0)))


def factors(a: sp.Matrix) -> Factors:
    """The SVD of an exact matrix."""
    found = spectrum(a.T * a, symmetric=True)
    return Factors(a, found, tuple(pair.suited(a) for pair in found.eigenpairs if pair.value != 0))


def canonical(value: sp.Expr) -> sp.Expr:
    """Sums of conjugates should be rational: remove remaining rounding of about 1e-30.

    >>> canonical(sp.Float("2.9999999999999999999999999999999999999999", 40))
    3
    """
    if value.is_Rational:
        return value
    value = value if value.is_Float else sp.expand(value)
    if not value.has(sp.Float):
        return sp.radsimp(value) if value.has(sp.Pow) else value
    near = sp.floor(sp.N(value, GUARD) + sp.Rational(1, 2)) if value.is_real else value
    return near if abs(value - near) < sp.Float("1e-30") * (1 + abs(value)) else value


@document
def svd(given: object, k: int | None = None, *, form: str = "compact") -> Solution:
    """Compute the singular value decomposition of a matrix.

    Parameters
    ----------
    {given [12 x 8]}
    k : int, default None
        Rank of the truncated decomposition, which is shown with its error. None does not truncate.
    form : {'compact', 'full'}, default 'compact'
        'compact' keeps only the singular values that are not zero. 'full' makes U and V square.

    {Returns: Solution}
        Named parts: U, S, V, singular_values, rank; with `k` also approximation and error_squared.

    {Raises: InputError [exact]; See Also: bounds, pseudo_inverse, eckart.TruncatedSVD}

    Examples
    --------
    >>> found = svd("3 0; 4 5")
    >>> found["singular_values"].T
    Matrix([[3*sqrt(5), sqrt(5)]])
    """
    check_choice("form", form, ("compact", "full"))
    a = matrix(given, "svd", rows=12, columns=8)
    parts = factors(a)
    rank = len(parts.eigenpairs)
    check_k(k, rank)
    values, left, right = parts.values, parts.left, parts.right
    diagonal = sp.diag(*values) if rank else sp.zeros(0, 0)
    steps = [
        Step(tr("The matrix."), numbers=(Equation("A", a),)),
        gram_step(a),
        *spectral_steps(a.T * a, parts.found, "A^T A"),
        *_factor_steps(parts, values, left),
    ]
    answer = [Equation("U", left), Equation("Σ", diagonal), Equation("V", right)]
    named = {"singular_values": sp.Matrix(values), "U": left, "S": diagonal, "V": right, "rank": sp.Integer(rank)}
    if form == "full":
        whole = full(a, left, right, values)
        steps.append(_full_step(whole))
        named |= dict(zip(("U", "S", "V"), whole, strict=True))
        answer = [Equation(name, value) for name, value in zip(("U", "Σ", "V"), whole, strict=True)]
    if k is not None and k < rank:
        steps.append(truncation_step(parts, k))
        named |= {"approximation": parts.approximation(k), "error_squared": parts.error_squared(k)}
        answer += [
            Equation(f"A_{k}", named["approximation"]),
            Equation(f"‖A - A_{k}‖_F", tidy_root(named["error_squared"])),
        ]
    return Solution(
        tr("Singular value decomposition of a {rows} x {cols} matrix", rows=a.rows, cols=a.cols),
        tuple(steps),
        tuple(answer),
        named,
        figures=(partial(unit_circle, a, right),) if a.shape in {(2, 2), (3, 3)} else (),
    )


def _factor_steps(parts: Factors, values: list[Value], left: sp.Matrix) -> list[Step]:
    rank = len(values)
    zero = parts.a.cols - rank
    remark = tr("All eigenvalues are 0, so the rank is 0.") if not rank else trn(
        "{n} eigenvalue is not zero, so the rank is {n}.", "{n} eigenvalues are not zero, so the rank is {n}.", rank
    )  # fmt: skip
    if zero:
        null = trn(
            "The eigenvector for the eigenvalue 0 spans the null space of $A$.",
            "The {n} eigenvectors for the eigenvalue 0 span the null space of $A$.",
            zero,
        )
        remark = f"{remark} {null}"
    numbers = tuple(Equation(f"σ_{i}", value) for i, value in enumerate(values, 1))
    vectors = tuple(Equation(f"u_{i + 1}", left[:, i]) for i in range(rank))
    product = parts.approximation(rank)
    left_vectors = Step(
        tr("Left singular vectors: multiply $A$ by each right singular vector and divide by its singular value."),
        "u_i = A v_i / σ_i",
        vectors,
        more=partial(product_steps, parts.a, parts.right, "(A V)") if parts.a.rows <= 8 else None,
    )
    return [
        Step(
            tr("The singular values of $A$ are the square roots of these eigenvalues."),
            "σ_i = sqrt(λ_i)",
            numbers,
            remark,
        ),
        *([left_vectors] if rank else []),
        Step(
            tr("Check: the product equals the matrix."),
            "A = U Σ V^T = σ_1 u_1 v_1^T + …",
            (Equation("U Σ V^T", product),),
            check=True,
        ),
    ]


def gram_step(a: sp.Matrix) -> Step:
    """A^T A, whose eigenvalues are the squared singular values."""
    statement = tr(
        "The cross-products of the columns of $A$: a symmetric matrix whose eigenvalues are the squared singular "
        "values of $A$."
    )
    return Step(statement, "A^T A v = σ^2 v", (Equation("A^T A", a.T * a),), more=partial(product_steps, a.T, a, "s"))


def details(a: object) -> tuple[Step, ...]:
    """The SVD of a matrix with every step, for solutions that use it."""
    return inner_steps(svd(a))


def _image(pair: Eigenpair, a: sp.Matrix) -> tuple[list[Value], sp.Expr]:
    image = pair.image(a)
    squares = [y * y for y in image]
    return image, sum(squares[1:], squares[0])


def full(a: sp.Matrix, left: sp.Matrix, right: sp.Matrix, values: list[Value]) -> tuple[Value, Value, Value]:
    """U m x m, Σ m x n, V n x n: the vectors that the compact form omits come from the null spaces."""

    def rest(matrix: sp.Matrix) -> list[Value]:
        return [pair.unit for pair in spectrum(matrix * matrix.T, symmetric=True).eigenpairs if pair.value == 0]

    sigma = sp.zeros(*a.shape)
    for i, value in enumerate(values):
        sigma[i, i] = value
    return sp.Matrix.hstack(left, *rest(a)), sigma, sp.Matrix.hstack(right, *rest(a.T))


def _full_step(whole: tuple[Value, Value, Value]) -> Step:
    statement = tr("The full form: extend $U$ and $V$ with further orthogonal unit vectors, and $Σ$ with zeros.")
    names = ("U", "Σ", "V")
    return Step(statement, "U^T U = I,  V^T V = I", tuple(Equation(n, v) for n, v in zip(names, whole, strict=True)))


def truncation_step(parts: Factors, k: int) -> Step:
    """The best approximation of rank k and its error in two ways."""
    near = parts.approximation(k)
    rest = parts.a - near
    direct = canonical(sum((entry * entry for entry in rest), sp.Integer(0)))
    statement = trn(
        "Keep the largest term and drop the other terms. No matrix of rank {n} is closer to $A$ (Eckart and Young).",
        "Keep the {n} largest terms and drop the other terms. No matrix of rank {n} is closer to $A$ "
        "(Eckart and Young).",
        k,
    )
    numbers = (
        Equation(f"A_{k}", near),
        Equation(f"‖A - A_{k}‖_F^2", direct),
        Equation(tr("dropped $σ^2$"), parts.error_squared(k)),
    )
    remark = tr(
        "The squared error, summed over all entries, is the sum of the squared singular values that were dropped."
    )
    return Step(statement, f"A_{k} = ∑ σ_i u_i v_i^T,  ‖A - A_{k}‖_F^2 = ∑ σ_i^2, i > {k}", numbers, remark)


def check_k(k: object, largest: int) -> None:
    """Check that k does not exceed the number of components."""
    if k is not None:
        whole("k", k, 1, max(largest, 1))
