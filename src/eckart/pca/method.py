"""PCA and SVD as methods of `decompose`."""

from __future__ import annotations

from dataclasses import replace

from eckart.registry import SHARED_OPTIONS, Method

_PCA = Method(
    name="pca",
    title="Principal component analysis",
    fit="eckart.pca.fit:decompose_pca",
    project="eckart.components.scores:project_on_components",
    reconstruct="eckart.components.scores:reconstruct_from_components",
    options="eckart.engine.svd_options:SVDOptions",
    details="eckart.result:SVDDetails",
    plan="eckart.pca.fit:plan_pca",
    takes=frozenset(SHARED_OPTIONS),
    streams=frozenset({"stream", "callback", "checkpoint", "executor"}),
    missing=("em", "mean"),
    default_k=None,
    label="PC",
    orthogonal=True,
    additive=True,
    device="own",
    rank="spectrum",
)
_SVD = replace(
    _PCA,
    name="svd",
    title="Singular value decomposition",
    fit="eckart.pca.fit:decompose_svd",
    plan="eckart.pca.fit:plan_svd",
    label="component ",
)
METHODS = (_PCA, _SVD)
