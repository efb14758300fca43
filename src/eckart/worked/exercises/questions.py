"""Long questions, and those whose wording depends on a number: one column or several, one component or several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eckart.worked.messages import mark, trn

if TYPE_CHECKING:
    from eckart.worked.exercises.problem import Problem

COMPARED = mark(
    "Find the components of the covariance matrix and those of the correlation matrix, largest variance first. "
    "Also give the correlation matrix."
)
KERNEL = mark(
    "Apply kernel PCA with ${kernel}$: give the two largest eigenvalues of the centred kernel matrix and the scores."
)


def most_correlated(problem: Problem) -> str:
    """The question for the columns that are most correlated with a target."""
    return trn(
        "Which column is most correlated with the target $y$, in absolute value? Give the correlations of all columns "
        "too.",
        "Which {n} columns are most correlated with the target $y$, in absolute value? Give the correlations of all "
        "columns too.",
        problem.values["count"],
    )


def projected(problem: Problem) -> str:
    """The question for the scores of new rows."""
    return trn(
        "Project every row of $X'$ on the first principal component of the table: give its score and its squared "
        "distance from the line of this component.",
        "Project every row of $X'$ on the first {n} principal components of the table: give its scores and its squared "
        "distance from the space of these components.",
        problem.values["k"],
    )
