"""
The exercises of a lecture
==========================

Eckart solves small problems exactly and shows every step, and it generates new exercises with clean answers.
"""

# %%
# A worked solution
# -----------------
# The SVD of a 4 x 2 matrix, in exact arithmetic.
from eckart import worked

solution = worked.svd([[1, 2], [2, 1], [3, 4], [4, 3]])
print(solution.text()[:1200])

# %%
# The same numerically
# --------------------
import eckart as ek

d = ek.decompose([[1, 2], [2, 1], [3, 4], [4, 3]], "svd")
print((d.values**2).round(12))
