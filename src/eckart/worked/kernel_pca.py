"""Kernel PCA: K~ = K - 1K - K1 + 1K1, K~ v = λ v, a = v / sqrt(λ) so that a^T K~ a = 1, scores K~ a."""

from __future__ import annotations

from functools import partial

import sympy as sp

from eckart.documentation import document
from eckart.errors import InputError
from eckart.options import check_choice
from eckart.worked.checks import whole
from eckart.worked.fields import Eigenpair
from eckart.worked.matrices import matrix, vector
from eckart.worked.messages import mark, tr
from eckart.worked.numerals import GUARD, is_exact, text_number
from eckart.worked.pictures import unfolded
from eckart.worked.solution import Equation, Solution, Step
from eckart.worked.spectral_steps import columns, spectral_steps
from eckart.worked.spectrum import spectrum
from eckart.worked.written_out import dot_line, squares, written

KERNELS = {
    "linear": mark("linear"),
    "poly": mark("polynomial"),
    "rbf": "RBF",
    "sigmoid": mark("sigmoid"),
    "cosine": mark("cosine"),
}
"""The kernels, and their names in titles."""
FORMULAS = {
    "linear": "k(x, y) = x · y",
    "poly": "k(x, y) = (γ x · y + c)^d",
    "rbf": "k(x, y) = exp(-γ ‖x - y‖^2)",
    "sigmoid": "k(x, y) = tanh(γ x · y + c)",
    "cosine": "k(x, y) = x · y / (‖x‖ ‖y‖)",
}


@document
def kernel_pca(
    given: object,
    k: int | None = None,
    *,
    kernel: str = "poly",
    gamma: object = 1,
    degree: int = 2,
    coef0: object = 1,
    new: object = None,
) -> Solution:
    """Compute kernel PCA of a few points, term by term.

    Parameters
    ----------
    given : str, list, array or sympy.Matrix
        The table, at most 6 rows and 12 columns; rows are observations.
    k : int, default None
        Number of components. None computes 2, or 1 if there is only one point.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'cosine'}, default 'poly'
        Kernel function.
    gamma : int, str or sympy.Expr, default 1
        Coefficient gamma, which multiplies the inner product or the squared distance.
    degree : int, default 2
        Degree of the polynomial kernel, 1 to 6.
    coef0 : int, str or sympy.Expr, default 1
        Constant term of the polynomial and sigmoid kernels.
    new : str, list, array or sympy.Matrix, default None
        A new point. If it is given, its scores are computed as well (part `new_scores`).

    {Returns: Solution}
        Named parts: K, centred, eigenvalues, weights, scores.

    {Raises: InputError [exact]}

    {See Also: pca, eckart.KernelPCA}

    Examples
    --------
    >>> found = kernel_pca("1 3; 0 2; 0 0; 3 3", kernel="linear")
    >>> found["eigenvalues"].T
    Matrix([[10, 2]])
    """
    check_choice("kernel", kernel, tuple(KERNELS))
    table = matrix(given, "kernel_pca", rows=6, columns=12)
    whole("degree", degree, 1, 6)
    settings = (kernel, _exact(gamma), _exact(coef0), degree)
    k = min(2, table.rows) if k is None else k
    points = [table[i, :] for i in range(table.rows)]
    gram = sp.Matrix(table.rows, table.rows, lambda i, j: between(points[i], points[j], *settings))
    terms = centring(gram)
    centred = terms[3]
    found = spectrum(centred, symmetric=True)
    eigenpairs = found.positive(1e-25)[: whole("k", k, 1, table.rows)]
    if not eigenpairs:
        raise InputError(tr("All points are the same for this kernel, so there are no components. Use other points."))
    weights, scores = _scaled_eigenvectors(eigenpairs, centred)
    steps = [
        Step(tr("The points, one per row."), numbers=(Equation("X", table),)),
        Step(
            tr(
                "The kernel of each pair of points: an inner product in a feature space, without computing "
                "coordinates there."
            ),
            FORMULAS[kernel],
            (*_parameters(*settings), Equation("K", gram)),
            "" if is_exact(gram) else tr("These values are not fractions, so the rest is computed with 40 digits."),
            more=partial(_pairs, points, gram, kernel),
        ),
        _centring_step(terms),
        *spectral_steps(centred, found, "K~", zero=False),
        _scale_step(weights, scores),
    ]
    values = sp.Matrix([pair.value for pair in eigenpairs])
    parts = {"K": gram, "centred": centred, "eigenvalues": values, "weights": weights, "scores": scores}
    answer = [*[Equation(f"λ_{i}", pair.value) for i, pair in enumerate(eigenpairs, 1)], Equation("T", scores)]
    if new is not None:
        point = vector(new, mark("The new point"), table.cols).T
        step, parts["new_scores"] = _new_step(point, points, gram, centred, eigenpairs, settings)
        steps.append(step)
        answer.append(Equation("t", parts["new_scores"]))
    return Solution(
        tr("Kernel PCA of {rows} points, {kernel} kernel", rows=table.rows, kernel=tr(KERNELS[kernel])),
        tuple(steps),
        tuple(answer),
        parts,
        figures=(partial(unfolded, table, scores),) if table.cols == 2 and scores.cols > 1 else (),
    )


def _parameters(kernel: str, gamma: sp.Expr, coef0: sp.Expr, degree: int) -> list[Equation]:
    """The numbers in the formula of a kernel."""
    values = {"γ": gamma, "c": coef0, "d": sp.Integer(degree)}
    used = {"poly": ("γ", "c", "d"), "rbf": ("γ",), "sigmoid": ("γ", "c")}.get(kernel, ())
    return [Equation(name, values[name]) for name in used]


