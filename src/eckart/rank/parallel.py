"""Parallel analysis: components that are stronger than those of the same table with its structure destroyed.

Permutation (Horn, 1965) shuffles each column separately. Sign flips (Hong, Sheng and Dobriban, 2020) give each entry of
the centred table a random sign, which keeps the variance of every entry.

A strong component inflates the reference of weaker ones, so the components are tested one after the other (Vitale and
others, 2017). Step k takes the first k components U, V out, destroys the structure of the remainder E, and projects the
result onto the space that E lies in: R = (I - U U^T) destroyed(E) (I - V V^T), centred. The statistic is the share of
the next component, l_1(E) / ||E||^2 against l_1(R) / ||R||^2. The first step that does not reject ends the test, unless
the eigenvalues fall steeply further on: equal components hide each other in the first steps and show in the last.

The largest eigenvalue of noise follows the Tracy-Widom law, so the limit is the mean of the draws plus as many standard
deviations as that law has; an empirical 99 % point would need hundreds of draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eckart.arrays import is_sparse
from eckart.engine.backends.symmetric import leading_values
from eckart.rank.evidence import Evidence
from eckart.rank.leading import leading_squares
from eckart.rank.tracy_widom import MEAN, STANDARD_DEVIATION, tracy_widom
from eckart.rank.verdict import percent

LARGEST_DENSE = 4_000_000
"""Sparse tables of up to this many entries are tested as dense ones."""
_FIRST = 8
"""Draws that decide a clear case."""
_CLEAR = 4.0
"""A case is clear if the statistic is so many limits' distances from the mean of the first draws."""

_SPREAD_DRAWS = 20
_FEWEST = 6
_FAR = 2.5
"""Standard deviations beyond which the noise is called correlated."""

Destroy = Callable[[Any, np.random.Generator], Any]


def by_permutation(e: Evidence) -> tuple[int | None, str]:
    """Against tables whose columns are shuffled."""
    if e.sparse and e.rows * e.columns > LARGEST_DENSE:
        return _without_deflation(e)
    return _sequential(e, _permuted, e.rng(1), "shuffled tables")


def by_sign_flips(e: Evidence) -> tuple[int | None, str]:
    """Against tables with random signs."""
    if e.sparse and e.rows * e.columns > LARGEST_DENSE:
        return None, f"Random signs fill the zeros of a centred table, and this one has {e.rows:,} x {e.columns:,}."
    return _sequential(e, _flipped, e.rng(2), "tables with random signs")


@dataclass(frozen=True)
class Step:
    """Component k + 1 in what k components leave: its share, and the limit for noise."""

    share: float
    limit: float

    @property
    def above(self) -> bool:
        return self.share > self.limit


def _sequential(e: Evidence, destroy: Destroy, rng: np.random.Generator, what: str) -> tuple[int | None, str]:
    if e.short < 3:
        return None, f"Needs at least 4 rows and 3 columns, and there are {e.rows} x {e.columns}."
    # Two components left over are the fewest whose shares can be compared.
    last = min(e.most, e.short - 1)
    steps: list[Step] = []
    for step in _steps(e, destroy, rng, last):
        steps.append(step)
        if not step.above and (e.falls_beyond(len(steps) - 1) or 0) < len(steps):
            break
    above = [k for k, step in enumerate(steps) if step.above]
    k = above[-1] + 1 if above else 0
    if k == last:
        return None, f"All {k} components that can be tested are above those of {what}; there may be more."
    step = steps[k]
    return k, (
        f"Of what {k} component{'' if k == 1 else 's'} leave{'s' if k == 1 else ''}, the next explains "
        f"{percent(step.share)}; in {e.options.level:.0%} of {what} it explains at most {percent(step.limit)}."
    )


def _steps(e: Evidence, destroy: Destroy, rng: np.random.Generator, last: int) -> Iterator[Step]:
    """The tests of components 1, ..., `last`."""
    left = np.array(e.centred, dtype=np.float64)
    right = e.right[:, :last]
    images = left @ right
    images /= np.maximum(np.linalg.norm(images, axis=0), 1e-300)
    draws = e.repeats(20, 60)
    units = (tracy_widom(e.options.level) - MEAN) / STANDARD_DEVIATION
    total = float(np.sum(left**2))
    squares = e.shares * total
    for k in range(last):
        remaining = max(total - float(squares[:k].sum()), 1e-300)
        share = min(float(squares[k]) / remaining, 1.0)
        if squares[k] <= 1e-12 * total:
            yield Step(share, 1.0)
            continue
        yield Step(share, _limit(left, images[:, :k], right[:, :k], e, destroy, rng, draws, units, share))
        left -= np.outer(left @ right[:, k], right[:, k])


