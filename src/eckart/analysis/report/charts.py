"""The data of the report's figures: plain numbers and names, packed for the page's script.

The page draws all rows, or a sample of them, and has statistics of all rows for each group of a label column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from eckart.aliases import JsonObject
from eckart.analysis.column_roles import label_role
from eckart.analysis.labels import certified_ratios, column_labels, component_labels, row_labels
from eckart.analysis.measures import column_spread, floats, row_distances, row_scores, row_weights, svd_details
from eckart.analysis.report.pack import levels, packed
from eckart.analysis.unusual import drawn as unusual_rows
from eckart.arrays import Floats, Matrix, part_on_host
from eckart.errors import ParameterError
from eckart.formatting import percent, short_names, shorten
from eckart.registry import method_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eckart.analysis.analysis import Analysis
    from eckart.result import Decomposition

MOST_COMPONENTS = 10
"""Number of components whose coordinates are in the page."""
_OBSERVED = 420_000
"""Maximum number of table entries in the page; larger tables contribute only their strongest columns."""
_LETTERS = 180_000
_MOST_COLUMNS = 2000
_MOST_CHOICES = 200
_FEW = 2000
_EXACT = 100_000
"""Tables up to this size are stored with full precision, larger ones quantised."""
MOST_ROWS = 20_000
_AT_EACH_END = 50
MOST_GROUPS = 8
_MOST_LABELS = 12
_MOST_DIFFERENT = 200


def shortened(names: list[str]) -> list[str]:
    """Names as they are drawn."""
    short = short_names(names, 60)
    return [short[name] for name in names]


def numbers(found: Analysis) -> JsonObject:
    """Everything the script needs, ready for JSON."""
    d = found.decomposition
    k = min(d.k, MOST_COMPONENTS)
    scores = None if d.left is None else row_scores(d, components=slice(k))
    drawn = np.empty(0, np.intp) if scores is None else drawn_rows(scores)
    rows = _rows(d, scores, drawn)
    columns = _shown_columns(d, k, max(len(drawn), 1), sum(map(len, rows["names"])))
    colours = [] if scores is None else groups(_grouping(found), scores, drawn)
    return {
        "method": d.method, "k": k, "additive": method_of(d).additive, "orthogonal": method_of(d).orthogonal,
        "axes": _axes(d), "errors": _errors(d), "model": min(found.recommendation.model, k),
        "recommended": found.recommendation.k,
        "rows": rows, "columns": _columns(d, k, columns),
        "observed": _observed(d, found.data, drawn, columns), "outliers": unusual_rows(found.outliers, drawn),
        "colours": colours, "first_colour": "g0" if colours else "",
    }  # fmt: skip


def _grouping(found: Analysis) -> dict[str, Sequence[str]]:
    """What rows can be grouped by: categories, then clusters, then other text with few different values.

    Categories of which each has a colour come first.
    """
    roles = {name: label_role(name, values) for name, values in found.labels.items()}
    many = {name: len({*values} - {""}) > MOST_GROUPS for name, values in found.labels.items()}
    ordered = sorted(found.labels, key=lambda name: (roles[name] != "category", many[name]))
    made: dict[str, Sequence[str]] = {name: found.labels[name] for name in ordered if roles[name] == "category"}
    if found.clusters is not None and found.clusters.count > 1:
        made["clusters (detected)"] = found.clusters.labels
    return made | {name: found.labels[name] for name in ordered if roles[name] not in ("category", "date")}


def drawn_count(content: JsonObject) -> int:
    """How many rows the page draws."""
    return int(content["rows"]["drawn"])


def colour_choices(content: JsonObject) -> list[tuple[str, str]]:
    """What the rows can be coloured by: groups, quality and contribution in the plane, columns of the table."""
    texts = [(f"g{i}", choice["name"]) for i, choice in enumerate(content["colours"])]
    if content["orthogonal"] and content["rows"]["scores"] is not None:
        known = content["rows"]["distances"] is not None
        texts += [("q", "cos² in this plane")] * known + [("p", "contribution to this plane")]
    if content["observed"] is None:
        return texts
    return texts + [(f"c{j}", name) for j, name in enumerate(content["columns"]["names"][:_MOST_CHOICES])]


def _axes(d: Decomposition) -> list[JsonObject]:
    shares, deviations = short(floats(d.explained_variance_ratio)), short(np.sqrt(floats(d.explained_variance)))
    known = certified_ratios(d) if method_of(d).additive else None
    bounds = known or (np.full(d.k, np.nan),) * 2
    low, high, values = short(bounds[0]), short(np.minimum(bounds[1], 1.0)), short(floats(d.values))
    names, exact = component_labels(d), floats(d.explained_variance_ratio).tolist()
    return [
        {
            "name": names[a], "label": f"{names[a]} ({percent(exact[a])})", "share": shares[a], "low": low[a],
            "high": high[a], "deviation": deviations[a], "value": values[a],
        }
        for a in range(d.k)
    ]  # fmt: skip


def _errors(d: Decomposition) -> list[float | None]:
    """Relative error in the Frobenius norm with 0, 1, ..., k components: sqrt(1 - shares so far)."""
    if not method_of(d).orthogonal or d.which == "smallest":
        return []
    left = 1.0 - np.concatenate([[0.0], floats(d.explained_variance_ratio).cumsum()])
    return short(np.sqrt(np.clip(left, 0.0, None)))


def _rows(d: Decomposition, scores: NDArray[np.float64] | None, drawn: NDArray[np.intp]) -> JsonObject:
    names = row_labels(d)
    distances = None if scores is None else row_distances(d)
    return {
        "count": d.rows, "drawn": len(drawn), "numbered": d.row_names is None,
        "names": shortened([names[i] for i in drawn.tolist()]),
        "scores": None if scores is None else packed(scores[drawn]),
        "weights": packed(row_weights(d)[drawn]) if svd_details(d).row_weights is not None else None,
        "distances": None if distances is None else _small(distances[drawn][:, None]),
    }  # fmt: skip


def _shown_columns(d: Decomposition, k: int, rows: int, letters: int) -> NDArray[np.intp]:
    """As many columns as keep the page small: long names of many rows take the room of a few columns."""
    room = _OBSERVED - max(0, letters - _LETTERS) // 2
    most = max(1, min(room // rows, _MOST_COLUMNS))
    if d.columns <= most:
        return np.arange(d.columns)
    right = floats(d.right)[:, :k]
    strength = np.abs(right * floats(d.values)[: right.shape[1]]).max(axis=1, initial=0.0)
    return np.sort(np.argsort(-strength, kind="stable")[:most])


def _columns(d: Decomposition, k: int, columns: NDArray[np.intp]) -> JsonObject:
    names = column_labels(d)
    right = floats(d.right)[columns, :k]
    spread = _spread(d, columns)
    return {
        "count": d.columns, "names": shortened([names[j] for j in columns.tolist()]),
        "right": packed(right) if right.shape[1] else None,
        "mean": None if d.mean is None else packed(floats(d.mean)[columns]),
        "scale": None if d.scale is None else packed(floats(d.scale)[columns]),
        "spread": None if spread is None else packed(spread),
    }  # fmt: skip


def _spread(d: Decomposition, columns: NDArray[np.intp]) -> NDArray[np.float64] | None:
    """Standard deviation of the decomposed columns, if known: correlations with the components need it."""
    if d.mean is None or d.method != "pca":
        return None
    try:
        return column_spread(d)[columns]
    except ParameterError:
        return None


def _observed(d: Decomposition, data: Matrix, drawn: NDArray[np.intp], columns: NDArray[np.intp]) -> JsonObject | None:
    """The table itself for the drawn rows and shown columns."""
    if data is None or not len(drawn) or tuple(data.shape) != (d.rows, d.columns):
        return None
    return _small(part_on_host(data, drawn, columns))


def _small(table: NDArray[np.float64]) -> JsonObject:
    """Keep all digits if that takes little room."""
    return packed(table) if table.size <= (_FEW if table.shape[1] == 1 else _EXACT) else levels(table)


def drawn_rows(scores: Floats, most: int = MOST_ROWS) -> NDArray[np.intp]:
    """All rows, or both ends of every component and one random row from each of equal strata along the first."""
    rows, k = scores.shape
    if rows <= most or k == 0:
        return np.arange(min(rows, most))
    few = max(1, min(_AT_EACH_END, most // (4 * k)))
    ends = [np.argpartition(sign * scores[:, component], few)[:few] for component in range(k) for sign in (1, -1)]
    order = np.argsort(scores[:, 0], kind="stable")
    chosen = np.unique(np.concatenate(ends))
    bounds = np.linspace(0, rows, most - len(chosen) + 1).astype(np.intp)
    random = np.random.Generator(np.random.Philox(0))
    picked = bounds[:-1] + (random.random(len(bounds) - 1) * np.diff(bounds)).astype(np.intp)
    return np.union1d(chosen, order[picked])


def subset_sentence(rows: int, drawn: int) -> str:
    """What `drawn_rows` left out, in words; empty if nothing."""
    if drawn >= rows:
        return ""
    return (
        f"{drawn:,} of {rows:,} rows are shown: the extreme rows of every component, and a random "
        "sample (seed 0) stratified along the first component. Shares, errors, limits and ellipses "
        "are computed from all rows."
    )


def groups(labels: Mapping[str, Sequence[str]], scores: Floats, drawn: NDArray[np.intp]) -> list[JsonObject]:
    """For each text column with few different words: the group of each drawn row, and statistics of all rows."""
    found: list[JsonObject] = []
    for name, words in labels.items():
        if len(words) != len(scores) or len(found) == _MOST_LABELS:
            continue
        counts = Counter(words)
        if 2 <= len(counts) <= _MOST_DIFFERENT and len(counts) < len(words):
            found.append(_grouped(name, words, counts, scores, drawn))
    return found


def _grouped(
    name: str, words: Sequence[str], counts: Counter[str], scores: Floats, drawn: NDArray[np.intp]
) -> JsonObject:
    """The largest groups separately, the small ones together as 'others'."""
    kept = [word for word, _ in counts.most_common()]
    if len(kept) > MOST_GROUPS:
        kept = kept[: MOST_GROUPS - 1]
    place = {word: i for i, word in enumerate(kept)}
    codes = np.fromiter((place.get(word, len(kept)) for word in words), np.uint8, len(words))
    names = [shorten(word, 40) if word else "(empty)" for word in kept]
    if len(kept) < len(counts):
        names.append(f"others ({len(counts) - len(kept)} categories)")
    context = [{"name": shown, **_ellipse(scores[codes == i])} for i, shown in enumerate(names)]
    return {"name": shorten(name, 60), "groups": context, "codes": packed(codes[drawn])}


def _ellipse(scores: Floats) -> JsonObject:
    """Count, mean and covariance, from which the page draws a 95 % ellipse in any plane."""
    covariance = np.cov(scores, rowvar=False).reshape(scores.shape[1], -1) if len(scores) > 2 else None
    mean = scores.mean(axis=0) if len(scores) else np.zeros(scores.shape[1])
    return {
        "count": len(scores),
        "mean": short(mean),
        "covariance": None if covariance is None else [short(line) for line in covariance],
    }


def short(numbers: object) -> list[float | None]:
    """Six digits; None for values that are not finite."""
    return [float(f"{x:.6g}") if np.isfinite(x) else None for x in np.asarray(numbers, dtype=np.float64).tolist()]
