"""How to repeat the analysis: the Python code and the command."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from eckart.formatting import clean

if TYPE_CHECKING:
    from eckart.analysis.analysis import Analysis

_NOT_SHOWN = ("method", "left", "rng", "memory", "stream", "callback", "checkpoint", "executor")


def sharing(found: Analysis, title: str, command: str) -> dict[str, str]:
    """Python code and command line that make the same report; a file name for downloads."""
    return {"python": python_code(found), "command": command, "file": _file_name(title)}


def python_code(found: Analysis) -> str:
    """Python code that repeats the analysis; the data are named as they were opened."""
    source = repr(clean(found.name)) if found.name != "data" else "data"
    lines = ["import eckart as ek", "", f"analysis = ek.analyze({', '.join([source, *_arguments(found)])})"]
    lines += ["print(analysis.summary())", 'analysis.report("report.html", overwrite=True)', *_estimator(found)]
    return "\n".join(lines) + "\n"


def _arguments(found: Analysis) -> list[str]:
    """The options that differ from their defaults, as typed."""
    d, options = found.decomposition, found.options
    kept = {name: value for name, value in options.items() if name not in _NOT_SHOWN and _is_plain(name, value)}
    if d.method == "kernel_pca" and options.get("kernel") == "precomputed":
        del kept["kernel"]
    elif d.method != "pca":
        kept = {"method": d.method, **kept}
    if options.get("rng") is not None:
        kept["rng"] = options["rng"]
    default = {"scale": False, "which": "largest", "missing": "error"}
    return [f"{name}={value!r}" for name, value in kept.items() if default.get(name, _NOT_SHOWN) != value]


def _estimator(found: Analysis) -> list[str]:
    d, k = found.decomposition, found.recommendation.k
    if not k or d.method not in ("pca", "svd") or found.requested:
        return []
    estimator = "PCA" if d.method == "pca" else "TruncatedSVD"
    scaled = ", scale=True" if d.scale is not None and d.method == "pca" else ""
    comment = "# The same as a scikit-learn estimator, with the recommended number of components:"
    return ["", comment, f"model = ek.{estimator}(n_components={k}{scaled})"]


def _is_plain(name: str, value: object) -> bool:
    """Whether an option can be typed: numbers, text, names of columns, and row_names=None."""
    return isinstance(value, str | int | float | bool) or name == "columns" or (name == "row_names" and value is None)


def _file_name(title: str) -> str:
    """A name for downloads, without characters that file systems refuse."""
    name = PurePath(title.rpartition(" of ")[2]).stem
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in name)[:60].strip("-") or "report"
