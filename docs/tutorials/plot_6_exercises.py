"""
The exercises of a lecture
==========================

Eckart solves small problems exactly and shows every step. It also makes new exercises and checks your answers. In this
tutorial you solve a problem, make an exercise, and check an answer.
"""

# %%
# A worked solution
# -----------------
# This is the beginning of the solution for the SVD of a 4 x 2 matrix, in exact arithmetic.
from eckart import worked

solution = worked.svd([[1, 2], [2, 1], [3, 4], [4, 3]])
print(solution.text().split("\n7. ")[0])

# %%
# The same numerically
# --------------------
# ``decompose`` gives the same eigenvalues (squared singular values), 58 and 2, as decimals.
import eckart as ek

d = ek.decompose([[1, 2], [2, 1], [3, 4], [4, 3]], "svd")
print((d.values**2).round(12))

# %%
# A new exercise
# --------------
# Each seed gives a different matrix. ``check`` compares an answer with the solution and says what is missing or wrong.
made = worked.exercise("eigen", seed=4, difficulty=1)
print(made.given)
print(made.check("-7, 3"))
print(made.check("lambda = -7, 3; e = [1 1; 2 1]"))
