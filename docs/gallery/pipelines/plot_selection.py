"""
Feature selection
=================

Backward elimination removes one column at a time, always the one that the model needs least. The plot shows how the
cross-validated accuracy changes.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eckart as ek

X, y = load_wine(return_X_y=True, as_frame=True)
model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
found = ek.BackwardElimination(model, n_features_to_select=2, cv=3).fit(X, y)
fig, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
ax.plot(found.history_["n_columns"], found.history_["score"], "o-")
ax.invert_xaxis()
ax.set(xlabel="columns kept", ylabel="accuracy (3 folds)")
