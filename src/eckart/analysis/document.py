"""A decomposition, an analysis and a plan as JSON values."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.aliases import JsonObject

if TYPE_CHECKING:
    from eckart.analysis.analysis import Analysis
    from eckart.result import Certificate, Decomposition, Plan
    from eckart.wording import Door


def of_decomposition(d: Decomposition) -> JsonObject:
    """The components, what they explain, and how certain that is."""
    from eckart.analysis.labels import column_labels, component_labels
    from eckart.analysis.tables.eigenvalues import eigenvalues
    from eckart.registry import method_of

    rows: Any = eigenvalues(d).to_dict()["rows"]
    if not method_of(d).additive:  # overlapping shares have no sum and no bounds of their own
        rows = [[*row[:3], None, None, None] for row in rows]
    keys = [
        "name",
        "variance" if d.mean is not None else "value",
        "explained_variance_ratio",
        "cumulative",
        "lower",
        "upper",
    ]
    return {
        "method": d.method,
        "rows": d.rows,
        "columns": d.columns,
        "k": d.k,
        "which": d.which,
        "centred": d.mean is not None,
        "scaled": d.scale is not None,
        "rank": d.rank,
        "components": [dict(zip(keys, row, strict=True)) for row in rows],
        "loadings": {
            "columns": list(column_labels(d)),
            "components": list(component_labels(d)),
            "values": plain(d.right),
        },
        "certificate": None if d.certificate is None else of_fields(d.certificate),
        "solver": None if d.info is None else d.info.solver,
        "passes": None if d.info is None else d.info.passes,
        "why": None if d.plan is None else d.plan.why,
        "notes": list(d.notes),
    }


def of_analysis(found: Analysis, door: Door = "python") -> JsonObject:
    """The decomposition, the recommendation, the roles of the columns, and the sections of the report."""
    from eckart.analysis.report.contents import sections
    from eckart.notes import for_door

    d, advice = found.decomposition, found.recommendation
    sentence = for_door(advice.sentence, door)
    shown = [
        {
            "key": section.key, "title": section.title, "lines": [line for line in section.lines if line],
            "tables": {name: table.to_dict() for name, table in section.tables.items()},
        }
        for section in sections(found, door)
    ]  # fmt: skip
    recommended = {"k": advice.k, "explained": advice.explained, "rule": advice.rule, "sentence": sentence}
    parts = {
        "recommended": recommended,
        "roles": [{"name": role.name, "role": role.role, "treatment": role.treatment} for role in found.roles],
        "ranks": None if found.ranks is None else found.ranks.to_dict(),
        "clusters": None if found.clusters is None else {"count": found.clusters.count, "codes": found.clusters.codes},
        "sections": shown,
    }
    made: JsonObject = of_decomposition(d) | plain(parts) | {"notes": [for_door(note, door) for note in d.notes]}
    return made


def of_fields(values: Certificate | Plan) -> JsonObject:
    """Every field; unknown values are null."""
    return {field.name: plain(getattr(values, field.name)) for field in dataclasses.fields(values)}


def plain(value: object) -> Any:
    """Lists, numbers and strings; values that are not finite become null."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
