"""Details of a method beyond the fields of `Decomposition`: those of PCA and SVD, imputed values, words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

import numpy as np

from eckart.arrays import Matrix, is_sparse, to_numpy
from eckart.errors import InputError

if TYPE_CHECKING:
    from eckart.result import Decomposition


@dataclass(frozen=True)
class Details:
    """Details of a method beyond the fields of `Decomposition`; each method has its own subclass."""

    shapes: ClassVar[dict[str, tuple[str, ...]]] = {}
    """Shapes of arrays of finite numbers: "rows", "columns", "k", or a name for a length that several fields share."""

    def fault(self, rows: int) -> str | None:
        """Why compiled loops could not use these fields safely for a model of so many rows; None if they can.

        A model file may state anything, and a loop trusts every index as an address.
        """
        return None

    def shape_fault(self, rows: int, columns: int, k: int) -> str | None:
        """Which field contradicts `shapes`, as in a model file that was edited; None if none does."""
        lengths = {"rows": rows, "columns": columns, "k": k}
        for name, wanted in self.shapes.items():
            array = getattr(self, name)
            if array is None:
                continue
            seen = tuple(array.shape)
            sizes = dict(zip(wanted, seen, strict=False))
            if len(seen) != len(wanted) or any(lengths.setdefault(axis, size) != size for axis, size in sizes.items()):
                expected = ", ".join(str(lengths.get(axis, axis)) for axis in wanted)
                return f"{name} has shape {seen}, but it must be ({expected}{',' * (len(wanted) == 1)})"
            if not np.isfinite(array.data if is_sparse(array) else to_numpy(array)).all():
                return f"{name} contains NaN or infinite entries"
        return None

    def of_leading(self, k: int, dropped: np.ndarray) -> Self:
        """The details of the first k components; `dropped` are the singular values of the others."""
        return self


@dataclass(frozen=True)
class UnknownDetails(Details):
    """Details read from a file of a method that is not installed, by name."""

    fields: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Imputation:
    """How missing values were imputed before a decomposition, and the model that imputes those of new rows."""

    how: str
    k: int
    shrink: float
    steps: int
    converged: bool
    error: float | None
    """Root mean square error of held-out entries; None if none were held out."""
    error_of_means: float | None
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    """The imputed values, one for each of `rows` and `columns`."""
    errors: np.ndarray
    """Their standard errors."""
    mean: np.ndarray
    scale: np.ndarray
    loadings: np.ndarray
    noise: np.ndarray
    explained_variance_ratio: np.ndarray | None = None
    """Share of each component, allowing for the noise that imputed values lack; None for imputation by means."""


@dataclass(frozen=True)
class WordModel:
    """The words of a collection of texts and their weights; see `TextConcepts`."""

    weights: str
    word_weights: np.ndarray
    mean_length: float
    names: tuple[str, ...]
    snippets: tuple[str, ...]
    added: np.ndarray
    """Coordinates of documents that were added after the fit."""
    terms: Matrix | None = None
    """Weighted word counts of all documents, as a sparse array."""


@dataclass(frozen=True)
class SVDDetails(Details):
    """PCA and SVD: norms of the decomposed matrix, its columns, its rows and its residual; weights, imputed values."""

    shapes: ClassVar = {"column_norms": ("columns",), "row_norms": ("rows",), "row_weights": ("rows",)}
    column_norms: np.ndarray | None = None
    row_norms: np.ndarray | None = None
    """Row lengths times the square roots of the row weights; None unless left vectors are kept."""
    row_weights: np.ndarray | None = None
    missing: Imputation | None = None
    words: WordModel | None = None
    """Vocabulary of a decomposition of texts."""
    residual_schatten4: float | None = None
    """Schatten 4-norm of the residual: (sum of s^4)^(1/4) over all singular values s that the decomposition does not
    contain. Block Lanczos estimates it from random vectors. None if not known."""

    def of_leading(self, k: int, dropped: np.ndarray) -> Self:
        kept, found = self.residual_schatten4, self.missing
        largest = float(np.maximum.reduce(dropped, initial=kept or 0.0))
        if kept is not None and largest > 0.0:
            kept = largest * float(((dropped / largest) ** 4).sum() + (kept / largest) ** 4) ** 0.25
        if found is not None and found.explained_variance_ratio is not None:
            found = replace(found, explained_variance_ratio=found.explained_variance_ratio[:k])
        return replace(self, residual_schatten4=kept, missing=found)


K = TypeVar("K", bound=Details)
"""Details of the returned decomposition, of the same method as the argument."""


def details_of(d: Decomposition, kind: type[K]) -> K:
    """The details of a decomposition, which must be of type `kind`."""
    if isinstance(d.details, kind):
        return d.details
    raise InputError(
        f"This function needs a decomposition with details of type {kind.__name__}, but the details of this "
        f"{d.method!r} decomposition are of type {type(d.details).__name__}."
    )
