"""The result of a decomposition: frozen values without any reference to the data.

A ~ left diag(values) right^T (+ mean), rows x columns, k components.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np

from eckart.aliases import Keywords
from eckart.arrays import is_off_host, to_host
from eckart.details import Details, Imputation, K, SVDDetails, UnknownDetails, WordModel, details_of
from eckart.displays import html_facts, html_table
from eckart.formatting import wrapped
from eckart.notes import Note
from eckart.options import RESULT_NAMES, one_name_each
from eckart.planned import Plan, SolveInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike

    from typing_extensions import TypeVar as TypeVarWithDefault

    from eckart.arrays import Array

__all__ = [
    "Certificate", "Decomposition", "Details", "Imputation", "K", "Plan", "SVDDetails", "SolveInfo", "UnknownDetails",
    "Which", "WordModel", "details_of",
]  # fmt: skip

Which = Literal["largest", "smallest"]
_SHOWN = 10
"""Components listed by `print` and in notebooks."""


if TYPE_CHECKING:  # a bare `Decomposition` has `Details`
    D = TypeVarWithDefault("D", bound=Details, default=Details, covariant=True)
else:
    D = TypeVar("D")


@dataclass(frozen=True)
class Certificate:
    """Proved bounds on the accuracy of a result.

    Attributes
    ----------
    explained : tuple of float
        Lower and upper bound. The result explains at least the lower bound, as a share of ||A||^2. No result with the
        same number of components can explain more than the upper bound. For the smallest components, the two numbers
        bound the share that they explain. A is the centred, scaled and weighted matrix. If the approximation of 'cur'
        or 'nmf' is worse than a matrix of zeros, the lower bound is 0.
    lower : array of shape (k,)
        Lower bounds on the singular values. For 'cur', lower bounds on the lengths of the chosen columns.
    upper : array of shape (k,)
        Upper bounds on the singular values. For 'cur', upper bounds on the lengths of the chosen columns.
    residuals : array of shape (k,)
        Upper bounds on ||A^T A v - s^2 v|| / s_1^2 for each component v with singular value s, where s_1 is the largest
        singular value.
    angle : float
        Upper bound on the sine of the largest angle between the computed and the true subspace. 1.0 if no bound is
        known.
    undetermined : tuple of tuple of int
        Groups of components whose singular values are too close to separate. Each group is given by its first and last
        component, counted from 0. The data determine only the subspace of a group.
    failure_probability : float
        Probability that a bound is wrong. It is 0.0 unless bounds depend on random probes.
    rounding : float
        Allowance for rounding errors, as a share of ||A||^2. The bounds already include it.
    tolerance : float
        Requested accuracy of the explained share.
    proved : bool
        Whether the requested accuracy is proved: the bounds of each squared singular value differ by at most twice
        `tolerance` times the smallest of them, or as little as float64 allows.
    passes : int
        Number of passes over the data.
    summary : str
        The certificate in one sentence.

    See Also
    --------
    decompose : Returns a certificate with every result.
    errors.AccuracyWarning : Issued if the requested accuracy could not be proved.

    Examples
    --------
    >>> import eckart as ek
    >>> d = ek.decompose([[1, 2], [2, 1], [3, 4], [4, 3]], "svd", k=1)
    >>> low, high = d.certificate.explained
    >>> print(f"{low:.6f} {high:.6f}")
    0.966667 0.966667
    >>> print(d.certificate.summary)
    1 component explains 96.6667 % of the total; no single component can explain more than 96.6667 %.
    """

    explained: tuple[float, float]
    lower: np.ndarray
    upper: np.ndarray
    residuals: np.ndarray
    angle: float
    undetermined: tuple[tuple[int, int], ...] = ()
    failure_probability: float = 0.0
    rounding: float = 0.0
    tolerance: float = 0.0
    proved: bool = True
    passes: int = 0
    summary: str = ""

    @property
    def values(self) -> tuple[np.ndarray, np.ndarray]:
        """Tuple of the lower and upper bounds on the singular values."""
        return self.lower, self.upper

    def __str__(self) -> str:
        lines = [wrapped(self.summary) or "Certificate", *(f"{name}: {value}" for name, value in self._facts().items())]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html_facts("Certificate", self._facts().items(), self.summary)

    def _facts(self) -> dict[str, str]:
        low, high = self.explained
        angle = f"at most {self.angle:.2g}" if self.angle < 1.0 else "no bound known"
        facts = {
            "explained": f"at least {100 * low:.4f} %; upper bound {100 * high:.4f} %",
            "requested accuracy": f"{self.tolerance:g} ({'proved' if self.proved else 'not proved'})",
            "sine of the angle to the true subspace": angle,
            "probability that a bound fails": f"{self.failure_probability:g}",
            "passes over the data": f"{self.passes:,}",
        }
        groups = ", ".join(f"{first + 1} to {last + 1}" for first, last in self.undetermined)
        return facts | ({"determined only as a subspace": f"components {groups}"} if groups else {})


class _ComputedOnce:
    """The field `certificate` of a Decomposition: a certificate, or a function that computes it on first access.

    A small fit takes less time than its bounds. The function must not refer to the data.
    """

    def __get__(self, result: Decomposition | None, owner: type) -> Certificate | None:
        if result is None:
            return None  # the default value of the field
        found: Certificate | Callable[[], Certificate] | None = result.__dict__["certificate"]
        if callable(found):
            found = result.__dict__["certificate"] = found()
        return found

    def __set__(self, result: Decomposition, value: Certificate | Callable[[], Certificate] | None) -> None:
        result.__dict__["certificate"] = value


@dataclass(frozen=True)
class Decomposition(Generic[D]):
    """Result of a decomposition: A ~ left diag(values) right^T, after centring and scaling.

    A Decomposition is immutable and does not refer to the data. Its arrays belong to the same library and device as the
    data.

    Attributes
    ----------
    method : str
        Method, such as 'pca'.
    values : array of shape (k,)
        Singular values.
    right : array of shape (columns, k)
        Right singular vectors (loadings), one column per component.
    rows : int
        Number of rows of the data.
    columns : int
        Number of columns of the data.
    norm : float
        Frobenius norm of the centred, scaled and weighted matrix.
    weight : float
        Number of rows, or the sum of the row weights.
    left : array of shape (rows, k) or None
        Left singular vectors. None unless you requested them with ``left=True``.
    mean : array of shape (columns,) or None
        Column means that were subtracted. None if the data were not centred.
    scale : array of shape (columns,) or None
        Column standard deviations. None if the data were not scaled.
    which : {'largest', 'smallest'}
        Whether the components of largest or of smallest variance were computed.
    row_names : tuple of str or None
        Names of the rows.
    column_names : tuple of str or None
        Names of the columns.
    rank : int or None
        Numerical rank. None unless all singular values were computed.
    certificate : Certificate or None
        Proved bounds.
    plan : Plan or None
        The plan that was carried out.
    info : SolveInfo or None
        Record of what the solver did.
    notes : tuple of str
        Remarks on the data or the result, for example on constant columns, on columns with different units, or on
        components that are not determined.
    details : Details
        Further results of the method, such as the columns of CUR or the losses of NMF.

    See Also
    --------
    decompose : Compute a decomposition.
    summary : Print it.
    report : Write an HTML report.

    Examples
    --------
    >>> import eckart as ek
    >>> arrests = ek.datasets.load("usarrests")
    >>> d = ek.decompose(arrests.values, k=2, scale=True)
    >>> d
    <Decomposition pca of 50 x 4, k=2, explained 0.8675>
    >>> d.explained_variance_ratio.round(4)
    array([0.6201, 0.2474])
    """

    method: str
    values: Array
    right: Array
    rows: int
    columns: int
    norm: float
    weight: float
    left: Array | None = None
    mean: Array | None = None
    scale: Array | None = None
    which: Which = "largest"
    row_names: tuple[str, ...] | None = None
    column_names: tuple[str, ...] | None = None
    rank: int | None = None
    certificate: Certificate | None = _ComputedOnce()  # type: ignore[assignment]  # None if not given
    plan: Plan | None = None
    info: SolveInfo | None = None
    notes: tuple[Note, ...] = ()
    details: D = field(default_factory=Details)  # type: ignore[assignment]

    @property
    def k(self) -> int:
        """Number of components."""
        return int(self.values.shape[0])

    @property
    def explained_variance_ratio(self) -> Array:
        """Share of the total sum of squares that each component explains: values^2 / ||A||^2, or 0 if A is zero."""
        if self.norm == 0.0:
            return self.values * 0.0
        return (self.values / self.norm) ** 2

    @property
    def explained_variance(self) -> Array:
        """Variance of the scores of each component: values^2 / (weight - 1); infinite if it overflows."""
        with np.errstate(over="ignore"):
            return (self.values / max(self.weight - 1.0, 1.0) ** 0.5) ** 2

    @property
    def total_variance(self) -> float:
        """Sum of the variances of all columns, after scaling; infinite if it overflows."""
        with np.errstate(over="ignore"):
            return float((np.float64(self.norm) / max(self.weight - 1.0, 1.0) ** 0.5) ** 2)

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the decomposition to one file, which has a checksum and contains no pickle.

        Parameters
        ----------
        path : str or path
            File to write. `eckart.load` reads it.
        overwrite : bool, default False
            Replace an existing model.

        Raises
        ------
        ModelFileError
            If the file exists and `overwrite` is False, or if it cannot be written.
        """
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
        """Copy all arrays to host memory.

        Returns
        -------
        Decomposition
            The same decomposition with NumPy and SciPy arrays. If the arrays are already in host memory, this object
            itself.

        Examples
        --------
        >>> import eckart as ek
        >>> d = ek.decompose([[1, 2], [2, 1], [3, 4], [4, 3]], "svd", k=1)
        >>> type(d.on_host().values).__name__
        'ndarray'
        """
        found = {item.name: getattr(self, item.name) for item in fields(self)}
        moved = {name: _home(value) for name, value in found.items()}
        return self if all(moved[name] is found[name] for name in found) else replace(self, **moved)

    def named(self, rows: Iterable[str] | None, columns: Iterable[str] | None) -> Decomposition[D]:
        """Add row and column names.

        Parameters
        ----------
        rows : iterable of str or None
            Names of the rows. None for no names.
        columns : iterable of str or None
            Names of the columns. None for no names.

        Returns
        -------
        Decomposition
            A copy with these names.

        Raises
        ------
        ParameterError
            If there is not one name for each row and each column.
        """
        row_names = one_name_each("row", rows, self.rows)
        return replace(self, row_names=row_names, column_names=one_name_each("column", columns, self.columns))

    if not TYPE_CHECKING:  # type checkers must not accept every name

        def __getattr__(self, name: str) -> object:
            """Refuse an attribute that does not exist, with the one to use."""
            hint = f". {RESULT_NAMES[name]}." if name in RESULT_NAMES else ""
            raise AttributeError(f"'Decomposition' object has no attribute {name!r}{hint}", name=name, obj=self)

    def __getstate__(self) -> Keywords:
        """The state without cached values, which can be computed again, and with the certificate computed."""
        kept = {name: value for name, value in self.__dict__.items() if not name.startswith("_")}
        return kept | {"certificate": self.certificate}

    def __str__(self) -> str:
        lines = [f"{name:>10}  {value:>12}  {share:>8}  {total:>8}" for name, value, share, total in self._lines()]
        head = f"{'component':>10}  {'value':>12}  {'share':>8}  {'total':>8}"
        proof = [wrapped(self.certificate.summary)] if self.certificate is not None and self.certificate.summary else []
        return "\n".join([f"{self.method} of {self.rows:,} x {self.columns:,}", head, *lines, *proof])

    def _repr_html_(self) -> str:
        title = f"{self.method} of {self.rows:,} rows x {self.columns:,} columns"
        caption = "" if self.certificate is None else self.certificate.summary
        return html_table(title, ("component", "singular value", "share", "cumulative"), self._lines(), caption)

    def _lines(self) -> list[tuple[str, str, str, str]]:
        """Name, value, share and cumulative share of the leading components, as text."""
        values = np.asarray(to_host(self.values) if is_off_host(self.values) else self.values, dtype=np.float64)
        shares = (values / self.norm) ** 2 if self.norm else values * 0.0
        totals = shares.cumsum()
        shown = [
            (str(i + 1), f"{values[i]:.6g}", f"{100 * shares[i]:.2f} %", f"{100 * totals[i]:.2f} %")
            for i in range(min(self.k, _SHOWN))
        ]
        return shown + ([("...", "", "", f"{100 * totals[-1]:.2f} %")] if self.k > _SHOWN else [])

    def __repr__(self) -> str:
        share = "" if self.certificate is None else f", explained {self.certificate.explained[0]:.4f}"
        return f"<Decomposition {self.method} of {self.rows:,} x {self.columns:,}, k={self.k}{share}>"


def _home(value: Any) -> Any:
    """All arrays on the host, including those of the details; everything else unchanged."""
    if hasattr(value, "__dataclass_fields__"):
        moved = _moved({item.name: getattr(value, item.name) for item in fields(value)})
        return replace(value, **moved) if moved else value
    if isinstance(value, dict):
        moved = _moved(value)
        return value | moved if moved else value
    return to_host(value) if is_off_host(value) else value


def _moved(found: Keywords) -> Keywords:
    """The items that had to be copied to the host."""
    return {name: new for name, item in found.items() if (new := _home(item)) is not item}
