"""New rows in existing concepts: coordinates, the share outside the concepts, and when to fit again.

Folding a row in changes no concept, so its part outside the concepts is lost. While the lost squares of all folded rows
sum to less than values_k^2, no direction outside can have gained as much as the weakest concept explains. Beyond that
one may have. If the concepts also represent the new rows worse than the fitted ones, it is time to fit again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import Array, to_numpy
from eckart.concept_space.best import Numbers
from eckart.concept_space.geometry import Geometry
from eckart.concept_space.stored_rows import Rows
from eckart.concept_space.vectors import row_squares
from eckart.documentation import document
from eckart.errors import InputError
from eckart.formatting import counted, percent
from eckart.registry import method_of

if TYPE_CHECKING:
    from eckart.concept_space.space import Concepts


@dataclass(frozen=True)
class Ledger:
    """Totals of the rows folded in so far: their number, their squared lengths, and the part outside the concepts."""

    rows: int = 0
    total: float = 0.0
    lost: float = 0.0

    def with_rows(self, squares: Numbers, unseen: Numbers) -> Ledger:
        return Ledger(self.rows + len(squares), self.total + float(squares.sum()), self.lost + float(unseen.sum()))

    @property
    def share(self) -> float:
        return self.lost / self.total if self.total > 0 else 0.0

    def verdict(self, geometry: Geometry) -> str:
        """Why the model should be fitted again; empty if there is no need."""
        d = geometry.d
        at_fit = 0.0 if d.certificate is None else max(1.0 - d.certificate.explained[0], 0.0)
        weakest = (float(to_numpy(d.values).astype(np.float64).min(initial=np.inf)) / geometry.unit) ** 2
        rounding = 64 * float(np.finfo(str(d.values.dtype).rpartition(".")[2]).eps)
        singular = method_of(d).orthogonal and d.which == "largest"
        if self.share <= at_fit + rounding or (singular and self.lost < weakest * (1.0 - rounding)):
            return ""
        strong = " This is more than the weakest concept explains." if singular else ""
        return (
            f"The concepts miss {percent(self.share)} of the sum of squares of {counted(self.rows, 'new row')}, "
            f"compared with {percent(at_fit)} for the fitted rows.{strong} The new data may contain a new concept. Fit "
            "the model again with these data included."
        )


@document
@dataclass(frozen=True, repr=False)
class Folded:
    """New rows that were projected onto existing concepts.

    Attributes
    ----------
    coordinates : array of shape (n_rows, k)
        Coordinates of the rows, on the device of the model.
    unseen : array of shape (n_rows,)
        Share of the sum of squares of each row, after centring and scaling, that lies outside the concepts. NaN for a
        row of zeros.
    cold : array of int
        Indices of rows without any entry.
    refit : str
        Reason to fit the model again. Empty if there is none.
    space : Concepts
        A space with the same concepts, in which these rows are stored too.

    {See Also: Concepts.fold_in}

    Examples
    --------
    >>> import eckart as ek
    >>> space = ek.concepts(ek.decompose(ek.datasets.path("ratings"), "svd", k=2))
    >>> space.fold_in([[0, 5, 0, 0, 0]]).coordinates.round(3)
    array([[2.887, 0.   ]])
    """

    coordinates: Array
    unseen: Numbers
    cold: Numbers
    refit: str
    space: Concepts

    @document
    def to_dict(self) -> dict[str, object]:
        """Convert to a dict of plain values, for JSON.

        {Returns: dict}
            Coordinates, the share of each row outside the concepts, and whether to fit again.
        """
        shares = [None if np.isnan(share) else float(share) for share in self.unseen]
        return {
            "coordinates": to_numpy(self.coordinates).astype(float).tolist(),
            "unseen": shares,
            "cold": self.cold.tolist(),
            "refit": self.refit,
        }

    def __repr__(self) -> str:
        known = self.unseen[np.isfinite(self.unseen)]
        share = f", {percent(known.mean())} of a row outside the concepts on average" if len(known) else ""
        cold = f", {len(self.cold):,} without any entry" if len(self.cold) else ""
        return f"<Folded {counted(len(self.coordinates), 'row')}{share}{cold}{'; fit again' if self.refit else ''}>"


def shares(geometry: Geometry, rows: Rows) -> tuple[Numbers, Numbers]:
    """(squared length, squared unseen part) of each row."""
    if not geometry.linear or rows.opened is None:
        raise InputError(
            f"{geometry.d.method!r} has no linear reconstruction, so the share of a row outside the "
            "concept space is unknown. To compute only the coordinates, use eckart.project."
        )
    squares = geometry.squares(rows.opened)
    return squares, geometry.unseen(rows.coordinates, rows.opened, squares)


def cold_rows(rows: Rows) -> Numbers:
    """The rows whose entries are all 0."""
    return np.flatnonzero(rows.counts() == 0)


def blind_rows(geometry: Geometry, rows: Rows) -> Numbers:
    """The rows whose part in the concepts is only rounding; the lengths are read only if that is possible."""
    seen = geometry.compared(rows.coordinates)
    lengths = np.sqrt(row_squares(seen))
    if not (lengths <= 1e-3 * lengths.max(initial=0.0)).any():
        return np.zeros(0, np.int64)
    squares = rows.squares(geometry)
    return np.flatnonzero(lengths <= geometry.rounding(seen, 0.0 if squares is None else squares))
