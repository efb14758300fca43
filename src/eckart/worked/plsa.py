"""The probabilistic interpretation of W H: w_fk = P(t_k) P(m_f | t_k), h_kn = P(d_n | t_k), in both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from eckart.worked.messages import tr
from eckart.worked.solution import Equation, Step

if TYPE_CHECKING:
    from eckart.worked.solution import Value


def plsa(w: sp.Matrix, h: sp.Matrix) -> tuple[Value, Value, Value, Value]:
    """Topics, terms given topics, documents given topics, and the total: all sums are 1.

    >>> plsa(sp.Matrix([[1, 0], [1, 2]]), sp.Matrix([[1, 1], [0, 3]]))[0]
    Matrix([[2/5, 3/5]])
    """
    down = [sum(w[:, k]) for k in range(w.cols)]
    across = [sum(h[k, :]) for k in range(h.rows)]
    total = sum(d * a for d, a in zip(down, across, strict=True))
    topics = sp.Matrix([[d * a / total for d, a in zip(down, across, strict=True)]])
    terms = sp.Matrix(w.rows, w.cols, lambda i, k: w[i, k] / down[k] if down[k] else 0)
    documents = sp.Matrix(h.rows, h.cols, lambda k, j: h[k, j] / across[k] if across[k] else 0)
    return topics, terms, documents, total


def plsa_steps(w: sp.Matrix, h: sp.Matrix) -> tuple[Step, ...]:
    """Both directions, with the sums checked."""
    topics, terms, documents, total = plsa(w, h)
    numbers = (Equation("P(t)", topics), Equation("P(m|t)", terms), Equation("P(d|t)", documents))
    sums = sp.Matrix(
        [[sum(topics), *[sum(terms[:, k]) for k in range(w.cols)], *[sum(documents[k, :]) for k in range(h.rows)]]]
    )
    back_w = terms * sp.diag(*topics)
    statement = tr(
        "Divide the factors by their sums to obtain probabilities. The rows are terms $m$, the columns "
        "are documents $d$, and the components are topics $t$."
    )
    formula = "P(m, d) = ∑ P(t) P(m|t) P(d|t)"
    back = tr("From probabilities back to factors: the product of these factors is the same, divided by the total.")
    return (
        Step(statement, formula, (*numbers, Equation(tr("sums"), sums)), tr("Each distribution adds up to 1.")),
        Step(
            back,
            "w_{fk} = P(t_k) P(m_f|t_k),  h_{kn} = P(d_n|t_k)",
            (
                Equation("W", back_w),
                Equation("H", documents),
                Equation(tr("total"), total),
                Equation(tr("total $· W H$"), total * back_w * documents),
            ),
        ),
    )
