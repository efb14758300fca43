"""Sums of absolute differences between rows, compiled on first use."""

from __future__ import annotations

from eckart.engine.compiled.waiting import njit


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def manhattan(rows, columns, result):  # type: ignore[no-untyped-def]
    """result[i, j] += sum over c of |rows[i, c] - columns[c, j]|; `columns` contains the other points as columns."""
    count = columns.shape[1]
    for i in range(rows.shape[0]):
        target = result[i]
        for c in range(rows.shape[1]):
            value = rows[i, c]
            source = columns[c]
            for j in range(count):
                target[j] += abs(value - source[j])
