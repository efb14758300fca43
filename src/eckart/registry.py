"""The methods of `decompose`: their names, their functions, and what other packages need to know about them.

Every package `eckart.<name>` with a module `method.py` that defines `METHODS`, a tuple of `Method`, is a method
package. Packages outside Eckart announce theirs by the entry point group "eckart.methods" (a reference to a `Method`)
or by `register`. Functions are named as "module:function" and imported on first use, so that asking for a method's
name loads none of its code.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from eckart.errors import ParameterError

if TYPE_CHECKING:
    from eckart.result import Decomposition, Details
    from eckart.text import Table

SHARED_OPTIONS = ("explain", "error", "scale", "which", "memory", "missing")
"""Options that several methods share; a method lists those that it takes in `Method.takes`."""


@dataclass(frozen=True)
class ReportSection:
    """What the report adds for one method."""

    title: str = "Method"
    figures: dict[str, str] = field(default_factory=dict)
    """Field of the method's details -> label in the table of figures."""
    treatment: str = ""
    """How the data were treated first: a sentence, or "module:function" that returns one for a decomposition."""
    tables: str | None = None
    """"module:function" that returns further tables of a decomposition, by name."""
    shares_of: str = ""
    """What the shares refer to, if not the variance or the sum of squares of the data."""


class MethodParts(TypedDict):
    """Where a method has its functions and classes, for `Method(**parts_of(...))`."""

    fit: str
    project: str
    reconstruct: str
    options: str
    details: str


def parts_of(package: str, prefix: str, *, functions: str = "fit") -> MethodParts:
    """The parts of a package with the names that Eckart's methods use; `functions` is the module of its functions."""
    module = f"{package}.{functions}"
    return {
        "fit": f"{module}:decompose",
        "project": f"{module}:project",
        "reconstruct": f"{module}:reconstruct",
        "options": f"{package}.options:{prefix}Options",
        "details": f"{package}.details:{prefix}Details",
    }


@dataclass(frozen=True)
class Method:
    """One method of `decompose`.

    To add a method, provide a package with a `Method` and the functions that it names. `decompose`, `project`,
    `reconstruct`, the command line, the report and model files find it here.
    """

    name: str
    title: str
    """Name in prose, such as "Principal component analysis"."""
    fit: str
    """"module:function" that takes the data and keyword options and returns a `Decomposition`."""
    project: str
    """"module:function" that takes a decomposition and data and returns coordinates."""
    reconstruct: str
    """"module:function" that takes a decomposition and coordinates and returns rows."""
    options: str | None = None
    """"module:Class" of a dataclass whose fields are the options of `fit`; None: the parameters of `fit` itself."""
    details: str = "eckart.result:Details"
    """"module:Class" of `Decomposition.details`: a frozen dataclass; its fields are what a model file stores."""
    plan: str | None = None
    """"module:function" that predicts what `fit` would do; None if the method cannot predict it."""
    takes: frozenset[str] = frozenset({"memory"})
    """Which of SHARED_OPTIONS the method takes."""
    streams: frozenset[str] = frozenset()
    """Options for data read in blocks (stream, watch, checkpoint, executor); empty if the data must be in memory."""
    missing: tuple[str, ...] = ()
    """Ways to handle missing values, besides refusing them."""
    missing_reason: str = "This method imputes missing values"
    default_k: int | None = 5
    """Number of components if none is requested on the command line; None for all components of small tables."""
    more_than_columns: bool = False
    """Whether there may be more components than columns."""
    label: str = "component "
    """Prefix of component names: "PC" gives PC1, PC2, ..."""
    orthogonal: bool = False
    """Whether components are orthonormal directions in the space of the columns."""
    additive: bool = False
    """Whether the shares of components add up to the explained share."""
    certifies_explained_variance: bool = True
    """Whether the certificate bounds the shares of the decomposition, and not, for example, of an approximation."""
    device: Literal["none", "whole", "blocks", "own"] = "none"
    """Host data on a GPU: not supported; copied whole; in blocks if they do not fit; handled inside `fit`."""
    rank: Literal["spectrum", "parts", "decomposition", "none"] = "none"
    """How `choose_rank` works: on the data's spectrum, by `rank_rule`, only on a decomposition, or not at all."""
    rank_rule: str | None = None
    """"module:function" of (table, largest k, seed) that returns (k or None, reason); for rank="parts"."""
    section: ReportSection = field(default_factory=ReportSection)

    def function(self, what: Literal["fit", "project", "reconstruct", "plan", "rank_rule"]) -> Callable[..., Any]:
        """The function of that name, imported."""
        where = getattr(self, what)
        if where is None:
            raise ParameterError(f"The method {self.name!r} does not support {what}().")
        return resolve(where)

    def treatment(self, d: Decomposition) -> str:
        """How the data were treated first, for the report; empty if they were only centred or scaled."""
        text = self.section.treatment
        return str(resolve(text)(d)) if ":" in text and " " not in text else text

    def tables(self, d: Decomposition) -> dict[str, Table]:
        """Further tables for the report."""
        return {} if self.section.tables is None else dict(resolve(self.section.tables)(d))


