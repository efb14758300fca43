"""scan_kernels: compare kernels and widths on the same rows, with three measures of quality.

kept             share of the trace of the centred kernel on the components (certified from below)
trustworthiness  whether neighbours in the scores are neighbours in the data (1 is best)
preimage_error   mean squared distance between rows left out and their pre-images, as a share of their variance
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from sklearn.manifold import trustworthiness

from eckart.aliases import Keywords
from eckart.arrays import Array, Matrix, is_sparse
from eckart.documentation import document
from eckart.engine.matrix import open_matrix
from eckart.engine.settings import generator
from eckart.errors import EckartWarning, InputError, require
from eckart.kernel_pca.estimator import KernelPCA
from eckart.kernel_pca.fit import median_gamma
from eckart.kernel_pca.options import numbers
from eckart.options import check_choice, check_count

if TYPE_CHECKING:
    import pandas as pd

MEASURES = {"preimage_error": 1, "trustworthiness": -1, "kept": -1}
"""Measure -> 1 where less is better, -1 where more is."""
FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0)
_WIDE = ("rbf", "laplacian", "poly", "sigmoid")


@document
@dataclass(frozen=True)
class KernelTrial:
    """Result of one kernel with one width.

    Attributes
    ----------
    kernel : str
        Kernel.
    gamma : float or None
        Width. None for kernels without one.
    kept : float
        Certified share of the trace of the centred kernel.
    trustworthiness : float
        Whether neighbours in the scores are neighbours in the data; 1 is best.
    preimage_error : float
        Mean squared distance between held-out rows and their pre-images, divided by their variance.
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
    kept: float = float("nan")
    trustworthiness: float = float("nan")
    preimage_error: float = float("nan")
    failure: str = ""


