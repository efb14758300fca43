"""Whether the table determines the number of components, or only with an assumption about the noise.

The tests for independent noise and the rule for noise of any covariance (`gap`) differ if components are weak or if
noise is correlated. With at least 12 directions left, the spectrum and the neighbours of the residual show which it is
(see `noise`). With fewer they do not: any covariance of so few directions can be that of noise. The number is then
certain only if

- the tests and `gap` agree,
- at most half of the directions are components (required of larger tables, too),
- component k exceeds the largest direction of noise whose columns i and j have the correlation 0.5^|i - j|, compared
  with the next component or with all that is left, at the level of the tests (see `gap`),
- no component is a single column: its variance could be the noise of that column (the Heywood case of factor analysis),
- no component is one to three rows, which may be outliers (required of larger tables, too), and
- a strong component more would be found: of few rows and columns, noise explains nearly as much.

Otherwise the lowest and the highest number that the rules allow are reported with the reason. They are also reported if
the columns of the residual are related: real tables often have no independent noise. The same holds for rows that are
copies of others, and if neighbouring rows are correlated after the components are removed (`noise.neighbouring_rows`).

If nearly all components are strong, they dominate the references of the tests, which then find none. Their distance
from the following eigenvalues shows it (`noise.break_of_spectrum`). If there are as many components as directions,
nothing is left to compare with, and the table cannot be distinguished from noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from eckart.arrays import Floats
from eckart.formatting import counted, percent
from eckart.rank.evidence import Evidence
from eckart.rank.gap import CORRELATION, above_smooth_noise, smooth_ratio
from eckart.rank.noise import break_of_spectrum, neighbouring_rows, spectrum_may_be_wide
from eckart.rank.verdict import ANY_NOISE, ENOUGH, TESTS, RankChoice
from eckart.rank.white import white_shares

_FEWEST = 3
"""Minimum number of components for a test."""
_ROUNDING = 1e-12
"""Residuals up to this share of the variance count as zero."""
_SMALL = 200_000
"""Entries up to which the whole spectrum is compared with that of independent noise."""
_STRONG = 1.4**2
"""Eigenvalue of a strong component, as a multiple of the largest of the noise."""
_ALMOST_ONE = 0.8
"""Share of squared loadings, or scores, from which a component counts as a single column, or row."""
_MANY_ROWS, _HALF = 25, 0.5
"""Minimum number of rows of which none has half of the squared scores by chance."""
_FEW_ROWS = 3
"""Maximum number of outliers that make up a component together."""
_COPIES = 0.05
"""Share of rows that are copies from which they are not independent."""
_PER_COMPONENT = 4
"""Minimum number of directions left for noise per component that does not stand apart."""
_STRONGEST = 0.95
"""Maximum correlation of neighbouring columns of the noise that components are compared with."""
_CHECKED = 1_000_000
"""Maximum number of entries for comparing neighbouring rows with those of simulated tables."""
_WIDEST = 200
"""Maximum number of directions for which the whole spectrum is compared."""


@dataclass(frozen=True)
class Certainty:
    """The lowest and highest number of components that the rules allow, and why they differ; empty if certain.

    `highest` is None if nothing bounds the number.
    """

    lowest: int | None
    highest: int | None
    reason: str = ""


@dataclass(frozen=True)
class _Answers:
    """The answers of the tests for independent noise and of `gap`, and the directions left by the highest number."""

    k: int
    tests: list[int]
    gap: int | None
    lowest: int
    highest: int
    left: int

    @property
    def few(self) -> str:
        return f"{max(self.left, 0) or 'no'} direction{'s' * (self.left != 1)} left for noise"


def certainty(choice: RankChoice, e: Evidence) -> Certainty:
    """How certain `choice.k` is, given the tests for independent noise and `gap`."""
    if choice.k is None:
        return Certainty(None, None, "No rule gave an answer.")
    numbers = [choice.k, *choice.tested, *([] if choice.apart is None else [choice.apart])]
    answers = _Answers(choice.k, choice.tested, choice.apart, min(numbers), max(numbers), e.short - max(numbers))
    last = _WITH_MANY_LEFT if answers.left >= ENOUGH else _WITH_FEW_LEFT
    for doubt in (*_DOUBTS, *last):
        if (found := doubt(choice, e, answers)) is not None:
            return found
    return Certainty(choice.k, choice.k)


def _untested(choice: RankChoice, e: Evidence, answers: _Answers) -> Certainty | None:
    """Without a test, only agreement of rules can show that there are no weaker components."""
    voted = [v.k for v in choice.verdicts if v.counts and v.votes and v.k is not None]
    agree = len(voted) >= 2 and set(voted) == {answers.k}
    if answers.tests or (answers.left >= ENOUGH and agree):
        return None
    lowest = min([answers.lowest, *voted])
    reason = _why_untested(choice, answers)
    return Certainty(_beyond_correlated(e, lowest) if answers.left < ENOUGH else lowest, None, reason)


def _why_untested(choice: RankChoice, answers: _Answers) -> str:
    if choice.horn is None:
        return f"With {'only ' * (answers.left > 0)}{answers.few}, no test against independent noise is possible."
    return (
        "All components that can be tested explain more than independent noise would, so there is no "
        "noise to compare them with."
    )


def _repeated_rows(choice: RankChoice, e: Evidence, answers: _Answers) -> Certainty | None:
    """Rows that are copies of others, although some column has a value of its own in every other row."""
    copies = e.copied_rows() if e.has_table else 0
    if copies < max(2.0, _COPIES * e.rows):
        return None
    reason = (f"{copies:,} of {e.rows:,} rows are copies of other rows. The tests assume independent rows, and "
    "count directions that copies share.")  # fmt: skip
    return Certainty(0, answers.highest, reason)


def _dependent_rows(choice: RankChoice, e: Evidence, answers: _Answers) -> Certainty | None:
    """Neighbouring rows that are correlated without the components: a time series, or rows in groups."""
    k = answers.k
    if not k or not e.has_table or e.rows * e.columns > _CHECKED:
        return None
    correlation = neighbouring_rows(e, min(k, e.right.shape[1]))
    if not correlation:
        return None
    reason = (f"After removing {counted(k, 'component')}, neighbouring rows have a correlation of {correlation:.2f}. "
    "The tests assume independent rows, and count directions in which neighbouring rows vary together.")  # fmt: skip
    # Noise with correlated rows is noise with correlated columns in the transposed table.
    transposed = replace(e, rows=e.columns + e.center, columns=e.free_rows)
    lowest = _beyond_correlated(transposed, answers.lowest, _neighbour_limit(e.centred[e.given_order].T))
    return Certainty(lowest, answers.highest, reason)


def _related_columns(choice: RankChoice, e: Evidence, answers: _Answers) -> Certainty | None:
    """Whether the residual is not independent noise, and the order of the columns does not explain it."""
    found, k = choice.above_noise, choice.k
    if choice.horn is None or found is None or k is None:
        return None
    reason = (f"{counted(found, 'component explains', 'components explain')} more than independent noise would. "
    f"After removing {'it' if found == 1 else 'them'}, the columns are still correlated.")  # fmt: skip
    return Certainty(_beyond_correlated(e, min(k, found)), max(found, choice.horn, *choice.tested), reason)


def _open_ended(choice: RankChoice, e: Evidence, answers: _Answers) -> Certainty | None:
    open_end = next((v for v in choice.verdicts if v.rule in TESTS and v.k is None and e.short > _FEWEST), None)
    if open_end is None:
        return None
    return Certainty(_beyond_correlated(e, answers.lowest), None, f"{open_end.title}: {open_end.reason}")


def _masked(choice: RankChoice, e: Evidence, answers: _Answers) -> Certainty | None:
    more = _break_beyond(choice, e, answers.k)
    if not more:
        return None
    reason = (f"{'The first eigenvalue is' if more == 1 else f'The first {more} eigenvalues are'} separated "
    "from the others by a larger gap than independent noise would show. Either components of similar "
    "size mask each other in the tests, or the noise is correlated.")  # fmt: skip
    return Certainty(_beyond_correlated(e, answers.lowest), max(answers.highest, more), reason)


def _correlated_neighbours(choice: RankChoice, e: Evidence, answers: _Answers) -> Certainty | None:
    """Whether neighbouring columns remain correlated, or their correlation had to be removed."""
    if choice.decided_by in ANY_NOISE and choice.correlated and answers.highest > answers.k:
        reason = (f"Tests that assume independent noise find {_listed(answers.tests)}. After removing "
        f"{'it' if answers.highest == 1 else 'them'}, neighbouring columns are still correlated.")  # fmt: skip
        return Certainty(_beyond_correlated(e, answers.lowest, _neighbour_limit(e.centred)), answers.highest, reason)
    return None if choice.decorrelated is None else _decorrelated(choice, e, answers)


def _decorrelated(choice: RankChoice, e: Evidence, answers: _Answers) -> Certainty | None:
    """Whether the number depends on the correlation that was removed."""
    k, gap, scarce = answers.k, answers.gap, answers.left < ENOUGH
    if answers.lowest == answers.highest or not (scarce or gap != k):
        return None
    low, high = (answers.lowest, answers.highest) if scarce else sorted((k, k if gap is None else gap))
    reason = (f"Tests that assume independent noise find {_listed(answers.tests)}. After the "
    f"correlation of {choice.neighbours:.2f} between neighbouring columns is removed, they find {k}.")  # fmt: skip
    return Certainty(_beyond_correlated(e, low), high, reason)


def _disagreement(choice: RankChoice, e: Evidence, answers: _Answers) -> Certainty | None:
    if answers.lowest == answers.highest:
        return None
    tested = f"Tests that assume independent noise find {_listed(answers.tests)}"
    apart = "" if answers.gap is None else f", and the rule 'gap' finds {answers.gap}"
    reason = f"{tested}{apart}. With {answers.few}, correlated noise and weak components look the same."
    return Certainty(_beyond_correlated(e, answers.lowest), answers.highest, reason)


def _like_correlated_noise(choice: RankChoice, e: Evidence, answers: _Answers) -> Certainty | None:
    k, lowest = answers.k, _beyond_correlated(e, answers.lowest)
    if lowest >= k:
        return None
    reason = (f"Component {k} explains {_ratio(e, k):.3g} times as much as the next component. In so few "
    f"columns, correlated noise alone can reach a factor of {_correlated_ratio(e, k):.3g}.")  # fmt: skip
    return Certainty(lowest, answers.highest, reason)


def _most_directions(choice: RankChoice, e: Evidence, answers: _Answers) -> Certainty | None:
    """More than half of the directions would be components, and too few of them noise to compare the others with."""
    k = answers.k
    if 2 * k <= e.short:
        return None
    # Without the directions of exact relations between columns, which have no variance.
    real = max(int(np.count_nonzero(e.ratios[: e.short] > _ROUNDING)), 1)
    varying = e if real == e.short else replace(e, columns=real)
    lowest = min(_beyond_correlated(varying, min(k, real - 1)), varying.short // 2)
    reason = f"{k} of {e.short} possible components would be signal, so too few remain to estimate the noise."
    return Certainty(lowest, answers.highest, reason)


def _undetected(choice: RankChoice, e: Evidence, answers: _Answers) -> Certainty | None:
    """Few rows and columns: noise reaches such a large share that a strong component would not exceed it."""
    k = answers.k
    if e.short - k < 2 or float(e.ratios[k:].sum()) <= _ROUNDING:
        return None
    usual, limit = white_shares(e.free_rows - k, e.columns - k, e.options.level)
    # Share of the largest noise eigenvalue times c, with the others unchanged: c u / (1 + (c - 1) u).
    if _STRONG * usual / (1.0 + (_STRONG - 1.0) * usual) > limit:
        return None
    reason = (f"In a table this small, a further component would have to explain {percent(limit, 0)} of the "
    "residual to stand out from noise, so the tests can miss even a strong component.")  # fmt: skip
    return Certainty(_beyond_correlated(e, answers.lowest), answers.highest + 1, reason)


def _single_rows(choice: RankChoice, e: Evidence, answers: _Answers) -> Certainty | None:
    """An outlying row has a component of its own."""
    k = answers.k
    count, reason = _of_single_rows(e, k)
    return Certainty(k - count, k, reason) if count else None


def with_single_rows(choice: RankChoice, e: Evidence) -> RankChoice:
    """An uncertain choice whose lowest number leaves out components of few rows, whatever else is in doubt."""
    if choice.certain or not choice.lowest:
        return choice
    count, reason = _of_single_rows(e, choice.lowest)
    if not count or reason in choice.reason:
        return choice
    return replace(choice, lowest=choice.lowest - count, reason=f"{choice.reason} {reason}")


def _of_single_rows(e: Evidence, k: int) -> tuple[int, str]:
    """How many of the first k components mainly describe one to three rows, and a sentence about the first of them."""
    many = e.rows >= _MANY_ROWS
    found = []
    for place in range(min(k, e.right.shape[1]) if e.has_table else 0):
        shares = e.largest_rows(place, _FEW_ROWS if many else 1)
        few = next((i for i, share in enumerate(shares, 1) if share > _ALMOST_ONE), 0)
        few = few or int(many and shares[0] > _HALF)
        if few:
            found.append((few, percent(shares[few - 1], 0), place + 1))
    if not found:
        return 0, ""
    few, share, component = found[0]
    if few == 1:
        return len(found), f"A single row accounts for {share} of component {component}. This row may be an outlier."
    return len(found), f"{few} rows account for {share} of component {component}. These rows may be outliers."


def _single_columns(choice: RankChoice, e: Evidence, answers: _Answers) -> Certainty | None:
    k = answers.k
    single = [i for i in range(min(k, e.right.shape[1])) if np.max(e.right[:, i] ** 2) > _ALMOST_ONE]
    if not single:
        return None
    share = percent(float(np.max(e.right[:, single[0]] ** 2)), 0)
    reason = (f"A single column accounts for {share} of component {single[0] + 1}, and the noise of a single column "
    "looks like a component.")  # fmt: skip
    return Certainty(k - len(single), k, reason)


def _wide_spectrum(choice: RankChoice, e: Evidence, answers: _Answers) -> Certainty | None:
    """Components that do not stand apart, in noise that may be correlated."""
    k, gap = answers.k, answers.gap
    small = e.rows * e.columns <= _SMALL and e.has_table
    if gap is None or gap >= k or choice.correlated or not small:
        return None
    if not spectrum_may_be_wide(e.remainder(k), e.rng(8)):
        return None
    reason = (f"{_separated(gap)}, and the remaining eigenvalues are more spread out than is typical of independent "
    "noise. The remaining components may be correlated noise.")  # fmt: skip
    return Certainty(gap, k, reason)


def _gradual_decrease(choice: RankChoice, e: Evidence, answers: _Answers) -> Certainty | None:
    """Many components that do not stand apart: the eigenvalues of correlated noise decrease in this way, too."""
    k, gap = answers.k, answers.gap
    if gap is None or (k - gap) * _PER_COMPONENT <= e.short - k:
        return None
    reason = (f"{_separated(gap)}, but the tests find {k - gap} more, and only {e.short - k} directions are left for "
    "noise. The eigenvalues of correlated noise decrease gradually in the same way.")  # fmt: skip
    return Certainty(gap, k, reason)


def _separated(gap: int) -> str:
    if not gap:
        return "No component is clearly separated from the next"
    return f"Only {counted(gap, 'component is', 'components are')} clearly separated from the next"


def _break_beyond(choice: RankChoice, e: Evidence, k: int) -> int:
    """The number of components before a break of the spectrum beyond component k, which the tests miss; or 0."""
    small = e.rows * e.columns <= _SMALL and e.short <= _WIDEST
    if choice.correlated or not choice.tested or not e.has_table or not small or k >= e.right.shape[1]:
        return 0
    if float(e.ratios[k:].sum()) <= _ROUNDING:
        return 0
    found = break_of_spectrum(e.remainder(k), e.rng(16))
    return k + found if found else 0


def _beyond_correlated(e: Evidence, most: int, correlation: float = CORRELATION) -> int:
    """The largest number up to `most` at which a component exceeds correlated noise, by its ratio or its share."""
    apart = next((k for k in range(most, 0, -1) if _ratio(e, k) > _correlated_ratio(e, k, correlation)), 0)
    return max(apart, above_smooth_noise(e, most, correlation))


def _correlated_ratio(e: Evidence, k: int, correlation: float = CORRELATION) -> float:
    """Upper limit of l_1 / l_2 of correlated noise at the level of the tests, in the residual of k - 1 components."""
    return smooth_ratio(e.free_rows - k + 1, e.columns - k + 1, e.options.level, correlation)


def _neighbour_limit(centred: Floats) -> float:
    """The correlation of neighbouring columns, if the components that the table may have are noise too.

    It is rounded up, so that simulated noise can be reused, and at least that of the usual reference.
    """
    table = centred.astype(np.float64, copy=False)
    table = table / np.maximum(np.linalg.norm(table, axis=0), 1e-300)
    found = abs(float(np.mean(np.sum(table[:, 1:] * table[:, :-1], axis=0))))
    return float(np.clip(np.ceil(20.0 * found) / 20.0, CORRELATION, _STRONGEST))


def _listed(numbers: list[int]) -> str:
    """'1 component', '1 or 2 components'."""
    found = sorted(set(numbers))
    return f"{' or '.join(str(number) for number in found)} component{'' if found == [1] else 's'}"


def _ratio(e: Evidence, k: int) -> float:
    """l_k / l_(k+1); infinite without a residual, and 0 if there is no other direction to compare with."""
    if k >= e.short:
        return 0.0
    if k >= len(e.ratios):
        return float("inf")
    return float(e.ratios[k - 1] / max(float(e.ratios[k]), 1e-300))


_Doubt = Callable[[RankChoice, Evidence, _Answers], Certainty | None]
_DOUBTS: tuple[_Doubt, ...] = (
    _repeated_rows, _dependent_rows, _untested, _related_columns, _open_ended, _masked, _correlated_neighbours,
)  # fmt: skip
"""In the order in which they are asked; the first one that applies determines the range."""
_WITH_MANY_LEFT: tuple[_Doubt, ...] = (_wide_spectrum, _gradual_decrease, _most_directions, _single_rows)
_WITH_FEW_LEFT: tuple[_Doubt, ...] = (
    _disagreement, _most_directions, _like_correlated_noise, _undetected, _single_rows, _single_columns,
)  # fmt: skip
"""Further ones, by how many directions are left for noise."""
