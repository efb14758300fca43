"""Whether the table meets the assumptions of the tests: rows of equal variance, independent noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eckart.rank.evidence import Evidence
from eckart.rank.noise import neighbours_are_correlated, rows_are_exchangeable, spectrum_is_wide
from eckart.rank.noise_models import Transformed, equalised, neighbour_correlation, without_correlation
from eckart.rank.parallel import above_shuffled
from eckart.rank.resampling import flipped
from eckart.rank.sequential import sequential
from eckart.rank.verdict import ENOUGH, SPECTRAL_TESTS, TESTS, RankChoice

SMALL = 1_000_000
"""Up to this many cells, a second BLAS thread does not help with the small matrices that rules draw."""
_MOST_COLUMNS = 200
"""Maximum number of columns for estimating the correlation of neighbours: some 400 trials compute all eigenvalues."""


def with_assumptions(choice: RankChoice, e: Evidence) -> tuple[RankChoice, Evidence]:
    """The choice with the properties of the noise, which decide between the tests, and the table to judge."""
    choice = replace(choice, trusted=_trusted(choice, e))
    correlation, k = _after_correlation(choice, e)
    if k is not None:
        return replace(choice, correlated=True, neighbours=correlation, decorrelated=k), e
    changed, k = _with_equal_noise(choice, e)
    given = e
    if changed is not None and k is not None:
        choice, e = replace(choice, equalised=k), changed
    choice = replace(choice, correlated=_correlated(choice, e))
    if not choice.correlated and _related(choice, e):
        found = above_shuffled(given)
        # Strong components of similar size mask each other here too: without an answer of the tests, 0 does not count.
        choice = replace(choice, horn=found if found or choice.tested else None)
    return choice, e


def _with_equal_noise(choice: RankChoice, e: Evidence) -> tuple[Transformed | None, int | None]:
    """The table with noise of equal variance, if its noise is unequal, and its number of components.

    Used if a rule finds components. A number above that of the preferred test is not accepted: testing twice would
    double the error rate. For unequal rows that test is `sign_flip`: `permutation` allows for unequal columns only.
    """
    said = _answers(choice, choice.trusted)
    if e.free_rows < e.columns and "sign_flip" in said:
        said = {"sign_flip": said["sign_flip"]}
    most = max([*said.values(), choice.apart or 0])
    if not most or not said or not _is_small(e):
        return None, None
    changed = equalised(e, most)
    k = None if changed is None else sequential(changed, flipped, e.rng(18), "tables with random signs")[0]
    preferred = next(iter(said.values()))
    return changed, k if k is not None and k <= preferred else None


def _is_small(e: Evidence) -> bool:
    """Whether hundreds of trials on the table take little time."""
    return min(e.rows, e.columns) <= _MOST_COLUMNS and e.rows * e.columns <= SMALL


def _answers(choice: RankChoice, rules: tuple[str, ...]) -> dict[str, int]:
    """The numbers that these rules give, in this order, without rules that abstain."""
    given = {v.rule: v.k for v in choice.verdicts if v.k is not None}
    return {rule: given[rule] for rule in rules if rule in given}


def _trusted(choice: RankChoice, e: Evidence) -> tuple[str, ...]:
    """The tests whose assumptions hold, the preferred one first; checked only if the tests differ.

    `permutation` assumes rows of equal variance, and has more power then, unless components of similar size mask each
    other. With few directions left the rows may not show it, and the test that agrees with `gap` is preferred.
    """
    said = _answers(choice, TESTS)
    if len(said) < len(TESTS) or len(set(said.values())) == 1:
        return TESTS
    most, rng = max(said.values()), e.rng(11)
    if choice.apart and choice.apart in said.values() and e.short - most < ENOUGH:
        preferred = said["permutation"] == choice.apart and rows_are_exchangeable(e.remainder(most), rng)
        return TESTS[::-1] if preferred else TESTS
    return _trusted_by_rows(said, e, rng)


def _trusted_by_rows(said: dict[str, int], e: Evidence, rng: np.random.Generator) -> tuple[str, ...]:
    """The tests whose assumptions the rows of the residual meet, the preferred one first."""
    fewest = min(said.values())
    masked = fewest == 0 and said["sign_flip"] > 1
    if rows_are_exchangeable(e.remainder(fewest), rng):
        return TESTS if masked else TESTS[::-1]
    # The residual of the smaller number may contain a component, which makes the rows unequal: without it they are not.
    return TESTS if rows_are_exchangeable(e.remainder(fewest + 1), rng) else TESTS[:1]


def _after_correlation(choice: RankChoice, e: Evidence) -> tuple[float, int | None]:
    """The correlation of neighbouring columns, and the number of components after removing it; None if there is none.

    Used if the tests find more components than stand apart, and if too few directions are left to see the covariance of
    the noise.
    """
    most = max(choice.tested, default=0)
    if not most or not any(v.rule in TESTS for v in choice.verdicts) or choice.apart is None:
        return 0.0, None
    if e.columns > _MOST_COLUMNS or e.rows * e.columns > SMALL:
        return 0.0, None
    most = max(most, choice.apart)
    if choice.apart >= most and e.short - most >= ENOUGH:
        return 0.0, None
    correlation = neighbour_correlation(e, most)
    return correlation, without_correlation(e, correlation)[0] if correlation else None


def _correlated(choice: RankChoice, e: Evidence) -> bool:
    """Whether fewer components stand apart than the tests find, and the residual has correlated neighbours."""
    gap = choice.apart
    if gap is None or choice.k is None or gap >= choice.k or not _checked(choice, e):
        return False
    found = e.remainder(_most(choice))
    # Unequal noise is preferred to correlated neighbours: the residual must show the correlation clearly.
    apart = found if choice.equalised is not None else e.remainder(gap)
    return neighbours_are_correlated(found, apart, e.rng(12))


def _related(choice: RankChoice, e: Evidence) -> bool:
    """Whether the tests and `gap` differ, and the residual is not independent noise.

    There is no residual that could be noise if the tests find no end and `gap` finds it among the last directions, or
    if the tests count most directions and `gap` even more.
    """
    if choice.apart is None or choice.k is None or not _checked(choice, e):
        return False
    if not choice.tested:
        return choice.apart > min(3 * e.short // 4, e.short - 2)
    if e.short >= ENOUGH and choice.apart > choice.k > e.short // 2:
        return True
    return choice.apart != choice.k and spectrum_is_wide(e.remainder(_most(choice)), e.rng(8))


def _checked(choice: RankChoice, e: Evidence) -> bool:
    """Whether a test was applied whose residual is small enough to check."""
    tests = {*TESTS, *SPECTRAL_TESTS} if e.rows * e.columns <= SMALL else {*TESTS}
    return any(v.rule in tests for v in choice.verdicts)


def _most(choice: RankChoice) -> int:
    """The largest number that a test finds: a component left in would look like correlated noise."""
    assert choice.k is not None
    return choice.k if choice.equalised is not None else max([choice.k, *choice.tested])