def _limit(
    left: np.ndarray, u: np.ndarray, v: np.ndarray, e: Evidence, destroy: Destroy, rng: np.random.Generator,
    draws: int, units: float, share: float,
) -> float:  # fmt: skip
    """Mean of the reference plus `units` standard deviations; a clear case needs only the first draws."""
    drawn: list[float] = []
    while len(drawn) < draws:
        drawn += [_reference(destroy(left, rng), u, v, center=e.center) for _ in range(min(_FIRST, draws - len(drawn)))]
        mean, deviation = float(np.mean(drawn)), float(np.std(drawn, ddof=1))
        distance = units * deviation
        if len(drawn) == _FIRST and not mean - distance / 2 < share < mean + _CLEAR * distance:
            break
    return mean + distance


def _reference(table: np.ndarray, u: np.ndarray, v: np.ndarray, *, center: bool) -> float:
    """l_1(R) / ||R||^2 with R the table projected."""
    gram = _gram(_projected(table, u, v, center=center))
    return float(leading_values(gram, 1)[0] / max(float(np.trace(gram)), 1e-300))


def _projected(table: np.ndarray, u: np.ndarray, v: np.ndarray, *, center: bool) -> np.ndarray:
    """(I - u u^T) table (I - v v^T), centred."""
    if center:
        table = table - table.mean(axis=0)
    table = table - u @ (u.T @ table)
    return np.asarray(table - (table @ v) @ v.T)


def _gram(table: np.ndarray) -> np.ndarray:
    return np.asarray(table.T @ table if table.shape[0] >= table.shape[1] else table @ table.T)


def noise_is_correlated(e: Evidence, k: int) -> bool:
    """Whether what k components leave is not independent noise with a few weak components.

    Correlated noise has a wider spectrum than independent noise, also below the median, where no component can be the
    reason: the statistic is the mean of the lowest quarter of the eigenvalues over their median, against tables with
    random signs.
    """
    left = np.array(e.centred, dtype=np.float64)
    right = e.right[:, :k]
    images = left @ right
    images /= np.maximum(np.linalg.norm(images, axis=0), 1e-300)
    left -= (left @ right) @ right.T
    count = e.short - k
    if count < _FEWEST:
        return False
    rng = e.rng(8)
    observed = _lower_spread(_gram(left), count)
    drawn = [_lower_spread(_gram(_projected(_flipped(left, rng), images, right, center=e.center)), count)
             for _ in range(_SPREAD_DRAWS)]  # fmt: skip
    return bool(observed < np.mean(drawn) - _FAR * np.std(drawn, ddof=1))


def _lower_spread(gram: np.ndarray, count: int) -> float:
    """log of the mean of the lowest quarter of the `count` largest eigenvalues over their median."""
    values = np.maximum(leading_values(gram, count), 0.0)
    lowest = values[-max(count // 4, 1) :].mean()
    return float(np.log(max(float(lowest), 1e-300) / max(float(np.median(values)), 1e-300)))


def _without_deflation(e: Evidence) -> tuple[int | None, str]:
    """Component i against the i-th values of shuffled tables, which stay sparse; weak components may be hidden."""
    rng, repeats, most = e.rng(1), e.repeats(10, 60), e.most
    drawn = np.array([leading_squares(_permuted(e.table, rng), most, center=e.center) for _ in range(repeats)])
    units = (tracy_widom(e.options.level) - MEAN) / STANDARD_DEVIATION
    limits = (drawn.mean(axis=0) + units * drawn.std(axis=0, ddof=1 if repeats > 1 else 0)) / e.unit
    above = e.shares[:most] > limits
    if above.all():
        return None, f"All {most} components tested are above those of {repeats} shuffled tables; there may be more."
    k = int(np.argmin(above))
    return k, (
        f"Component {k + 1} explains {percent(e.shares[k])}, and that of shuffled tables at most {percent(limits[k])}. "
        "The table is too large to take components out of it, so weaker ones may be hidden."
    )


def _permuted(table: Any, rng: np.random.Generator) -> Any:
    """Each column in a random order of its own; a sparse column gets other rows for its entries."""
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


def _flipped(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each entry with a random sign."""
    return np.asarray(table * _signs(table.size, rng).reshape(table.shape))


def _signs(count: int, rng: np.random.Generator) -> np.ndarray:
    bits = np.unpackbits(np.frombuffer(rng.bytes(-(-count // 8)), np.uint8), count=count)
    return np.asarray(2 * bits.astype(np.int8) - 1)
