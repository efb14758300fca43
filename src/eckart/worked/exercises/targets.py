"""What an exercise asks for: names, form, expected value, and what leaves it unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eckart.worked.messages import tr

COLUMNS = frozenset({"directions", "axes", "frame", "scores"})
"""Forms whose columns are vectors."""


@dataclass(frozen=True)
class Target:
    """One thing that is asked for.

    `form` is "number", "count" (a whole number of things), "numbers" (in any order), "list" (in this order),
    "probabilities" (in this order), "matrix", "frame" (a matrix, or its columns one by one), "directions" (columns up
    to sign, of unit length), "axes" (columns of any length), "inverse" (that of the matrix with these axes), "scores"
    (columns up to sign), "set" (whole numbers) or "edges" (pairs of whole numbers). `names` are the accepted names;
    messages use the first. Targets with the same `pairing` must be in the same order, such as eigenvectors in the order
    of the eigenvalues. If `signed`, their signs must match too, such as those of u and v. `label` is the name in the
    key, if the question asks for something other than the last result. `also` contains other right values, such as the
    eigenvalues of the covariance matrix if the solution has those of the cross-products; a Target among them has its
    own form. An `optional` target is an intermediate result: judged if given, but not required. `scale` is the size
    relative to which decimals are rounded, such as 1 for correlations; 0 uses the largest value. A `squared` target
    asks for squares, such as d^2 for d. An `unsigned` one is never negative, so `sigma^2 = 9` gives sigma. `reserved`
    contains letters with another meaning in the question, such as C for the product C U R. `extreme` is "largest" or
    "smallest" for one value of several, which must not be called the other. A target `by_row` has a value or a line
    for each row of the question, so that vectors are its rows. A number that is `iterated` is a limit, so a decimal may
    be a late iterate. `ordered` vectors are in the order of the solution, unless their eigenvalues are given too.
    """

    names: tuple[str, ...]
    form: str
    value: Any
    pairing: str = ""
    signed: bool = False
    label: str = ""
    also: tuple[Any, ...] = ()
    optional: bool = False
    scale: int = 0
    squared: bool = False
    unsigned: bool = False
    reserved: tuple[str, ...] = ()
    extreme: str = ""
    by_row: bool = False
    iterated: bool = False
    ordered: bool = False

    @property
    def shown(self) -> str:
        """The name in messages, in the current language."""
        return tr(self.names[0])

    @property
    def is_number(self) -> bool:
        """Whether one number is asked for."""
        return self.form in {"number", "count"} or (self.form == "numbers" and len(self.value) == 1)
