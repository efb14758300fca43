"""Details of a method beyond the fields of `Decomposition`: those of PCA and SVD, imputed values, words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

from eckart.arrays import Matrix
from eckart.errors import InputError

if TYPE_CHECKING:
    from eckart.result import Decomposition


@dataclass(frozen=True)
class Details:
    """Details of a method beyond the fields of `Decomposition`; each method has its own subclass."""

    def fault(self, rows: int) -> str | None:
        """Why compiled loops could not use these fields safely for a model of so many rows; None if they can.

        A model file may state anything, and a loop trusts every index as an address.
        """
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
