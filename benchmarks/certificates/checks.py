"""Every statement of a certificate against the truth.

A statement is false if it is wrong by more than `ALLOWED` of the largest singular value (of the largest eigenvalue for
kernels and graphs; shares, sines and relative residuals as they are). The references are at least ten times better:
`Reference.unit` bounds their error, and every suspicion is confirmed in extended precision.
"""

from __future__ import annotations

import signal
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

import eckart as ek
from benchmarks.certificates import options as asked
from benchmarks.certificates import planted, reference
from benchmarks.certificates.options import AXES, Options
from benchmarks.certificates.reference import LONG, Reference
from eckart.engine.lanczos.count import ShareNotReachedError
from eckart.errors import AccuracyWarning, InputError, MemoryBudgetError, NotFiniteError

ALLOWED = 5e-14
_SUSPICIOUS, _CERTAIN = 1e-14, 1e-9
"""An excess over the float64 reference between these two is confirmed in extended precision."""
VACUOUS = 2e-2
"""A proved interval must not be wider, as a share of the largest singular value."""


@dataclass
class Outcome:
    """What came of one case."""

    options: Options
    excess: dict[str, float] = field(default_factory=dict)
    """By how much each statement is wrong; not positive where it is true."""
    proved: bool = True
    silent: bool = False
    """Not proved, and no warning."""
    width: float = 0.0
    """Median of upper - lower relative to the largest singular value."""
    refused: str = ""
    crash: str = ""

    @property
    def false(self) -> dict[str, float]:
        return {name: float(size) for name, size in self.excess.items() if not size <= ALLOWED}

    @property
    def worst(self) -> float:
        return max((float(np.nan_to_num(size, nan=np.inf)) for size in self.excess.values()), default=0.0)

    def __str__(self) -> str:
        if self.crash or self.refused:
            return f"{self.crash or self.refused} {self.options.line}"
        found = "; ".join(f"{name} by {size:.1e}" for name, size in self.false.items()) or "true"
        word = "not proved, no warning" if self.silent else "proved" if self.proved else "not proved"
        return f"{found} ({word}) {self.options.line}"


def judge(options: Options, table: np.ndarray | None = None) -> Outcome:
    """Decompose one table and check all that its certificate states."""
    outcome = Outcome(options)
    try:
        if table is None:
            made = options.family in planted.PLANTED
            table = planted.planted_table(options).astype(options.dtype) if made else asked.table_of(options)
        if options.method in AXES:
            _judge_axes(outcome, table)
        else:
            from benchmarks.certificates import methods

            methods.judge(outcome, table)
    except (MemoryBudgetError, NotFiniteError) as error:
        outcome.refused = type(error).__name__
    except ShareNotReachedError as error:
        outcome.refused, outcome.crash = ("too few passes", "") if options.passes else ("", f"crash: {error}")
    except ModuleNotFoundError as error:
        outcome.refused = f"{error.name} is not installed"
    except Exception as error:  # noqa: BLE001 - a sweep reports what fails and continues
        if isinstance(error, InputError) and error.argument == "scale":
            outcome.refused = "no standard deviation"
            return outcome
        outcome.crash = "crash: " + traceback.format_exc(limit=-2).replace("\n", " | ")
    return outcome


def judge_within(options: Options, limit: float) -> Outcome:
    """As `judge`; a table that takes longer than the limit, in seconds, counts as a crash."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"no result after {limit:.0f} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        return judge(options)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def quietly(outcome: Outcome, compute: Callable[[], Any]) -> Any:
    """Compute, and compare what was warned of with what was proved."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        result = compute()
    count = sum(issubclass(item.category, AccuracyWarning) for item in heard)
    certificate = result.certificate
    if certificate is not None:
        outcome.proved = bool(certificate.proved)
        outcome.silent = not outcome.proved and count == 0
        if options_speak(outcome.options):
            outcome.excess["warning although proved"] = float(outcome.proved and count > 0)
            outcome.excess["more than one warning"] = float(count > 1)
    return result


def doubtful(found: dict[str, float]) -> bool:
    """Whether a statement may be false, and none is so false that the accuracy of the reference does not matter."""
    worst = max(found.values(), default=0.0)
    return not worst <= _SUSPICIOUS and worst < _CERTAIN


def options_speak(options: Options) -> bool:
    """Whether an accuracy warning can only be about the certificate (NMF also warns of its iterations)."""
    return options.method in AXES


def _judge_axes(outcome: Outcome, table: np.ndarray) -> None:
    options = outcome.options
    given = {"center": options.center, "scale": options.scale, "weights": asked.weights_of(options),
             "ddof": options.ddof}  # fmt: skip
    truth = reference.double(table, **given)
    small = min(truth.matrix.shape) <= reference.EXTENDED_SIDE
    share = None
    if options.ask == "boundary":
        truth = reference.extended(table, **given) if small else truth
        share = _just_below(truth, options.k)
        if share is None:
            outcome.options = options = replace(options, ask="k")
    outcome.options = replace(options, k=min(options.k, len(truth.values)))
    d = quietly(outcome, lambda: _decompose(table, options, share))
    found = axes_statements(d, truth, outcome.options, share)
    if small and truth.values.dtype != LONG and doubtful(found):
        truth = reference.extended(table, **given)
        found = axes_statements(d, truth, outcome.options, share)
    outcome.excess |= found
    lower, upper = truth.scaled(d.certificate.lower), truth.scaled(d.certificate.upper)
    outcome.width = float(np.median(upper - lower) / truth.largest) if truth.largest else 0.0


