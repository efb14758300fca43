"""The answer to "how many components": how many to compute and show, how many to keep, and what these explain."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.labels import column_labels, component_labels, explained, total_name
from eckart.analysis.measures import complete, floats, nonzero_components
from eckart.engine.blocks.source import DataSource
from eckart.engine.leading import leading
from eckart.formatting import counted, interval, percent
from eckart.io.roles import quoted
from eckart.missing.fill import LEAST_DIFFERENCE, imputation_of
from eckart.notes import Note, code_of
from eckart.rank.verdict import ANY_NOISE, SPECTRAL_TESTS, TESTS
from eckart.registry import Method, method_of
from eckart.wording import either

if TYPE_CHECKING:
    from eckart.rank.verdict import RankChoice
    from eckart.result import Decomposition

_TARGET = 0.9
_MODEL = 0.8
_ALONE = 1.0 - 1e-9
"""Squared loading from which a component is a single column."""
_TESTS = (*TESTS, *SPECTRAL_TESTS, "equalised", "horn")
"""Rules that compare the leading component with that of unrelated columns."""
SHOWN = 5
"""Components of a larger table that are shown."""
_ALL = 20
"""Tables with a side of at most this many show all components."""
_MOST_CELLS = 20_000_000


@dataclass(frozen=True)
class Recommendation:
    """How many components to keep."""

    k: int | None
    """0 if no component stands out from noise; None if no rule applies to the method."""
    explained: tuple[float, float] | None
    """Lower and upper bound of the explained variance ratio of the first k components; equal without certificate."""
    rule: str
    """The rule that decided, or "" if none did."""
    sentence: str
    """The answer in one or two sentences."""
    model: int
    """Components used for outliers, clusters and the reconstructed row. At least 1."""


def _without_choice(d: Decomposition) -> Recommendation | None:
    """The answer if there is no number to choose: no component, no variance, or only one direction. None otherwise."""
    if d.k == 0:
        return Recommendation(None, None, "", "The data have no components.", 0)
    if d.norm == 0.0:
        return Recommendation(0, (0.0, 0.0), "", "All columns are constant, so there is nothing to explain.", 1)
    if has_one_direction(d):
        column = _dominating(d)
        if column is not None:
            first = (
                f"The variance of {quoted(column)} is so large that {component_labels(d)[0]} consists of this column "
                "alone."
            )
            remedy = "Scale the columns, or leave this one out if it identifies rows"
            typed = either(
                "scale=True, or columns=[...] without this column", f"--scale or --drop {shlex.quote(column)}"
            )
            return Recommendation(1, explained(d), "", Note("dominating_column", f"{first} {remedy}: {typed}."), 1)
        sentence = (
            f"The data vary in only one direction, so {component_labels(d)[0]} explains all of the {total_name(d)}."
        )
        return Recommendation(1, explained(d), "", sentence, 1)
    return None


def has_one_direction(d: Decomposition) -> bool:
    """Whether the table leaves no number of components to choose: its size, or proportional columns, allow only one."""
    if not method_of(d).orthogonal:
        return False
    return min(d.rows - (d.mean is not None), d.columns) == 1 or (d.k > 1 and int(nonzero_components(d).sum()) == 1)


def _dominating(d: Decomposition) -> str | None:
    """The column whose variance hides that of all others below rounding; None if there is no such column."""
    weights = floats(d.right)[:, 0] ** 2
    place = int(weights.argmax())
    values = floats(d.explained_variance)
    others = d.k > 1 and d.scale is None and float(values[1]) > 0.0
    return column_labels(d)[place] if others and weights[place] > _ALONE else None


def recommend(d: Decomposition, choice: RankChoice | None) -> Recommendation:
    """The verdict of the rules on the number of components, as far as the decomposition has them."""
    trivial = _without_choice(d)
    if trivial is not None:
        return trivial
    if choice is None or choice.k is None or not method_of(d).orthogonal or d.which == "smallest":
        return _without_rules(d)
    k, rule = min(choice.k, d.k), choice.decided_by
    why = _reason(choice, rule)
    if k == 0:
        return Recommendation(0, (0.0, 0.0), rule, _none(d, choice, why), _model(d))
    bounds = explained(leading(d, k))
    verb = "It explains" if k == 1 else "Together they explain"
    keep = f"Keep {k} component{'' if k == 1 else 's'}."
    sentence = f"{keep} {verb} {interval(*bounds)} of the {total_name(d)}{_of_filled(d, k, bounds)}. {why}"
    return Recommendation(k, bounds, rule, sentence, k)


def _none(d: Decomposition, choice: RankChoice, why: str) -> str:
    """Why no component is recommended. Only tests compare the first one with that of unrelated columns."""
    share = percent(float(floats(d.explained_variance_ratio)[0]))
    name = component_labels(d)[0]
    first = f"{name[0].upper()}{name[1:]} explains {share} of the {total_name(d)}"
    if choice.decided_by in _TESTS and any(code_of(note) == "copied_columns" for note in choice.notes):
        unrelated = (
            "If multiples of other columns are left out, the first component explains no more than that of unrelated "
            "columns would."
        )
        return f"No component stands out from noise. {why} {first}. {unrelated}"
    if choice.decided_by in _TESTS:
        unrelated = "but the first component of unrelated columns with the same variances would explain as much"
        return f"No component stands out from noise. {why} {first}, {unrelated}."
    return f"No component is clearly separated from the next. {why} {first}, but correlated noise can explain as much."


def why_these(d: Decomposition, k: int) -> str:
    """Which components describe clusters and unusual rows if none is recommended."""
    share = interval(*explained(leading(d, k)))
    which = "first component, which explains" if k == 1 else f"first {k} components, which explain"
    return f"No component stands out, so this section uses the {which} {share} of the {total_name(d)}."


def _of_filled(d: Decomposition, k: int, bounds: tuple[float, float]) -> str:
    """The share of a table without missing values, if that of the filled table is too high; otherwise nothing."""
    imputed = imputation_of(d)
    if imputed is None or imputed.explained_variance_ratio is None:
        return ""
    expected = float(imputed.explained_variance_ratio[:k].sum())
    if bounds[0] - expected < LEAST_DIFFERENCE:
        return ""
    return (
        " of the table with imputed values. Imputed values contain no noise; allowing for that, the "
        f"share is about {percent(expected)}"
    )


def _reason(choice: RankChoice, rule: str) -> str:
    if rule == "vote":
        return choice.summary
    because = ", because neighbouring columns are correlated" if choice.correlated and rule in ANY_NOISE else ""
    return f"The deciding rule was {choice[rule].title}{because}.{_range(choice)}"


def _range(choice: RankChoice) -> str:
    """How far the number is uncertain, with a space before it; nothing if it is certain."""
    return f" {choice.uncertainty}" if choice.uncertainty else ""


def _without_rules(d: Decomposition) -> Recommendation:
    """The answer if no rule gave a number: what is explained, without advice on noise."""
    if not method_of(d).additive or d.which == "smallest":
        sentence = (
            f"{d.k} component{' was' if d.k == 1 else 's were'} computed. No rule for choosing their number applies "
            f"here."
        )
        return Recommendation(None, None, "", sentence, d.k)
    enough = int(np.searchsorted(floats(d.explained_variance_ratio).cumsum(), _TARGET - 1e-12)) + 1
    if enough > d.k or not method_of(d).orthogonal:
        return _only_explained(d, enough)
    bounds = explained(leading(d, enough))
    keep, verb = f"Keep {counted(enough, 'component')}", "it explains" if enough == 1 else "they explain"
    sentence = (
        f"{keep} to explain 90 % of the {total_name(d)}; {verb} {interval(*bounds)}. Rules about noise do not apply."
    )
    return Recommendation(enough, bounds, "variance", sentence, enough)


def _only_explained(d: Decomposition, enough: int) -> Recommendation:
    """What the computed components explain, without a number: `enough` are needed for 90 %."""
    bounds = explained(d)
    all_of_them = "component explains" if d.k == 1 else f"{d.k} components explain"
    some = "the first explains" if enough == 1 else f"the first {enough} explain"
    first = f"; {some} at least 90 %" if enough < d.k else ""
    sentence = (
        f"The {all_of_them} {interval(*bounds)} of the {total_name(d)}{first}. No rule for choosing their number "
        f"applies here."
    )
    return Recommendation(None, bounds, "", sentence, d.k if not complete(d) else _model(d))


def _model(d: Decomposition) -> int:
    """All computed components, or those that explain 80 % if all of them leave no residual."""
    if not complete(d):
        return d.k
    return max(1, min(int(np.searchsorted(floats(d.explained_variance_ratio).cumsum(), _MODEL - 1e-12)) + 1, d.k - 1))


def default_number(source: DataSource, method: Method, counts: tuple[int | None, ...] = ()) -> int:
    """All components of a small table, 5 of a larger one, or the default of the method if it has one.

    `counts` are other sizes that bound the number, such as the columns and rows that CUR keeps.
    """
    rows, columns = (int(size) for size in source.shape)
    most = max(1, rows - 1) if method.more_than_columns else min(rows, columns)
    if method.default_k is not None:
        return min([most, method.default_k, *(count for count in counts if count)])
    if most <= _ALL and method.name == "pca":
        most = _varying(source)
    return most if most <= _ALL else SHOWN


def _varying(source: DataSource) -> int:
    """Number of components that can have variance: at most the columns that vary, and one less than the rows."""
    rows, columns = source.shape
    columns = int(columns)
    matrix: DataSource = getattr(source, "matrix", source)
    if hasattr(matrix, "max") and not hasattr(matrix, "toarray") and rows * columns <= _MOST_CELLS:
        columns = int((matrix.max(axis=0) != matrix.min(axis=0)).sum())
    return max(1, min(int(rows) - 1, columns))
