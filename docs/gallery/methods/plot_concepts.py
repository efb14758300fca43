"""
Concepts in ratings
===================

The SVD of a table of ratings finds concepts such as science fiction and romance. They are used to recommend films to a
new user.
"""

import eckart as ek

path = ek.datasets.path("ratings")
d = ek.decompose(path, "svd", k=2, left=True)
space = ek.concepts(d, rows=path)
print(space.recommend({"Star Harbour": 4}, 2))
ek.plots.biplot(d)
