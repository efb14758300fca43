"""Checks of arguments: the given value, the allowed ones, and the closest match of a typing error."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, TypeAlias, TypedDict, TypeVar, cast

import numpy as np

from eckart.cleanup import RemovedOnError
from eckart.errors import EckartError, ParameterError
from eckart.formatting import counted
from eckart.wording import assigned

Seed: TypeAlias = int | np.random.Generator | np.random.RandomState | Literal["entropy"] | None
"""Seed of random numbers, or a generator of them; "entropy" takes a seed from the operating system."""


Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class CommonOptions:
    """Options that every method takes, with their defaults, not yet checked; each method adds its own."""

    left: bool = False
    rng: Seed = None
    memory: str | int | None = None


class FitKeywords(TypedDict, total=False):
    """The same as keyword arguments."""

    left: bool
    rng: Seed
    memory: str | int | None


_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


RESULT_NAMES = {
    "components": "Use right.T",
    "components_": "Use right.T",
    "rotation": "Use right",
    "V": "Use right",
    "Vt": "Use right.T",
    "U": "Use left, and decompose with left=True",
    "S": "Use values",
    "s": "Use values",
    "singular_values": "Use values",
    "singular_values_": "Use values",
    "sdev": "Use explained_variance ** 0.5",
    "explained_variance_": "Use explained_variance",
    "explained_variance_ratio_": "Use explained_variance_ratio",
    "mean_": "Use mean",
    "n_components": "Use k",
    "n_components_": "Use k",
    "loadings": "Use eckart.tables.loadings(d)",
    "scores": "Use eckart.project(d, data)",
    "x": "Use eckart.project(d, data)",
    "transform": "Use eckart.project(d, data)",
    "inverse_transform": "Use eckart.reconstruct(d, scores)",
    "plot": "Use the functions of eckart.plots, such as eckart.plots.biplot(d)",
    "report": "Use eckart.report(d)",
}
"""Attributes of results in other libraries -> what to use here."""
LIBRARY_NAMES = {
    "pca": "Use eckart.decompose(data, 'pca'), or eckart.PCA",
    "svd": "Use eckart.decompose(data, 'svd')",
    "nmf": "Use eckart.decompose(data, 'nmf'), or eckart.NMF",
    "cur": "Use eckart.decompose(data, 'cur'), or eckart.CUR",
    "kernel_pca": "Use eckart.decompose(data, 'kernel_pca'), or eckart.KernelPCA",
    "isomap": "Use eckart.decompose(data, 'isomap'), or eckart.Isomap",
    "SVD": "Use eckart.TruncatedSVD, or eckart.decompose(data, 'svd')",
    "KPCA": "Use eckart.KernelPCA",
    "LSA": "Use eckart.TextConcepts",
    "LSI": "Use eckart.TextConcepts",
    "plot": "Use the functions of eckart.plots",
    "read_csv": "Use eckart.open_data",
    "fit": "Use eckart.decompose",
    "transform": "Use eckart.project",
}
"""Functions and classes of other libraries -> what to use here."""


_ABBREVIATIONS = {"kpca": "kernel_pca"}
_NEAR = 0.65
"""Smallest similarity of a name to one that is suggested instead."""


def near_match(given: str, names: Sequence[str]) -> str:
    """'; did you mean ...?' for a name that is nearly one of `names`, in any case: KernelPCA is near kernel_pca."""
    plain = {_letters(name): name for name in reversed(names)}
    if (meant := _ABBREVIATIONS.get(_letters(given))) in names:
        return f"; did you mean {meant!r}?"
    match = difflib.get_close_matches(_letters(given), plain, n=1, cutoff=_NEAR)
    ending = [name for name in plain if len(name) > 2 and _letters(given).endswith(name)]  # TruncatedSVD
    likely = [plain[name] for name in (*match, *ending)]
    return f"; did you mean {likely[0]!r}?" if likely else "."


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", str(name).casefold())


_READING = frozenset(
    {"key", "layer", "mask", "columns", "row_names", "header", "delimiter", "decimal", "encoding", "missing_values"}
)
_OPEN_FIRST = ". Open the data first: {function}(eckart.open_data(data, {name}=...))."
SKLEARN_NAMES = {
    "n_components": "Use k=..., or explain=0.95 to explain 95 % of the variance",
    "n_comps": "Use k=...",
    "svd_solver": "Leave it out, or use solver=...",
    "use_highly_variable": "Use mask_var='highly_variable', or mask_var=None for all genes",
    "chunk_size": "Use memory=...",
    "algorithm": "Use solver=...",
    "eigen_solver": "Use solver=...",
    "random_state": "Use rng=...",
    "seed": "Use rng=...",
    "with_mean": "Use center=...",
    "with_std": "Use scale=...",
    "standardize": "Use scale=True",
    "max_iter": "Use tol=...; the solver iterates until this accuracy is proved",
    "rank": "Use k=...",
    "whiten": "Use project(d, data, whiten=True) or eckart.PCA(whiten=True)",
    "n_iter": "Use tol=...; the solver iterates until this accuracy is proved",
    "iterated_power": "Use tol=...; the solver iterates until this accuracy is proved",
    "n_oversamples": "Use tol=...; the solver iterates until this accuracy is proved",
    "power_iteration_normalizer": "Leave it out: Eckart does not need it",
    "copy": "Leave it out: Eckart never overwrites the data",
    "full_matrices": "Leave it out: Eckart computes k components, or all that exist",
    "engine": "Leave it out: Eckart has one engine",
    "n_jobs": "Leave it out: Eckart uses all cores. To use fewer, call threadpoolctl.threadpool_limits",
    "batch_size": "Use memory=...",
    "chunked": "Use memory=... or stream=True",
    "zero_center": "Use method='pca' or method='svd'",
    "mask_var": "Use mask=...",
    "sep": "Use delimiter=...",
    "usecols": "Use columns=[...]",
    "index_col": "Use row_names=...",
    "table": "Use key=...",
    "dataset": "Use key=...",
    "verbose": "Use progress=True",
    "skiprows": "Use header=... with the line of the column names, counted from 1",
    "skip_rows": "Use header=... with the line of the column names, counted from 1",
    "na_values": "Use missing_values=[...]",
    "null_values": "Use missing_values=[...]",
    "nrows": "Pass only these rows",
    "na_action": "Use missing='mean' or missing='em'",
    "gpu": "Use device='cuda'",
    "drop": "Use columns=[...] with the columns to keep",
    "sheet_name": "Read the sheet with pandas.read_excel, and pass the data frame",
}
"""Names from other libraries -> what to use here."""


_OTHER_FUNCTIONS = {
    "force": "To overwrite a file, use eckart.report(..., overwrite=True)",
    "n_boot": "Use eckart.bootstrap(..., count=...)",
    "n_resamples": "Use eckart.bootstrap(..., count=...)",
    "labels": "Use eckart.report(..., labels={...})",
    "hue": "Use eckart.plots.scores(d, by=...)",
    "habillage": "Use eckart.plots.scores(d, by=...)",
    "quanti_sup": "Leave these columns out, and use eckart.supplementary.columns",
    "quali_sup": "Leave these columns out, and use eckart.supplementary.categories",
    "ind_sup": "Leave these rows out, and use eckart.supplementary.rows",
    "dtype": "Convert the data first, for example with astype",
    "obsm": "Use eckart.decompose(adata, key='obsm/...')",
}
"""Names from other libraries -> what does the same, although the function has no such option."""


_SAME_MEANING = (
    (
        "k",
        "n_components",
        "n_comps",
        "n_factors",
        "n_topics",
        "num_topics",
        "n_dims",
        "ncomp",
        "ncp",
        "nu",
        "nv",
        "rank",
        "rank_",
        "NumComponents",
        "most",
    ),
    ("n_features", "n_features_to_select", "k_features", "keep", "k", "n_components"),
    ("rng", "random_state", "seed"),
    ("solver", "svd_solver", "eigen_solver", "algorithm"),
    ("center", "with_mean", "centre", "zero_center", "rescale_with_mean"),
    ("scale", "with_std", "standardize", "normalize", "rescale_with_std", "scale_unit", "scale_"),
    ("tol", "tolerance", "eps"),
    ("sample_weight", "sample_weights", "weights", "row_w"),
    ("missing", "how", "impute"),
    ("by", "labels", "hue", "color", "colour", "c", "groups", "y", "habillage", "col_ind"),
    ("mask_var", "mask", "use_highly_variable"),
    ("count", "n_boot", "n_bootstrap", "n_resamples", "nboot"),
    ("components", "axes", "pcs", "component", "axis", "pc"),
    ("limit", "most", "top", "n", "head"),
    ("path", "file", "filename", "output"),
    ("overwrite", "force"),
    ("data", "X", "rows"),
    ("confidence", "level", "alpha"),
)
"""Names of one meaning, in this library or in others."""
_MOST_LISTED = 12


def refuse_positions(function: str, extra: Sequence[object]) -> NoReturn:
    """Refuse options without their names, with the one that is probably meant."""
    meant = f"k={extra[0]}" if is_number(extra[0]) else "k=2"
    raise TypeError(
        f"{function}() takes only the data and the method by position. Name the other options, such as {meant}."
    )


def check_names(function: str, given: Iterable[str], allowed: Sequence[str]) -> None:
    """Refuse an unknown option, with its name in Eckart."""
    for name in given:
        if name not in allowed:
            reading = "data" in allowed and name in _READING
            hint = _OPEN_FIRST.format(function=function, name=name) if reading else _hint(name, allowed)
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")


def _known_elsewhere(name: str, allowed: Sequence[str]) -> str:
    """The allowed option that scikit-learn, or another function of Eckart, calls by this name; empty if none."""
    known = SKLEARN_NAMES.get(name, "")
    if known and all(other in allowed for other in re.findall(r"(?:Use|or|use) (\w+)=", known)):
        return f". {known}{'' if known.endswith('...') else '.'}"
    same = [other for group in _SAME_MEANING if name in group for other in group if other in allowed]
    return f". Use {same[0]}=...{' to limit the number.' * (same[0] == 'most')}" if same else ""


def _hint(name: str, allowed: Sequence[str]) -> str:
    """What to type instead of an unknown name, as the end of a sentence."""
    known = _known_elsewhere(name, allowed)
    if known:
        return known
    if name in _OTHER_FUNCTIONS:
        return f". {_OTHER_FUNCTIONS[name]}."
    near = near_match(name, allowed)
    listed = len(allowed) <= _MOST_LISTED and near == "."
    return f"{near} It accepts {', '.join(allowed)}." if listed else near


def hint_keywords(function: Function) -> Function:
    """Refuse unknown keyword arguments with the name to use instead; Python's own error does not have it.

    Temporary files of calls that fail are removed.
    """
    parameters = inspect.signature(function).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return function
    names, known = tuple(parameters), frozenset(parameters)

    @functools.wraps(function)
    def checked(*args: object, **kwargs: object) -> object:
        if not kwargs.keys() <= known:
            check_names(function.__name__, kwargs, names)
        with RemovedOnError():
            return function(*args, **kwargs)

    return cast("Function", checked)


def check_choice(name: str, given: object, allowed: Sequence[str]) -> None:
    if not isinstance(given, str) or given not in allowed:
        listed = ", ".join(repr(choice) for choice in allowed)
        raise ParameterError(f"{assigned(name, given)} is not one of {listed}{near_match(str(given), allowed)}")


def check_flag(name: str, given: object) -> bool:
    """True or False; a text such as "no" would otherwise count as true."""
    if isinstance(given, bool | np.bool_) or (is_number(given) and given in (0, 1)):
        return bool(given)
    raise ParameterError(f"{assigned(name, given)} is neither True nor False.", argument=name, value=given)


def is_number(given: object) -> bool:
    """Whether it is a real number and not a boolean."""
    return isinstance(given, float | int | np.floating | np.integer) and not isinstance(given, bool)


def are_whole(names: Sequence[str]) -> bool:
    """Whether all names are whole numbers, such as the numbers of users."""
    return len(names) > 0 and all(name.isdecimal() and name == str(int(name)) for name in names)


def place_by_number(
    number: int, names: Sequence[str] | None, what: str, error: type[EckartError] = ParameterError
) -> int | None:
    """The index of the row or column that has this whole number as its name; None if the number is itself an index.

    As with `loc` of pandas, the names come first if all of them are whole numbers: the user 1 is not the row 1.
    """
    if names is None:
        return None
    name, whole = str(number), are_whole(names)
    found = [j for j, other in enumerate(names) if other == name] if whole or name in names else []
    if not whole:
        if found in ([], [number]):
            return None
        raise error(_name_and_index(number, names, what))
    if len(found) != 1:
        raise error(_none_or_several(name, names, what, len(found)))
    return found[0]


def _name_and_index(number: int, names: Sequence[str], what: str) -> str:
    """Why a number is ambiguous if it is the name of one row or column and may be the index of another."""
    other = f" and the index of {names[number]!r}" if 0 <= number < len(names) else ""
    return f"{number} is the name of a {what}{other}. Use the name as a string, such as '{number}'."


def _none_or_several(name: str, names: Sequence[str], what: str, count: int) -> str:
    """Why a name does not determine a row or column if `count` of them have it."""
    if count:
        return f"Several {what}s have the name {name!r}. Give the {what}s different names."
    some = ", ".join(names[:3]) + (f", ... ({len(names):,} in total)" if len(names) > 3 else "")
    return f"There is no {what} {name}. The names of the {what}s are whole numbers: {some}."


def check_count(name: str, given: Any, largest: int | None) -> int:
    """Check a whole number from 1 to `largest` (the shorter side of the matrix), or of at least 1."""
    whole = is_number(given) and float(given).is_integer() and not isinstance(given, float | np.floating)
    if not whole or not 1 <= int(given) <= (int(given) if largest is None else largest):
        allowed = "of at least 1." if largest is None else f"from 1 to {largest} (the smaller dimension of the table)."
        raise ParameterError(
            f"{assigned(name, given)} is out of range: use a whole number {allowed}",
            argument=name, value=given,
        )  # fmt: skip
    return int(given)


def check_fraction(name: str, given: Any) -> float:
    """A number above 0 and below 1."""
    if not is_number(given) or not 0.0 < float(given) < 1.0:
        raise ParameterError(
            f"{assigned(name, given)} is not a share. Use a number greater than 0 and less than 1, such as 0.95.",
            argument=name, value=given,
        )  # fmt: skip
    return float(given)


def check_tolerance(given: Any) -> float | None:
    """Check a number from 0 to below 1; 0 and None return None, which leaves the tolerance to the solver."""
    if given is not None and not (is_number(given) and 0.0 <= float(given) < 1.0):
        raise ParameterError(f"tol={given!r} is out of range. Use a number that is at least 0 and less than 1.")
    return float(given) if given else None


def memory_bytes(given: str | int | None) -> int | None:
    """Bytes from 2_000_000_000, '2GB' or '1.5 GiB'."""
    if given is None:
        return None
    if isinstance(given, int | np.integer) and not isinstance(given, bool) and given > 0:
        return int(given)
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([A-Za-z]*)\s*", given) if isinstance(given, str) else None
    size = -1.0 if match is None else float(match[1]) * _UNITS.get(match[2].upper(), 0)
    if not 1.0 <= size < np.inf:
        raise ParameterError(
            f"memory={given!r} is not an amount of memory. Use a string such as '2GB', or a number of bytes."
        )
    return int(size)


def one_name_each(what: str, given: Iterable[object] | None, count: int) -> tuple[str, ...] | None:
    """The names of all rows or of all columns as text."""
    names = None if given is None else tuple(map(str, given))
    if names is not None and len(names) != count:
        raise ParameterError(
            f"The decomposition has {counted(count, what)}, but the number of names is {len(names):,}. Give one name "
            f"for each {what}."
        )
    return names
