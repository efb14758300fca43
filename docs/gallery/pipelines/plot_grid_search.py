"""
Number of components by cross-validation
========================================

Eckart's estimators work in pipelines and grid searches. Here cross-validation finds how many components a classifier
needs.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import eckart as ek

X, y = load_digits(return_X_y=True)
pipeline = make_pipeline(ek.PCA(), LogisticRegression(max_iter=2000))
search = GridSearchCV(pipeline, {"pca__n_components": [5, 10, 20, 30]}, cv=3).fit(X[:600], y[:600])
fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot([5, 10, 20, 30], search.cv_results_["mean_test_score"], "o-")
ax.set(xlabel="components", ylabel="accuracy (3 folds)")
