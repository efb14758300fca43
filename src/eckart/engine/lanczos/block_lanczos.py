"""Block Lanczos for the leading eigenpairs of a positive semi-definite G, one read a step, stopped by proof.

G M = M T + (0, ..., 0, Z): the basis M grows by a block a step, two passes of orthogonalisation keep it orthonormal,
and the residual Z of the newest block is all that separates T from G. Fresh random columns join the block once the
wanted pairs begin to settle: they speed the run up like any others, and they bound what the basis does not contain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from eckart.arrays import Array, empty_rows, fetch_later, from_numpy, is_host, namespace
from eckart.engine import certificate
from eckart.engine.backends import orthogonal
from eckart.engine.backends.cuda import orthogonal as orthogonal_device
from eckart.engine.backends.cuda.orthogonal import Made
from eckart.engine.backends.symmetric import by_all, leading_pairs, worth_moving
from eckart.engine.backends.tall import inner, times
from eckart.engine.certificate import Probe
from eckart.engine.lanczos.basis import Basis
from eckart.engine.lanczos.terms import Matrix, Pairs, Target
from eckart.engine.parallel import both
from eckart.engine.threads import one_blas_thread

_UNIT = float(np.finfo(np.float64).eps)
_PROBES = 8
_SETTLED = {"host": 0.1, "device": 0.5}
"""Probes join when every wanted residual is below this share of the last wanted value: late where each column costs."""


@dataclass(frozen=True)
class Assessment:
    """Where a run stands after a step."""

    k: int
    values: np.ndarray
    coefficients: np.ndarray
    residuals: np.ndarray
    upper: np.ndarray | None
    settled: bool
    done: bool
    """As sharp as iteration can make it; what rounding leaves open stays open."""
    proved: bool


def block_lanczos(
    matrix: Matrix, target: Target, *, block: int, rng: np.random.Generator, start: tuple[Basis, Array]
) -> Pairs:
    """Leading eigenpairs of G, from the first step that `begun` has made."""
    with one_blas_thread():
        return _block_lanczos(matrix, target, block, rng, start)


def begun(block: Array, image: Array, capacity: int) -> tuple[Basis, Array]:
    """(basis, what is left of the image) after the first step: an orthonormal block, and G times it (the first read).

    Beside a GPU nothing has waited for that read when this returns.
    """
    basis = Basis(empty_rows(capacity, block.shape[0], block), np.empty((capacity, capacity)))
    with one_blas_thread():
        return basis, _step(basis, block, image)


def _step(basis: Basis, block: Array, image: Array) -> Array:
    rest = basis.add(block, image)
    basis.begin(rest)
    return rest


def _block_lanczos(
    matrix: Matrix, target: Target, block: int, rng: np.random.Generator, start: tuple[Basis, Array]
) -> Pairs:
    basis, rest = start
    run = _Run(matrix, target, basis, block, basis.rows.shape[0], rng)
    if is_host(matrix.like):
        matrix.settle()
    while True:
        run.steps += 1
        state = None
        if run.worth_a_look():
            run.go_ahead()
            state = run.assess()
        if state is not None and (state.done or run.exhausted(state)):
            return run.finish(state)
        if basis.count == matrix.size:
            msg = "block Lanczos filled the space without an answer"
            raise AssertionError(msg)
        following = basis.continue_from(rest)
        if state is not None and not basis.confirmed():
            following = basis.continue_with_care(rest)
        current = run.make_room(run.refresh(following, state), state)
        image = run.image_of(current)
        run.prepare()
        # While a GPU multiplies; what was multiplied in vain is lost.
        matrix.settle()
        if not basis.confirmed():
            current = run.make_room(run.refresh(basis.continue_with_care(rest), state), state)
            image = matrix.apply(current)
        rest = _step(basis, current, image)


@dataclass
class Looks:
    """When to look at the basis, which costs an eigenproblem of its size."""

    following: int = 0
    """The step from which on the next look is due."""
    last: tuple[int, float] | None = None
    """Step and worst residual of the last one."""

    def schedule(self, step: int, worst: float, goal: float) -> None:
        """Look again before the step at which the residual, falling as it did, reaches its goal; skip one at most."""
        self.following = step + 1
        if self.last is not None and worst > goal > 0.0:
            before_step, before = self.last
            rate = np.log(max(before / worst, 1.2)) / max(step - before_step, 1)
            self.following = step + max(1, min(2, int(0.6 * np.log(worst / goal) / rate)))
        self.last = (step, worst)


@dataclass(frozen=True)
class _Ahead:
    """What a GPU was asked to do while the host looks whether probes are due."""

    following: Array
    """The next block."""
    probes: Made
    """Random directions outside of it and of the basis."""
    coordinates: Callable[[], np.ndarray]
    wide: Array
    """Both."""
    image: Array | None
    """G times both, where the probes come free."""


@dataclass
class _Run:
    matrix: Matrix
    target: Target
    basis: Basis
    block: int
    capacity: int
    rng: np.random.Generator
    steps: int = 0
    restarts: int = 0
    probe: Callable[[], Probe] | None = None
    """The random directions that joined; what is known of them arrives when it is asked for."""
    probes: int = 0
    probed_at: int = 0
    seen: float = 0.0
    """Largest Ritz value in the complement of what the probes met."""
    settled_since: int | None = None
    smallest_residual: float = np.inf
    history: list[tuple[int, float, float]] = field(default_factory=list)
    looks: Looks = field(default_factory=Looks)
    spare: Array | None = None
    """Random columns that were drawn beforehand."""
    ahead: _Ahead | None = None
    departure: Callable[[], float] | None = None
    """How far the basis is from orthonormal, where a GPU was asked for it before the look."""

    def worth_a_look(self) -> bool:
        """Assessing costs an eigenproblem of the size of the basis: do it when the answer may have changed."""
        full = self.basis.count + 2 * self.block > self.capacity
        # Beside a GPU an eigenproblem costs as much as several reads, and the first steps never are the last.
        early = not is_host(self.matrix.like) and self.basis.count < 2 * (self.target.k or 0)
        due = self.steps >= self.looks.following and not early
        return self.complete or full or due or self.steps >= self.target.max_reads

    @property
    def settled(self) -> float:
        return _SETTLED["host" if is_host(self.matrix.like) else "device"]

    @property
    def complete(self) -> bool:
        return self.basis.count == self.matrix.size

    def assess(self) -> Assessment | None:
        """Ritz pairs, residuals, and bounds when they promise a proof; None while the basis is too small."""
        k = self._wanted()
        size = self.basis.count
        if k is None or (size <= k and not self.complete):
            return None
        count = min(k + 1, size)
        at_once = by_all(size, count, self.matrix.like)
        every, complement = self._look(size, size if at_once else count)
        values, coefficients = every[0][:count], every[1][:, :count]
        residuals = self._residuals(coefficients)
        tolerance = self.target.tolerance * max(values[k - 1], 0.0) + self._rounding(k)
        gaps = values[:k] - complement
        estimate = float(np.sum(residuals[:k] ** 2 / gaps)) if gaps[-1] > 0 else np.inf
        clear = int(np.sum(values[:k] > self._faint))
        goal = self.target.tolerance * float(values[clear - 1] if clear else 0.0) + self._rounding(k)
        settled = self.complete or self._movement(values, residuals, clear) <= goal
        if settled and self.settled_since is None:
            self.settled_since = self.steps
        worst = float(residuals[:k].max()) / max(float(values[k - 1]), tolerance / k, 1e-300)
        self.looks.schedule(self.steps, worst, self.settled if self.probe is None else self.target.tolerance**0.5)
        # A trace that is all there may seem to lack as much as it is in doubt, and the bound adds that once more.
        nothing = self._faint + 2.0 * self.matrix.doubt() if clear < k else 16 * self.matrix.rounding
        negligible = complement <= nothing
        upper = None
        done = proved = False
        if self.complete or negligible or estimate <= tolerance or self._last_chance(values, k):
            upper = self._upper(values, complement, tolerance, every if at_once else None)
            sharpest = upper - self._allowance
            done = self._sharp(k, values, sharpest, tolerance)
            if clear < k and negligible:
                done = done or self._sharp(clear, values, sharpest, goal)
            proved = done and self._sharp(k, values, upper, tolerance)
            self.history.append((self.steps, self._share(values[:k]), self._share(upper[:k])))
        else:
            self.history.append((self.steps, self._share(values[:k]), 1.0))
        if self.target.note is not None:
            self.target.note(*self.history[-1])
        return Assessment(k, values, coefficients, residuals, upper, settled, done, proved)

    def _movement(self, values: np.ndarray, residuals: np.ndarray, k: int) -> float:
        """How far more reads may still move the first k values, if those after them are what they seem to be.

        In single precision residuals do not fall below the rounding of a column: they hold it once measured, and once
        added to be safe. What is not much more would be there after any number of reads.
        """
        if k == 0:
            return 0.0
        own_gaps = np.maximum(values[:k] - (values[k] if len(values) > k else 0.0), 1e-3 * values[k - 1])
        left = np.maximum(residuals[:k] ** 2 - 2.5 * self._faint**2, 0.0)
        return float(np.sum(left / np.maximum(own_gaps, 1e-300)))

    @property
    def _faint(self) -> float:
        """Values up to this are what products in single precision make of nothing; no read would make them clearer."""
        spread = self.basis.noise * float(self.matrix.size) ** 0.5
        return max(16.0 * self.matrix.rounding, spread) if self.matrix.doubt() else 0.0

    def _look(self, size: int, count: int) -> tuple[tuple[np.ndarray, np.ndarray], float]:
        """The leading Ritz pairs, and a bound of what the basis does not contain."""
        table, like = self.basis.matrix[:size, :size], self.matrix.like

        def ritz_pairs() -> tuple[np.ndarray, np.ndarray]:
            return leading_pairs(table, count, like=like)

        if self.probe is None:
            return ritz_pairs(), self._complement()
        if worth_moving("pairs", size, like) and not worth_moving("pairs", size - self.probe().start, like):
            return both(ritz_pairs, self._complement)  # a GPU and the host have one problem each
        return ritz_pairs(), self._complement()

    def go_ahead(self) -> None:
        """Before the host looks, ask a GPU for what will be needed: probes, the next product where these are free.

        No run ends while it has no probes, but for few matrices; so that product is hardly ever in vain.
        """
        if not is_host(self.matrix.like) and self.probe is not None:
            self.departure = orthogonal.departure(self.basis.vectors, self.rng)
        following, spare = self.basis.upcoming, self.spare
        if self.probe is not None or spare is None or following is None or following.shape[1] != self.block:
            return
        self.spare = None
        probes = orthogonal_device.orthonormalized(spare, None, self.basis.vectors, following)
        coordinates = fetch_later(inner(probes.block, spare))
        wide = namespace(following).concat([following, probes.block], axis=1)
        free = -following.shape[1] % self.matrix.tile >= _PROBES and self.steps < self.target.max_reads
        self.ahead = _Ahead(following, probes, coordinates, wide, self.matrix.apply(wide) if free else None)

    def image_of(self, current: Array) -> Array:
        """G times the next block, which may be under way."""
        ahead, self.ahead = self.ahead, None
        if ahead is not None and ahead.image is not None:
            if current is ahead.wide:
                return ahead.image
            if current is ahead.following:
                return ahead.image[:, : current.shape[1]]
        return self.matrix.apply(current)

    def _wanted(self) -> int | None:
        """k, or the smallest k whose Ritz values already hold the share; None while no k does."""
        if self.target.k is not None:
            return self.target.k
        size = self.basis.count
        values = np.linalg.eigvalsh(self.basis.matrix[:size, :size])[::-1]
        held = np.cumsum(np.maximum(values, 0.0)) / self.matrix.trace
        share = self.target.share or 0.0
        enough = np.flatnonzero(held >= share)
        if enough.size:
            return int(enough[0]) + 1
        return size if self.complete else None

    def _residuals(self, coefficients: np.ndarray) -> np.ndarray:
        newest = self.basis.newest.shape[0]
        tail = coefficients[-newest:] if newest else coefficients[:0]
        squares = np.sum(tail * (self.basis.newest @ tail), axis=0)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0) + self.matrix.size * self.basis.noise**2))

    def _complement(self) -> float:
        """Upper bound of what the basis does not contain: the trace that is left, or the word of the probes."""
        if self.complete:
            return 0.0
        size = self.basis.count
        left = self.matrix.trace - float(np.trace(self.basis.matrix[:size, :size]))
        bound = max(left, 0.0) + 8 * self.matrix.rounding + self.matrix.doubt()
        if self.probe is not None:
            upper, self.seen = certificate.complement_bound(self.basis.compression, self.probe())
            bound = min(bound, upper)
        return bound

    def _rounding(self, k: int) -> float:
        """Rounding in the sum of k Ritz values: the measured noise of one entry adds up at random."""
        return 8.0 * self.basis.noise * float(np.sqrt(k)) + 32 * k * self.matrix.rounding

    def _upper(
        self, ritz: np.ndarray, complement: float, tolerance: float, every: certificate.Ritz | None
    ) -> np.ndarray:
        if self.complete:
            values = np.linalg.eigvalsh(self.basis.compression.matrix)[::-1][: len(ritz)]
        else:
            enough = tolerance if self.target.k is not None else 0.0
            values = certificate.upper_bounds(self.basis.compression, complement, ritz, enough, every)
        return values + self._allowance

    @property
    def _allowance(self) -> float:
        """Rounding in one upper bound."""
        return 8.0 * self.basis.noise + self.matrix.rounding + self.basis.dropped

    def _sharp(self, k: int, values: np.ndarray, upper: np.ndarray, tolerance: float) -> bool:
        deficit = float(np.sum(upper[:k] - values[:k]))
        if self.target.k is None and not self.complete:
            # The smallest k: one less must be shown to fall short, unless the two cannot be told apart.
            short = self._share(upper[: k - 1])
            close = abs(self._share(values[: k - 1]) - (self.target.share or 0.0)) <= 16 * _UNIT
            return deficit <= tolerance * 2 and (short < (self.target.share or 0.0) or close)
        return deficit <= 2 * tolerance

    def _share(self, values: np.ndarray) -> float:
        return min(1.0, float(np.sum(values)) / self.matrix.trace) if self.matrix.trace > 0 else 0.0

    def _last_chance(self, values: np.ndarray, k: int) -> bool:
        """Whether to stop without a proof: no reads left, or a proof would take more of them than it is worth.

        Probes tell l_k from l_k+1 after about log(sqrt(n)) / (2 sqrt(gap)) steps, gap = (l_k - l_k+1) / l_k.
        """
        if self.steps >= self.target.max_reads:
            return True
        if self.settled_since is None:
            return False
        gap = 1.0 - values[k] / max(values[k - 1], 1e-300) if len(values) > k else 1.0
        needed = np.log(3.0 * self.matrix.size**0.5) / (2.0 * np.sqrt(max(gap, 1e-12)))
        patience = self.target.patience if needed < 3 * self.target.patience else 0
        # Even a proof that cannot be sharp is worth the few steps that make it meaningful.
        heard = self.probe is not None and self.steps - self.probed_at >= 6
        waited = self.steps - self.settled_since
        return (heard and waited >= patience) or waited >= 3 * self.target.patience

    def exhausted(self, state: Assessment) -> bool:
        """Bounds were computed although they promised no proof: the last word of this run."""
        return state.upper is not None and (self.complete or self._last_chance(state.values, state.k))

    def refresh(self, following: Array, state: Assessment | None) -> Array:
        """The next block: residual directions, and random ones when probes are due or directions have run out."""
        room = self.matrix.size - self.basis.count - following.shape[1]
        # Every restart asks for new probes, and the old ones stay in the block: not without end.
        due = state is not None and following.shape[1] <= 2 * self.block + 4 * _PROBES and self._probe_due(state)
        lacking = max(0, self.block - following.shape[1]) if following.shape[1] < self.block // 2 or due else 0
        width = min(room, max(lacking, _PROBES if due else 0))
        if width <= 0:
            return following
        ahead = self.ahead
        usable = ahead is not None and ahead.following is following and width == _PROBES
        if ahead is not None and usable and ahead.probes.good(0.0, orthogonal.ROUNDING_ONLY):
            wide, coordinates = ahead.wide, ahead.coordinates
        else:
            fresh, coordinates = orthogonal.outside(self._random(width), self.basis.vectors, following)
            wide = namespace(following).concat([following, fresh], axis=1)
        if due:
            self.probes += 1
            self.probed_at = self.steps
            probability = self.target.failure_probability / 2.0**self.probes
            begin = self.basis.count + following.shape[1]
            self.probe = lambda: Probe(begin, coordinates(), probability)
            if self.basis.count + 4 * (following.shape[1] + width) <= self.capacity:
                self.looks.following = self.steps + 2  # probes that have just joined have nothing to tell
        return wide

    def prepare(self) -> None:
        """Draw the probes while a GPU multiplies; a processor would only do it sooner."""
        if self.spare is None and self.probe is None and not is_host(self.matrix.like):
            self.spare = orthogonal.gaussian(self.rng, self.matrix.size, _PROBES, self.matrix.like)

    def _random(self, width: int) -> Array:
        spare, self.spare = self.spare, None
        if spare is not None and spare.shape[1] == width:
            return spare
        return orthogonal.gaussian(self.rng, self.matrix.size, width, self.matrix.like)

    def _probe_due(self, state: Assessment) -> bool:
        """Probe once the wanted pairs begin to settle; again when old probes see more than the last wanted value."""
        k = state.k
        worst = float(state.residuals[:k].max(initial=0.0))
        if worst > self.settled * max(state.values[k - 1], self._rounding(1), self._faint):
            return False
        if self.probe is None:
            self.smallest_residual = worst
            return True
        hopeless = self.seen >= state.values[k - 1] * (1 - 1e-3)
        if hopeless and worst < 0.1 * self.smallest_residual:
            self.smallest_residual = worst
            return True
        return False

    def make_room(self, following: Array, state: Assessment | None) -> Array:
        """Restart from the leading Ritz vectors when the basis is full."""
        size, width = self.basis.count, following.shape[1]
        if size + width <= self.capacity:
            return following
        k = state.k if state is not None else (self.target.k or size // 2)
        keep = min(size, max(k + self.block // 2, min(2 * k, self.capacity // 2)), self.capacity - 2 * width)
        values, coefficients = leading_pairs(
            self.basis.matrix[:size, :size], max(keep, min(k + 1, size)), like=self.matrix.like
        )
        self.basis.compress(values, coefficients)
        self.restarts += 1
        self.probe = None
        self.smallest_residual = np.inf
        return following

    def finish(self, state: Assessment) -> Pairs:
        k = state.k
        assert state.upper is not None
        departure = self.departure or orthogonal.departure(self.basis.vectors, self.rng)
        vectors = times(self.basis.vectors, from_numpy(state.coefficients[:, :k], self.matrix.like))
        crowding = self._crowding(state.values)
        drift = departure() * max(float(state.values[0]), 0.0)
        return Pairs(
            values=state.values[:k],
            vectors=vectors,
            upper=state.upper + drift + crowding[: len(state.upper)],
            residuals=state.residuals[:k] + drift + self.matrix.rounding + self.basis.dropped,
            proved=state.proved,
            settled=state.settled or state.done,  # what rounding leaves open, more reads would not close
            failure_probability=0.0 if self.complete or self.probe is None else self.target.failure_probability,
            noise=self.basis.noise,
            dropped=self.basis.dropped,
            drift=drift,
            crowding=crowding[:k],
            steps=self.steps,
            restarts=self.restarts,
            basis=self.basis.count,
            history=tuple(self.history),
        )

    def _crowding(self, values: np.ndarray) -> np.ndarray:
        """Rounding moves a value among m near ones by up to 2 sqrt(m) times the noise of an entry of T, not by one.

        Near means within the norm of the noise, twice its size times the root of the size of T; we take twice that.
        """
        noise, size = self.basis.noise, self.basis.count
        most = 4.0 * noise * size**0.5
        little = most <= 0.1 * self.target.tolerance * max(float(values[-1]), 0.0)
        # Where it is little, the values at hand will do: they hold all neighbours of one that is not near the last.
        spectrum = values[::-1] if little else np.linalg.eigvalsh(self.basis.matrix[:size, :size])
        near = np.searchsorted(spectrum, values + most, "right") - np.searchsorted(spectrum, values - most, "left")
        found = 4.0 * noise * (np.sqrt(np.maximum(near, 1)) - 1.0)
        return np.asarray(np.where(little & (values - most <= values[-1]), most, found))