@lru_cache(maxsize=256)
def resolve(where: str) -> Callable[..., Any]:
    """The function that "module:function" names."""
    module, _, name = where.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found


def details_class(method: Method) -> type[Details]:
    """The class of `Decomposition.details` of a method, imported."""
    module, _, name = method.details.partition(":")
    found: type[Details] = getattr(importlib.import_module(module), name)
    return found


_registered: dict[str, Method] = {}


def register(method: Method) -> Method:
    """Make a method available to `decompose`, the command line and the report under its name.

    Raises
    ------
    ParameterError
        If another method has that name already.
    """
    known = all_methods().get(method.name)
    if known is not None and known != method:
        raise ParameterError(f"A method named {method.name!r} is already registered. Choose another name.")
    _registered[method.name] = method
    return method


def unregister(name: str) -> None:
    """Remove a method that `register` added."""
    _registered.pop(name, None)


def all_methods() -> dict[str, Method]:
    """Every known method by name: built-in, installed, registered."""
    return {**_built_in(), **_installed(), **_registered}


def get_method(name: object) -> Method:
    """The method called `name`, or an error that lists all."""
    if isinstance(name, str):
        known = _registered.get(name) or _built_in().get(name) or _installed().get(name)
        if known is not None:
            return known
    from eckart.options import near_match

    names = list(all_methods())
    listed = ", ".join(map(repr, names))
    hint = f". To set the number of components, use k={name}." if type(name) is int else near_match(str(name), names)
    raise ParameterError(f"method={name!r} is not one of {listed}{hint}")


def method_of(d: Decomposition) -> Method:
    """The method that made a decomposition; a plain description of it if that method is not installed."""
    known = _registered.get(d.method) or _built_in().get(d.method) or _installed().get(d.method)
    return known or Method(d.method, d.method, fit="", project="", reconstruct="")


@lru_cache(maxsize=1)
def _built_in() -> dict[str, Method]:
    import eckart

    found: dict[str, Method] = {}
    for package in pkgutil.iter_modules(eckart.__path__):
        # Listed, not imported: most packages are not methods, and some are slow to import.
        folders = [f"{folder}/{package.name}" for folder in eckart.__path__] if package.ispkg else []
        if any(module.name == "method" for module in pkgutil.iter_modules(folders)):
            module = importlib.import_module(f"eckart.{package.name}.method")
            found |= {method.name: method for method in module.METHODS}
    return dict(sorted(found.items(), key=lambda item: _ORDER.get(item[0], len(_ORDER))))


@lru_cache(maxsize=1)
def _installed() -> dict[str, Method]:
    found = [entry.load() for entry in entry_points(group="eckart.methods")]
    return {method.name: method for method in found if method.name not in _built_in()}


_ORDER = {"pca": 0, "svd": 1}
"""Listed first."""