def _just_below(truth: Reference, k: int) -> float | None:
    """explain= that k components reach by a hair, so that k is the smallest; None where no share is between."""
    k = min(k, len(truth.shares))
    share = float(np.nextafter(float(truth.shares[k - 1]), 0.0)) * (1.0 - 2.0**-52)
    before = float(truth.shares[k - 2]) if k > 1 else 0.0
    return share if 0.0 < before + 1e-13 < share < 1.0 and k > 1 else None


def _decompose(table: np.ndarray, options: Options, share: float | None) -> Any:
    data = asked.stored(table, options.storage)
    words = asked.keywords(options, share)
    if options.extra == "incremental":
        return _in_batches(data, options)
    if options.estimator and options.solver == "auto" and not (set(words) - {"k", "tol", "rng"}):
        tol = words.get("tol")
        more = {} if tol is None else {"tol": tol}
        kind = ek.PCA if options.method == "pca" else ek.TruncatedSVD
        return kind(n_components=options.k, random_state=options.rng, **more).fit(data).decomposition_
    return ek.decompose(data, options.method, **words)


def _in_batches(data: Any, options: Options) -> Any:
    """By IncrementalPCA, from one to five batches; the first has at least k rows."""
    rng = np.random.default_rng([options.seed, 7])
    pca = ek.IncrementalPCA(options.k)
    edges = np.unique([0, *rng.integers(options.k, options.rows + 1, 4), options.rows])
    for first, last in pairwise(edges):
        pca.partial_fit(data[int(first) : int(last)])
    return pca.decomposition_


def axes_statements(d: Any, truth: Reference, options: Options, share: float | None = None) -> dict[str, float]:
    """All statements of a PCA or SVD."""
    found = value_statements(d, truth, smallest=options.which == "smallest")
    if truth.largest == 0.0:
        return found
    found |= share_statements(d, truth, options)
    found |= vector_statements(d, truth, smallest=options.which == "smallest")
    found |= group_statements(d, truth, options)
    if options.ask in ("explain", "error", "boundary") and d.certificate.proved:
        level = share if share is not None else options.level
        wanted = 1.0 - LONG(level) ** 2 if options.ask == "error" else LONG(level)
        found |= count_statements(d.k, truth, wanted, boundary=options.ask == "boundary")
    return found


def _wanted(truth: Reference, k: int, *, smallest: bool) -> np.ndarray:
    return truth.values[::-1][:k] if smallest else truth.values[:k]


def value_statements(d: Any, truth: Reference, *, smallest: bool) -> dict[str, float]:
    c, values = d.certificate, _wanted(truth, d.k, smallest=smallest)
    largest = truth.largest or 1.0
    lower, upper = truth.scaled(c.lower), truth.scaled(c.upper)
    found = {
        "lower value": float(np.max(lower - values, initial=-1.0) / largest),
        "upper value": float(np.max(values - upper, initial=-1.0) / largest),
        "lower above upper": float(np.max(lower - upper, initial=-1.0) / largest),
    }
    if c.proved and truth.largest:
        most = max(VACUOUS, 4.0 * d.k * c.tolerance)
        found["vacuous although proved"] = float(np.max(upper - lower) / largest > most)
    # The computed values are estimates, rounded to the dtype of the data; a bound may not exclude them.
    unit = float(np.finfo(np.asarray(d.values).dtype).eps)
    own = truth.scaled(d.values)
    outside = (np.maximum(lower - own, own - upper) - _quantum(d, truth)) / largest - 2 * unit
    found["value outside its bounds"] = float(np.max(outside, initial=-1.0))
    return found


def _quantum(d: Any, truth: Reference) -> np.longdouble:
    """The smallest positive number of the dtype: values of subnormal tables cannot be returned any better."""
    return LONG(truth.scaled(np.finfo(np.asarray(d.values).dtype).smallest_subnormal))


def share_statements(d: Any, truth: Reference, options: Options) -> dict[str, float]:
    low, high = d.certificate.explained
    if options.which == "smallest":
        best = float(np.sum(_wanted(truth, d.k, smallest=True) ** 2)) / truth.total
        return {"lower share": low - best, "upper share": best - high}
    best = float(truth.shares[d.k - 1])
    basis = np.linalg.qr(np.asarray(d.right, dtype=float))[0].astype(truth.matrix.dtype)
    captured = float(np.sum((truth.matrix @ basis) ** 2)) / truth.total
    return {"lower share": low - best, "upper share": best - high, "captured share": low - captured}


