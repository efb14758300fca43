"""The answer of one rule for the number of components."""

from __future__ import annotations

from dataclasses import dataclass

from eckart.documentation import document


@document
@dataclass(frozen=True)
class Verdict:
    """Answer of one rule for the number of components.

    A rule abstains if the data do not meet its assumptions or do not decide.

    Attributes
    ----------
    rule : str
        Name of the rule.
    title : str
        Title of the rule.
    k : int or None
        Number of components; None if the rule abstains.
    reason : str
        Why the rule gives this number.
    assumes : str
        What the rule assumes about the data.
    counts : bool
        Whether the rule separates signal from noise. The other rules find how many components describe enough of the
        data.
    votes : bool
        Whether the answer of the rule counts if the sequential tests abstain.

    {See Also: RankChoice}

    Examples
    --------
    >>> import eckart as ek
    >>> arrests = ek.datasets.load("usarrests")
    >>> ek.choose_rank(arrests.values, "kaiser", scale=True)["kaiser"].k
    1
    """

    rule: str
    title: str
    k: int | None
    reason: str
    assumes: str
    counts: bool = True
    votes: bool = True
