"""PCA and SVD of any kind of matrix: one engine, with and without centring."""

from __future__ import annotations

from functools import partial

from eckart.engine.svd import find_components, plan_components

decompose_pca = partial(find_components, method="pca")
decompose_svd = partial(find_components, method="svd")
plan_pca = partial(plan_components, method="pca")
plan_svd = partial(plan_components, method="svd")
