"""Whether the table meets the assumptions of the tests: rows of equal variance, independent noise."""

from __future__ import annotations

from dataclasses import replace

from eckart.rank.destroy import flipped
from eckart.rank.evidence import Evidence
from eckart.rank.neighbours import neighbour_correlation, without_correlation
from eckart.rank.noise import neighbours_are_correlated, rows_are_exchangeable, spectrum_is_wide
from eckart.rank.sequential import sequential
from eckart.rank.transformed import Transformed
from eckart.rank.unequal import equalised
from eckart.rank.verdict import ENOUGH, SPECTRAL_TESTS, TESTS, RankChoice

SMALL = 1_000_000
"""Up to this many cells, a second BLAS thread does not help with the small matrices that rules draw."""
_MOST_COLUMNS = 200
"""Maximum number of columns for which the correlation of neighbours is estimated: some 400 trials compute all
eigenvalues.
"""
_CLOSE = 1.5
"""Components that explain less than this many times the next may be due to correlated noise."""


def with_assumptions(choice: RankChoice, e: Evidence) -> tuple[RankChoice, Evidence]:
    """The choice with the properties of the noise, which decide between the tests, and the table to judge."""
    choice = replace(choice, alike=_alike(choice, e))
    correlation, k = _after_correlation(choice, e)
    if k is not None:
        return replace(choice, correlated=True, neighbours=correlation, decorrelated=k), e
    changed, k = _with_equal_noise(choice, e)
    if changed is not None and k is not None:
        choice, e = replace(choice, equalised=k), changed
    return replace(choice, correlated=_correlated(choice, e)), e


def _with_equal_noise(choice: RankChoice, e: Evidence) -> tuple[Transformed | None, int | None]:
    """The table with noise of equal variance, if its noise is unequal, and its number of components.

    Used if a rule finds components. A number above that of the tests that allow for such noise is not accepted, because
    testing twice would double the error rate. `permutation` allows for unequal columns only.
    """
    said = {v.rule: v.k for v in choice.verdicts if v.rule in TESTS and v.k is not None}
    if e.free_rows < e.columns and "sign_flip" in said:
        said = {"sign_flip": said["sign_flip"]}
    most = max([*said.values(), choice.apart or 0])
    if not most or not said or min(e.rows, e.columns) > _MOST_COLUMNS or e.rows * e.columns > SMALL:
        return None, None
    changed = equalised(e, most)
    k = None if changed is None else sequential(changed, flipped, e.rng(18), "tables with random signs")[0]
    return changed, k if k is not None and k <= max(said.values()) else None


def _alike(choice: RankChoice, e: Evidence) -> bool:
    """Whether the rows have equal variance, which `permutation` assumes; checked only if the tests differ.

    With few directions left, the rows may not show it. Then the test that agrees with `gap` is preferred, unless they
    do.
    """
    said = {v.rule: v.k for v in choice.verdicts if v.k is not None}
    if not set(TESTS) <= set(said) or len({said[rule] for rule in TESTS}) == 1:
        return False
    if choice.apart and choice.apart in choice.tested and e.short - max(choice.tested) < ENOUGH:
        # The residual of the smaller number may contain a component, which makes the rows unequal.
        return said["permutation"] == choice.apart and rows_are_exchangeable(e.remainder(max(choice.tested)), e.rng(11))
    return rows_are_exchangeable(e.remainder(min(said[rule] for rule in TESTS)), e.rng(11))


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
    """Whether fewer components stand apart than the tests find, and the residual is not independent noise."""
    gap, rules = choice.apart, {v.rule for v in choice.verdicts}
    tests = {*TESTS, *SPECTRAL_TESTS} if e.rows * e.columns <= SMALL else {*TESTS}
    if gap is None or choice.k is None or gap >= choice.k or not rules & tests:
        return False
    # The largest number that a test finds: a component left in would look like correlated noise.
    most = choice.k if choice.equalised is not None else max([choice.k, *choice.tested])
    found = e.remainder(most)
    # Unequal noise is preferred to correlated neighbours: the residual must show the correlation clearly.
    apart = found if choice.equalised is not None else e.remainder(gap)
    if neighbours_are_correlated(found, apart, e.rng(12)) or spectrum_is_wide(found, e.rng(8)):
        return True
    # Strong components would make the references equal in all columns, but the noise need not be.
    close = bool(e.ratios[most - 1] < _CLOSE * e.ratios[most])
    return close and spectrum_is_wide(apart, e.rng(8))
