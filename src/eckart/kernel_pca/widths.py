"""Widths of kernels derived from the distances between rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eckart.arrays import Array, Matrix, is_sparse, to_numpy
from eckart.errors import InputError
from eckart.kernel_pca.constants import SEPARATING_COMPONENTS, TRIED_QUANTILES, WIDTH_SAMPLE
from eckart.kernel_pca.groups import components_needed, groups_of
from eckart.notes import Note

WIDTHS = {"median": 0.5, "local": 0.1}
"""gamma by name -> the quantile of the distances between rows that determines it."""
NAMED = ("auto", *WIDTHS)
WITH_WIDTH = ("rbf", "laplacian", "poly", "sigmoid")
"""Kernels that have a gamma."""


@dataclass(frozen=True)
class Separating:
    """A width that separates groups of rows: the quantile of the distances, groups, and components needed."""

    quantile: float
    groups: int
    components: int

    @property
    def note(self) -> Note:
        first = "the first component" if self.components == 1 else f"the first {self.components} components"
        return Note(
            "separated_groups",
            f"The rows form {self.groups} separate groups of neighbours. Eckart chose the kernel "
            f"width so that {first} separate{'s' if self.components == 1 else ''} these groups.",
        )


def named_gamma(rows: Matrix, kernel: str, name: str) -> tuple[float, tuple[Note, ...]]:
    """gamma of "median", "local" or "auto", and a note; "auto" is the width that separates groups, or "local"."""
    if kernel not in WITH_WIDTH:
        return 1.0, ()
    found = separating_width(rows) if name == "auto" and kernel == "rbf" else None
    if found is None:
        return median_gamma(rows, kernel, WIDTHS["local" if name == "auto" else name]), ()
    return median_gamma(rows, kernel, found.quantile), (found.note,)


def _sampled(rows: Array) -> np.ndarray:
    sample = rows[:: -(-rows.shape[0] // WIDTH_SAMPLE)]
    return np.asarray(sample.toarray() if is_sparse(sample) else to_numpy(sample), np.float64)


def median_gamma(rows: Array, kernel: str = "rbf", quantile: float = 0.5) -> float:
    """1 / (2 m^2), where m is a quantile of the distances between at most 500 rows; 1 if they coincide.

    The median suits compact groups. Lower quantiles separate nested groups, such as rings, with fewer components. With
    many columns, all quantiles are close to each other.

    For the laplacian 1 / m with sums of absolute differences; for poly and sigmoid 1 / mean squared length of a row.
    """
    sample = _sampled(rows)
    exponent = int(np.frexp(np.abs(sample).max(initial=0.0))[1])
    size = _typical_size(np.ldexp(sample, -exponent), kernel, quantile)
    if size == 0.0:
        return 1.0
    with np.errstate(over="ignore", under="ignore"):
        gamma = float(np.ldexp((0.5 if kernel == "rbf" else 1.0) / size, -exponent * (1 + (kernel != "laplacian"))))
    if not np.finfo(np.float64).tiny <= gamma < np.inf:
        raise InputError(
            f"The entries of the rows are about {float(np.ldexp(1.0, exponent - 1)):.1g}, so the "
            "gamma derived from them is outside the range of float64. Multiply the data by a "
            "constant first, or specify gamma.",
            argument="gamma",
        )
    return gamma


def _typical_size(sample: np.ndarray, kernel: str, quantile: float) -> float:
    """The inverse of gamma, up to a factor: a quantile of distances, or the mean squared length of a row."""
    if kernel in ("poly", "sigmoid"):
        return float(np.mean(np.einsum("ij,ij->i", sample, sample)))
    from scipy.spatial.distance import pdist

    apart = pdist(sample, "cityblock" if kernel == "laplacian" else "sqeuclidean")
    median = float(np.quantile(apart, quantile)) if apart.size else 0.0
    return median or (float(np.median(apart)) if apart.size else 0.0)


def separating_width(rows: Array) -> Separating | None:
    """The width of the rbf kernel that separates groups of rows with the fewest components.

    Ties prefer the wider kernel. None without groups, or if no width separates them.
    """
    from scipy.spatial.distance import pdist, squareform

    sample = _sampled(rows)
    size = float(np.abs(sample).max(initial=0.0))
    if len(sample) <= 2 * SEPARATING_COMPONENTS or size == 0.0:
        return None
    groups = groups_of(sample / size)
    if groups is None:
        return None
    squares = squareform(pdist(sample / size, "sqeuclidean"))
    apart = squares[np.triu_indices_from(squares, 1)]
    best: Separating | None = None
    for quantile in TRIED_QUANTILES:
        width = float(np.quantile(apart, quantile))
        count = components_needed(_scores(np.exp(-0.5 * squares / width)), groups) if width > 0.0 else None
        if count is not None and (best is None or count < best.components):
            best = Separating(quantile, len(np.unique(groups[groups >= 0])), count)
    return best


def _scores(kernel: np.ndarray) -> np.ndarray:
    """Of the leading components of a kernel."""
    from scipy.linalg import eigh

    centred = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()
    last = len(kernel) - 1
    values, vectors = eigh(centred, subset_by_index=(last - SEPARATING_COMPONENTS + 1, last))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1])
