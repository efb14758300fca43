"""The meaning of a symbol in an answer: `det(A)`, `v2`, `sigma^2`, `V^T`, `x(1,2)`, `E(-6)`, `‖A - A_1‖_F`.

A symbol matches a target only if nothing in it changes its meaning: `det(2A)` and `V^-1` are different things. A single
letter is free: the writer may have chosen it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from eckart.worked.exercises.lexicon import extreme_of
from eckart.worked.exercises.synonyms import SYNONYMS
from eckart.worked.exercises.targets import COLUMNS, Target

SUBJECTS = frozenset({"A", "M", "X"})
"""Names of the matrix of a question, as in rank(A)."""
_FIXED = frozenset({"A", "k", "K", "n", "I"})
"""Letters with one meaning in all questions; any other letter may be the writer's own name."""
_SUFFIX = re.compile(r"(.+?)_?(max|min|dom|inf|infty|F|tot|new|nuovo|nuova|k|n|[+₊₋−-])")
_SPACE = re.compile(r"(?:E|Eig|V|v|e|x|w|u|q)(?:_)?")
_MOST = 9


@dataclass(frozen=True)
class Sense:
    """What a symbol means: a target and its column or entry (0: all), a free letter, a place, or something else."""

    target: int | None = None
    index: int = 0
    squared: bool = False
    root: bool = False
    """Whether it is the root of what is asked for: a norm instead of its square."""
    transposed: bool = False
    free: bool = False
    place: str = ""
    key: str = ""
    """The eigenvalue in a name such as E(-6)."""

    @property
    def other(self) -> bool:
        return self.target is None and not self.free and not self.place and not self.key


_OTHER = Sense()


def sense(name: str, targets: Sequence[Target]) -> Sense:
    """The meaning of a symbol.

    >>> targets = (Target(("lambda",), "numbers", [3, 1]), Target(("det",), "number", 3))
    >>> sense("lambda_2", targets).index, sense("|A|", targets).target, sense("det(2A)", targets).other
    (2, 1, True)
    """
    name = re.sub(r"\^\(([-+]?\w+)\)", r"^\1", name.strip())
    name = "det" if re.fullmatch(r"\|\s?[A-Z]\s?\|", name) else re.sub(r"^([UV])[tTh]$", r"\1^T", name)
    if (place := _numbered(name, targets)) is not None:
        return place
    if re.fullmatch(r"(?:sigma|sp|spec)\([AM]\)", name, re.IGNORECASE):
        name = "eigenvalues"  # the spectrum
    found = _called(name, targets)
    if found is not None:
        return Sense(found)
    return _changed(name, targets) or _indexed(name, targets) or _with_argument(name, targets) or _letter(name, targets)


def _numbered(name: str, targets: Sequence[Target]) -> Sense | None:
    """A numbered row, column or point, the row x'_2 of the question, or the eigenspace E_5."""
    if place := re.fullmatch(r"(row|column|point)_(\d+)", name):
        return Sense(place=place[1], index=int(place[2]))
    if (row := re.fullmatch(r"[Xx](?:'_?(\d)|_?(\d)')", name)) and any(target.by_row for target in targets):
        return Sense(place="row", index=int(row[1] or row[2]))
    if (space := re.fullmatch(r"(?:E|Eig)_?(\d+)", name)) and any("lambda" in target.names for target in targets):
        return Sense(key=space[1])
    return None


def normal(name: str) -> str:
    """A name without spaces and signs of subscripts."""
    return re.sub(r"[\s_^{}(),*]", "", name)


@cache
def _known(names: tuple[str, ...]) -> frozenset[str]:
    """The symbols of a target, with short synonyms such as PC."""
    short = [
        other for name in names for other in SYNONYMS.get(name, "").split(", ") if 1 < len(other) < 5 or "_" in other
    ]
    return frozenset(map(normal, (*names, *short)))


def _called(name: str, targets: Sequence[Target]) -> int | None:
    """The target with this name, in the same case or, for longer names, in any."""
    wanted = normal(name)
    exact = [i for i, target in enumerate(targets) if wanted in _known(target.names)]
    loose = [i for i, target in enumerate(targets) if wanted.lower() in {n.lower() for n in _known(target.names)}]
    reserved = any(name in target.reserved for target in targets)
    return next(iter(exact + ([] if reserved else loose)), None)


def _changed(name: str, targets: Sequence[Target]) -> Sense | None:
    """A name with a power, a transpose or a suffix; None if it has none."""
    if squared := re.fullmatch(r"(.+)\^2", name):
        return _squared(sense(squared[1], targets), targets)
    if transposed := re.fullmatch(r"(.+?)(?:\^[TtH]|')", name):
        return _transposed(sense(transposed[1], targets), name, targets)
    if first := re.fullmatch(r"(.+?)\^1", name):
        return sense(first[1], targets)
    return _OTHER if "^" in name else _suffixed(name, targets)


def _squared(own: Sense, targets: Sequence[Target]) -> Sense:
    able = own.target is not None and (targets[own.target].squared or targets[own.target].unsigned)
    return replace(own, squared=True) if able else _OTHER


def _transposed(own: Sense, name: str, targets: Sequence[Target]) -> Sense:
    if own.target is None:
        return own if name.endswith("'") else _OTHER
    return replace(own, transposed=True) if hasattr(targets[own.target].value, "shape") else _OTHER


