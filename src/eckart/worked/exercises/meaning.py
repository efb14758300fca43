"""The meaning of a label: which of the targets its values may be, or something that is not asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from eckart.worked.exercises.arithmetic import Linear
from eckart.worked.exercises.lexicon import (
    ARTICLES,
    IS,
    OF,
    changes,
    extreme_of,
    is_count,
    mentions,
    refuse_changing,
    side_of,
    without_square,
    word_set,
    words_of,
)
from eckart.worked.exercises.ordinals import ordinal_of
from eckart.worked.exercises.statements import SEPARATORS, Item, Statement, text_of
from eckart.worked.exercises.symbols import SUBJECTS, Sense, norm_name, norm_title, sense
from eckart.worked.exercises.targets import COLUMNS, Target

_OPPOSITE = {"largest": "smallest", "smallest": "largest"}
_SEVERAL = re.compile(  # the first two components
    r"(?i)(?:first|second|prim[ei]|primer[ao]s|перв\w+|last)\s+(?:[1-9]|two|three|four|due|tre|quattro|dos|tres|"
    r"cuatro|дв|тр|чет)"
)
_MINUS = re.compile(r"(?i)(?<!di )(?<!varían )(?<!varian )(?<!variano )\b(?:minus|meno|минус)\b")
_START = re.compile(r"(?i)(?:the |la |el |col\w+ )*(?:mean|average|media|средн|initial|inizial|inicial|начальн|start)")
_NEUTRAL = word_set("""answer answers result solution final so then thus hence therefore we get have i get obtain find
    found here where my the is are and ans sol res it its this that risposta risultato soluzione quindi allora dunque
    ottengo si ottiene respuesta resultado solución luego entonces así obtengo se obtiene por lo tanto ответ результат
    решение итак тогда следовательно получаем получаю получилось у меня value valore valor значение vector
    vettore вектор     matrix matrice matriz матрица number numero número with con e y и a an""")


@dataclass(frozen=True)
class Meaning:
    """The targets that a label names: None if it says nothing, empty if it names something else."""

    targets: frozenset[int] | None = None
    sense: Sense = field(default_factory=Sense)
    title: str = ""
    squared: bool = False
    prose: bool = False
    """Whether it has words of its own, so that its numbers may belong to the prose."""
    side: str = ""

    @property
    def foreign(self) -> bool:
        return self.targets is not None and not self.targets

    @property
    def target(self) -> int | None:
        return next(iter(self.targets)) if self.targets is not None and len(self.targets) == 1 else None

    @property
    def index(self) -> int:
        return self.sense.index


def meaning(own: Statement, targets: Sequence[Target]) -> Meaning:
    """The meaning of the label of a statement: that of its last part which has one."""
    said = " ".join(item for item in [*own.label, *own.after] if isinstance(item, str))
    refuse_changing(said)
    if own.after[:1] == ["("] and _START.match(text_of(own.after)):
        return Meaning(frozenset(), title=text_of(own.label))  # x = 7 (the mean), ...
    parts: list[list[Item]] = [[]]
    for item in own.label:
        if item in SEPARATORS:
            parts.append([])
        else:
            parts[-1].append(item)
    found = [_part(part, targets) for part in parts if part]
    chosen = next((one for one in reversed(found) if one.targets is not None or one.sense != Sense()), None)
    if chosen is None:
        chosen = found[-1] if found else Meaning()
    index = next((one.index for one in reversed(found) if one.index), 0)
    chosen = replace(chosen, sense=replace(chosen.sense, index=chosen.index or index), title=_title(own, chosen))
    found_so = _consistent(chosen, said, targets)
    whole = found_so.foreign and "norm" not in chosen.title
    return replace(found_so, title=text_of(own.label)) if whole else found_so


def _title(own: Statement, chosen: Meaning) -> str:
    """The label in messages; a single symbol says which matrix it is."""
    return chosen.title or text_of(own.label)


def _consistent(own: Meaning, said: str, targets: Sequence[Target]) -> Meaning:
    """Without targets that the words contradict: `columns` for chosen rows, `largest` for the smallest value."""
    if own.targets is None:
        return own
    extreme, side = extreme_of(said), own.side or side_of(said)
    kept = frozenset(
        i for i in own.targets
        if not (extreme and targets[i].extreme and extreme == _OPPOSITE[targets[i].extreme])
        and not (targets[i].form == "set" and side and side != set_side(targets[i]))
    )  # fmt: skip
    return replace(own, targets=kept)


def set_side(target: Target) -> str:
    return "columns" if {"columns", "column"} & set(target.names) else "rows"


def _part(items: list[Item], targets: Sequence[Target]) -> Meaning:
    """The meaning of one part of a label."""
    text, squared = without_square(" ".join(item for item in items if isinstance(item, str) and item[0] != "‖"))
    words = [word for word in words_of(text) if word not in IS]
    named = mentions(words, tuple(target.names for target in targets))
    symbols = _symbols(items, targets)
    title = text_of(items)
    prose = any(word not in _NEUTRAL and word not in ARTICLES for word in words)
    apposed = [one for one, of in symbols if not of]
    last = apposed[-1] if apposed else Sense()
    index = next((one.index for one, _ in symbols if one.index), 0) or _ordinal(text, prose)
    texts = [item for item in items if isinstance(item, str)]
    applied = any(re.fullmatch(r"\d+|[^‖^]+\(.*", one) and (not named or not one.endswith("(A)")) for one in texts)
    if _MINUS.search(text) or applied or re.search(r"[-+/*|]", re.sub(r"(?<=\w)-(?=\w)", "", text)):
        return Meaning(frozenset(), title=title)
    counted = next((i for i, target in enumerate(targets) if target.form == "count"), None)
    if counted is not None and any(
        map(is_count, [word for word in words if word not in ARTICLES][: named[0][1] if named else 9])
    ):
        return Meaning(frozenset({counted}), Sense(), title, prose=prose)
    if named and named[0][0] >= 0:
        hits = frozenset(target for target, _ in named if target >= 0)
        scalar = all(targets[i].form in {"number", "count"} for i in hits)
        modified = any(one.other for one, _ in symbols) or (scalar and any(map(changes, words)))
        own = replace(last, target=None, index=index)
        shown = title if modified else _named(items, title)
        return Meaning(frozenset() if modified else hits, own, shown, squared or last.squared, prose)
    if last.target is not None:
        only = Sense() if named or not any(one.other for one, _ in symbols[:-1]) else None
        allowed = frozenset({last.target}) if only is not None else frozenset()
        return Meaning(allowed, replace(last, index=last.index or index), _named(items, title),
                       squared or last.squared, prose)  # fmt: skip
    if named or any(one.other for one, _ in symbols):
        return Meaning(frozenset(), Sense(), norm_title(title) if title.startswith("‖") else title)
    place = next((one.place for one, _ in symbols if one.place), "")
    own = replace(last, index=index)
    return Meaning(
        None, own, title, squared, prose or bool(symbols), f"{place}s" if place in {"row", "column"} else side_of(text)
    )


def _named(items: list[Item], title: str) -> str:
    """The symbol of a label that has one, since V is a matrix of columns."""
    last = items[-1]
    return last.name if isinstance(last, Linear) and len(items) <= 3 else title


def _ordinal(text: str, prose: bool) -> int:
    return ordinal_of(text) if not _SEVERAL.search(text) else 0


def _symbols(items: list[Item], targets: Sequence[Target]) -> list[tuple[Sense, bool]]:
    """The meanings of symbols, and whether they follow `of`; the matrix of the question means nothing new."""
    found: list[tuple[Sense, bool]] = []
    scalar = bool(targets) and targets[0].form in {"number", "count"}
    for place, item in enumerate(items):
        before = items[place - 1] if place else ""
        of = isinstance(before, str) and before.lower() in OF
        if isinstance(item, Linear):
            name = item.symbol or item.name
            subject = name in SUBJECTS and place and isinstance(before, str)
            own = sense(name, targets) if item.symbol else Sense()
            if own.free and place and isinstance(before, str) and re.fullmatch(r"[BDEFGHLNPY]", name) and scalar:
                own = Sense()  # the determinant of B
            if isinstance(before, str) and before.lower() in IS and own.target is None and not own.place:
                continue  # the error is sigma_2 = 4
            if re.fullmatch(r"[A-Z]{2,4}", name) and own.other and place + 1 < len(items):
                continue  # after one step of EM
            if not subject and not (of and own.free):
                found.append((own, of and own.target is None and not own.other))
        elif item.startswith("‖"):
            found.append((_norm(item, targets), False))
        elif re.fullmatch(r"_\d+", item):
            found.append((Sense(free=True), False))
    return found


def _norm(text: str, targets: Sequence[Target]) -> Sense:
    name, squared = norm_name(text)
    target = next((i for i, one in enumerate(targets) if name in one.names), None) if name else None
    wrong = [one for one in re.findall(r"[A-Z]_?\d", text) if sense(one, targets).target is None]
    return Sense() if target is None or wrong else Sense(target, squared=squared)


__all__ = ["COLUMNS", "Meaning", "meaning"]
