"""The answers of the rules: one verdict each, and all together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eckart.displays import html_table
from eckart.documentation import document
from eckart.formatting import wrapped
from eckart.rank.answer import Verdict

if TYPE_CHECKING:
    import pandas as pd


def _span(numbers: list[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def _dissent(said: list[int], k: int) -> str:
    """The answers of the rules that differ from k."""
    others = [number for number in said if number != k]
    if not others:
        return ""
    return f"; {'the other finds' if len(others) == 1 else 'the others find'} {_span(sorted(set(others)))}"


TESTS = ("sign_flip", "permutation")
"""Sequential tests with a known error rate: each adds a component that is not there in 1 % of tables (1 - level)."""
SPECTRAL_TESTS = ("deterministic",)
"""The test that replaces them if only the singular values are known."""
ANY_NOISE = ("gap",)
"""The rule for noise of any covariance."""
ENOUGH = 12
"""Number of remaining directions that is enough to show the covariance of the noise."""
FEW = 8
"""Number of directions from which the tests are rarely wrong by one."""
_MANY_ROWS = 6
"""Rows per column from which noise rarely stands apart."""


@document
@dataclass(frozen=True)
class RankChoice:
    """Answers of all rules for the number of components, and the recommended number.

    Attributes
    ----------
    verdicts : tuple of Verdict
        Answer of each rule.
    rows : int
        Number of rows of the data.
    columns : int
        Number of columns, without constant columns and exact multiples of other columns.
    method : str
        Method for which the number is recommended.
    scaled : bool
        Whether the columns were scaled.
    explained_variance_ratio : tuple of float
        Explained shares of the leading components.
    notes : tuple of str
        Remarks on the data or the result, for example on imputed values.
    correlated : bool
        Whether neighbouring columns are correlated after the components found by the sequential tests are subtracted.
    neighbours : float
        Estimated correlation of the noise of neighbouring columns. 0 if there is no evidence of such a correlation.
    decorrelated : int or None
        Number of components that 'sign_flip' finds after the correlation of neighbouring columns is removed. None if
        there is no such correlation.
    equalised : int or None
        Number of components that 'sign_flip' finds after each column is divided by the estimated standard deviation of
        its noise (or each row, if there are fewer rows than columns). None if the standard deviations do not clearly
        differ.
    horn : int or None
        Number of components by Horn's parallel analysis, which compares each component with the component in the same
        position in shuffled tables. None unless the residual has correlated columns that are not neighbours.
    drop : int or None
        Number of components, between `lowest` and `highest`, that is followed by the largest drop in the eigenvalues.
        None unless min(n_samples - 1, n_features) is less than 8, `certain` is False, and this drop is clearly larger
        than the drop after the number that the tests find.
    trusted : tuple of str
        Sequential tests whose assumptions hold, the preferred one first. 'permutation' is left out if it disagrees with
        'sign_flip' and the rows have unequal variance.
    lowest : int or None
        Lowest number of components that the rules allow, under different assumptions about the noise.
    highest : int or None
        Highest number of components that the rules allow, under different assumptions about the noise. None if the
        rules set no upper limit.
    reason : str
        Why `k` is uncertain. Empty if it is certain, or if only descriptive rules were applied.

    {See Also: choose_rank}

    Notes
    -----
    Usually `k` is the answer of a sequential test. This is 'permutation' if the rows of the residual have equal
    variance, because it is then the more powerful test, and 'sign_flip' otherwise. If one of the two abstains, the
    other is used. If only singular values are known, 'deterministic' is used. In these cases `k` is found differently:

    - If the noise of neighbouring columns is correlated, 'sign_flip' is applied after this correlation is removed.
    - If the noise variances of the columns differ, 'sign_flip' is applied after they are made equal.
    - If neighbouring columns remain correlated, the rule 'gap' is used.
    - If the columns of the residual are correlated in another way, Horn's parallel analysis is used, but `k` is never
      larger than the answer of the tests.
    - If min(n_samples - 1, n_features) is less than 8 and the answer of the tests is uncertain, the eigenvalues decide.
      `k` is then the number between `lowest` and `highest` that is followed by the largest drop, if this drop is
      clearly larger than the one after the answer of the tests.
    - If all tests abstain, `k` is the most frequent answer of the other voting rules. If several answers are equally
      frequent, it is the one nearest to their median.

    `certain` is False if the table has too few columns or rows to distinguish components from noise of unknown
    covariance. `k` then assumes independent noise. `lowest` and `highest` bound the number of components without that
    assumption, and `reason` explains the uncertainty.

    Examples
    --------
    >>> import eckart as ek
    >>> arrests = ek.datasets.load("usarrests")
    >>> choice = ek.choose_rank(arrests.values, ["kaiser", "broken_stick"], scale=True)
    >>> choice.k, choice.agreement
    (1, {1: ('kaiser', 'broken_stick')})
    """

    verdicts: tuple[Verdict, ...]
    rows: int
    columns: int
    method: str
    scaled: bool
    explained_variance_ratio: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()
    correlated: bool = False
    lowest: int | None = None
    highest: int | None = None
    reason: str = ""
    neighbours: float = 0.0
    decorrelated: int | None = None
    equalised: int | None = None
    horn: int | None = None
    drop: int | None = None
    trusted: tuple[str, ...] = TESTS

    @property
    def equal_row_variances(self) -> bool:
        """Whether 'permutation' decides if the tests disagree, because the rows of the residual have equal variance."""
        return self.trusted[:1] == ("permutation",)

    @property
    def certain(self) -> bool:
        """Whether the number is independent of assumptions about the covariance of the noise."""
        return self.lowest is not None and not self.reason

    @property
    def k(self) -> int | None:
        """Recommended number of components; None if every rule abstains."""
        return self._decision[0]

    @property
    def decided_by(self) -> str:
        """Name of the rule that determines `k`, "vote", or "" if every rule abstains.

        "decorrelated" is 'sign_flip' after the correlation of neighbouring columns is removed. "equalised" is
        'sign_flip' after the noise variances are made equal. "horn" is Horn's parallel analysis. "drop" is the largest
        drop in the eigenvalues between `lowest` and `highest`.
        """
        return self._decision[1]

    @property
    def above_noise(self) -> int | None:
        """Number of components that explain more than independent noise would, even if the residual is correlated."""
        return self._tested[0]

    @property
    def _decision(self) -> tuple[int | None, str]:
        """(k, the rules that decided)."""
        if self.drop is not None:
            return self.drop, "drop"
        if self.decorrelated is not None:
            return self.decorrelated, "decorrelated"
        k, by = self._tested
        if k is None:
            return self._without_test()
        if k == 0 and self._masked:
            return self.apart, ANY_NOISE[0]
        if self.correlated and self.apart is not None:
            return min(self.apart, k), ANY_NOISE[0]
        if self.horn is not None and self.horn < k:
            return self.horn, "horn"
        return k, by

    @property
    def _masked(self) -> bool:
        """Whether two or more components of few columns stand apart that mask each other in the tests.

        Unequal noise stands apart too, and that of few rows.
        """
        few = self.columns < ENOUGH and self.rows >= _MANY_ROWS * self.columns
        return few and (self.apart or 0) > 1 and self.equalised is None

    @property
    def _tested(self) -> tuple[int | None, str]:
        """(the answer of the preferred test, its name)."""
        tested = next(iter(self._said(self.trusted) or self._said(SPECTRAL_TESTS)), None)
        if tested is None:
            return None, ""
        return (tested.k, tested.rule) if self.equalised is None else (self.equalised, "equalised")

    def _without_test(self) -> tuple[int | None, str]:
        return self._vote() if self.horn is None else (self.horn, "horn")

    def _vote(self) -> tuple[int | None, str]:
        """The number that most rules give; ties go to the one nearest to the median."""
        answers = sorted(verdict.k for verdict in self._voters if verdict.k is not None)
        if not answers:
            return None, ""
        middle = answers[(len(answers) - 1) // 2]
        counted = Counter(answers)
        return min(counted, key=lambda k: (-counted[k], abs(k - middle), k)), "vote"

    @property
    def tested(self) -> list[int]:
        """Answers of the tests for independent noise. Tests that abstain or whose assumptions fail are left out."""
        return [v.k for v in self._said(self.trusted) or self._said(SPECTRAL_TESTS) if v.k is not None]

    @property
    def apart(self) -> int | None:
        """Number of components that stand out from noise of any covariance. None if the rule 'gap' abstains."""
        return next((v.k for v in self._said(ANY_NOISE)), None)

    def _said(self, rules: tuple[str, ...]) -> list[Verdict]:
        """The answers of these rules, in this order, without those that abstain."""
        return [v for rule in rules for v in self.verdicts if v.rule == rule and v.k is not None]

    @property
    def agreement(self) -> dict[int, tuple[str, ...]]:
        """Dictionary that maps each answer to the rules that give it, the most frequent answer first."""
        found: dict[int, list[str]] = {}
        for verdict in self.verdicts:
            if verdict.k is not None:
                found.setdefault(verdict.k, []).append(verdict.rule)
        return {k: tuple(found[k]) for k in sorted(found, key=lambda k: (-len(found[k]), k))}

    @property
    def summary(self) -> str:
        """The recommendation, and how many rules agree with it, in one or two sentences."""
        k, by = self._decision
        if k is None:
            return "No rule could determine the number of components."
        components = f"{k} component{'' if k == 1 else 's'}"
        agreement = self._agreement(k, f"find{{s}} {components}" if by == "vote" else "agree{s}", only=by != "vote")
        if by != "vote":
            because = ", because neighbouring columns are correlated" if by in ANY_NOISE and self.correlated else ""
            agreement = f"{self[by].title} finds {components}{because}. {agreement}"
        if not self.reason:
            return agreement
        return f"{agreement} {self.uncertainty} {self.reason}"

    @property
    def uncertainty(self) -> str:
        """One sentence that explains the uncertainty of the number. Empty if the number is certain."""
        if not self.reason or self.lowest is None:
            return ""
        vacuous = not self.lowest or self.lowest >= min(self.rows - 1, self.columns)  # "0 or more" excludes nothing
        if self.highest == self.lowest or (self.highest is None and vacuous):
            return "The number of components is uncertain."
        if self.highest is None:
            span = f"{self.lowest} or more"
        elif self.highest == self.lowest + 1:
            span = f"{self.lowest} or {self.highest}"
        else:
            span = f"anywhere from {self.lowest} to {self.highest}"
        return f"The number of components is uncertain: it could be {span}."

    def _agreement(self, k: int, what: str, *, only: bool) -> str:
        """How many of the counting rules give k; `what` is the verb phrase, with {s} for the singular."""
        voters = [verdict for verdict in self._voters if verdict.k is not None]
        said = [verdict.k for verdict in voters if verdict.k is not None]
        same = said.count(k)
        rules = ("rule that separates", "rules that separate")[len(said) > 1]
        kind = f"{rules} signal from noise" if voters[0].counts else rules.split()[0]
        if only and len(said) == 1:
            return f"It is the only {kind} that applies."
        if len(said) == 1:
            return f"Only one {kind} applies; it {what.format(s='s')}."
        if same == 0:
            return f"None of the {len(said)} {kind} {what.format(s='')}; they find {_span(sorted(set(said)))}."
        return f"{same} of {len(said)} {kind} {what.format(s='s' * (same == 1))}{_dissent(said, k)}."

    def __getitem__(self, rule: str) -> Verdict:
        return next(verdict for verdict in self.verdicts if verdict.rule == rule)

    @document
    def to_dict(self) -> dict[str, object]:
        """Convert to a dict of plain values, for JSON.

        {Returns: dict}
            The recommendation, the answers and their reasons.
        """
        fields = ("rule", "title", "k", "reason", "assumes", "counts", "votes")
        return {
            "k": self.k,
            "summary": self.summary,
            "rows": self.rows,
            "columns": self.columns,
            "method": self.method,
            "scaled": self.scaled,
            "correlated": self.correlated,
            "neighbours": self.neighbours,
            "decorrelated": self.decorrelated,
            "equalised": self.equalised,
            "horn": self.horn,
            "drop": self.drop,
            "trusted": list(self.trusted),
            "equal_row_variances": self.equal_row_variances,
            "certain": self.certain,
            "lowest": self.lowest,
            "highest": self.highest,
            "reason": self.reason,
            "agreement": {str(k): list(rules) for k, rules in self.agreement.items()},
            "rules": [{name: getattr(verdict, name) for name in fields} for verdict in self.verdicts],
            "explained_variance_ratio": list(self.explained_variance_ratio),
            "notes": list(self.notes),
        }

    def to_pandas(self) -> pd.DataFrame:
        """Convert to a data frame.

        Returns
        -------
        pandas.DataFrame
            One row per rule.
        """
        from eckart.errors import require

        frame: pd.DataFrame = require("pandas", purpose="tables as data frames").DataFrame(self.to_dict()["rules"])
        return frame.set_index("rule")

    def __str__(self) -> str:
        width = max(len(verdict.title) for verdict in self.verdicts)
        indent = " " * (width + 8)
        lines = [
            wrapped(f"{v.title:<{width}}  {'-' if v.k is None else v.k:>4}  {v.reason}", indent=indent)
            for v in self.verdicts
        ]  # fmt: skip
        return "\n".join([*lines, wrapped(self.summary)])

    def _repr_html_(self) -> str:
        rows = [(v.title, "-" if v.k is None else str(v.k), v.reason) for v in self.verdicts]
        return html_table("Number of components", ("rule", "components", "reason"), rows, self.summary, text_columns=3)

    @property
    def _voters(self) -> list[Verdict]:
        """The rules that look for signal and vote, if any of them answered.

        Otherwise all that look for signal, or all.
        """
        for chosen in (
            [v for v in self.verdicts if v.counts and v.votes],
            [v for v in self.verdicts if v.counts],
            list(self.verdicts),
        ):
            if any(v.k is not None for v in chosen):
                return chosen
        return list(self.verdicts)
