"""Non-negative factors A ~ W H by multiplicative updates, which never raise the objective.

Euclidean   H <- H * (W^T A) / (W^T W H)            W <- W * (A H^T) / (W H H^T)
KL          H <- H * (W^T (A / WH)) / column sums   W <- W * ((A / WH) H^T) / row sums
"""

from __future__ import annotations

from functools import partial

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from eckart.documentation import document
from eckart.errors import InputError
from eckart.options import check_choice
from eckart.worked.checks import whole
from eckart.worked.matrices import matrix
from eckart.worked.messages import tr, trn
from eckart.worked.plsa import plsa_steps
from eckart.worked.solution import Equation, Solution, SolutionTable, Step

LOSSES = ("euclidean", "kl")
_SHOWN = 10
Array = NDArray[np.object_]

UPDATES = {
    "euclidean": "W = W ⊙ (A H^T) / (W H H^T),  H = H ⊙ (W^T A) / (W^T W H)",
    "kl": "w_{ia} = w_{ia} (∑ (a_{ij} / (W H)_{ij}) h_{aj}) / (∑ h_{aj}),  h_{aj} = h_{aj} (∑ w_{ia} a_{ij} / "
    "(W H)_{ij}) / (∑ w_{ia})",
}
OBJECTIVES = {
    "euclidean": "D = ∑ (a_{ij} - (W H)_{ij})^2",
    "kl": "D = ∑ (a_{ij} log(a_{ij} / (W H)_{ij}) - a_{ij} + (W H)_{ij})",
}


@document
def nmf(
    given: object,
    k: int | None = None,
    *,
    loss: str = "euclidean",
    iterations: int = 50,
    seed: int = 0,
    w: object = None,
    h: object = None,
) -> Solution:
    """Compute a non-negative matrix factorisation by multiplicative updates.

    Parameters
    ----------
    given : str, list, array or sympy.Matrix
        The matrix, at most 8 x 8. In text, semicolons separate the rows: "1 2; 2 1". Entries are not negative.
    k : int, default None
        Number of components. None uses 2, or 1 if the matrix has only one row or column.
    loss : {'euclidean', 'kl'}, default 'euclidean'
        Loss to minimise: the squared error or the Kullback-Leibler divergence.
    iterations : int, default 50
        Number of iterations. The first one is computed exactly, the others in floating point.
    seed : int, default 0
        Seed of the random start.
    w : str, list, array or sympy.Matrix, default None
        Starting factor W. None draws random numbers.
    h : str, list, array or sympy.Matrix, default None
        Starting factor H. None draws random numbers.

    {Returns: Solution}
        Named parts: W, H, objective, history, first_W, first_H.

    {Raises: InputError [exact]}

    {See Also: eckart.NMF}

    Examples
    --------
    >>> found = nmf("1 2; 2 4", 1, iterations=5, w="1; 1", h="1 1")
    >>> round(float(found["objective"]), 9)
    0.0
    """
    check_choice("loss", loss, LOSSES)
    a = matrix(given, "nmf", rows=8, columns=8)
    k = min(2, *a.shape) if k is None else k
    _check(a, k, iterations)
    first, second = _start(a, k, seed, w, h)
    exact_w, exact_h = step(_objects(a), _objects(first), _objects(second), loss)
    history, left, right = _run(a, first, second, loss, iterations)
    wide, final = sp.Matrix(left.tolist()), sp.Matrix(right.tolist())
    rest = a - first * second
    initial = sp.expand(sum(x**2 for x in rest)) if loss == "euclidean" else sp.Float(history[0], 17)
    steps = (
        Step(
            tr("The matrix and the initial factors."),
            "A ≈ W H,  W ≥ 0,  H ≥ 0",
            (Equation("A", a), Equation("W", first), Equation("H", second)),
            _saving(a, k),
        ),
        Step(tr("The objective to minimise."), OBJECTIVES[loss], (Equation("D", initial),)),
        Step(
            tr(
                "First iteration, in exact numbers: update $W$ first, then $H$ with the new $W$. "
                "Every factor is non-negative, so no sign can change."
            ),
            UPDATES[loss],
            (Equation("W", sp.Matrix(exact_w.tolist())), Equation("H", sp.Matrix(exact_h.tolist()))),
            more=partial(_round_details, a, first, second, sp.Matrix(exact_w.tolist()), loss),
        ),
        _history_step(history),
        Step(
            tr("The factors and their product."),
            numbers=(Equation("W", wide), Equation("H", final), Equation("W H", wide * final)),
        ),
        *(plsa_steps(wide, final) if not (wide * final).is_zero_matrix else ()),  # nothing to divide by
    )
    parts = {
        "W": wide,
        "H": final,
        "objective": sp.Float(history[-1], 17),
        "history": [sp.Float(x, 17) for x in history],
        "first_W": sp.Matrix(exact_w.tolist()),
        "first_H": sp.Matrix(exact_h.tolist()),
    }
    answer = (Equation("W", wide), Equation("H", final), Equation("D", parts["objective"]))
    return Solution(
        tr("Non-negative factors of a {rows} x {cols} matrix", rows=a.rows, cols=a.cols), steps, answer, parts
    )