def _suffixed(name: str, targets: Sequence[Target]) -> Sense | None:
    """`lambda_max` and `W_new` are lambda and W, unless the question asks for the smallest."""
    suffix = _SUFFIX.fullmatch(name)
    own = sense(suffix[1], targets) if suffix else _OTHER
    if suffix is None or own.target is None:
        return None
    extreme = targets[own.target].extreme
    return _OTHER if extreme and extreme_of(suffix[2]) not in {"", extreme} else own


def _indexed(name: str, targets: Sequence[Target]) -> Sense | None:
    """A name with the number of a column or an entry."""
    match = re.fullmatch(r"(.*[^\W\d])_?([1-9]\d?)[yY]?", name)  # r_1y is that of x_1 and y
    if match is None:
        return None
    base, index = normal(match[1]), match[2]
    for i, target in enumerate(targets):
        if base not in _known(target.names):
            continue
        if entry_of(target):
            return Sense(i) if index == entry_of(target) else _OTHER
        if int(index) <= count_of(target):
            return Sense(i, int(index))
    return None


def _with_argument(name: str, targets: Sequence[Target]) -> Sense | None:
    """`rank(A)`, `x(2, 1)`, `r(x1, y)`, `E(-6)`: an argument that says which one."""
    match = re.fullmatch(r"([^()]+)\((.*)\)", name)
    if match is None:
        return None
    base, inside = match[1], match[2].strip()
    own = sense(base, targets)
    if pair := re.fullmatch(r"[Xx]?_?([1-9]\d?)\s*[,;]\s*[Yy]", inside):
        return sense(f"{base}_{pair[1]}", targets)
    if own.target is not None and entry_of(targets[own.target]):
        return own if re.sub(r"\D", "", inside) == entry_of(targets[own.target]) else _OTHER
    return (_space(inside) if _SPACE.fullmatch(base) else None) or _applied(own, base, inside, targets)


def _space(inside: str) -> Sense | None:
    """The eigenspace of an eigenvalue: `E(-6)`, `E(lambda_2)`."""
    if value := re.fullmatch(r"(?:lambda\s*=\s*)?([-+\d./\s]+|[-+]?\d*\s?sqrt.*)", inside):
        return Sense(key=value[1])
    order = re.fullmatch(r"lambda_?(\d)", inside)
    return Sense(free=True, index=int(order[1])) if order else None


def _applied(own: Sense, base: str, inside: str, targets: Sequence[Target]) -> Sense:
    """A target of the matrix of the question, its entry, or all of its numbers; anything else is another thing."""
    if own.target is None:
        return _OTHER
    if inside in SUBJECTS:
        return own
    if re.fullmatch(r"\d", inside):
        return sense(f"{base}_{inside}", targets)
    every = targets[own.target].form == "numbers" and re.fullmatch(r"1(\s*[,/]\s*\d)+", inside)
    return own if every else _OTHER  # lambda(1,2) = 2 ± sqrt(3): all of them


def _letter(name: str, targets: Sequence[Target]) -> Sense:
    """A single letter of the writer's choice; letters with a meaning in the question are something else."""
    letter = re.fullmatch(r"([^\W\d_]|mu|nu|rho|phi|[a-zA-Z]_?\d?[₊₋])(?:_?(\d+)|_[ij]|')?", name)
    if letter is None or letter[1] in _FIXED or letter[1] in {"lambda", "sigma"}:
        return _OTHER
    if any({name, letter[1]} & set(target.reserved) for target in targets):
        return _OTHER
    other = any(_is_other_entry(letter[1], letter[2] or "", target) for target in targets)
    return _OTHER if other else Sense(free=True, index=int(letter[2] or 0))


def _is_other_entry(letter: str, index: str, target: Target) -> bool:
    """Whether a letter means another entry than the one that is asked for, or W_2 for the first W."""
    return letter in target.names and bool(entry_of(target) or (index not in {"", "1"} and target.form == "matrix"))


def entry_of(target: Target) -> str:
    """The indices of a requested single entry, 52 for x_{5,2}; "" for all other targets."""
    return re.sub(r"\D", "", target.label) if re.search(r"\d,\d", target.label) else ""


def count_of(target: Target) -> int:
    """Number of columns or entries of a target; the scores t1, t2, ... may be those of rows."""
    if target.form == "scores" or (target.form in COLUMNS and target.value.cols == 1):
        return int(max(target.value.shape))
    if target.form in COLUMNS:
        return int(target.value.cols)
    if target.form == "number" or (target.form == "numbers" and len(target.value) == 1):
        return _MOST  # one eigenvalue of several, whatever its number
    return len(target.value) if target.form in {"numbers", "list", "probabilities"} else 0


def norm_title(text: str) -> str:
    """The name of an error in messages: `Frobenius norm (A - A_2)`."""
    name, squared = norm_name(text)
    inside = text.split("‖")[1].strip()
    return f"{name} ({inside}){'^2' if squared else ''}" if name else text


def norm_name(text: str) -> tuple[str, bool]:
    """A norm of a difference as the name of an error, and whether it is squared; "" for any other norm.

    >>> norm_name("‖A - A_1‖_F^2"), norm_name("‖A - A_1‖"), norm_name("‖A‖_F")
    (('error', True), ('Frobenius norm', False), ('', False))
    """
    match = re.fullmatch(r"‖([^‖]*)‖_?\(?(\w*)\)?(\^\(?2\)?)?", text)
    if match is None or not re.search(r"\S\s*-|^\s*E\s*$", match[1]):  # E = A - A_k
        return "", False
    if match[2] == "2" and not match[3]:
        return "spectral norm", False
    return ("error", True) if match[3] else ("Frobenius norm", False)
