"""PCA and SVD of any kind of matrix: one engine, with and without centring."""

from __future__ import annotations

from functools import partial

from eckart.engine.svd import find_axes, plan_axes

decompose_pca = partial(find_axes, method="pca")
decompose_svd = partial(find_axes, method="svd")
plan_pca = partial(plan_axes, method="pca")
plan_svd = partial(plan_axes, method="svd")
