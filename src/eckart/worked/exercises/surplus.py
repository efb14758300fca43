"""Numbers under the name of a result that cannot be one: a third eigenvalue of a 2 x 2 matrix, sigma_1 < sigma_2."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from eckart.worked.exercises.arithmetic import Typed
from eckart.worked.exercises.compare import WRONG, Verdict
from eckart.worked.exercises.knowledge import Knowledge
from eckart.worked.exercises.rows import Row
from eckart.worked.exercises.symbols import normal
from eckart.worked.exercises.targets import Target
from eckart.worked.messages import tr


def contradiction(rows: Sequence[Row], targets: Sequence[Target], known: Knowledge | None) -> Verdict | None:
    """The verdict on an answer that numbers its values wrongly; None if it does not."""
    for target in targets:
        if target.form != "numbers":
            continue
        own = list(_numbered(rows, target))
        if known is not None and any(_is_surplus(place, x, target, known) for place, x in own):
            return Verdict(WRONG, tr("The answer contains numbers that are not part of the solution."))
        if "sigma" in target.names and not target.pairing and _is_ascending(own):
            return Verdict(WRONG, tr("Singular values are numbered from the largest to the smallest."))
    return None


def _numbered(rows: Sequence[Row], target: Target) -> Iterator[tuple[int, Typed]]:
    """The single numbers that have the symbol of a target and a number, such as lambda_3 = 5."""
    letters = "|".join(re.escape(name) for name in target.names if name in {"lambda", "sigma"})
    for row in rows:
        found = re.fullmatch(rf"({letters or '(?!)'})([1-9])", normal(row.title))
        if found and row.is_number:
            yield int(found[2]), row.numbers[0]


def _is_surplus(place: int, x: Typed, target: Target, known: Knowledge) -> bool:
    """Whether there is no such value: of kernel matrices and for minor components, not all are asked for."""
    others = len(target.value) < known.given.cols or "kernel" in (known.arguments or {})
    return place > len(target.value) and bool(x.value) and not (others and known.has(x))


def _is_ascending(own: list[tuple[int, Typed]]) -> bool:
    """Whether a later singular value is larger than an earlier one."""
    values = [x.value for _, x in sorted(own, key=lambda one: one[0])]
    return any(later > earlier for earlier, later in pairwise(values))
