"""What a decomposition is, once computed: frozen values without any link to the data.

A ~ left diag(values) right^T (+ mean), rows x columns, k axes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np

from eckart.devices import is_off_host, to_host
from eckart.errors import InputError
from eckart.notes import Note

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from typing_extensions import TypeVar as TypeVarWithDefault

    from eckart.arrays import Array

Which = Literal["largest", "smallest"]


@dataclass(frozen=True)
class Details:
    """What a method knows in addition to the fields of `Decomposition`; each method has a subclass with its own."""


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
    """Of each component, allowing for the noise that imputed values lack; None for imputation by means."""


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


@dataclass(frozen=True)
class SVDDetails(Details):
    """PCA and SVD: lengths of columns and rows of the decomposed matrix, weights, imputed values."""

    column_norms: np.ndarray | None = None
    row_norms: np.ndarray | None = None
    """Each times the root of the weight of its row; None unless left vectors are kept."""
    row_weights: np.ndarray | None = None
    missing: Imputation | None = None
    words: WordModel | None = None
    """Of a decomposition of texts."""


K = TypeVar("K", bound=Details)
"""Of functions that return a decomposition of the same method."""


def details_of(d: Decomposition, kind: type[K]) -> K:
    """The details of a decomposition, which must be of this kind."""
    if isinstance(d.details, kind):
        return d.details
    raise InputError(f"{kind.__name__} were expected, and a decomposition by {d.method!r} has others.")


if TYPE_CHECKING:  # a bare `Decomposition` has `Details`
    D = TypeVarWithDefault("D", bound=Details, default=Details, covariant=True)
else:
    D = TypeVar("D")


@dataclass(frozen=True)
class Plan:
    """What will be done, before it is done: solver, reads, memory, and why."""

    method: str
    solver: str
    rows: int
    columns: int
    k: int | None
    """Number of axes asked for; None when a share or an error decides."""
    passes: int
    """Expected reads of the whole data (an upper estimate for iterative solvers)."""
    peak_bytes: int
    """Working memory beside the data themselves."""
    why: str
    settings: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        wanted = "as many axes as the target needs" if self.k is None else f"k={self.k}"
        return (
            f"{self.method} of {self.rows:,} x {self.columns:,}, {wanted}: solver {self.solver!r}, "
            f"about {self.passes} read{'s' if self.passes != 1 else ''}, {_bytes(self.peak_bytes)} beside the data. "
            f"{self.why}"
        )


@dataclass(frozen=True)
class SolveInfo:
    """What was done: counts, history and the circumstances that make it repeatable."""

    solver: str
    passes: int
    steps: int = 0
    block: int = 0
    basis: int = 0
    restarts: int = 0
    precision: str = "float64"
    seed: int | None = None
    threads: int = 1
    history: tuple[tuple[int, float, float], ...] = ()
    """(reads, certified lower share, certified upper share) after each evaluation."""


@dataclass(frozen=True)
class Certificate:
    """What is provably true of a result.

    With A the (centred, scaled, weighted) matrix, lambda_i its squared singular values, ||A||^2 their sum:
    `explained` = (captured / ||A||^2, upper bound of the best possible captured share);
    `values` = lower and upper bounds of each singular value. Bounds that rest on a random probe hold with
    probability at least 1 - `failure_probability`; 0.0 means that no chance is involved.
    """

    explained: tuple[float, float]
    lower: np.ndarray
    upper: np.ndarray
    residuals: np.ndarray
    """||A^T A v - s^2 v|| / s_1^2 for each axis."""
    angle: float
    """Bound on the sine of the largest angle between the computed and the true subspace; 1.0 when no bound is known."""
    undetermined: tuple[tuple[int, int], ...] = ()
    """Groups (first, last) of axes, counted from 0, that the data determine only as a subspace."""
    failure_probability: float = 0.0
    rounding: float = 0.0
    """Allowance for rounding that is already contained in the bounds, as a share of ||A||^2."""
    tolerance: float = 0.0
    """The accuracy of the explained share that was asked for."""
    proved: bool = True
    """Whether the asked accuracy was proved."""
    passes: int = 0
    summary: str = ""
    """One sentence for people."""

    @property
    def values(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper bounds of the singular values."""
        return self.lower, self.upper


