"""Working memory of block Lanczos, and the largest bases that fit into the allowed memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.budget import compiler_bytes, reading_bytes
from eckart.engine.lanczos.restart import MOST_FROZEN
from eckart.engine.lanczos.rounding import WIDTH
from eckart.engine.lanczos.terms import MOST_PROBES, NARROWEST, PROBES

if TYPE_CHECKING:
    from eckart.engine.choose import Shape

_ENOUGH_STEPS, _LEAST_STEPS, _LEAST_PROBES = 16, 6, 128
"""Steps between restarts that suffice for most spectra, and the minimum steps and columns of a useful proof phase."""
_KEPT_BY_ALLOCATORS = 1.25
"""Measured ratio of process memory to array memory: freed memory is not returned immediately."""


def room_for(shape: Shape, memory: int) -> int:
    """Bytes that reading blocks of the data and compiled loops leave to the basis."""
    return memory - reading_bytes(memory, shape.block_bytes) - (compiler_bytes(memory) if shape.sparse else 0)


def most_columns(shape: Shape, k: int, block: int, capacity: int, probes: int, room: int | None) -> int:
    """Columns to which a basis of `capacity` may grow, by doubling, within `room` bytes."""
    while capacity < shape.short:
        larger = min(shape.short, 2 * capacity)
        if room is not None and working_bytes(shape, larger // 6, block, larger, probes) > room:
            break
        capacity = larger
    return capacity


def working_bytes(shape: Shape, k: int, block: int, capacity: int, probes: int) -> int:
    """Working memory of block Lanczos: bases, proof phases, blocks, and columns for measuring rounding.

    If there is room, the last proof phase is kept while the next one runs.
    """
    n, width = shape.short, block + PROBES
    phase = min(n, probes) + min(k + MOST_FROZEN, capacity)
    kept = max(k + block // 2, min(2 * k, capacity // 2))
    tall = n * (capacity + kept + (2 if probes == MOST_PROBES else 1) * phase + 4 * WIDTH + 8 * width)
    long_side = 3 * shape.long * width if shape.columns > shape.rows else 0  # A^T Q, if the rows are the short side
    return int(_KEPT_BY_ALLOCATORS * 8 * (tall + 6 * capacity**2 + long_side))


def within(shape: Shape, k: int, block: int, capacity: int, room: int) -> tuple[int, int, int]:
    """(block, capacity, probes) of the largest bases that fit into `room` bytes; the smallest useful ones if none do.

    A smaller basis restarts earlier and takes more passes, with the same proof at the end. Narrower blocks allow more
    steps between restarts, which matters more than their width.
    """
    if working_bytes(shape, k, block, capacity, MOST_PROBES) <= room:
        return block, capacity, MOST_PROBES
    block = min(block, NARROWEST)
    least, enough = (min(capacity, 2 * k + steps * (block + PROBES)) for steps in (_LEAST_STEPS, _ENOUGH_STEPS))
    columns = [*range(capacity, enough, -PROBES), *range(enough, least, -PROBES), least]
    few = sum(count > enough for count in columns)  # a proof phase is dropped once the basis is small
    for index, count in enumerate(columns):
        probes = int(np.clip(MOST_PROBES - PROBES * (1 + max(index - few, 0)), _LEAST_PROBES, MOST_PROBES))
        if working_bytes(shape, k, block, count, probes) <= room:
            return block, count, probes
    return block, least, _LEAST_PROBES
