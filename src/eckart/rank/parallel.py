"""Parallel analysis: axes that are stronger than those of the same table with its structure destroyed.

Permutation (Horn, 1965; Buja and Eyuboglu, 1992): each column is shuffled by itself; axis i is kept while its value is
above the quantile of the i-th values of shuffled tables. Sign flips (Hong, Sheng and Dobriban, 2020): each entry of the
centred table gets a random sign, which keeps noise as it is even where its size differs from entry to entry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from eckart.arrays import is_sparse
from eckart.rank.evidence import Evidence
from eckart.rank.leading import leading_squares
from eckart.rank.verdict import percent


def by_permutation(e: Evidence) -> tuple[int | None, str]:
    """Against tables whose columns are shuffled."""
    return _compared(e, _permuted, e.table, e.rng(1), "shuffled tables")


def by_sign_flips(e: Evidence) -> tuple[int | None, str]:
    """Against tables with random signs. Sparse tables are flipped as they are, which keeps them sparse."""
    k, reason = _compared(e, _flipped, e.table if e.sparse else e.centred, e.rng(2), "tables with random signs")
    raw = " Signs were flipped before centring, which keeps the table sparse."
    return k, reason + raw if e.sparse and e.center else reason


def _compared(
    e: Evidence, destroy: Callable[..., Any], table: Any, rng: np.random.Generator, what: str
) -> tuple[int | None, str]:
    """Axis i against the quantile of the i-th value of tables drawn; the first that is not above ends it."""
    repeats, most, level = e.repeats(10, 100), e.most, e.options.level
    center = e.center and destroy is _permuted
    drawn = np.array([leading_squares(destroy(table, rng), most, center=center) for _ in range(repeats)])
    limits = np.quantile(drawn, level, axis=0) / e.unit
    above = e.shares[:most] > limits
    if above.all() and most < e.short - 1:
        return None, f"All {most} axes looked at are above those of {repeats} {what}; there may be more."
    if above.all():
        return most, f"All {most} axes looked at are above those of {repeats} {what}."
    k = int(np.argmin(above))
    seen, limit = percent(e.shares[k]), percent(limits[k])
    return k, f"Axis {k + 1} holds {seen}; {level:.0%} of {repeats} {what} have at most {limit} there."


def _permuted(table: Any, rng: np.random.Generator) -> Any:
    """Each column in an order of its own; a sparse column gets other rows for its entries."""
    if not is_sparse(table):
        return rng.permuted(table, axis=0)
    columns = sparse.csc_array(table)
    counts = np.diff(columns.indptr)
    places = [rng.choice(table.shape[0], int(count), replace=False, shuffle=False) for count in counts]
    indices = np.concatenate([np.sort(place) for place in places]) if places else columns.indices
    data = columns.data.copy()
    for start, stop in zip(columns.indptr[:-1], columns.indptr[1:], strict=True):
        rng.shuffle(data[start:stop])
    return sparse.csr_array(sparse.csc_array((data, indices, columns.indptr), shape=table.shape))


def _flipped(table: Any, rng: np.random.Generator) -> Any:
    """Each entry with a random sign."""
    if is_sparse(table):
        flipped = table.copy()
        flipped.data = flipped.data * _signs(len(table.data), rng).astype(table.dtype)
        return flipped
    return table * _signs(table.size, rng).reshape(table.shape).astype(table.dtype)


def _signs(count: int, rng: np.random.Generator) -> np.ndarray:
    bits = np.unpackbits(np.frombuffer(rng.bytes(-(-count // 8)), np.uint8), count=count)
    return np.asarray(2 * bits.astype(np.int8) - 1)