@document
@dataclass(frozen=True)
class KernelScan:
    """Results of `scan_kernels`, best first.

    Attributes
    ----------
    trials : tuple of KernelTrial
        Trials, sorted by the measure `by`.
    by : str
        Measure that sorts the trials.
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
    >>> scan.best.kernel, len(scan.trials)
    ('linear', 3)
    """

    trials: tuple[KernelTrial, ...]
    by: str
    n_components: int
    rows: int

    @property
    def best(self) -> KernelTrial:
        """First trial."""
        return self.trials[0]

    def estimator(self, **options: object) -> KernelPCA:
        """Create an estimator with the best kernel and width.

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
        lines = [f"{'kernel':<10} {'gamma':>10} {'kept':>8} {'trustworthiness':>16} {'preimage_error':>15}"]
        for trial in self.trials:
            gamma = "-" if trial.gamma is None else f"{trial.gamma:.4g}"
            numbers = f"{trial.kept:>8.4f} {trial.trustworthiness:>16.4f} {trial.preimage_error:>15.4f}"
            lines.append(f"{trial.kernel:<10} {gamma:>10} {trial.failure or numbers}")
        lines.append(
            f"{self.n_components} components, {self.rows} rows, a fifth of them held out; best {self.by} first."
        )
        return "\n".join(lines)


def scan_kernels(
    X: object,
    *,
    kernels: Sequence[str] = ("linear", "cosine", "poly", "rbf", "laplacian"),
    gammas: Sequence[float] | None = None,
    n_components: int = 2,
    by: str = "preimage_error",
    n_neighbors: int = 5,
    max_rows: int = 1000,
    random_state: object = None,
    **options: object,
) -> KernelScan:
    """Compare kernels and widths on the same rows.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or path of shape (n_samples, n_features)
        Rows, at least 10.
    kernels : sequence of str, default ('linear', 'cosine', 'poly', 'rbf', 'laplacian')
        Kernels to try.
    gammas : sequence of float, default None
        Widths to try for every kernel that has one. None tries 0.1, 0.3, 1, 3 and 10 times the width that the data
        suggest: 1 / (2 median^2) of the distances for rbf, 1 / median for laplacian, 1 / mean squared length for the
        others.
    n_components : int, default 2
        Number of components.
    by : {'preimage_error', 'trustworthiness', 'kept'}, default 'preimage_error'
        Measure that sorts the trials. `kept` cannot compare the widths of one kernel, because the widest always keeps
        most.
    n_neighbors : int, default 5
        Number of neighbours for the trustworthiness.
    max_rows : int, default 1000
        Number of rows sampled from larger data. One fifth of them is held out for the pre-images.
    random_state : int, Generator or None, default None
        Seed of the sampling. None uses a fixed seed.
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
    `kept` is the certified share of the trace of the centred kernel. `trustworthiness` measures whether neighbours in
    the scores are neighbours in the data; 1 is best. `preimage_error` is the mean squared distance between held-out
    rows and their pre-images, divided by their variance.

    Examples
    --------
    >>> import numpy as np, eckart as ek
    >>> angle = np.linspace(0, 6, 60)
    >>> rings = np.column_stack([np.cos(angle), np.sin(angle)]) * np.repeat([1.0, 3.0], 30)[:, None]
    >>> scan = ek.scan_kernels(rings, kernels=("linear", "rbf"), n_components=2)
    >>> len(scan.trials), scan.best.kernel
    (6, 'linear')
    """
    check_choice("by", by, tuple(MEASURES))
    check_count("n_components", n_components, None)
    for kernel in kernels:
        check_choice("kernels", kernel, ("linear", "cosine", *_WIDE))
    tried, left_out = _drawn(X, check_count("max_rows", max_rows, None), random_state)
    trials = [
        _trial(tried, left_out, kernel, gamma, n_components, n_neighbors, options)
        for kernel in kernels
        for gamma in _widths(kernel, gammas, tried)
    ]

    def rank(trial: KernelTrial) -> float:
        value = MEASURES[by] * float(getattr(trial, by))
        return value if np.isfinite(value) else np.inf

    return KernelScan(tuple(sorted(trials, key=rank)), by, n_components, tried.shape[0] + left_out.shape[0])


def _drawn(X: object, most: int, random_state: object) -> tuple[Matrix, Matrix]:
    """(rows to fit, held-out rows)."""
    rows = numbers(open_matrix(X, stream=False))
    _, rng = generator(random_state)
    order = rng.permutation(rows.shape[0])[:most]
    if len(order) < 10:
        raise InputError(f"{len(order)} rows are too few to compare kernels on held-out rows; at least 10 are needed.")
    cut = max(2, len(order) // 5)
    return rows[np.sort(order[cut:])], rows[np.sort(order[:cut])]


def _widths(kernel: str, gammas: Sequence[float] | None, rows: object) -> list[float | None]:
    if kernel not in _WIDE:
        return [None]
    if gammas is not None:
        return [float(gamma) for gamma in gammas]
    middle = median_gamma(rows, kernel)
    return [factor * middle for factor in FACTORS]


def _trial(
    rows: Array, left_out: Array, kernel: str, gamma: float | None, k: int, neighbors: int, options: Keywords
) -> KernelTrial:
    model = KernelPCA(k, kernel=kernel, gamma=gamma, fit_inverse_transform=True, **options)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EckartWarning)
            scores = model.fit_transform(rows)
            back = model.inverse_transform(model.transform(left_out))
    except InputError as error:
        return KernelTrial(kernel, gamma, failure=str(error).partition(":")[0])
    dense = np.asarray(rows.toarray() if is_sparse(rows) else rows, np.float64)
    wanted = np.asarray(left_out.toarray() if is_sparse(left_out) else left_out, np.float64)
    spread = float(np.mean((wanted - dense.mean(axis=0)) ** 2)) or 1.0
    near = min(neighbors, max(1, (len(dense) - 1) // 2))
    certificate = model.certificate_
    return KernelTrial(
        kernel,
        gamma,
        kept=float("nan") if certificate is None else certificate.explained[0],
        trustworthiness=float(trustworthiness(dense, scores, n_neighbors=near)),
        preimage_error=float(np.mean((wanted - back) ** 2)) / spread,
    )