def vector_statements(d: Any, truth: Reference, *, smallest: bool) -> dict[str, float]:
    """Residuals of the vectors as they were returned, and the angle of their span to the true subspace."""
    c, dtype = d.certificate, truth.matrix.dtype
    right, values = np.asarray(d.right).astype(dtype), truth.scaled(d.values).astype(dtype)
    residual = truth.matrix.T @ (truth.matrix @ right) - right * values**2
    lengths = np.sqrt(np.sum(residual**2, axis=0)) / dtype.type(truth.largest) ** 2
    lengths -= 2 * float(_quantum(d, truth)) / truth.largest
    # Vectors are returned in the dtype of the data, and the rounding of float32 alone is some 1e-8 of a residual.
    single = np.asarray(d.right).dtype == np.float32
    return {
        "residual, float32 vectors" if single else "residual": float(np.max(lengths - c.residuals, initial=-1.0)),
        "angle": sine_excess(np.asarray(d.right, dtype=float), c.angle, truth, smallest=smallest),
        "orthonormality": _orthogonality_loss(right)
        - 100.0 * float(np.finfo(np.asarray(d.right).dtype).eps) * d.k**0.5,
    }


def _orthogonality_loss(right: np.ndarray) -> float:
    return float(np.max(np.abs(right.T @ right - np.eye(right.shape[1])), initial=0.0))


def sine_excess(right: np.ndarray, bound: float, truth: Reference, *, smallest: bool) -> float:
    """By how much the largest angle to the true subspace exceeds its bound, beyond what is known of the truth.

    Where the cut goes through equal values, any true subspace will do: it contains the vectors before the tie, and is
    orthogonal to those after it.
    """
    k, largest = right.shape[1], truth.largest
    if bound >= 1.0 or k == right.shape[0]:
        return -1.0
    values, vectors = truth.values, truth.right
    if smallest:
        values, vectors = -values[::-1], vectors[:, ::-1]
    tie, last = 1e-13 * largest, float(values[k - 1])
    wide = right.shape[0] > min(len(values), len(truth.matrix))  # rows without weight are not in the matrix
    before, after = values > last + tie, values < last - tie
    if smallest and wide:
        before &= values < -tie
    basis = np.linalg.qr(right)[0].astype(vectors.dtype)
    inside = vectors[:, before]
    lacking = inside - basis @ (basis.T @ inside)
    foreign = vectors[:, after].T @ basis
    if wide and np.all(np.abs(values[:k]) > tie):
        # A long vector A^T u / s of the reference holds others by u s_1 / s: those after the cut, whose values may be
        # tiny, are known better as what is orthogonal to those up to it. QR keeps the vectors of large values.
        kept = vectors[:, ~after].astype(float)
        known = np.linalg.qr(kept[:, ::-1] if smallest else kept)[0]
        foreign = basis - known @ (known.T @ basis)
    worst = -1.0
    for part, cut in ((lacking, int(np.sum(before))), (foreign, len(values) - int(np.sum(after)))):
        if part.size:
            below = float(values[cut]) if cut < len(values) else min(0.0, last - largest)
            doubt = truth.unit * largest / max(float(values[cut - 1]) - below, tie)
            worst = max(worst, float(np.linalg.norm(part.astype(float), 2)) - bound - doubt)
    return worst


def group_statements(d: Any, truth: Reference, options: Options) -> dict[str, float]:
    """Equal values must share a group; a group may not hold values that their own bounds separate."""
    c, k = d.certificate, d.k
    values = _wanted(truth, k, smallest=options.which == "smallest")
    group = np.full(k, -1)
    malformed = 0.0
    for number, (first, last) in enumerate(c.undetermined):
        if not 0 <= first <= last < k or np.any(group[first : last + 1] >= 0):
            malformed = 1.0
        group[first : last + 1] = number
    together = (group[1:] == group[:-1]) & (group[1:] >= 0)
    squares, largest = values.astype(LONG) ** 2, LONG(truth.largest) ** 2
    apart = np.abs(np.diff(squares)) / largest
    widths = (truth.scaled(c.upper) ** 2 - truth.scaled(c.lower) ** 2) / largest
    unit = float(np.finfo(np.asarray(d.values).dtype).eps)
    # The float64 reference only raises the suspicion that two values are equal.
    near = (2.0**-53 if truth.values.dtype == LONG else truth.unit) * truth.largest
    tied = (np.abs(np.diff(values)) <= near) & ~together
    separate = together & (apart > widths[1:] + widths[:-1] + 64 * unit)
    return {
        "group out of range": malformed,
        "equal values in no group": float(np.any(tied)) * (1.0 if truth.values.dtype == LONG else 0.5 * ALLOWED),
        "different values in a group": float(np.any(separate)),
    }


def count_statements(k: int, truth: Reference, wanted: np.longdouble, *, boundary: bool) -> dict[str, float]:
    """k is the smallest number of components that explains the share: one less does not, and k does."""
    attainable = truth.shares[-1]
    wanted = min(wanted, attainable)
    before = truth.shares[k - 2] if k > 1 else LONG(0)
    found = {"k too small": float(wanted - truth.shares[k - 1]), "k too large": float(before - wanted)}
    if boundary and truth.values.dtype == LONG:
        found["k too large at a boundary"] = float(before >= wanted)
    return found
