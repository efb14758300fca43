"""How much loadings and shares vary between samples: the decomposition of many resamples of the rows.

A draw of n rows with replacement is the same data with other weights, so every repetition is `decompose` with
`sample_weight`. Components are paired with those of the fit by the largest cosines and get the same signs.

Components of similar variance rotate into each other from resample to resample, so only their span is determined.
Neighbours whose variances differ by less than about three standard errors of the difference (normal rows: var log l = 2
/ n each; more with heavy tails; see `close_groups`) form a group. Within a group, the subspace of a resample is
compared with that of the fit, and its basis is rotated onto the fit's (Procrustes). Its loadings refer to the fit's
basis of that subspace, which another sample would not repeat: the components of the population may have other signs, so
no sign is called sure. A component that cannot be separated from the next one, which was not requested, may be any
direction in the span of both. Each resample then takes a random direction, and again no sign is called sure.

Groups also contain neighbours that are likely different components: of two variances in the ratio 2, half of all
samples of 50 rows make a group. Unless their variances differ by less than 1.5 standard errors, the resamples
also show how far each component moves when it is matched separately. The interval then covers the percentiles of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from eckart.aliases import Keywords
from eckart.analysis.alignment import INDISTINGUISHABLE, close_groups
from eckart.analysis.labels import column_labels, component_labels
from eckart.analysis.measures import floats
from eckart.analysis.resample import FURTHER, Resampler
from eckart.analysis.shares import ShareErrors, corrected_shares, share_intervals
from eckart.api import decompose
from eckart.arrays import Array, Floats, is_array, is_sparse
from eckart.engine.leading import leading
from eckart.engine.rows import RowBlocks
from eckart.engine.settings import check_weights, generator
from eckart.errors import InputError, ParameterError
from eckart.fitted import decomposition_of, is_model
from eckart.io.open_matrix import open_matrix
from eckart.registry import get_method
from eckart.result import Decomposition
from eckart.text import Cell, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray


_SURE = 0.99


@dataclass(frozen=True)
class Bootstrap:
    """A decomposition and its bootstrap samples.

    The components of each sample are matched with those of the original data, and their signs are aligned.

    Attributes
    ----------
    decomposition : Decomposition
        Decomposition of the original data.
    right : array of shape (count, n_features, k)
        Loadings of each sample. `groups` are rotated as a whole.
    matched : array of shape (count, n_features, k)
        Loadings of each sample, with each component matched separately unless its variance differs from that of a
        neighbour by less than 1.5 standard errors. Outside `groups` and `unseparated`, they equal `right`.
    explained_variance_ratio : array of shape (count, k)
        Explained shares of each sample, in decreasing order. They are not matched with the original components.
    aligned_variance_ratio : array of shape (count, k)
        Explained shares of each sample along the directions that were matched with the components of the fit. Groups
        are rotated as a whole, also those with components that were not requested.
    corrected_variance_ratio : array of shape (3, k)
        Explained shares of the original data: as computed, corrected for bias, and corrected with the shares of similar
        components moved towards their mean. Each interval extends from the lowest to the highest of the three.
    share_errors : array of shape (1 + count, k)
        Standard errors of the logits of the shares, estimated from the rows: of the original data, and of each sample
        along the matched directions. NaN for shares of 0 and 1.
    cosines : array of shape (count, k)
        Absolute cosine between each component of the fit and its match in each sample.
    indices : array of shape (count, k)
        Index, within the sample, of the component that was matched with each component of the fit.
    confidence : float
        Confidence level of the intervals.
    groups : tuple of tuple of int
        Groups of components, counted from 0, whose variances are too similar to separate them. Each group was rotated
        as a whole. Intervals of their loadings refer to the basis of the fit, and no sign is sure.
    unseparated : tuple of int
        Components, counted from 0, that cannot be separated from the first component that was not requested. The signs
        of their loadings are uncertain. To avoid this, request more components.

    See Also
    --------
    bootstrap : Function that returns this object.

    Notes
    -----
    Components of similar variance mix with each other from sample to sample, so that only the subspace that they span
    together is determined. Components whose variances differ by less than about three standard errors form a group. The
    basis of each sample is rotated towards that of the fit (Procrustes).

    Examples
    --------
    >>> import eckart as ek
    >>> arrests = ek.datasets.load("usarrests")
    >>> found = ek.bootstrap(arrests.values, k=2, scale=True, count=100)
    >>> len(found.loadings().rows)
    8
    """

    decomposition: Decomposition
    right: Floats
    matched: Floats
    explained_variance_ratio: Floats
    aligned_variance_ratio: Floats
    corrected_variance_ratio: Floats
    share_errors: Floats
    cosines: Floats
    indices: NDArray[np.intp]
    confidence: float
    groups: tuple[tuple[int, ...], ...] = ()
    unseparated: tuple[int, ...] = ()

    def loadings(self) -> Table:
        """Tabulate the percentile intervals of the loadings.

        Returns
        -------
        Table
            One row per column and component. 'sure' marks loadings whose 99 % interval does not contain 0. Components
            of `groups` and `unseparated` have no sure signs.
        """
        d = self.decomposition
        low, high = self._ends(self.right)
        matched_low, matched_high = self._ends(self.matched)
        low, high = np.minimum(low, matched_low), np.maximum(high, matched_high)
        low, high = np.maximum(low, -1.0), np.minimum(high, 1.0)
        surely = self._ends(self.right, max(self.confidence, _SURE))
        undetermined = {*self.unseparated, *(k for group in self.groups for k in group)}
        lines: list[tuple[Cell, ...]] = [
            (
                column,
                component,
                *(float(a[j, k]) for a in (floats(d.right), low, high)),
                "" if k in undetermined else _sure(surely[0][j, k], surely[1][j, k]),
            )
            for k, component in enumerate(component_labels(d))
            for j, column in enumerate(column_labels(d))
        ]
        header = ("column", "component", "loading", "lower", "upper", "sign")
        kinds = ("text", "text", "number", "number", "number", "text")
        caption = f"{self._intervals()} The sign is certain if the 99 % interval excludes 0.{self._grouped()}"
        return Table("Loadings, bootstrapped", header, tuple(lines), caption, kinds)

    def components(self) -> Table:
        """Tabulate intervals of the explained shares, corrected for bias, and how well each component is recovered.

        Returns
        -------
        Table
            One row per component.
        """
        d = self.decomposition
        low, high = share_intervals(
            self.corrected_variance_ratio, self.aligned_variance_ratio, self.share_errors, self._ends, self.confidence
        )
        same = (self.indices == np.arange(d.k)).mean(axis=0)
        numbers = np.column_stack([floats(d.explained_variance_ratio), low, high, self.cosines.mean(axis=0), same])
        lines = tuple((name, *line) for name, line in zip(component_labels(d), numbers.tolist(), strict=True))
        header = ("component", "share", "lower", "upper", "|cosine|", "same position")
        kinds = ("text", "percent", "percent", "percent", "number", "percent")
        caption = (
            f"{self._intervals()} |cosine| is the mean absolute cosine of the angle to the same "
            "component in the resamples; 1 means that the component is the same in every resample. "
        )
        return Table(
            "Components, bootstrapped",
            header,
            lines,
            caption + "The leading components of a sample explain too much; the intervals are corrected for this bias.",
            kinds,
        )

    def __str__(self) -> str:
        return f"{self.components()}\n{self.loadings()}"

    def _repr_html_(self) -> str:
        return f"{self.components()._repr_html_()}{self.loadings()._repr_html_()}"

    def _grouped(self) -> str:
        names, text = component_labels(self.decomposition), ""
        if self.groups:
            listed = "; ".join(f"{names[group[0]]} to {names[group[-1]]}" for group in self.groups)
            text = (
                f" Only the subspace spanned by {listed} is determined, so the loadings refer to one of "
                "many possible bases, and no sign is certain."
            )
        if self.unseparated:
            listed = ", ".join(names[k] for k in self.unseparated)
            text += f" {listed} cannot be separated from the next component. Request more components."
        return text

    def _ends(self, drawn: Floats, confidence: float | None = None) -> tuple[Floats, Floats]:
        """Percentiles with the tails of Student's t, because resamples vary less than samples (Hesterberg, 2015).

        R resamples determine the quantile q only if (R + 1) q >= 1 (Davison and Hinkley, 1997, section 5.2.1). With
        fewer, the interval also contains the one in which the next of R + 1 normal values lies, mean -+ t_(R-1) s
        sqrt(1 + 1 / R).
        """
        from scipy.special import ndtr, stdtrit

        tail = (1 - (self.confidence if confidence is None else confidence)) / 2
        freedom = max(self.decomposition.weight - 1.0, 1.0)
        tail = float(ndtr((1 + 1 / freedom) ** 0.5 * stdtrit(freedom, tail)))
        low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
        count = len(drawn)
        if (count + 1) * tail < 1:
            mean, reach = (
                drawn.mean(axis=0),
                -stdtrit(count - 1, tail) * (1 + 1 / count) ** 0.5 * drawn.std(axis=0, ddof=1),
            )
            low, high = np.minimum(low, mean - reach), np.maximum(high, mean + reach)
        return low, high

    def _intervals(self) -> str:
        draws = len(self.explained_variance_ratio)
        interval = f"{100 * self.confidence:g} % interval"
        return f"'lower' and 'upper' are the ends of the {interval} from {draws:,} bootstrap resamples."


def bootstrap(
    data: object,
    method: Literal["pca", "svd"] = "pca",
    *,
    count: int = 500,
    confidence: float = 0.95,
    sample_weight: object = None,
    rng: object = None,
    rows: object = None,
    **options: object,
) -> Bootstrap:
    """Compute bootstrap intervals of loadings and explained shares.

    Parameters
    ----------
    data : array-like, sparse matrix, data frame, path, Decomposition or fitted estimator
        The data, which must fit into memory, or a model. A model sets the method, k, center and scale, and its data
        must be passed as `rows`.
    method : {'pca', 'svd'}, default 'pca'
        Decomposition to repeat.
    count : int, default 500
        Number of bootstrap samples.
    confidence : float, default 0.95
        Confidence level of the intervals.
    sample_weight : array-like of shape (n_samples,), default None
        Weight of each row. Rows are drawn with probabilities proportional to their weights. Integer weights have the
        same effect as repeated rows. The number of draws is the sum of the weights, but at least the number of rows
        with a positive weight.
    rng : int or numpy.random.Generator, default None
        Seed for the resampling. None uses a fixed seed.
    rows : array-like, sparse matrix, data frame or path, default None
        The fitted data, if `data` is a model.
    **options : dict
        Options of `decompose`: k, explain or error, scale, center. Each sample is centred and scaled separately.

    Returns
    -------
    Bootstrap
        The decomposition of the data and the results of all samples.

    Raises
    ------
    ParameterError
        If a model is passed without its data, or if the method does not support the bootstrap.
    InputError
        If the data are read in blocks.

    See Also
    --------
    choose_rank : Choose the number of components.

    References
    ----------
    .. [1] B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap", Chapman & Hall, 1993.
    .. [2] T. C. Hesterberg, "What teachers should know about the bootstrap", The American Statistician 69, 2015.

    Examples
    --------
    >>> import eckart as ek
    >>> arrests = ek.datasets.load("usarrests")
    >>> found = ek.bootstrap(arrests.values, k=2, scale=True, count=200)
    >>> found.explained_variance_ratio.shape, found.confidence
    ((200, 2), 0.95)
    """
    if is_model(data):
        method, options = _options_of(decomposition_of(data), rows, options)
        data = rows
    _check(method, count, confidence)
    matrix = _in_memory(data)
    weights = check_weights(sample_weight, matrix.shape[0])
    first = decompose(data, get_method(method), sample_weight=weights, **options)
    again = _repeated(options)
    _, random = generator(rng)
    further = _with_next(first, data, method, weights, again)
    given, error_of = np.ones(matrix.shape[0]) if weights is None else weights, ShareErrors(matrix)
    inflation = error_of.inflation(further, given)
    wide, open_group = _group_of_next(first, further, inflation)
    groups = tuple(g for g in close_groups(first, inflation=inflation) if not set(g) & set(open_group))
    inseparable = close_groups(wide, INDISTINGUISHABLE, inflation=inflation)
    resampler = Resampler(wide, groups, open_group, inseparable, matrix, method, weights, again, error_of)
    drawn = [resampler.draw(random) for _ in range(count)]
    right, matched, shares, aligned, errors, cosines, indices = (np.array(part) for part in zip(*drawn, strict=True))
    right, matched, aligned, errors, cosines, indices = (
        part[..., : first.k] for part in (right, matched, aligned, errors, cosines, indices)
    )
    error = error_of(first, given, floats(first.right), floats(first.explained_variance_ratio))
    corrected = corrected_shares(further, shares, inflation)[:, : first.k]
    unseparated = tuple(k for k in open_group if k < first.k)
    shares = shares[:, : first.k]
    return Bootstrap(
        first, right, matched, shares, aligned, corrected, np.vstack([error, errors]), cosines, indices,
        float(confidence), groups, unseparated,
    )  # fmt: skip


def _repeated(options: dict[str, object]) -> dict[str, object]:
    """Options of every resample; the number of components is that of the first fit."""
    return {name: value for name, value in options.items() if name not in ("k", "explain", "error", "left")}


def _with_next(
    first: Decomposition,
    data: object,
    method: Literal["pca", "svd"],
    weights: NDArray[np.float64] | None,
    options: dict[str, object],
) -> Decomposition:
    """The fit with the next components, as many as there are."""
    k = min(first.k + FURTHER, first.rows, first.columns)
    return first if k == first.k else decompose(data, get_method(method), k=k, sample_weight=weights, **options)


def _group_of_next(
    first: Decomposition, further: Decomposition, inflation: Floats
) -> tuple[Decomposition, tuple[int, ...]]:
    """The fit with one more component, and the group of that component; without it if it can be separated."""
    wide = leading(further, first.k + 1)
    group = next((group for group in close_groups(wide, inflation=inflation) if first.k in group), ())
    return (wide, group) if group else (first, ())


def _in_memory(data: object) -> Array:
    """The data as a matrix whose rows can be drawn."""
    opened = open_matrix(data)
    if not isinstance(opened.matrix, RowBlocks):
        raise InputError(
            "Resampling needs the data in memory, but these data are read in blocks. Use a sample of the rows."
        )
    return data if is_array(data) or is_sparse(data) else opened.matrix.matrix


def _options_of(d: Decomposition, rows: object, options: Keywords) -> tuple[Literal["pca", "svd"], Keywords]:
    """The method and the options of a model, whose data are `rows`."""
    if rows is None:
        raise ParameterError("A model does not contain its data. Pass the data as well: bootstrap(model, rows=data).")
    known = {"k": d.k, "center": d.mean is not None, "scale": d.scale is not None}
    return cast("Literal['pca', 'svd']", d.method), {**known, **options}


def _check(method: str, count: int, confidence: float) -> None:
    if not get_method(method).orthogonal:
        raise ParameterError(f"bootstrap() does not support method={method!r}. Use 'pca' or 'svd'.")
    if count < 2:
        raise ParameterError(f"count={count!r} is out of range. Use a whole number that is at least 2.")
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence={confidence!r} is out of range. Use a number between 0 and 1, such as 0.95.")


def _sure(low: float, high: float) -> str:
    return "sure" if low > 0 or high < 0 else ""
