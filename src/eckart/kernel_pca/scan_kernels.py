"""scan_kernels: compare kernels and widths on the same rows, with four measures of quality.

separation       share of held-out rows that a linear discriminant of the scores puts into the right group
kept             share of the positive eigenvalues of the centred kernel (certified from below)
trustworthiness  whether neighbours in the scores are neighbours in the data (1 is best)
preimage_error   mean squared distance between held-out rows and their pre-images, as a share of their variance

The groups are the connected parts of the graph of nearest neighbours. As many linear components as columns reconstruct
every row, whatever the data. The pre-images therefore use fewer components than columns.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from sklearn.base import clone
from sklearn.manifold import trustworthiness

from eckart.aliases import Keywords
from eckart.arrays import Matrix, is_sparse
from eckart.documentation import document
from eckart.engine.settings import generator
from eckart.errors import EckartWarning, InputError, require
from eckart.formatting import counted
from eckart.io.open_matrix import open_matrix
from eckart.kernel_pca.constants import SCANNED_COMPONENTS, SCANNED_FACTORS, SEPARATING_COMPONENTS
from eckart.kernel_pca.estimator import KernelPCA
from eckart.kernel_pca.groups import components_needed, groups_of, separation
from eckart.kernel_pca.options import numbers
from eckart.kernel_pca.widths import WITH_WIDTH, median_gamma
from eckart.options import check_choice, check_count

if TYPE_CHECKING:
    import pandas as pd

MEASURES = {"separation": -1, "preimage_error": 1, "trustworthiness": -1, "kept": -1}
"""Measure -> 1 where less is better, -1 where more is."""


@document
@dataclass(frozen=True)
class KernelTrial:
    """Result of one kernel with one value of gamma.

    Measures that were not computed are NaN.

    Attributes
    ----------
    kernel : str
        Name of the kernel.
    gamma : float or None
        Value of gamma. None for kernels without it.
    separation : float
        Share of held-out rows that a linear discriminant of the scores assigns to the correct group. NaN if the rows do
        not form separate groups.
    kept : float
        Certified explained share, relative to the sum of the positive eigenvalues of the centred kernel matrix.
    trustworthiness : float
        How well neighbourhoods are preserved: whether neighbours in the scores are also neighbours in the data. 1 is
        best.
    preimage_error : float
        Mean squared distance between held-out rows and their pre-images, divided by the variance of the rows. It is
        computed with fewer components than columns.
    failure : str
        Why the trial failed. Empty if it succeeded.

    {See Also: KernelScan}

    Examples
    --------
    >>> from eckart.types import KernelTrial
    >>> KernelTrial("rbf", 0.5, kept=0.9).kept
    0.9
    """

    kernel: str
    gamma: float | None
    separation: float = float("nan")
    kept: float = float("nan")
    trustworthiness: float = float("nan")
    preimage_error: float = float("nan")
    failure: str = ""


@document
@dataclass(frozen=True)
class KernelScan:
    """Results of `scan_kernels`, best first.

    Print it to see a table of all trials.

    Attributes
    ----------
    trials : tuple of KernelTrial
        Trials, sorted by the measure `by`.
    by : str
        Measure by which the trials are sorted.
    n_components : int
        Number of components.
    rows : int
        Number of rows used.

    {See Also: eckart.scan_kernels}

    Examples
    --------
    >>> import numpy as np, eckart as ek
    >>> rows = np.random.default_rng(0).normal(size=(30, 3))
    >>> scan = ek.scan_kernels(rows, kernels=("linear", "rbf"), gammas=(0.1, 1.0))
    >>> scan.by, len(scan.trials)
    ('preimage_error', 3)
    """

    trials: tuple[KernelTrial, ...]
    by: str
    n_components: int
    rows: int

    @property
    def best(self) -> KernelTrial:
        """The trial with the best result."""
        return self.trials[0]

    def estimator(self, **options: object) -> KernelPCA:
        """Create an estimator with the best kernel and gamma.

        Parameters
        ----------
        **options : dict
            Further options of `KernelPCA`.

        Returns
        -------
        KernelPCA
            An estimator that is not fitted.
        """
        more = cast("Keywords", options)
        return KernelPCA(self.n_components, kernel=self.best.kernel, gamma=self.best.gamma, **more)

    def to_pandas(self) -> pd.DataFrame:
        """Convert to a data frame.

        Returns
        -------
        pandas.DataFrame
            One row per trial.
        """
        pandas = require("pandas", purpose="tables as data frames")
        frame: pd.DataFrame = pandas.DataFrame([vars(trial) for trial in self.trials])
        return frame

    def __str__(self) -> str:
        heads = f"{'separation':>11} {'kept':>8} {'trustworthiness':>16} {'preimage_error':>15}"
        lines = [f"{'kernel':<10} {'gamma':>10} {heads}"]
        for trial in self.trials:
            gamma = "-" if trial.gamma is None else f"{trial.gamma:.4g}"
            separation = "-" if np.isnan(trial.separation) else f"{trial.separation:.4f}"
            quality = f"{trial.kept:>8.4f} {trial.trustworthiness:>16.4f} {trial.preimage_error:>15.4f}"
            numbers = f"{separation:>11} {quality}"
            lines.append(f"{trial.kernel:<10} {gamma:>10} {trial.failure or numbers}")
        lines.append(
            f"Each trial used {counted(self.n_components, 'component')} and {self.rows} rows, a fifth of them "
            f"held out. The trials are sorted by {self.by}, best first."
        )
        return "\n".join(lines)


def scan_kernels(
    X: object,
    *,
    kernels: Sequence[str] = ("linear", "cosine", "poly", "rbf", "laplacian"),
    gammas: Sequence[float] | None = None,
    n_components: int | None = None,
    by: str = "auto",
    n_neighbors: int = 5,
    max_rows: int = 1000,
    random_state: object = None,
    **options: object,
) -> KernelScan:
    """Compare kernels and their coefficients on the same data.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or path of shape (n_samples, n_features)
        The data, with at least 10 rows.
    kernels : sequence of str, default ('linear', 'cosine', 'poly', 'rbf', 'laplacian')
        Kernels to try.
    gammas : sequence of float, default None
        Values of gamma to try for every kernel that has this parameter. None tries 0.1, 0.3, 1, 3 and 10 times a value
        that is computed from the data. This value is 1 / (2 median^2) for rbf and 1 / median for laplacian, where the
        median is that of the distances between rows. For the other kernels it is 1 / (mean squared length of the rows).
    n_components : int, default None
        Number of components. None uses the smallest number from 2 to 6 with which a kernel separates the groups, or 2
        if there are no groups or no kernel separates them.
    by : {'auto', 'separation', 'preimage_error', 'trustworthiness', 'kept'}, default 'auto'
        Measure by which the trials are sorted. 'auto' is 'separation' if the rows form separate groups, and
        'preimage_error' otherwise. Ties are sorted by the pre-image error. Do not use 'kept' to compare
        different gammas of one kernel, because the widest kernel always has the largest share.
    n_neighbors : int, default 5
        Number of neighbours used to compute the trustworthiness. To find the groups, at least log2(n) neighbours are
        used.
    max_rows : int, default 1000
        Number of rows sampled from larger data. One fifth of them is held out.
    random_state : int, Generator or None, default None
        Seed for the sampling. None uses a fixed seed.
    **options : dict
        Options of `KernelPCA`, such as `degree` or `preimage`.

    Returns
    -------
    KernelScan
        The trials, best first, with `best`, `estimator()` and `to_pandas()`.

    See Also
    --------
    KernelPCA : The estimator that is compared.

    Notes
    -----
    `separation` is the share of held-out rows that a linear discriminant of the scores assigns to the correct group.
    Groups are the connected parts of the graph of nearest neighbours, such as two nested rings. `kept` is the certified
    explained share, relative to the sum of the positive eigenvalues. `trustworthiness` measures whether neighbours in
    the scores are also neighbours in the data; 1 is best. `preimage_error` is the mean squared distance between
    held-out rows and their pre-images, divided by the variance of the rows. It is computed with fewer components than
    columns, because with as many components as columns, the linear kernel would reconstruct every row exactly.

    Examples
    --------
    >>> import numpy as np, eckart as ek
    >>> angle = np.tile(np.linspace(0, 6, 60), 2)
    >>> rings = np.column_stack([np.cos(angle), np.sin(angle)]) * np.repeat([1.0, 3.0], 60)[:, None]
    >>> scan = ek.scan_kernels(rings, kernels=("linear", "rbf"), n_components=2)
    >>> len(scan.trials), scan.by, scan.best.kernel
    (6, 'separation', 'rbf')
    """
    check_choice("by", by, ("auto", *MEASURES))
    if n_components is not None:
        check_count("n_components", n_components, None)
    for kernel in kernels:
        check_choice("kernels", kernel, ("linear", "cosine", *WITH_WIDTH))
    split = _drawn(X, check_count("max_rows", max_rows, None), random_state, n_neighbors)
    tried = [(kernel, gamma) for kernel in kernels for gamma in _widths(kernel, gammas, split.rows)]
    n_components = _needed(split, tried, options) if n_components is None else n_components
    trials = [_trial(split, kernel, gamma, n_components, n_neighbors, options) for kernel, gamma in tried]
    measure = ("preimage_error" if split.groups is None else "separation") if by == "auto" else by

    def rank(trial: KernelTrial) -> tuple[float, float]:
        first, tied = MEASURES[measure] * float(getattr(trial, measure)), trial.preimage_error
        return (first if np.isfinite(first) else np.inf, tied if np.isfinite(tied) else np.inf)

    return KernelScan(tuple(sorted(trials, key=rank)), measure, n_components, len(split.order))


@dataclass(frozen=True)
class _Split:
    """Rows to fit, held-out rows, and the groups of both, or None if there are fewer than two groups."""

    rows: Matrix
    left_out: Matrix
    order: np.ndarray
    groups: tuple[np.ndarray, np.ndarray] | None


def _drawn(X: object, most: int, random_state: object, neighbors: int) -> _Split:
    rows = numbers(open_matrix(X, stream=False))
    _, rng = generator(random_state)
    order = rng.permutation(rows.shape[0])[:most]
    if len(order) < 10:
        raise InputError(
            f"{len(order)} rows are too few to compare kernels on held-out rows. At least 10 rows are needed."
        )
    cut = max(2, len(order) // 5)
    order = np.concatenate([np.sort(order[cut:]), np.sort(order[:cut])])
    groups = groups_of(rows[order], neighbors)
    held = len(order) - cut
    both = None if groups is None else (groups[:held], groups[held:])
    return _Split(rows[order[:held]], rows[order[held:]], order, both)


def _widths(kernel: str, gammas: Sequence[float] | None, rows: object) -> list[float | None]:
    if kernel not in WITH_WIDTH:
        return [None]
    if gammas is not None:
        return [float(gamma) for gamma in gammas]
    middle = median_gamma(rows, kernel)
    return [factor * middle for factor in SCANNED_FACTORS]


def _needed(split: _Split, tried: Sequence[tuple[str, float | None]], options: Keywords) -> int:
    """The smallest number of components with which one of the kernels separates the groups."""
    if split.groups is None:
        return SCANNED_COMPONENTS
    most = min(SEPARATING_COMPONENTS, split.rows.shape[0] - 1)
    found = []
    for kernel, gamma in tried:
        with warnings.catch_warnings(), contextlib.suppress(InputError):
            warnings.simplefilter("ignore", EckartWarning)
            scores = np.asarray(KernelPCA(most, kernel=kernel, gamma=gamma, **options).fit_transform(split.rows))
            found.append(components_needed(scores, split.groups[0], SCANNED_COMPONENTS))
    return min((count for count in found if count is not None), default=SCANNED_COMPONENTS)


def _trial(split: _Split, kernel: str, gamma: float | None, k: int, neighbors: int, options: Keywords) -> KernelTrial:
    model = KernelPCA(k, kernel=kernel, gamma=gamma, fit_inverse_transform=True, **options)
    fewer = min(k, max(1, split.rows.shape[1] - 1))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EckartWarning)
            scores = np.asarray(model.fit_transform(split.rows))
            held_out = np.asarray(model.transform(split.left_out))
            back_model = model if fewer == k else clone(model).set_params(n_components=fewer).fit(split.rows)
            back = back_model.inverse_transform(back_model.transform(split.left_out))
    except InputError as error:
        return KernelTrial(kernel, gamma, failure=str(error).partition(":")[0])
    rows, wanted = _dense(split.rows), _dense(split.left_out)
    spread = float(np.mean((wanted - rows.mean(axis=0)) ** 2)) or 1.0
    near = min(neighbors, max(1, (len(rows) - 1) // 2))
    certificate = model.certificate_
    return KernelTrial(
        kernel,
        gamma,
        separation=float("nan")
        if split.groups is None
        else separation(scores, split.groups[0], held_out, split.groups[1]),
        kept=float("nan") if certificate is None else certificate.explained[0],
        trustworthiness=float(trustworthiness(rows, scores, n_neighbors=near)),
        preimage_error=float(np.mean((wanted - back) ** 2)) / spread,
    )


def _dense(rows: Matrix) -> np.ndarray:
    return np.asarray(rows.toarray() if is_sparse(rows) else rows, np.float64)
