"""Which solver, how many reads, how much memory, and why, from counts of operations and measured rates.

The rates are those of the backend of the data (`Costs`); only their ratios matter for the choice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from eckart.engine.backends.base import Costs
from eckart.engine.backends.host import HostBackend
from eckart.engine.lanczos.proof_phase import MOST_PASSES, PROBES
from eckart.engine.lanczos.rounding import WIDTH
from eckart.engine.solution import Request
from eckart.errors import MemoryBudgetError, ParameterError

_EIGEN_FEW, _EIGEN_ALL = 3.0e-11, 1.2e-10
"""Seconds per size^3 for a few and for all eigenpairs."""
_REFINE = 6.0e-10
"""The same for mending small singular values, where all are wanted."""
_DIRECT_RATE = 2.5e10
_DIRECT_WORK = 1e7
_GRAM_SIZE = 20_000
_READ_RATE = 1.5e9
"""Bytes a second from a disk."""
_BLOCKS_HELD = 4
"""Blocks in memory at a time: the one that is worked on, those read ahead, and what is made of them."""


@dataclass(frozen=True)
class Shape:
    """What the choice depends on: the long and the short side, stored entries, precision."""

    rows: int
    columns: int
    entries: int
    sparse: bool
    precision: str
    block_bytes: int = 0
    """Size of the blocks that the data are read in; 0 when they are in memory."""
    costs: Costs = HostBackend.costs
    """What work costs where the data are."""

    @property
    def long(self) -> int:
        return max(self.rows, self.columns)

    @property
    def short(self) -> int:
        return min(self.rows, self.columns)


@dataclass(frozen=True)
class Choice:
    solver: str
    reads: int
    peak_bytes: int
    why: str
    block: int = 0
    capacity: int = 0


def choose(shape: Shape, request: Request, *, solver: str = "auto", memory: int | None = None) -> Choice:
    """The cheapest solver that fits into the memory allowed; refused beforehand when none does."""
    options = {"direct": _direct(shape), "gram": _gram(shape, request), "lanczos": _lanczos(shape, request)}
    if shape.block_bytes:
        return _choose_for_blocks(shape, options, solver, memory)
    if solver != "auto":
        choice = options[solver][1]
        _check_memory(choice, memory)
        return choice
    if shape.long * shape.short**2 <= _DIRECT_WORK:
        candidates = ["direct"]
    else:
        names = ["gram", "lanczos"] if shape.short <= _GRAM_SIZE else ["lanczos"]
        if not shape.sparse and not _few(shape, request):
            names.append("direct")
        candidates = sorted(names, key=lambda name: options[name][0])
    fitting = [name for name in candidates if memory is None or options[name][1].peak_bytes <= memory]
    choice = options[fitting[0] if fitting else _least(candidates, options)][1]
    _check_memory(choice, memory)
    return choice


def _choose_for_blocks(
    shape: Shape, options: dict[str, tuple[float, Choice]], solver: str, memory: int | None
) -> Choice:
    """For data that are read in blocks: a read costs time of its own, and some blocks are in memory beside the work."""
    size = shape.entries * ((4 if shape.precision == "float32" else 8) + (4 if shape.sparse else 0))
    wide = shape.columns > shape.rows
    costs: dict[str, float] = {}
    for name in ("lanczos",) if wide or shape.short > _GRAM_SIZE else ("gram", "lanczos"):
        cost, choice = options[name]
        reads = 2 * choice.reads if wide else choice.reads
        costs[name] = max(cost, reads * size / _READ_RATE)
        peak = choice.peak_bytes + _BLOCKS_HELD * shape.block_bytes
        why = f"{choice.why} Read in blocks of {shape.block_bytes / 1e6:.3g} MB."
        options[name] = (cost, replace(choice, reads=reads, peak_bytes=peak, why=why))
    if solver not in ("auto", *costs):
        raise ParameterError(
            f"solver={solver!r} needs all rows in memory{' when there are more columns than rows' if wide else ''}, "
            f"and these are read in blocks. Use {' or '.join(map(repr, costs))}, or 'auto'."
        )
    names = sorted(costs, key=lambda name: costs[name]) if solver == "auto" else [solver]
    fitting = [name for name in names if memory is None or options[name][1].peak_bytes <= memory]
    choice = options[fitting[0] if fitting else _least(names, options)][1]
    _check_memory(choice, memory)
    return choice


def _least(names: list[str], options: dict[str, tuple[float, Choice]]) -> str:
    """The solver that needs the least memory: its figure is what has to be allowed."""
    return min(names, key=lambda name: options[name][1].peak_bytes)


def _check_memory(choice: Choice, memory: int | None) -> None:
    if memory is not None and choice.peak_bytes > memory:
        raise MemoryBudgetError(
            f"The work needs about {choice.peak_bytes:,} bytes beside the data (solver {choice.solver!r}), and "
            f"{memory:,} are allowed. Allow more memory, or ask for fewer components."
        )


def _few(shape: Shape, request: Request) -> bool:
    """Whether so few axes are wanted that computing all of them would be a waste."""
    return request.k is None or 4 * request.k < shape.short


def _direct(shape: Shape) -> tuple[float, Choice]:
    work = 6.0 * shape.long * shape.short**2 + 16.0 * shape.short**3
    peak = 8 * (3 * shape.long * shape.short + 4 * shape.short**2)
    why = f"{shape.rows} x {shape.columns}: an exact singular value decomposition of the whole matrix is cheapest."
    return work / _DIRECT_RATE, Choice("direct", 1, peak, why)


def _gram(shape: Shape, request: Request) -> tuple[float, Choice]:
    n = shape.short
    if shape.sparse:
        # Each row multiplies its stored entries with each other.
        product = shape.entries * (shape.entries / max(shape.long, 1)) / shape.costs.sparse_rate * 4
    else:
        product = shape.long * n * n / shape.costs.dense_rate[shape.precision]
    eigen = _EIGEN_FEW if _few(shape, request) else _EIGEN_ALL + _REFINE
    cost = product + eigen * float(n) ** 3 / shape.costs.eigen_speed
    reads = 2 if shape.columns > shape.rows else 1
    why = f"The {n} x {n} matrix of cross-products is formed exactly in {'two reads' if reads == 2 else 'one read'}."
    # Where a second pass has to refine small values, the matrix, its eigenvectors and their product are in memory too.
    return cost, Choice("gram", reads, 8 * (8 if shape.block_bytes else 5) * n * n, why)


def _lanczos(shape: Shape, request: Request) -> tuple[float, Choice]:
    n = shape.short
    k = request.k if request.k is not None else 32
    block = block_width(k, n, None if shape.sparse else shape.costs.dense_blocks)
    capacity = min(n, max(6 * k, 2 * k + 10 * block, 512 if request.k is not None else 1024))
    steps = 9 if request.tolerance >= 1e-6 else 11
    if request.smallest:
        steps *= 8
    width = block + 5
    product = 4.0 * (shape.entries if shape.sparse else shape.long * n) * width
    read = product / (shape.costs.sparse_rate if shape.sparse else shape.costs.dense_rate[shape.precision])
    basis = steps * 4.0 * n * (steps * width / 2) * width / shape.costs.dense_rate["float64"]
    cost = steps * (read + 0.004) + basis + (0.0 if request.k is not None else steps * 0.01)
    # A proof phase has a basis of its own, and rounding is measured with 16 columns at a time.
    probes = min(n, PROBES * MOST_PASSES) + 4 * WIDTH
    peak = 8 * ((capacity + probes) * n + 3 * capacity**2 + 8 * n * width)
    why = (
        f"{k if request.k is not None else 'The wanted'} of {n} directions by block Lanczos, blocks of {block}: about "
        f"{steps} reads instead of forming all cross-products; it stops when the accuracy is proved."
    )
    return cost, Choice("lanczos", steps, peak, why, block, capacity)


def block_width(k: int, size: int, given: tuple[int, int] | None = None) -> int:
    """Wide enough for few passes, narrow enough for a deep basis: about three quarters of k, in steps of eight.

    Where widths are `given`, the first for k up to 16, the second for more.
    """
    width = min(8 * max(2, round(0.75 * k / 8)), 64) if given is None else given[0 if k <= 16 else 1]
    return max(1, min(width, size))
