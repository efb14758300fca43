"""Steps over the stored entries of each row on a GPU: the mathematics of `eckart.nmf.compiled_entries`.

Depending on its number of entries, a row goes to a team of 8 lanes up to 512 threads. The team gathers the parts of the
row once and sweeps over the coordinates with x, the model and its inverse in registers. `near_rows` applies if all
parts fit into shared memory; otherwise `far_rows` keeps the rest in a slice that stays in the L2 cache. Arithmetic over
entries is in the precision of the data; sums over rows are in double precision and in a fixed order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eckart.arrays import Array
from eckart.nmf.cuda.kernels import cupy, device_limits, kernel, real_name
from eckart.nmf.cuda.teams import Class, padded
from eckart.nmf.problem import Penalty

_SCRATCH_BYTES = 2**31


@dataclass(frozen=True)
class EntrySteps:
    """The problem of each row, and when its sweeps end: after `sweeps`, or at this share of the gain of the first."""

    divergence: bool
    observed: bool
    penalty: Penalty
    floor: float
    sweeps: int
    share: float


def entry_rows(
    classes: list[Class], csr: Any, other: Array, begin: Array, old: Array, sums: Array, *, steps: EntrySteps,
    extrapolation: object, score: bool,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """(new, ahead, [objective if `score`, projected gradients before the first step]) for all rows, as CuPy arrays.

    `csr` has data, indices (int32) and indptr (int64). The factors are C-ordered, in the dtype of the data. `sums` is
    float64: the cost of entries that are not stored. `extrapolation` is an array of one float64.
    """
    rows, given = begin.shape
    itemsize, real = csr.data.dtype.itemsize, csr.data.dtype.type
    k = padded(given, itemsize)
    divergence, floor = steps.divergence, steps.floor
    if divergence and itemsize == 4:
        floor = max(floor, 2.0**-126)  # the kernels treat smaller numbers as zero
    with csr.data.device:
        if k != given:
            # Coordinates of zeros have a zero gradient and do not move.
            other, begin, old = (cupy().pad(factor, ((0, 0), (0, k - given))) for factor in (other, begin, old))
            sums = cupy().pad(sums, (0, k - given))
        new, ahead = cupy().empty_like(begin), cupy().empty_like(begin)
        found = cupy().zeros((2, rows))
        processors = device_limits(int(csr.data.device.id))[0]
        options = (
            np.int32(steps.observed), np.float64(steps.penalty.lasso), real(steps.penalty.ridge), real(floor),
            np.int32(steps.sweeps), real(steps.share), extrapolation, np.int32(score), new, ahead, found[0], found[1],
        )  # fmt: skip
        for kind in classes:
            data = kind.order, np.int32(kind.order.size), csr.indptr, csr.indices, csr.data, other, begin, old, sums
            threads = max(32, kind.team)
            shared = kind.team_bytes * (threads // kind.team) + (k * itemsize if kind.place == 0 else 0)
            blocks = -(-int(kind.order.size) * kind.team // threads)
            blocks = min(blocks, processors * max(1, min(32, 2048 // threads, 228 * 1024 // (shared + 1024))))
            if kind.place == 0:
                launch = _near(itemsize, kind.team, kind.entries, k, divergence)
                arguments: tuple[object, ...] = (*data, *options, np.int32(kind.team_bytes))
            else:
                launch = _far(itemsize, kind.team, kind.entries, kind.place, divergence)
                slice_ = _slice(kind, k)
                blocks = max(1, min(blocks, _SCRATCH_BYTES // (slice_ * itemsize)))
                scratch = cupy().empty(blocks * slice_, csr.data.dtype)
                arguments = (*data, np.int32(k), *options, scratch, np.int64(slice_), np.int32(kind.area))
            if shared > 48 * 1024:
                launch.max_dynamic_shared_size_bytes = shared
            launch.preferred_shared_memory_carveout = 100
            launch((blocks,), (threads,), arguments, shared_mem=shared)
        if k != given:
            new, ahead = (cupy().ascontiguousarray(factor[:, :given]) for factor in (new, ahead))
        return new, ahead, found.sum(axis=1)


def _slice(kind: Class, k: int) -> int:
    """Number of values that a block keeps outside shared memory."""
    stride = kind.longest | 1
    # More coordinates fit for shorter rows, rounded down: one more than the longest needs.
    return (k - min(k, kind.area // stride) + 1 + (3 if kind.place == 2 else 0)) * stride


def _near(itemsize: int, team: int, entries: int, k: int, divergence: bool) -> Any:
    chunks = k // 4 if itemsize == 4 else k // 2
    form = f"near_rows<{real_name(itemsize)}, {team}, {entries}, {chunks}, {str(divergence).lower()}>"
    return kernel(("steps", "near"), form)


def _far(itemsize: int, team: int, entries: int, place: int, divergence: bool) -> Any:
    form = f"far_rows<{real_name(itemsize)}, {team}, {entries}, {place}, {str(divergence).lower()}>"
    return kernel(("steps", "far"), form)
