"""Eckart: the few axes that explain a table or a matrix, what they mean, and how good they are.

Public names are loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_WHERE = {
    "PCA": "eckart.estimators",
    "IncrementalPCA": "eckart.estimators",
    "TruncatedSVD": "eckart.estimators",
    "CUR": "eckart.estimators",
    "NMF": "eckart.estimators",
    "ColumnSelector": "eckart.estimators",
    "Isomap": "eckart.estimators",
    "CorrelationFilter": "eckart.estimators.selection",
    "BackwardElimination": "eckart.estimators.selection",
    "RandomSubsetSearch": "eckart.estimators.selection",
    "KernelPCA": "eckart.estimators",
    "scan_kernels": "eckart.estimators.scan_kernels",
    "decompose": "eckart.verbs",
    "plan": "eckart.verbs",
    "fill_missing": "eckart.filling",
    "choose_rank": "eckart.rank.choose",
    "project": "eckart.verbs",
    "reconstruct": "eckart.verbs",
    "project_to": "eckart.streaming",
    "reconstruct_to": "eckart.streaming",
    "convert": "eckart.sources.convert",
    "Decomposition": "eckart.decomposition",
    "Certificate": "eckart.decomposition",
    "Plan": "eckart.decomposition",
    "load": "eckart.modelfile",
    "save": "eckart.modelfile",
    "concepts": "eckart.concept_space",
    "bootstrap": "eckart.resampling",
    "report": "eckart.views.report",
    "summary": "eckart.views.summary",
    "open_matrix": "eckart.operators.open_matrix",
}
_MODULES = {
    "tables": "eckart.views.tables",
    "plots": "eckart.views.plots",
    "supplementary": "eckart.supplementary",
    "datasets": "eckart.datasets",
    "errors": "eckart.errors",
    "worked": "eckart.worked",
}

__all__ = [  # spelled out for editors and type checkers; a test compares it with the tables above
    "CUR",
    "NMF",
    "PCA",
    "BackwardElimination",
    "Certificate",
    "ColumnSelector",
    "CorrelationFilter",
    "Decomposition",
    "IncrementalPCA",
    "Isomap",
    "KernelPCA",
    "Plan",
    "RandomSubsetSearch",
    "TruncatedSVD",
    "__version__",
    "bootstrap",
    "choose_rank",
    "concepts",
    "convert",
    "datasets",
    "decompose",
    "errors",
    "fill_missing",
    "load",
    "open_matrix",
    "plan",
    "plots",
    "project",
    "project_to",
    "reconstruct",
    "reconstruct_to",
    "report",
    "save",
    "scan_kernels",
    "summary",
    "supplementary",
    "tables",
    "worked",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(importlib.import_module(_WHERE[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(_MODULES[name])
    else:
        raise AttributeError(f"module 'eckart' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