def _round_details(a: sp.Matrix, w: sp.Matrix, h: sp.Matrix, new: sp.Matrix, loss: str) -> tuple[Step, ...]:
    """Numerator and denominator of both updates, each multiplied out."""
    for_w: tuple[Equation, ...]
    for_h: tuple[Equation, ...]
    ones = sp.ones(*a.shape)
    if loss == "euclidean":
        for_w = (Equation("A H^T", a * h.T), Equation("W H H^T", w * h * h.T))
        for_h = (Equation("W^T A", new.T * a), Equation("W^T W H", new.T * new * h))
    else:
        before, after = _shares(a, w * h), _shares(a, new * h)
        for_w = (
            Equation("A / (W H)", before),
            Equation("(A / (W H)) H^T", before * h.T),
            Equation("1 H^T", ones * h.T),
        )
        for_h = (
            Equation("A / (W H)", after),
            Equation("W^T (A / (W H))", new.T * after),
            Equation("W^T 1", new.T * ones),
        )
    statement = tr(
        "Numerator and denominator of the update of ${name}$. Divide them entry by entry, and "
        "multiply by the old entries.",
        name="W",
    )
    second = tr(
        "Numerator and denominator of the update of ${name}$. Divide them entry by entry, and "
        "multiply by the old entries.",
        name="H",
    )
    undefined = tr("If numerator and denominator are both 0, the entry becomes 0.")
    steps = [(statement, for_w), (second, for_h)]
    return tuple(Step(words, numbers=shown, remark=undefined if 0 in shown[-1].value else "") for words, shown in steps)


def _shares(a: sp.Matrix, near: sp.Matrix) -> sp.Matrix:
    return sp.Matrix(*a.shape, lambda i, j: a[i, j] / near[i, j] if near[i, j] else 0)


def _history_step(history: list[float]) -> Step:
    iterations = len(history) - 1
    shown = [*range(min(_SHOWN, iterations) + 1), *([iterations] if iterations > _SHOWN else [])]
    table = SolutionTable((tr("round"), "D"), tuple((sp.Integer(i), sp.Float(history[i], 17)) for i in shown))
    statement = trn(
        "Continue to a total of {n} iteration. The table shows the objective after each iteration.",
        "Continue to a total of {n} iterations. The table shows the objective after each iteration.",
        iterations,
    )
    remark = tr(
        "The objective never increases, but the limit may not be a global minimum, or even a local "
        "one. Try other initial factors."
    )
    return Step(statement, numbers=(table,), remark=remark)


