"""The decomposition of one resample, in the order, with the signs and in the basis of that of the data."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from eckart.analysis.alignment import pair, rotated_groups
from eckart.analysis.measures import floats
from eckart.analysis.shares import ShareErrors
from eckart.api import decompose
from eckart.arrays import Array, Floats
from eckart.errors import EckartWarning
from eckart.registry import get_method
from eckart.result import Decomposition

if TYPE_CHECKING:
    from numpy.typing import NDArray

FURTHER = 3
"""Components computed in addition to those requested: one that changed its position can still be found."""
_MOST_COPIES = 10_000_000
"""Maximum sum of whole weights for drawing each copy of a row separately."""


@dataclass(frozen=True)
class Resampler:
    """The data, their decomposition, its groups of close components, and the options of every resample."""

    first: Decomposition
    groups: tuple[tuple[int, ...], ...]
    open_group: tuple[int, ...]
    """The group of the first component that was not requested, if there is one."""
    inseparable: tuple[tuple[int, ...], ...]
    """Groups that are compared as subspaces only."""
    matrix: Array
    method: Literal["pca", "svd"]
    weights: Floats | None
    options: dict[str, object]
    error_of: ShareErrors

    def draw(
        self, random: np.random.Generator
    ) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats, NDArray[np.intp]]:
        """One repetition, its components paired with those of the data.

        Returns the loadings, the loadings matched separately, all shares, the shares along the matched directions and
        their standard errors, the cosines and the indices.
        """
        times = self._times(random)
        first, k = self.first, min(self.first.k + FURTHER, int(np.count_nonzero(times)), self.first.columns)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EckartWarning)
            d = decompose(self.matrix, get_method(self.method), k=k, sample_weight=times, **self.options)
        right, shares = floats(d.right), floats(d.explained_variance_ratio)
        if k < first.k:  # few distinct rows were drawn: the other components explain nothing
            right = np.hstack([right, np.zeros((first.columns, first.k - k))])
            shares = np.append(shares, np.zeros(first.k - k))
        all_shares = np.zeros(min(first.k + FURTHER, first.columns))
        all_shares[: len(shares)] = shares
        wanted = floats(first.right)
        indices, signs, cosines = pair(wanted, right)
        found = right[:, indices] * signs
        whole = rotated_groups(wanted, found, (*self.groups, self.open_group) if self.open_group else self.groups)
        aligned = shares @ (right.T @ whole) ** 2
        errors = self.error_of(d, times, whole, aligned)
        matched = rotated_groups(wanted, found, self.inseparable)
        return self._paired(found, random), matched, all_shares, aligned, errors, cosines, indices

    def _times(self, random: np.random.Generator) -> Floats:
        """How often each row is drawn: at least two rows, if there are two."""
        given = np.ones(self.matrix.shape[0]) if self.weights is None else self.weights
        times = np.zeros(len(given))
        while int(np.count_nonzero(times)) < min(2, int(np.count_nonzero(given))):
            times = row_draws(given, random)
        return times

    def _paired(self, found: Floats, random: np.random.Generator) -> Floats:
        """The components with whole groups rotated onto those of the data."""
        wanted = floats(self.first.right)
        paired = rotated_groups(wanted, found, self.groups)
        if self.open_group:
            # The data do not determine directions within the subspace, so these are drawn as well.
            columns, size = list(self.open_group), len(self.open_group)
            paired[:, columns] = paired[:, columns] @ np.linalg.qr(random.standard_normal((size, size)))[0]
            paired[:, columns] *= np.where((paired * wanted).sum(axis=0) < 0.0, -1.0, 1.0)[columns]
        return paired


def row_draws(weights: Floats, random: np.random.Generator) -> Floats:
    """How often each row is drawn, as a share of the sum of the weights."""
    total, counted = float(weights.sum()), np.flatnonzero(weights)
    times = np.zeros(len(weights))
    if np.all(weights == np.floor(weights)) and total <= _MOST_COPIES:
        # With one cell for each copy of a row, the draws are those of the table with repeated rows.
        copies = weights[counted].astype(np.intp)
        drawn = random.multinomial(int(total), np.full(int(total), 1 / int(total)))
        times[counted] = np.add.reduceat(drawn, np.cumsum(copies) - copies)
        return times
    count = max(round(total), len(counted))
    times[counted] = random.multinomial(count, weights[counted] / total) * (total / count)
    return times
