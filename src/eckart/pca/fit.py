"""PCA and SVD of any kind of matrix: one engine, with and without centring."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from eckart.components.find import find_components, plan_components
from eckart.result import Decomposition, Plan, SVDDetails

decompose_pca: Callable[..., Decomposition[SVDDetails]] = partial(find_components, method="pca")
decompose_svd: Callable[..., Decomposition[SVDDetails]] = partial(find_components, method="svd")
plan_pca: Callable[..., Plan] = partial(plan_components, method="pca")
plan_svd: Callable[..., Plan] = partial(plan_components, method="svd")
