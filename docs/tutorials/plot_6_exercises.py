"""
The exercises of a lecture
==========================

Eckart solves small problems exactly and shows every step. It also creates new exercises and checks your answers. In
this tutorial you solve a problem, create an exercise, and check an answer.
"""

# %%
# A worked solution
# -----------------
# The output shows the first steps of the SVD of a 4 x 2 matrix, in exact arithmetic.
from eckart import worked

solution = worked.svd([[1, 2], [2, 1], [3, 4], [4, 3]])
print(solution.text().split("\n7. ")[0])

# %%
# The same result in floating point
# ---------------------------------
# ``decompose`` computes the singular values in floating point. Their squares are the eigenvalues of the worked
# solution, 58 and 2.
import eckart as ek

d = ek.decompose([[1, 2], [2, 1], [3, 4], [4, 3]], "svd")
print((d.values**2).round(12))

# %%
# A new exercise
# --------------
# Each seed gives a different matrix. ``check`` compares your answer with the solution and reports what is missing or
# wrong. Here the first answer is incomplete.
made = worked.exercise("eigen", seed=4, difficulty=1)
print(made.given)
print(made.check("-7, 3"))
print(made.check("lambda = -7, 3; e = [1 1; 2 1]"))
