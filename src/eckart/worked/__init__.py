"""Worked solutions of small problems, exact and with every step.

>>> from eckart import worked
>>> solution = worked.eigen("2 1; 3 2")
>>> print(solution.text().splitlines()[0])
Eigenvalues and eigenvectors of a 2 x 2 matrix

Each function takes a matrix as text ("1 2; 2 1"), lists, an array or a SymPy matrix, and returns a `Solution`. Its
methods `.show()`, `.text()`, `.markdown()`, `.latex()`, `.html()` and `.pdf()` present the solution. `.at("full")`
expands every determinant and every linear system. Inside `with language("it"):` solutions are written in Italian; use
"es" for Spanish and "ru" for Russian.
"""

from __future__ import annotations

from eckart.worked import pictures
from eckart.worked.bounds import bounds
from eckart.worked.correlation import correlation
from eckart.worked.cur import cur
from eckart.worked.deflation import deflation
from eckart.worked.determinant import determinant
from eckart.worked.diagonalize import diagonalize
from eckart.worked.eigen import eigen
from eckart.worked.energy import energy
from eckart.worked.exercises import Exercise, exercise
from eckart.worked.gram_schmidt import gram_schmidt
from eckart.worked.isomap import isomap
from eckart.worked.kernel_pca import kernel_pca
from eckart.worked.messages import language
from eckart.worked.minor_components import minor_components
from eckart.worked.missing import missing
from eckart.worked.nmf import nmf
from eckart.worked.pca import pca
from eckart.worked.power_iteration import power_iteration
from eckart.worked.project import project
from eckart.worked.pseudo_inverse import pseudo_inverse
from eckart.worked.query import query
from eckart.worked.rank import rank
from eckart.worked.select import select
from eckart.worked.solution import Equation, Solution, SolutionTable, Step
from eckart.worked.svd import svd
from eckart.worked.theory import lesson

__all__ = [
    "Equation",
    "Exercise",
    "Solution",
    "SolutionTable",
    "Step",
    "bounds",
    "correlation",
    "cur",
    "deflation",
    "determinant",
    "diagonalize",
    "eigen",
    "energy",
    "exercise",
    "gram_schmidt",
    "isomap",
    "kernel_pca",
    "language",
    "lesson",
    "minor_components",
    "missing",
    "nmf",
    "pca",
    "pictures",
    "power_iteration",
    "project",
    "pseudo_inverse",
    "query",
    "rank",
    "select",
    "svd",
]
