"""Eckart: summarise tables and matrices by a few components, and prove how accurate they are.

Public names are loaded on first use.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eckart import datasets, errors, plots, single_cell, supplementary, tables, types, worked
    from eckart.analysis.analysis import Analysis
    from eckart.analysis.analyze import analyze
    from eckart.analysis.bootstrap import bootstrap
    from eckart.analysis.summary import summary
    from eckart.analysis.with_rows import with_rows
    from eckart.api import decompose, plan
    from eckart.concept_space import concepts
    from eckart.concept_space.ratings import Ratings
    from eckart.concept_space.text_concepts import TextConcepts
    from eckart.cur.column_selector import ColumnSelector
    from eckart.cur.estimator import CUR
    from eckart.io.convert import convert
    from eckart.io.model_file import load, save
    from eckart.io.open_data import open_data
    from eckart.io.open_matrix import open_matrix
    from eckart.isomap.estimator import Isomap
    from eckart.kernel_pca.estimator import KernelPCA
    from eckart.kernel_pca.scan_kernels import scan_kernels
    from eckart.missing.fill import fill_missing
    from eckart.nmf.estimator import NMF
    from eckart.pca.estimator import PCA
    from eckart.pca.incremental_pca import IncrementalPCA
    from eckart.pca.truncated_svd import TruncatedSVD
    from eckart.projecting import project, reconstruct
    from eckart.rank.choose import choose_rank
    from eckart.reporting import report
    from eckart.result import Certificate, Decomposition, Plan
    from eckart.selection import BackwardElimination, CorrelationFilter, RandomSubsetSearch
    from eckart.streaming import project_to, reconstruct_to

__version__ = "0.1.0"

_WHERE = {
    "PCA": "eckart.pca.estimator",
    "IncrementalPCA": "eckart.pca.incremental_pca",
    "TruncatedSVD": "eckart.pca.truncated_svd",
    "CUR": "eckart.cur.estimator",
    "NMF": "eckart.nmf.estimator",
    "ColumnSelector": "eckart.cur.column_selector",
    "Isomap": "eckart.isomap.estimator",
    "CorrelationFilter": "eckart.selection",
    "BackwardElimination": "eckart.selection",
    "RandomSubsetSearch": "eckart.selection",
    "KernelPCA": "eckart.kernel_pca.estimator",
    "scan_kernels": "eckart.kernel_pca.scan_kernels",
    "decompose": "eckart.api",
    "plan": "eckart.api",
    "fill_missing": "eckart.missing.fill",
    "choose_rank": "eckart.rank.choose",
    "project": "eckart.projecting",
    "reconstruct": "eckart.projecting",
    "project_to": "eckart.streaming",
    "reconstruct_to": "eckart.streaming",
    "convert": "eckart.io.convert",
    "Decomposition": "eckart.result",
    "Certificate": "eckart.result",
    "Plan": "eckart.result",
    "load": "eckart.io.model_file",
    "save": "eckart.io.model_file",
    "concepts": "eckart.concept_space",
    "TextConcepts": "eckart.concept_space.text_concepts",
    "Ratings": "eckart.concept_space.ratings",
    "analyze": "eckart.analysis.analyze",
    "Analysis": "eckart.analysis.analysis",
    "bootstrap": "eckart.analysis.bootstrap",
    "report": "eckart.reporting",
    "summary": "eckart.analysis.summary",
    "open_matrix": "eckart.io.open_matrix",
    "open_data": "eckart.io.open_data",
    "with_rows": "eckart.analysis.with_rows",
}
_MODULES = {
    "tables": "eckart.tables",
    "plots": "eckart.plots",
    "supplementary": "eckart.supplementary",
    "single_cell": "eckart.single_cell",
    "datasets": "eckart.datasets",
    "errors": "eckart.errors",
    "types": "eckart.types",
    "worked": "eckart.worked",
}

__all__ = [  # spelled out for editors and type checkers; a test compares it with the tables above
    "CUR",
    "NMF",
    "PCA",
    "Analysis",
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
    "Ratings",
    "TextConcepts",
    "TruncatedSVD",
    "__version__",
    "analyze",
    "bootstrap",
    "choose_rank",
    "concepts",
    "convert",
    "datasets",
    "decompose",
    "errors",
    "fill_missing",
    "load",
    "open_data",
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
    "single_cell",
    "summary",
    "supplementary",
    "tables",
    "types",
    "with_rows",
    "worked",
]


if not TYPE_CHECKING:  # type checkers read the imports above; without this guard they would accept any name

    def __getattr__(name: str) -> object:
        if name in _WHERE:
            value = getattr(importlib.import_module(_WHERE[name]), name)
        elif name in _MODULES:
            value = importlib.import_module(_MODULES[name])
        else:
            raise AttributeError(f"module 'eckart' has no attribute {name!r}{_hint(name)}")
        globals()[name] = value
        return value


_METHODS = ("pca", "nmf", "cur", "kernel_pca", "isomap")
"""Packages with the names of methods, which other libraries use for functions."""


def _hint(name: str) -> str:
    """What to use instead of an unknown name, as the end of a sentence."""
    # `from eckart import module` asks here first, and then imports the module.
    is_module = name.startswith("_") or importlib.util.find_spec(f"eckart.{name}") is not None
    if is_module and name not in _METHODS:
        return ""
    from eckart.options import LIBRARY_NAMES, near_match

    return f". {LIBRARY_NAMES[name]}." if name in LIBRARY_NAMES else near_match(name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)