def step(a: Array, w: Array, h: Array, loss: str) -> tuple[Array, Array]:
    """One round. Works on exact numbers and on floating-point ones."""
    if loss == "euclidean":
        w = w * _ratio(a @ h.T, w @ h @ h.T)
        return w, h * _ratio(w.T @ a, w.T @ w @ h)
    w = w * _ratio(_ratio(a, w @ h) @ h.T, np.ones_like(a) @ h.T)
    return w, h * _ratio(w.T @ _ratio(a, w @ h), w.T @ np.ones_like(a))


def objective(a: Array, w: Array, h: Array, loss: str) -> float:
    """Squared distance, or Kullback-Leibler divergence with 0 log 0 = 0."""
    near = w @ h
    if loss == "euclidean":
        return float(((a - near) ** 2).sum())
    full = a > 0
    return float((a[full] * np.log(a[full] / near[full])).sum() - a.sum() + near.sum())


def _ratio(above: Array, below: Array) -> Array:
    """Entrywise ratio, 0 if the divisor is 0: such entries stay 0 forever."""
    safe = np.where(below == 0, 1, below)
    return np.where(below == 0, 0, above / safe)


def _run(a: sp.Matrix, w: sp.Matrix, h: sp.Matrix, loss: str, iterations: int) -> tuple[list[float], Array, Array]:
    data, left, right = (np.array(m.tolist(), dtype=float) for m in (a, w, h))
    history = [objective(data, left, right, loss)]
    for _ in range(iterations):
        left, right = step(data, left, right, loss)
        history.append(objective(data, left, right, loss))
    return history, left, right


def _objects(m: sp.Matrix) -> Array:
    return np.array(m.tolist(), dtype=object)


def _start(a: sp.Matrix, k: int, seed: int, w: sp.Matrix | None, h: sp.Matrix | None) -> tuple[sp.Matrix, sp.Matrix]:
    generator = np.random.Generator(np.random.Philox(seed))
    first = (
        sp.Matrix(generator.integers(1, 4, (a.rows, k)).tolist()) if w is None else matrix(w, "nmf", rows=8, columns=8)
    )
    second = (
        sp.Matrix(generator.integers(1, 4, (k, a.cols)).tolist()) if h is None else matrix(h, "nmf", rows=8, columns=8)
    )
    if first.shape != (a.rows, k) or second.shape != (k, a.cols):
        raise InputError(
            tr(
                "The initial factors must be W of size {rows} x {k} and H of size {k} x {cols}, but "
                "they are {w} and {h}.",
                rows=a.rows,
                cols=a.cols,
                k=k,
                w="{} x {}".format(*first.shape),
                h="{} x {}".format(*second.shape),
            )
        )
    if any(entry < 0 for m in (first, second) for entry in m) or (first * second).is_zero_matrix:
        raise InputError(
            tr("The initial W and H must not be negative, and W H must not be zero. Use positive numbers.")
        )
    return first, second


def _check(a: sp.Matrix, k: object, iterations: object) -> None:
    if any(entry < 0 for entry in a):
        raise InputError(tr("The matrix has a negative entry, which non-negative factors cannot reproduce. Use svd."))
    whole("k", k, 1, min(a.shape))
    whole("iterations", iterations, 1, 10_000)


def _saving(a: sp.Matrix, k: int) -> str:
    stored, whole = (a.rows + a.cols) * k, a.rows * a.cols
    notes = tr(
        "Many lecture notes put observations into columns. Then the columns of $W$ are the "
        "dictionary, and the columns of $H$ are the activations."
    )
    saving = tr(
        "The factors store {stored} numbers and the matrix stores {whole}, so the factors save no space.",
        stored=stored,
        whole=whole,
    )
    if stored < whole:
        saving = tr(
            "The factors store {stored} numbers, fewer than the {whole} numbers of the matrix.",
            stored=stored,
            whole=whole,
        )
    return f"{saving} {notes}"
