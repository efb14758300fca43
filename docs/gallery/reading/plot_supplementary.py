"""
Supplementary categories
========================

Supplementary categories are not used to compute the components. The table gives the mean scores of each category, and
the plot draws an ellipse around each mean.
"""

from sklearn.datasets import load_wine

import eckart as ek

wine = load_wine(as_frame=True)
cultivar = [f"cultivar {label + 1}" for label in wine.target]
d = ek.decompose(wine.data, "pca", k=2, scale=True, left=True)
centres = ek.supplementary.categories(d, cultivar)
print(centres.text())
ek.plots.scores(d, by=cultivar, around="means")