@dataclass(frozen=True)
class Decomposition(Generic[D]):
    """The few axes of a matrix: A ~ left diag(values) right^T, after centring and scaling.

    Arrays live where the data lived (NumPy, PyTorch, ...). `right` has one column per axis.
    """

    method: str
    values: Array
    right: Array
    rows: int
    columns: int
    norm: float
    """Frobenius norm of the decomposed (centred, scaled, weighted) matrix."""
    weight: float
    """Number of rows, or the sum of the row weights."""
    left: Array | None = None
    mean: Array | None = None
    scale: Array | None = None
    which: Which = "largest"
    row_names: tuple[str, ...] | None = None
    column_names: tuple[str, ...] | None = None
    rank: int | None = None
    """Numerical rank, where the whole spectrum was seen."""
    certificate: Certificate | None = None
    plan: Plan | None = None
    info: SolveInfo | None = None
    notes: tuple[Note, ...] = ()
    """What a reader must know: columns set aside, units that differ, components not determined."""
    details: D = field(default_factory=Details)  # type: ignore[assignment]
    """What the method knows in addition: `SVDDetails`, `CURDetails`, `NMFDetails`, ..."""

    @property
    def k(self) -> int:
        """Number of axes."""
        return int(self.values.shape[0])

    @property
    def explained_variance_ratio(self) -> Array:
        """Share of the total sum of squares on each axis: values^2 / ||A||^2 (zero when A is zero)."""
        if self.norm == 0.0:
            return self.values * 0.0
        return (self.values / self.norm) ** 2

    @property
    def explained_variance(self) -> Array:
        """Variance of the scores on each axis: values^2 / (weight - 1)."""
        return (self.values / max(self.weight - 1.0, 1.0) ** 0.5) ** 2

    @property
    def total_variance(self) -> float:
        """Sum of the variances of all columns (after scaling)."""
        return float((np.float64(self.norm) / max(self.weight - 1.0, 1.0) ** 0.5) ** 2)

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write to one file, without pickle, with checksum and version; `eckart.load` gives NumPy arrays."""
        from eckart.io.model_file import save

        save(self, path, overwrite=overwrite)

    def summary(self, *, width: int = 80) -> str:
        """Summarise the decomposition in plain text, as `eckart report` does.

        Parameters
        ----------
        width : int, default 80
            Maximum line length.

        Returns
        -------
        str
            Recommended number of components, explained variance, dominant columns, notes and certificate.
        """
        from eckart.analysis.summary import summary

        return summary(self, width=width)

    def on_host(self) -> Decomposition[D]:
        """The same with NumPy's and SciPy's arrays, wherever it was computed; itself where it is there already.

        Examples
        --------
        >>> import eckart as ek
        >>> d = ek.decompose([[1, 2], [2, 1], [3, 4], [4, 3]], "svd", k=1)
        >>> d.on_host() is d
        True
        """
        found = {item.name: getattr(self, item.name) for item in fields(self)}
        moved = {name: _home(value) for name, value in found.items()}
        return self if all(moved[name] is found[name] for name in found) else replace(self, **moved)

    def named(self, rows: Iterable[str] | None, columns: Iterable[str] | None) -> Decomposition[D]:
        """The same decomposition with row and column names."""
        row_names = None if rows is None else tuple(map(str, rows))
        column_names = None if columns is None else tuple(map(str, columns))
        return replace(self, row_names=row_names, column_names=column_names)

    def __getstate__(self) -> dict[str, Any]:
        """Without what was computed for later calls and can be computed again."""
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}

    def __repr__(self) -> str:
        share = "" if self.certificate is None else f", explained {self.certificate.explained[0]:.4f}"
        return f"<Decomposition {self.method} of {self.rows:,} x {self.columns:,}, k={self.k}{share}>"


def _home(value: Any) -> Any:
    """Arrays on the host, those of details as well; everything else as it is."""
    if isinstance(value, Details | Imputation) or hasattr(value, "__dataclass_fields__"):
        found = {item.name: getattr(value, item.name) for item in fields(value)}
        new = {name: _home(item) for name, item in found.items()}
        return replace(value, **new) if any(new[name] is not found[name] for name in found) else value
    if isinstance(value, dict):
        moved = {key: _home(item) for key, item in value.items()}
        return moved if any(moved[key] is not value[key] for key in value) else value
    return to_host(value) if is_off_host(value) else value


def _bytes(count: int) -> str:
    """A byte count for people: 1536 -> '1.5 kB' (powers of 1000)."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
