"""Choice of solver, passes and memory, with the reason, from counts of operations and measured rates.

The rates are those of the backend of the data (`Costs`); only their ratios matter for the choice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from eckart.budget import BLOCKS_HELD
from eckart.engine.backends.base import Costs
from eckart.engine.backends.csr_scipy import COMPILE_FROM
from eckart.engine.backends.host import HostBackend
from eckart.engine.iterated import iteration_seconds
from eckart.engine.lanczos.memory import most_columns, room_for, within, working_bytes
from eckart.engine.lanczos.terms import MOST_PROBES, NARROWEST
from eckart.engine.solution import Request
from eckart.engine.trial import Trial, trial_of
from eckart.errors import MemoryBudgetError, ParameterError
from eckart.formatting import allowed
from eckart.wording import MEMORY, assigned

if TYPE_CHECKING:
    from eckart.engine.settings import Settings

_EIGEN_FEW, _EIGEN_ALL = 7.0e-11, 2.8e-10
"""Seconds per size^3 for a few and for all eigenpairs."""
_REFINE = 6.0e-10
"""The same for refining small singular values, if all are requested."""
_CACHE_SIZE, _BEYOND_CACHE = 2000, 1.6
"""Above this size, a float64 matrix does not fit into cache, and its reduction takes longer by this factor."""
_DIRECT_RATE = 2.5e10
SMALL_WORK = 1e7
"""Up to this many multiplications in a Gram matrix, the exact decomposition of the matrix itself is cheap."""
_GRAM_SIZE, _SPARSE_GRAM = 20_000, 2000
"""Maximum sides for which a Gram matrix is formed at all, and for which it is the alternative to block Lanczos on
sparse rows: beyond, it would take much more memory than the rows.
"""
_PAIR_RATE = {"compiled": 1e9, "scipy": 1.5e8}
"""Products of two entries of a row per second in a Gram matrix of sparse rows."""
_NARROW, _NARROW_IN_CACHE = 12, 24
"""Up to this many components, narrower blocks are fastest on sparse data in memory: the time depends on the number of
vectors multiplied, not on the passes. Half of the width is faster still if so few entries are stored that they stay in
cache, for up to the second number of components.
"""
_VECTORS_IN_CACHE, _ENOUGH_PASSES = (30, 4), 150
"""Passes with single vectors (measured: about 30, and 4 for each component), and the limit below which passes count."""
_DENSE_BASIS = 704
"""Columns of the basis for dense rows: enough to converge on flat spectra before a restart."""
FAST_WORK, _MEASURED_SINGLE = 4e9, 0.75
"""Below this many multiplications, float32 rows have a float64 Gram matrix. Above, products in float32 and the pass
that measures their error take this share of its time.
"""
_FEW = {"float32": 6, "float64": 12}
"""Up to this many components, blocks of eight columns take more passes but less time on dense data in memory; in
float32 passes cost less than the work between them.
"""
_READ_RATE = 1.5e9
"""Bytes per second from a disk."""


@dataclass(frozen=True)
class Shape:
    """What the choice depends on: the long and the short side, stored entries, precision."""

    rows: int
    columns: int
    entries: int
    sparse: bool
    precision: str
    block_bytes: int = 0
    """Size of the blocks in which the data are read; 0 if they are in memory."""
    costs: Costs = HostBackend.costs
    """Cost of operations on the device of the data."""
    resident: bool = False
    """Dense NumPy rows, at least as many as columns; the Gram matrix needs no preparation (`ResidentTall`)."""

    @property
    def long(self) -> int:
        return max(self.rows, self.columns)

    @property
    def short(self) -> int:
        return min(self.rows, self.columns)

    @property
    def work(self) -> float:
        """Multiplications in a Gram matrix of dense data."""
        return float(self.long) * self.short**2


@dataclass(frozen=True)
class Choice:
    """The solver and its sizes; 0 where a solver does not need a size."""

    solver: str
    passes: int
    """Expected number of passes over the data."""
    peak_bytes: int
    """Memory needed in addition to the data."""
    why: str
    block: int = 0
    """Columns of a block of block Lanczos."""
    capacity: int = 0
    """Columns of its basis, at which it restarts."""
    probes: int = MOST_PROBES
    """Maximum number of columns of the basis of a proof phase."""
    most: int = 0
    """Columns to which the basis may grow if a share is requested and k is not known; 0 if it may not grow."""
    trial: Trial | None = None
    """Set if block Lanczos is on trial, with the Gram matrix as the alternative."""
    single: bool = False
    """Whether block Lanczos begins with one vector at a time (`lanczos.single`)."""


def choose(shape: Shape, request: Request, *, solver: str = "auto", memory: int | None = None) -> Choice:
    """The cheapest solver that fits into the allowed memory; refused in advance if none does."""
    if solver == "auto" and memory is None and not shape.block_bytes and shape.work <= SMALL_WORK:
        return _gram(shape, request)[1] if shape.resident else _direct(shape)[1]
    options = {"direct": _direct(shape), "gram": _gram(shape, request), "lanczos": _lanczos(shape, request, memory)}
    if shape.block_bytes:
        return _choose_for_blocks(shape, options, solver, memory)
    if solver != "auto":
        choice = options[solver][1]
        _check_memory(choice, memory)
        return choice
    if _on_trial(shape, request):
        options["lanczos"] = _tried(shape, *options["lanczos"], options["gram"][0])
    return _first_fitting(_candidates(shape, request, options), options, memory)


def _tried(shape: Shape, cost: float, choice: Choice, alternative: float) -> tuple[float, Choice]:
    """Rank block Lanczos just below the cost of the Gram matrix if its first steps are worth a trial, else above."""
    trial = trial_of(shape, choice, alternative)
    if not trial.worth_a_start:
        return max(cost, 1.01 * alternative), choice
    return min(cost, 0.99 * alternative), replace(choice, trial=trial)


def _candidates(shape: Shape, request: Request, options: dict[str, tuple[float, Choice]]) -> list[str]:
    """The applicable solvers, cheapest first."""
    if shape.work <= SMALL_WORK:
        return ["gram", "direct"] if shape.resident else ["direct"]
    names = ["gram", "lanczos"] if shape.short <= _GRAM_SIZE else ["lanczos"]
    if not shape.sparse and not _few(shape, request):
        names.append("direct")
    return sorted(names, key=lambda name: options[name][0])


def _first_fitting(names: list[str], options: dict[str, tuple[float, Choice]], memory: int | None) -> Choice:
    """The first that fits into the allowed memory; if none does, an error states what the smallest needs."""
    fitting = [name for name in names if memory is None or options[name][1].peak_bytes <= memory]
    name = fitting[0] if fitting else min(names, key=lambda name: options[name][1].peak_bytes)
    _check_memory(options[name][1], memory)
    return options[name][1]


def choose_for(shape: Shape, settings: Settings) -> tuple[Request, Choice]:
    """The request to the solver, and the choice for it."""
    tolerance = settings.accuracy(shape.precision, shape.short)
    request = Request(
        settings.k, settings.target_ratio, settings.which == "smallest", tolerance, max_passes=settings.max_passes,
        flat_tolerance=settings.accuracy_if_flat(shape.precision),
    )  # fmt: skip
    solver = settings.solver
    if solver == "exact" and shape.block_bytes:
        solver = "gram"
    if solver == "exact":
        solver = "direct" if choose(shape, request).solver == "direct" else "gram"
    return request, choose(shape, request, solver=solver, memory=settings.memory)


@lru_cache(maxsize=256)
def choose_resident(shape: tuple[int, int], precision: str, settings: Settings) -> tuple[Request, Choice]:
    """The same for dense NumPy rows in memory, cached: many tables of one shape compute it only once."""
    rows, columns = shape
    return choose_for(Shape(rows, columns, rows * columns, False, precision, resident=True), settings)


def _choose_for_blocks(
    shape: Shape, options: dict[str, tuple[float, Choice]], solver: str, memory: int | None
) -> Choice:
    """The choice for data read in blocks: passes take reading time, and some blocks are in memory as well."""
    size = shape.entries * ((4 if shape.precision == "float32" else 8) + (4 if shape.sparse else 0))
    wide = shape.columns > shape.rows
    costs: dict[str, float] = {}
    for name in ("lanczos",) if wide or shape.short > _GRAM_SIZE else ("gram", "lanczos"):
        cost, choice = options[name]
        passes = 2 * choice.passes if wide else choice.passes
        costs[name] = max(cost, passes * size / _READ_RATE)
        peak = choice.peak_bytes + BLOCKS_HELD * shape.block_bytes
        why = f"{choice.why} The rows are read in blocks of {shape.block_bytes / 1e6:.3g} MB."
        options[name] = (cost, replace(choice, passes=passes, peak_bytes=peak, why=why))
    if solver not in ("auto", *costs):
        _refuse_for_blocks(solver, list(costs), wide=wide)
    names = sorted(costs, key=lambda name: costs[name]) if solver == "auto" else [solver]
    return _first_fitting(names, options, memory)


def _refuse_for_blocks(solver: str, others: list[str], *, wide: bool) -> NoReturn:
    condition = " when there are more columns than rows" if wide else ""
    raise ParameterError(
        f"{assigned('solver', solver)} needs all rows in memory{condition}, but the rows are read in blocks. Use "
        f"{' or '.join(assigned('solver', name) for name in others)}."
    )


def _check_memory(choice: Choice, memory: int | None) -> None:
    if memory is not None and choice.peak_bytes > memory:
        raise MemoryBudgetError(
            f"The computation needs about {choice.peak_bytes:,} bytes in addition to the data (solver "
            f"{choice.solver!r}), but only {allowed(memory)}. Allow more memory with "
            f"{MEMORY}, or request fewer components."
        )


def _on_trial(shape: Shape, request: Request) -> bool:
    """Whether the choice between block Lanczos and the Gram matrix can be revoked: data in memory, k given."""
    resident = not shape.block_bytes and shape.costs.on_trial
    size = _SPARSE_GRAM if shape.sparse else _GRAM_SIZE
    return resident and shape.short <= size and request.k is not None and not request.smallest


def _few(shape: Shape, request: Request) -> bool:
    """Whether so few components are wanted that computing all of them would be wasteful."""
    return request.k is None or 4 * request.k < shape.short


def _direct(shape: Shape) -> tuple[float, Choice]:
    work = 6.0 * shape.long * shape.short**2 + 16.0 * shape.short**3
    peak = 8 * (3 * shape.long * shape.short + 4 * shape.short**2)
    why = (
        f"For a matrix of {shape.rows} x {shape.columns}, an exact singular value decomposition is the cheapest option."
    )
    return work / _DIRECT_RATE, Choice("direct", 1, peak, why)


def _cross_products(shape: Shape) -> float:
    """Seconds for the matrix of cross-products."""
    if not shape.sparse:
        single = shape.precision == "float32" and shape.costs.on_trial
        cost = shape.work / shape.costs.dense_rate["float64" if single else shape.precision]
        return cost * (_MEASURED_SINGLE if single and shape.work > FAST_WORK else 1.0)
    # Each row multiplies its stored entries with each other.
    rate = _PAIR_RATE["compiled" if shape.entries >= COMPILE_FROM else "scipy"]
    faster = shape.costs.sparse_rate / HostBackend.costs.sparse_rate
    return shape.entries * (shape.entries / max(shape.long, 1)) / (rate * faster)


def _gram(shape: Shape, request: Request) -> tuple[float, Choice]:
    n = shape.short
    product = _cross_products(shape)
    eigen = _EIGEN_FEW if _few(shape, request) else _EIGEN_ALL + _REFINE
    eigen *= _BEYOND_CACHE if n > _CACHE_SIZE else 1.0
    cost = product + min(eigen * float(n) ** 3 / shape.costs.eigen_speed, _iteration(shape, request))
    if shape.columns > shape.rows and not shape.sparse and not _few(shape, request):
        # All vectors of the long side: another product and a QR, because the last values vanish.
        cost += 6.0 * shape.long * n * n / _DIRECT_RATE
    passes = 2 if shape.columns > shape.rows else 1
    why = (
        f"The {n} x {n} matrix of cross-products is computed in "
        f"{'two passes' if passes == 2 else 'one pass'} over the data."
    )
    # If a second pass must refine small values, the matrix, its eigenvectors and their product are in memory too.
    return cost, Choice("gram", passes, 8 * (8 if shape.block_bytes else 5) * n * n, why)


def _iteration(shape: Shape, request: Request) -> float:
    """Seconds for the leading eigenpairs of the matrix of cross-products by iteration; infinite if LAPACK is faster."""
    if request.k is None or request.smallest or not shape.costs.on_trial:
        return np.inf
    return iteration_seconds(shape.short, request.k, "float64" if shape.sparse else shape.precision)


def _lanczos(shape: Shape, request: Request, memory: int | None = None) -> tuple[float, Choice]:
    n, known = shape.short, request.k is not None
    k = request.k if request.k is not None else 32
    block = _lanczos_block(shape, k)
    least = _least_basis(shape) if known else 1024
    capacity = min(n, max(6 * k, 2 * k + 10 * block, least))
    probes, room = MOST_PROBES, None
    if memory is not None:
        room = room_for(shape, memory)
        block, capacity, probes = within(shape, k, block, capacity, room)
    steps = (9 if request.tolerance >= 1e-6 else 11) * (8 if request.smallest else 1)
    cost = _lanczos_cost(shape, block + 5, steps) + (0.0 if known else steps * 0.01)
    peak = working_bytes(shape, k, block, capacity, probes)
    single = _begins_with_vectors(shape, request) and memory is None
    passes = _VECTORS_IN_CACHE[0] + _VECTORS_IN_CACHE[1] * k if single else steps
    why = _lanczos_reason(request.k, n, block, passes, single=single)
    most = 0 if known else most_columns(shape, k, block, capacity, probes, room)
    return cost, Choice("lanczos", passes, peak, why, block, capacity, probes, most, single=single)


def _lanczos_reason(k: int | None, size: int, block: int, passes: float, *, single: bool) -> str:
    way = "Lanczos with single vectors, then" if single else "Block Lanczos"
    return (
        f"{way} with blocks of {block} vectors{',' * single} computes {'the requested' if k is None else k} of {size} "
        f"components in about {passes} passes over the data, which is cheaper than computing all cross-products. It "
        "stops when the accuracy is proved."
    )


def _begins_with_vectors(shape: Shape, request: Request) -> bool:
    """Whether few components of so few stored entries are wanted that work between products takes most of the time."""
    in_cache = shape.sparse and not shape.block_bytes and shape.costs.on_trial and shape.entries < COMPILE_FROM
    if not in_cache or request.max_passes < _ENOUGH_PASSES or request.smallest or request.k is None:
        return False
    return request.k <= _NARROW_IN_CACHE


def _lanczos_block(shape: Shape, k: int) -> int:
    """Number of columns multiplied together."""
    if not shape.sparse:
        few = 0 if shape.block_bytes else _FEW[shape.precision]
        return block_width(k, shape.short, shape.costs.dense_blocks, few=few)
    if shape.block_bytes or shape.costs.sparse_blocks is None:
        return block_width(k, shape.short)
    cached = shape.entries < COMPILE_FROM
    width = shape.costs.sparse_blocks[0 if k <= (_NARROW_IN_CACHE if cached else _NARROW) else 1]
    return min(width // 2 if cached else width, shape.short)


def _least_basis(shape: Shape) -> int:
    return _DENSE_BASIS if shape.costs.on_trial and not shape.sparse else 512


def _lanczos_cost(shape: Shape, width: int, steps: int) -> float:
    """Seconds of this many steps with blocks of `width` columns: passes over the data, and orthogonalisation."""
    product = 4.0 * (shape.entries if shape.sparse else shape.long * shape.short) * width
    read = product / (shape.costs.sparse_rate if shape.sparse else shape.costs.dense_rate[shape.precision])
    basis = steps * 4.0 * shape.short * (steps * width / 2) * width / shape.costs.dense_rate["float64"]
    return steps * (read + 0.004) + basis


def block_width(k: int, size: int, given: tuple[int, int] | None = None, *, few: int = 0) -> int:
    """Wide enough for few passes, narrow enough for a deep basis: about three quarters of k, in steps of eight.

    If widths are `given`, the first is for k up to 16 and the second for more. Otherwise eight columns for up to `few`
    components.
    """
    if given is not None:
        return max(1, min(given[0 if k <= 16 else 1], size))
    if k <= few:
        return max(1, min(NARROWEST, size))
    return max(1, min(8 * max(2, round(0.75 * k / 8)), 64, size))
