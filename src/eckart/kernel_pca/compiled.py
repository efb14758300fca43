"""Loops compiled on first use: the small triangles of pivoted Cholesky, and sums of absolute differences between rows.

In the triangles, every product is rounded before it is added, as in NumPy, so the accepted pivots do not depend on the
compiler.
"""

from __future__ import annotations

import numpy as np

from eckart.engine.compiled.waiting import njit


@njit(nogil=True, cache=True)
def accept(block, draws, floor, room, lower, chosen):  # type: ignore[no-untyped-def]
    """Number of accepted proposals, at most `room`; their numbers are in `chosen`, L in the first columns of `lower`.

    `block` is the residual of K on the proposals; its lower triangle is overwritten. Proposal j is accepted if earlier
    ones left more than draws[j] of its diagonal.
    """
    size = block.shape[0]
    before = np.diag(block).copy()
    column = np.empty(size)
    count = 0
    for j in range(size):
        if count == room:
            break
        if before[j] > floor and block[j, j] > max(draws[j] * before[j], floor):
            root = np.sqrt(block[j, j])
            for i in range(j, size):
                column[i] = block[i, j] / root
                lower[i, count] = column[i]
            # Decided proposals are not used again.
            for i in range(j + 1, size):
                for k in range(j + 1, i + 1):
                    block[i, k] -= column[i] * column[k]
            chosen[count] = j
            count += 1
    return count


@njit(nogil=True, cache=True)
def inverse_of_triangle(lower):  # type: ignore[no-untyped-def]
    """L^-1, row after row."""
    size = lower.shape[0]
    result = np.zeros((size, size))
    for i in range(size):
        result[i, i] = 1.0
        for k in range(i):
            for j in range(k + 1):
                result[i, j] -= lower[i, k] * result[k, j]
        for j in range(i + 1):
            result[i, j] /= lower[i, i]
    return result


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
