"""
Groups with ellipses
====================

The plot shows the scores of the iris flowers, coloured by species, with an ellipse for each species.
"""

from sklearn.datasets import load_iris

import eckart as ek

iris = load_iris(as_frame=True)
d = ek.decompose(iris.data, "pca", k=2, scale=True, left=True)
ek.plots.scores(d, by=iris.target_names[iris.target])
