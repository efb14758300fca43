"""
Eckart in a scikit-learn pipeline
=================================

Eckart's estimators are drop-in replacements for those of scikit-learn. In this tutorial you change one import, search
for the best number of components, and read the certificate of the fitted pipeline.
"""

# %%
# Replace the import
# ------------------
# With ``n_components=0.9``, PCA keeps as many components as it needs to explain 90 % of the variance.
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

from eckart import PCA  # instead of sklearn.decomposition

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X[:800], y[:800], random_state=0)
model = make_pipeline(PCA(n_components=0.9), LogisticRegression(max_iter=2000)).fit(X_train, y_train)
print(f"{model['pca'].n_components_} components, accuracy {model.score(X_test, y_test):.3f}")

# %%
# Search for the best number of components
# ----------------------------------------
# In a grid search, ``n_components`` is a parameter like any other.
search = GridSearchCV(model, {"pca__n_components": [5, 15, 25]}, cv=3).fit(X_train, y_train)
print(search.best_params_, f"{search.best_score_:.3f}")

# %%
# Read the certificate
# --------------------
# The certificate gives the share of the variance that the components explain, and the largest share that the same
# number of components could explain. The plan names the solver and the reason for choosing it.
pca = search.best_estimator_["pca"]
print(pca.certificate_.explained)
print(pca.plan_)
