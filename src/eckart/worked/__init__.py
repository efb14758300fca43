"""Worked solutions: exact, with every step, as a good teacher would write them.

>>> from eckart import worked
>>> solution = worked.eigen("2 1; 3 2")
>>> print(solution.text().splitlines()[0])
Eigenvalues and eigenvectors of a 2 x 2 matrix

Each function takes a matrix as text ("1 2; 2 1"), lists, an array or a SymPy matrix and returns a `Solution`, which has
`.show()`, `.text()`, `.markdown()` and `.latex()`.
"""

from __future__ import annotations

from eckart.worked.determinant import determinant
from eckart.worked.eigen import eigen
from eckart.worked.pca import pca
from eckart.worked.rank import rank
from eckart.worked.solution import Equation, Solution, Step, Table
from eckart.worked.svd import svd

__all__ = ["Equation", "Solution", "Step", "Table", "determinant", "eigen", "pca", "rank", "svd"]
