"""Names of components, rows and columns as plain, inert text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

from eckart.arrays import to_numpy
from eckart.registry import method_of

if TYPE_CHECKING:
    from eckart.result import Decomposition


_SIMILAR = 0.8
"""If the smallest loading of a component is at least this multiple of the largest, no column stands out."""
_DOMINANT = 0.5
"""Share of the squared loadings above which a few columns dominate a component."""


def component_labels(d: Decomposition) -> tuple[str, ...]:
    """PC1, PC2, ... for principal components, 'minor 1' for the smallest components, otherwise 'component 1'."""
    prefix = "minor " if d.which == "smallest" else method_of(d).label
    return tuple(f"{prefix}{i + 1}" for i in range(d.k))


def column_labels(d: Decomposition) -> tuple[str, ...]:
    """The names of the columns, or x1, x2, ..."""
    return d.column_names or tuple(f"x{j + 1}" for j in range(d.columns))


def row_labels(d: Decomposition) -> Sequence[str]:
    """The names of the rows, or 1, 2, ..."""
    return d.row_names or Numbers(d.rows)


def category_name(label: object) -> str | None:
    """A category as text; None and NaN are missing."""
    return None if label is None or label != label else str(label)


class Numbers(Sequence[str]):
    """'1', '2', ... up to a count, formatted only when read, so that a million rows need no stored names."""

    def __init__(self, count: int) -> None:
        self._indices = range(1, count + 1)

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...

    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        found = self._indices[place]
        return tuple(map(str, found)) if isinstance(found, range) else str(found)


def method_name(d: Decomposition) -> str:
    """The method in words."""
    return method_of(d).title


def total_name(d: Decomposition) -> str:
    """What the explained shares refer to: variance or sum of squares."""
    return "variance" if d.mean is not None else "sum of squares"


def treatment(d: Decomposition) -> str:
    """What was done to the columns first."""
    if d.mean is None:
        return "columns scaled, not centred" if d.scale is not None else "columns neither centred nor scaled"
    return "columns centred and scaled to unit variance" if d.scale is not None else "columns centred"


def certified_ratios(d: Decomposition) -> tuple[np.ndarray, np.ndarray] | None:
    """Lower and upper bounds of each component's share: bound^2 / ||A||^2; None if these are not known."""
    if d.certificate is None or d.norm == 0 or len(d.certificate.lower) != d.k:
        return None
    lower, upper = (np.asarray(bound, dtype=float) / d.norm for bound in d.certificate.values)
    return np.clip(lower, 0, None) ** 2, np.clip(upper, 0, None) ** 2


def top_loadings(d: Decomposition, component: int, most: int = 5) -> list[tuple[str, float]]:
    """The columns that dominate a component: those whose v^2 exceeds the even share 1/p, strongest first."""
    vector = to_numpy(d.right)[:, component].astype(float)
    even = (vector @ vector) / max(len(vector), 1)
    names = column_labels(d)
    order = np.argsort(-np.abs(vector), kind="stable")[:most]
    return [(names[j], float(vector[j])) for j in order if vector[j] ** 2 >= even * (1 - 1e-9) and vector[j] != 0]


def led_by(d: Decomposition, component: int, found: Sequence[tuple[str, float]]) -> str:
    """The sentence on the columns with the largest loadings, which all have the same sign: "is dominated by {}"."""
    vector = to_numpy(d.right)[:, component].astype(float)
    low, high = float(np.abs(vector).min()), float(np.abs(vector).max())
    if len(vector) > 1 and low >= _SIMILAR * high and (vector > 0).all() == (vector > 0).any():
        return "weights all columns about equally"
    share = sum((value / high) ** 2 for _, value in found) / float(((vector / high) ** 2).sum())
    return "is dominated by {}" if share > _DOMINANT else "loads most on {}"


def explained(d: Decomposition) -> tuple[float, float]:
    """Share explained by all kept components together: certified if there is a certificate, otherwise as computed."""
    if d.certificate is not None:
        return d.certificate.explained
    total = float(to_numpy(d.explained_variance_ratio).astype(float).sum())
    return total, total
