"""PCA of the covariance matrix compared with PCA of the correlation matrix: the effect of units on the components."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import sympy as sp

from eckart.documentation import document
from eckart.worked.matrices import matrix
from eckart.worked.messages import tr
from eckart.worked.numerals import separator, text_number
from eckart.worked.pca import data_steps
from eckart.worked.pca_data import Prepared, prepared
from eckart.worked.solution import Equation, Solution, SolutionTable, Step
from eckart.worked.spectral_steps import spectral_steps
from eckart.worked.svd import canonical
from eckart.worked.written_out import written

if TYPE_CHECKING:
    from eckart.worked.solution import Value


@document
def correlation(given: object) -> Solution:
    """Compare PCA of the covariance matrix with PCA of the correlation matrix.

    Parameters
    ----------
    given : str, list, array or sympy.Matrix
        The table, at most 40 rows and 4 columns; rows are observations.

    {Returns: Solution}
        Named parts: covariance, correlation, components, scaled_components, shares, scaled_shares.

    {Raises: InputError [exact]; See Also: pca}

    Examples
    --------
    >>> correlation("1 10; 2 30; 3 20")["correlation"]
    Matrix([
    [  1, 1/2],
    [1/2,   1]])
    """
    table = matrix(given, "correlation", rows=40, columns=4)
    plain = prepared(table, center=True, scale=False, divide="n-1")
    scaled = prepared(table, center=True, scale=True, divide="n-1")
    covariance = (plain.raw / plain.divisor).applyfunc(sp.expand)
    ones = scaled.cross_products.applyfunc(lambda value: sp.radsimp(value / plain.divisor))
    spread = sp.Matrix([[sp.sqrt(covariance[j, j]) for j in range(table.cols)]])
    shares = [_shares(plain), _shares(scaled)]
    rows = tuple(
        (sp.Integer(i + 1), plain.eigenpairs[i].value / plain.divisor, shares[0][i],
         scaled.eigenpairs[i].value / plain.divisor, shares[1][i]) for i in range(table.cols)
    )  # fmt: skip
    heads = (tr("component"), tr("covariance: $λ$"), tr("share"), tr("correlation: $λ$"), tr("share"))
    steps = (
        *data_steps(plain, "n-1"),
        *spectral_steps(plain.cross_products, plain.found, "S"),
        Step(tr("Components of the covariance matrix."), numbers=(Equation("V", plain.vectors),)),
        Step(
            tr("Correlations: divide each covariance by the standard deviations of both columns."),
            "r_{ij} = c_{ij} / (s_i s_j)",
            (Equation("s", spread), Equation("R", ones)),
            tr("The correlation matrix is the covariance matrix of the scaled columns, so it does not "
            "depend on the units."),
        ),
        Step(tr("Components of the correlation matrix."), "R w = λ w", (Equation("W", scaled.vectors),),
             more=partial(_two_columns, ones[0, 1]) if table.cols == 2 and ones[0, 1] != 0 else None),
        Step(
            tr("Comparison: the covariance matrix favours columns with large variances, and the "
            "correlation matrix gives all columns the same weight."),
            numbers=(SolutionTable(heads, rows),),
        ),
    )  # fmt: skip
    parts = {"covariance": covariance, "correlation": ones, "components": plain.vectors,
             "scaled_components": scaled.vectors, "shares": sp.Matrix(shares[0]),
             "scaled_shares": sp.Matrix(shares[1])}  # fmt: skip
    answer = (Equation("C", covariance), Equation("V", plain.vectors), Equation("R", ones),
              Equation("W", scaled.vectors))  # fmt: skip
    return Solution(tr("Covariance and correlation compared"), steps, answer, parts)


def _two_columns(r: sp.Expr) -> tuple[Step, ...]:
    """For two columns the eigenvectors are (1, 1) and (1, -1), for any r."""
    size, sign = abs(r), 1 if sp.N(r) > 0 else -1
    pairs = (("1 + |r|", 1 + size, sign), ("1 - |r|", 1 - size, -sign))
    lines = [f"r = {text_number(r)}", "det(R - λ I) = (1 - λ)^2 - r^2 = 0,  λ = 1 ± |r|"]
    for i, (formula, value, other) in enumerate(pairs, 1):
        vector = f"±(1{separator()}{other}) / sqrt(2)"
        lines.append(f"λ_{i} = {formula} = {text_number(sp.expand(value))},  w_{i} = {vector}")
    return written(lines)


def _shares(data: Prepared) -> list[Value]:
    total = canonical(sum(pair.value for pair in data.eigenpairs))
    return [canonical(sp.radsimp(pair.value / total)) if total != 0 else sp.Integer(0) for pair in data.eigenpairs]