def between(x: sp.Matrix, y: sp.Matrix, kernel: str, gamma: sp.Expr, coef0: object, degree: int) -> sp.Expr:
    """The kernel of two points; exact if it is a fraction or a root, otherwise to 40 digits."""
    product = sp.expand((x * y.T)[0])
    if kernel == "linear":
        return product
    if kernel == "poly":
        return sp.expand((gamma * product + coef0) ** degree)
    if kernel == "cosine":
        lengths = sp.sqrt((x * x.T)[0] * (y * y.T)[0])
        if lengths == 0:
            raise InputError(
                tr("One point is the origin, which has no direction and therefore no cosine. Leave it out.")
            )
        return sp.radsimp(product / lengths)
    if kernel == "rbf":
        gap = x - y
        return sp.Integer(1) if gap.is_zero_matrix else sp.N(sp.exp(-gamma * (gap * gap.T)[0]), GUARD)
    return sp.N(sp.tanh(gamma * product + coef0), GUARD)


def _pairs(points: list[sp.Matrix], gram: sp.Matrix, kernel: str) -> tuple[Step, ...]:
    """The arguments of the kernel, pair by pair: the inner product, or the squared distance for rbf."""
    lines = []
    for i in range(len(points)):
        for j in range(i, len(points)):
            value = f"k_{{{i + 1},{j + 1}}} = {text_number(gram[i, j])}"
            if kernel == "rbf":
                gap = points[i] - points[j]
                known = f"‖x_{i + 1} - x_{j + 1}‖^2 = {squares(gap)} = {text_number((gap * gap.T)[0])}"
                value = value.replace("=", "=" if is_exact(gram[i, j]) else "≈")
            else:
                known = dot_line(f"x_{i + 1} · x_{j + 1}", points[i], points[j])
            lines.append(f"{known},  {value}")
    return written(lines)


def centring(gram: sp.Matrix) -> tuple[sp.Matrix, sp.Matrix, sp.Matrix, sp.Matrix]:
    """1K, K1, 1K1 and K - 1K - K1 + 1K1, where 1 is the matrix with entries 1/n.

    >>> centring(sp.Matrix([[2, 0], [0, 2]]))[3]
    Matrix([
    [ 1, -1],
    [-1,  1]])
    """
    mean = sp.ones(*gram.shape) / gram.rows
    left, right, both = mean * gram, gram * mean, mean * gram * mean
    return left, right, both, (gram - left - right + both).applyfunc(sp.expand)


def _weight(pair: Eigenpair, centred: sp.Matrix) -> sp.Expr:
    """x^T K~ x = λ x^T x."""
    terms = [x * y for x, y in zip(pair.entries, pair.image(centred), strict=True)]
    return sum(terms[1:], terms[0])


def _centring_step(terms: tuple[sp.Matrix, sp.Matrix, sp.Matrix, sp.Matrix]) -> Step:
    names = ("1K", "K1", "1K1", "K~")
    statement = tr(
        "Centre the points in feature space: subtract the column means and the row means, and add"
        " the overall mean, which was subtracted twice."
    )
    remark = tr("Both means must be subtracted. Otherwise the rows or the columns do not add up to 0.")
    numbers = tuple(Equation(name, term) for name, term in zip(names, terms, strict=True))
    return Step(statement, "K~ = K - 1K - K1 + 1K1", numbers, remark)


def _scale_step(weights: object, scores: object) -> Step:
    statement = tr(
        "A component is $∑ a_i φ(x_i)$, and its squared length is $a^T K~ a$. To make this length 1, "
        "divide each unit eigenvector by the square root of its eigenvalue. Then compute the scores "
        "of the points."
    )
    return Step(statement, "a = v / sqrt(λ),  T = K~ a = sqrt(λ) v", (Equation("a", weights), Equation("T", scores)))


def _exact(value: object) -> sp.Expr:
    return matrix([[value]], "kernel_pca", rows=1, columns=1)[0]


def _scaled_eigenvectors(eigenpairs: list[Eigenpair], centred: sp.Matrix) -> tuple[sp.Matrix, sp.Matrix]:
    """Weights of unit length in feature space, and the scores, as columns."""
    scaled = [(pair, _weight(pair, centred)) for pair in eigenpairs]
    weights = columns([pair.scaled(pair.entries, weight) for pair, weight in scaled], 0)
    return weights, columns([pair.scaled(pair.image(centred), weight) for pair, weight in scaled], 0)


def _new_step(
    point: sp.Matrix,
    points: list[sp.Matrix],
    gram: sp.Matrix,
    doubly_centred: sp.Matrix,
    eigenpairs: list[Eigenpair],
    settings: tuple[str, sp.Expr, sp.Expr, int],
) -> tuple[Step, sp.Matrix]:
    row = sp.Matrix([[between(point, other, *settings) for other in points]])
    eigenpairs = [pair.suited(row) for pair in eigenpairs]
    lengths = [_weight(pair, doubly_centred) for pair in eigenpairs]
    n = gram.rows
    means = sp.Matrix([[sum(gram[:, j]) / n for j in range(n)]])
    centred = (row - means - sp.ones(1, n) * (sum(row) / n) + sp.ones(1, n) * (sum(means) / n)).applyfunc(sp.expand)
    scores = sp.Matrix([[pair.scaled(pair.image(centred), s)[0] for pair, s in zip(eigenpairs, lengths, strict=True)]])
    statement = tr(
        "The scores of the new point: compute its kernel with each training point, centre it with "
        "the training means, and multiply by the weights."
    )
    numbers = (Equation("x", point), Equation("k", row), Equation("k~", centred), Equation("t", scores))
    return Step(statement, "k~ = k - 1K/n - 1 (k · 1)/n + 1 (1^T K 1)/n^2,  t = k~ a", numbers), scores
