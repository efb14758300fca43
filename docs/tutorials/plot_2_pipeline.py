"""
Eckart in a scikit-learn pipeline
=================================

Eckart's estimators replace scikit-learn's. In this tutorial you change one import, search for the best number of
components, and read the certificate of the fitted pipeline.
"""

# %%
# Replace the import
# ------------------
# ``n_components=0.9`` keeps as many components as are needed to explain 90 % of the variance.
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
# Search
# ------
# A grid search treats ``n_components`` like any other parameter.
search = GridSearchCV(model, {"pca__n_components": [5, 15, 25]}, cv=3).fit(X_train, y_train)
print(search.best_params_, f"{search.best_score_:.3f}")

# %%
# Read the certificate
# --------------------
# The certificate gives the share that the components explain, and the most that any other components could explain. The
# plan names the solver and the reason for choosing it.
pca = search.best_estimator_["pca"]
print(pca.certificate_.explained)
print(pca.plan_)
