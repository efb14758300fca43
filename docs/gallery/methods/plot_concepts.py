"""
Concepts in ratings
===================

The SVD of a table of ratings finds concepts such as science fiction and romance. These concepts can recommend films to
a new user. Here the user has rated only ``Star Harbour``.
"""

import eckart as ek

path = ek.datasets.path("ratings")
d = ek.decompose(path, "svd", k=2, left=True)
space = ek.concepts(d, rows=path)
print(space.recommend({"Star Harbour": 4}, 2))
ek.plots.biplot(d)
