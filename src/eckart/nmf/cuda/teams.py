"""Assignment of CSR rows to threads on a GPU: rows go to teams by their number of entries."""

from __future__ import annotations

from dataclasses import dataclass

from eckart.arrays import Array
from eckart.nmf.cuda.kernels import cupy, device_limits

NEAR_TEAMS: tuple[tuple[int, int], ...] = (
    (8, 4), (8, 6), (8, 7), (8, 8), (16, 8), (32, 8), (128, 4), (128, 8), (256, 7), (256, 8)
)  # fmt: skip
"""(threads of a team, entries per thread): a row goes to the first team that has room for it and its parts."""
FAR_TEAM = (256, 8)
"""The team for rows whose parts exceed shared memory."""
LONGEST = (512, 4)
"""The team for rows that exceed the registers of every team: their entries stay in memory."""
_WARP_BYTES = 100_000
"""A warp whose teams use more than this would be nearly alone on its multiprocessor: a whole block is faster."""


@dataclass(frozen=True)
class Class:
    """Rows of about the same length, and their team."""

    order: Array
    """Their indices, as int32 on the device; long rows first."""
    longest: int
    team: int
    entries: int
    """Number of entries in the registers of a thread."""
    place: int
    """0: all in registers and shared memory, 1: some parts in global memory, 2: the entries too."""
    team_bytes: int
    area: int
    """Size of shared memory for parts, in numbers."""


def padded(k: int, itemsize: int) -> int:
    """Padded columns of a factor whose rows are read 16 bytes at a time."""
    several = 16 // itemsize
    return -(-k // several) * several


def classes_of(indptr: Array, k: int, itemsize: int) -> list[Class]:
    """The rows of a CSR matrix by length, for factors with k columns; computed once for all steps."""
    with indptr.device:
        lengths = cupy().diff(indptr)
        most = device_limits(int(indptr.device.id))[1]
        found, low = [], -1
        for team, entries, place, high in limits(int(lengths.max()), k, itemsize, most):
            order = cupy().flatnonzero((lengths > low) & (lengths <= high))
            low = high
            if not order.size:
                continue
            if team > 32:
                order = order[cupy().argsort(-lengths[order])]
            longest = int(lengths[order].max())
            size, area = layout(team, place, longest, k, itemsize, most)
            found.append(Class(order.astype(cupy().int32), longest, team, entries, place, size, area))
    return found


def limits(longest: int, k: int, itemsize: int, most: int) -> list[tuple[int, int, int, int]]:
    """(threads, entries of each, place, longest row) of the teams needed, shortest rows first."""
    part = padded(k, itemsize) * itemsize
    result = []
    for team, entries in NEAR_TEAMS:
        whole = team * entries
        if team > 32:
            whole = min(whole, (most - part - _near_bytes(team, k, itemsize)) // part)
        elif layout(team, 0, whole, k, itemsize, most)[0] * (32 // team) > min(_WARP_BYTES, most - part):
            continue
        result.append((team, entries, 0, whole))
    result += [(*FAR_TEAM, 1, FAR_TEAM[0] * FAR_TEAM[1]), (*LONGEST, 2, max(longest, 1))]
    needed: list[tuple[int, int, int, int]] = []
    for limit in result:
        low = needed[-1][3] if needed else -1
        if low < limit[3] and low < longest:
            needed.append(limit)
    return needed


def _near_bytes(team: int, k: int, itemsize: int) -> int:
    """Bytes of shared memory of a team of `near_rows` in addition to its parts."""
    warps, k = max(1, team // 32), padded(k, itemsize)
    return warps * (16 + 4 * itemsize) + itemsize * k * (3 + 2 * warps) + -(-k * itemsize // 256) * 16


def _far_bytes(team: int, k: int, itemsize: int) -> int:
    """Bytes of shared memory of a team of `far_rows` in addition to its parts."""
    warps, k = team // 32, padded(k, itemsize)
    return 16 * warps + itemsize * (4 * warps + k * (2 + 2 * warps)) + 4 * ((k + 2) // 2 * 2)


def layout(team: int, place: int, longest: int, k: int, itemsize: int, most: int) -> tuple[int, int]:
    """(bytes of a team, numbers for its parts)."""
    if place == 0:
        area = padded(k, itemsize) * longest
        return _near_bytes(team, k, itemsize) + itemsize * area, area
    fixed = _far_bytes(team, k, itemsize)
    area = min(padded(k, itemsize) * (longest | 1), (most - fixed) // itemsize)
    return fixed + itemsize * area, area
