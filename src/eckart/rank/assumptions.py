"""Whether the table meets the assumptions of the tests: rows of equal variance, independent noise."""

from __future__ import annotations

from dataclasses import replace

from eckart.rank.destroy import flipped
from eckart.rank.evidence import Evidence
from eckart.rank.neighbours import neighbour_correlation, without_correlation
from eckart.rank.noise import neighbours_are_correlated, rows_are_exchangeable, spectrum_is_wide
from eckart.rank.parallel import above_shuffled
from eckart.rank.sequential import sequential
from eckart.rank.transformed import Transformed
from eckart.rank.unequal import equalised
from eckart.rank.verdict import ENOUGH, SPECTRAL_TESTS, TESTS, RankChoice

SMALL = 1_000_000
"""Up to this many cells, a second BLAS thread brings nothing to the small matrices that rules draw."""
_MOST_COLUMNS = 200
"""Columns up to which the correlation of neighbours is estimated: each of some 400 trials takes all eigenvalues."""


def with_assumptions(choice: RankChoice, e: Evidence) -> tuple[RankChoice, Evidence]:
    """The choice with what the table says of the noise, which decides between the tests; and the table to judge."""
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
        choice = replace(choice, horn=above_shuffled(given))
    return choice, e


def _with_equal_noise(choice: RankChoice, e: Evidence) -> tuple[Transformed | None, int | None]:
    """The table with noise of equal variance, if its noise is unequal, and its number of components.

    Asked where a rule finds components. More than `sign_flip` finds, which allows for this noise, are not accepted:
    asking twice would double the error rate. `permutation` replaces it for unequal columns if it was not asked.
    """
    said = {v.rule: v.k for v in choice.verdicts if v.rule in choice.trusted and v.k is not None}
    if "sign_flip" in said:
        said = {"sign_flip": said["sign_flip"]}
    most = max([*said.values(), choice.apart or 0])
    if not most or not said or min(e.rows, e.columns) > _MOST_COLUMNS or e.rows * e.columns > SMALL:
        return None, None
    changed = equalised(e, most)
    k = None if changed is None else sequential(changed, flipped, e.rng(18), "tables with random signs")[0]
    return changed, k if k is not None and k <= max(said.values()) else None


def _trusted(choice: RankChoice, e: Evidence) -> tuple[str, ...]:
    """The tests whose assumptions hold, the preferred one first; asked only where the tests differ.

    `permutation` assumes rows of equal variance, and has more power then, unless components of similar size mask each
    other. With few directions left the rows may not show it, and the test that agrees with `gap` is preferred.
    """
    said = {v.rule: v.k for v in choice.verdicts if v.rule in TESTS and v.k is not None}
    if len(said) < len(TESTS) or len(set(said.values())) == 1:
        return TESTS
    fewest, most, rng = min(said.values()), max(said.values()), e.rng(11)
    if choice.apart and choice.apart in said.values() and e.short - most < ENOUGH:
        preferred = said["permutation"] == choice.apart and rows_are_exchangeable(e.remainder(most), rng)
        return TESTS[::-1] if preferred else TESTS
    masked = fewest == 0 and said["sign_flip"] > 1
    if rows_are_exchangeable(e.remainder(fewest), rng):
        return TESTS if masked else TESTS[::-1]
    # What the smaller number leaves may contain a component, which makes the rows unequal: without it they are not.
    return TESTS if rows_are_exchangeable(e.remainder(fewest + 1), rng) else TESTS[:1]


def _after_correlation(choice: RankChoice, e: Evidence) -> tuple[float, int | None]:
    """The correlation of neighbouring columns, and the number of components if it is taken out; None if there is none.

    Asked where the tests find more components than stand apart, and where too few directions are left to see the
    covariance of the noise.
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
    """Whether fewer components stand apart than the tests find, and what is left has correlated neighbours."""
    gap = choice.apart
    if gap is None or choice.k is None or gap >= choice.k or not _checked(choice, e):
        return False
    found = e.remainder(_most(choice))
    # Unequal noise was preferred to noise of correlated neighbours: what is left must show the correlation clearly.
    apart = found if choice.equalised is not None else e.remainder(gap)
    return neighbours_are_correlated(found, apart, e.rng(12))


def _related(choice: RankChoice, e: Evidence) -> bool:
    """Whether the tests and `gap` differ, and what is left of the table is not independent noise.

    Nothing is left that could be noise if the tests find no end and `gap` finds it among the last directions.
    """
    if choice.apart is None or choice.k is None or not _checked(choice, e):
        return False
    if not choice.tested:
        return choice.apart > min(3 * e.short // 4, e.short - 2)
    return choice.apart != choice.k and spectrum_is_wide(e.remainder(_most(choice)), e.rng(8))


def _checked(choice: RankChoice, e: Evidence) -> bool:
    """Whether a test was asked whose residual is small enough to be checked."""
    tests = {*TESTS, *SPECTRAL_TESTS} if e.rows * e.columns <= SMALL else {*TESTS}
    return any(v.rule in tests for v in choice.verdicts)


def _most(choice: RankChoice) -> int:
    """The most that a test finds: a component that is left in would look like correlated noise."""
    assert choice.k is not None
    return choice.k if choice.equalised is not None else max([choice.k, *choice.tested])
