"""What the rules say: one verdict each, and all of them together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def percent(share: float) -> str:
    """12.34%, and three digits of what is below one percent."""
    return f"{share:.2%}" if share >= 0.01 else f"{100.0 * share:.3g}%"


@dataclass(frozen=True)
class Verdict:
    """What one rule says: k axes, why, and what it takes for granted. k is None where it cannot say."""

    rule: str
    title: str
    k: int | None
    reason: str
    assumes: str
    counts: bool = True
    """Whether it asks how many axes are more than noise; the others ask how many describe enough."""


@dataclass(frozen=True)
class RankChoice:
    """The verdicts of all rules, and where they agree.

    `k` is what most of the rules say that tell signal from noise; of numbers named equally often, the one nearest to
    the middle of all their answers.
    """

    verdicts: tuple[Verdict, ...]
    rows: int
    columns: int
    method: str
    scaled: bool
    shares: tuple[float, ...] = ()
    """Shares of the leading axes."""
    notes: tuple[str, ...] = ()

    @property
    def k(self) -> int | None:
        answers = sorted(verdict.k for verdict in self._voters if verdict.k is not None)
        if not answers:
            return None
        middle = answers[(len(answers) - 1) // 2]
        counted = Counter(answers)
        return min(counted, key=lambda k: (-counted[k], abs(k - middle), k))

    @property
    def agreement(self) -> dict[int, tuple[str, ...]]:
        """k -> the rules that say so, most named first."""
        found: dict[int, list[str]] = {}
        for verdict in self.verdicts:
            if verdict.k is not None:
                found.setdefault(verdict.k, []).append(verdict.rule)
        return {k: tuple(found[k]) for k in sorted(found, key=lambda k: (-len(found[k]), k))}

    @property
    def word(self) -> str:
        """The agreement in one sentence."""
        k, voters = self.k, self._voters
        said = [verdict for verdict in voters if verdict.k is not None]
        if k is None:
            return "No rule could say how many axes there are."
        others = sorted({verdict.k for verdict in said if verdict.k is not None and verdict.k != k})
        same = sum(verdict.k == k for verdict in said)
        kind = "rules that tell signal from noise" if voters and voters[0].counts else "rules"
        axes = f"{k} ax{'is' if k == 1 else 'es'}"
        spread = f"; the others say {others[0]}{f' to {others[-1]}' if len(others) > 1 else ''}" if others else ""
        return f"{same} of {len(said)} {kind} say {axes}{spread}."

    def __getitem__(self, rule: str) -> Verdict:
        return next(verdict for verdict in self.verdicts if verdict.rule == rule)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        fields = ("rule", "title", "k", "reason", "assumes", "counts")
        return {
            "k": self.k,
            "word": self.word,
            "rows": self.rows,
            "columns": self.columns,
            "method": self.method,
            "scaled": self.scaled,
            "agreement": {str(k): list(rules) for k, rules in self.agreement.items()},
            "rules": [{name: getattr(verdict, name) for name in fields} for verdict in self.verdicts],
            "shares": list(self.shares),
            "notes": list(self.notes),
        }

    def to_pandas(self) -> pd.DataFrame:
        """One row for each rule."""
        from eckart.errors import require

        frame: pd.DataFrame = require("pandas", purpose="tables as data frames").DataFrame(self.to_dict()["rules"])
        return frame.set_index("rule")

    def __str__(self) -> str:
        width = max(len(verdict.title) for verdict in self.verdicts)
        lines = [
            f"{v.title:<{width}}  {'-' if v.k is None else v.k:>4}  {v.reason}" for v in self.verdicts
        ]  # fmt: skip
        return "\n".join([*lines, self.word])

    @property
    def _voters(self) -> list[Verdict]:
        """The rules that look for signal, where any of them could say something; else all."""
        voters = [verdict for verdict in self.verdicts if verdict.counts]
        return voters if any(verdict.k is not None for verdict in voters) else list(self.verdicts)
