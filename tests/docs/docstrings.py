"""Check the docstring of every public name by numpydoc's rules: `python -m tests.docs.docstrings`.

The rules are in pyproject.toml, under `tool.numpydoc_validation`. Two checks are our own: the Attributes section of a
dataclass lists its fields, and a method that overrides nothing of another library has a docstring of its own.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import sys
import tomllib
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

ROOT = Path(__file__).parents[2]
RULES = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["numpydoc_validation"]

MODULES = (
    "eckart",
    "eckart.concept_space",
    "eckart.datasets",
    "eckart.errors",
    "eckart.plots",
    "eckart.single_cell",
    "eckart.supplementary",
    "eckart.tables",
    "eckart.types",
    "eckart.worked",
)


def public_names() -> dict[str, Any]:
    """Dotted name -> object, for public functions, classes, and the methods and properties that Eckart defines."""
    found: dict[str, Any] = {}
    for name in MODULES:
        module = importlib.import_module(name)
        for member in module.__all__:
            value = getattr(module, member)
            if isinstance(value, ModuleType) or member.startswith("_") or any(value is seen for seen in found.values()):
                continue
            found[f"{name}.{member}"] = value
            if inspect.isclass(value):
                found |= {f"{name}.{member}.{one}": method for one, method in _methods(value)}
    return found


def _methods(kind: type) -> list[tuple[str, Any]]:
    """Public methods and properties whose code is in this package, inherited ones included."""
    methods = []
    for name in dir(kind):
        value = inspect.getattr_static(kind, name)
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        function = inspect.unwrap(function) if callable(function) else function
        if not name.startswith("_") and isinstance(function, FunctionType) and function.__module__.startswith("eckart"):
            methods.append((name, value))
    return methods


def findings(name: str, value: Any) -> list[str]:
    """What the rules find in one docstring."""
    top_level = name.rpartition(".")[0] in MODULES
    is_estimator = hasattr(value, "get_params")  # its fields are parameters
    is_record = (dataclasses.is_dataclass(value) and not is_estimator) or hasattr(value, "_fields")
    rules = set(RULES["checks"]) | (set(RULES["checks_top_level"]) if top_level else set())
    inherits = inspect.isclass(value) and issubclass(value, Exception) and "__init__" not in vars(value)
    rules -= {"PR01"} if is_record or inherits else set()  # fields are attributes; errors share their parameters
    found = [f"{name}: {code} {text}" for code, text in validate(name)["errors"] if code in rules]
    if is_record:
        fields = getattr(value, "_fields", None) or [one.name for one in dataclasses.fields(value)]
        found += _fields_not_described(name, value, [one for one in fields if not one.startswith("_")])
    return found


def _fields_not_described(name: str, value: Any, fields: list[str]) -> list[str]:
    listed = [entry.name for entry in NumpyDocString(inspect.getdoc(value) or "")["Attributes"]]
    return [f"{name}: field {field!r} is not in the Attributes section" for field in fields if field not in listed]


def all_findings() -> list[str]:
    return [finding for name, value in public_names().items() for finding in findings(name, value)]


def main() -> int:
    found = all_findings()
    print(*found, sep="\n")  # noqa: T201
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
