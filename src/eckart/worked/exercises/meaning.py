"""The meaning of a label: which of the targets its values may be, or something that is not asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from eckart.worked.exercises.arithmetic import Linear
from eckart.worked.exercises.lexicon import (
    ARTICLES,
    IS,
    OF,
    Mention,
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
from eckart.worked.exercises.statement import SEPARATORS, Item, Statement, text_of
from eckart.worked.exercises.symbols import SUBJECTS, Sense, norm_name, norm_title, sense
from eckart.worked.exercises.targets import COLUMNS, Target

_OPPOSITE = {"largest": "smallest", "smallest": "largest"}
_SEVERAL = re.compile(  # the first two components
    r"(?i)(?:first|second|prim[ei]|primer[ao]s|перв\w+|last)\s+(?:[1-9]|two|three|four|due|tre|quattro|dos|tres|"
    r"cuatro|дв|тр|чет)"
)
_MINUS = re.compile(r"(?i)(?<!di )(?<!varían )(?<!varian )(?<!variano )\b(?:minus|meno|минус)\b")
_GRAM = re.compile(r"([AMX])(?:\^T|') ?\1")
"""The matrix of cross-products, whose eigenvalues are meant where the question does not say more."""
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
    chosen = _chosen([_part(part, targets) for part in _parts(own.label)])
    chosen = replace(chosen, title=_title(own, chosen))
    kept = _consistent(chosen, said, targets)
    if side_of(said) == "columns" and any(targets[i].form in COLUMNS for i in kept.targets or ()):
        return replace(kept, title=f"{chosen.title} (columns)")
    whole = kept.foreign and "norm" not in chosen.title
    return replace(kept, title=text_of(own.label)) if whole else kept


def _chosen(parts: list[Meaning]) -> Meaning:
    """The last meaning that says something, with the last number among all meanings."""
    telling = [one for one in parts if one.targets is not None or one.sense != Sense()]
    chosen = (telling or parts or [Meaning()])[-1]
    if chosen.targets is None and chosen.sense == Sense(index=chosen.index):
        before = next((one for one in reversed(telling) if one.targets), chosen)  # scores: first ..., second ...
        chosen = replace(before, sense=replace(before.sense, index=chosen.index))
    index = next((one.index for one in reversed(parts) if one.index), 0)
    return replace(chosen, sense=replace(chosen.sense, index=chosen.index or index))


def _parts(label: list[Item]) -> list[list[Item]]:
    """The parts of a label between separators."""
    parts: list[list[Item]] = [[]]
    for item in label:
        if item in SEPARATORS:
            parts.append([])
        else:
            parts[-1].append(item)
    return [part for part in parts if part]


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


@dataclass(frozen=True)
class _Label:
    """One part of a label: its words, what they name, and the meanings of its symbols."""

    items: list[Item]
    targets: Sequence[Target]
    text: str
    squared: bool

    @cached_property
    def words(self) -> list[str]:
        return [word for word in words_of(self.text) if word not in IS]

    @cached_property
    def mentions(self) -> list[Mention]:
        return mentions(self.words, tuple(target.names for target in self.targets))

    @cached_property
    def symbols(self) -> list[tuple[Sense, bool]]:
        return _symbols(self.items, self.targets)

    @property
    def title(self) -> str:
        return text_of(self.items)

    @property
    def prose(self) -> bool:
        return any(word not in _NEUTRAL and word not in ARTICLES for word in self.words)

    @property
    def last(self) -> Sense:
        """The last symbol that is not the object of `of`."""
        return next((one for one, of in reversed(self.symbols) if not of), Sense())

    @property
    def index(self) -> int:
        return next((one.index for one, _ in self.symbols if one.index), 0) or _ordinal(self.text)

    @property
    def has_other(self) -> bool:
        return any(one.other for one, _ in self.symbols)


def _part(items: list[Item], targets: Sequence[Target]) -> Meaning:
    """The meaning of one part of a label."""
    text, squared = without_square(" ".join(item for item in items if isinstance(item, str) and item[0] != "‖"))
    own = _Label(items, targets, text, squared)
    if _is_expression(own):
        return Meaning(frozenset(), title=own.title)
    return _counted(own) or _by_words(own) or _by_symbol(own) or _unnamed(own)


def _is_expression(own: _Label) -> bool:
    """Whether a label is computed from its names: `minus det`, `2 det`, `det(A B)`, `1/det`."""
    texts = [item for item in own.items if isinstance(item, str)]
    named = bool(own.mentions)
    applied = any(re.fullmatch(r"\d+|[^‖^]+\(.*", one) and (not named or not one.endswith("(A)")) for one in texts)
    signs = re.search(r"[-+/*|]", re.sub(r"(?<=\w)-(?=\w)", "", own.text))
    return applied or bool(signs) or bool(_MINUS.search(own.text))


def _counted(own: _Label) -> Meaning | None:
    """`number of components` as the count that is asked for."""
    asked = next((i for i, target in enumerate(own.targets) if target.form == "count"), None)
    before = [word for word in own.words if word not in ARTICLES][: own.mentions[0][1] if own.mentions else 9]
    if asked is None or not any(map(is_count, before)):
        return None
    return Meaning(frozenset({asked}), Sense(), own.title, prose=own.prose)


def _by_words(own: _Label) -> Meaning | None:
    """The targets that the words name; another quantity, if it is named first, or changes a single number."""
    if not own.mentions or own.mentions[0][0] < 0:
        return None
    hits = frozenset(target for target, _ in own.mentions if target >= 0)
    modified = own.has_other or _is_changed(own, hits)
    shown = own.title if modified else _named(own.items, own.title)
    sense = replace(own.last, target=None, index=own.index)
    return Meaning(frozenset() if modified else hits, sense, shown, own.squared or own.last.squared, own.prose)


def _is_changed(own: _Label, hits: frozenset[int]) -> bool:
    """Whether a word or a square makes single numbers something else: `the determinant of the inverse`."""
    if not all(own.targets[i].form in {"number", "count"} for i in hits):
        return False
    rooted = any(own.targets[i].squared or own.targets[i].unsigned for i in hits)
    return (own.squared and not rooted) or any(map(changes, own.words))  # det^2 = 4


def _by_symbol(own: _Label) -> Meaning | None:
    """The target of the last symbol; nothing that is asked for, if only other quantities are named."""
    last = own.last
    if last.target is not None:
        alone = bool(own.mentions) or not any(one.other for one, _ in own.symbols[:-1])
        sense = replace(last, index=last.index or own.index)
        shown = _named(own.items, own.title)
        targets = frozenset({last.target}) if alone else frozenset()
        return Meaning(targets, sense, shown, own.squared or last.squared, own.prose)
    if own.mentions or own.has_other:
        return Meaning(frozenset(), Sense(), norm_title(own.title) if own.title.startswith("‖") else own.title)
    return None


def _unnamed(own: _Label) -> Meaning:
    """A label without a name, which may say which row or column it is about."""
    place = next((one.place for one, _ in own.symbols if one.place), "")
    side = f"{place}s" if place in {"row", "column"} else side_of(own.text)
    sense = replace(own.last, index=own.index)
    return Meaning(None, sense, own.title, own.squared, own.prose or bool(own.symbols), side)


def _named(items: list[Item], title: str) -> str:
    """The symbol of a label that has one, since V is a matrix of columns."""
    last = items[-1]
    return last.name if isinstance(last, Linear) and len(items) <= 3 else title


def _ordinal(text: str) -> int:
    return ordinal_of(text) if not _SEVERAL.search(text) else 0


def _symbols(items: list[Item], targets: Sequence[Target]) -> list[tuple[Sense, bool]]:
    """The meanings of symbols, and whether they follow `of`; the matrix of the question means nothing new."""
    found: list[tuple[Sense, bool]] = []
    for place, item in enumerate(items):
        if isinstance(item, Linear):
            before = items[place - 1] if place else None
            own = _symbol(item, before, place + 1 == len(items), targets)
            found += [own] if own is not None else []
        elif item.startswith("‖"):
            found.append((_norm(item, targets), False))
        elif re.fullmatch(r"_\d+", item):
            found.append((Sense(free=True), False))
    return found


def _symbol(item: Linear, before: Item | None, last: bool, targets: Sequence[Target]) -> tuple[Sense, bool] | None:
    """The meaning of one symbol, and whether it follows `of`; None if it means nothing new."""
    name = item.symbol or item.name
    own = sense(name, targets) if item.symbol else Sense()
    word = before.lower() if isinstance(before, str) else ""
    if word and own.free and _is_other_matrix(name, targets):
        own = Sense()  # the determinant of B
    if word and _is_subject(name, own, word, targets):
        return None
    if own.other and not last and re.fullmatch(r"[A-Z]{2,4}", name):
        return None  # after one step of EM
    return own, word in OF and own.target is None and not own.other


def _is_other_matrix(name: str, targets: Sequence[Target]) -> bool:
    """Whether a letter is a matrix that the question does not have, where one number is asked for."""
    scalar = bool(targets) and targets[0].form in {"number", "count"}
    return scalar and re.fullmatch(r"[BDEFGHLNPY]", name) is not None


def _is_subject(name: str, own: Sense, before: str, targets: Sequence[Target]) -> bool:
    """Whether a symbol behind a word is only what the word is about, or states a value again."""
    if before in IS and own.target is None and not own.place:
        return True  # the error is sigma_2 = 4
    gram = _GRAM.fullmatch(name) is not None and _has_spectrum(targets)
    return name in SUBJECTS or (before in OF and (own.free or gram))


def _has_spectrum(targets: Sequence[Target]) -> bool:
    """Whether eigenvalues of a table are asked for, which are those of its cross-products."""
    return any("lambda" in target.names and target.extreme == "smallest" for target in targets)


def _squared_error(targets: Sequence[Target]) -> int | None:
    return next((i for i, one in enumerate(targets) if "error" in one.names and one.squared), None)


def _norm(text: str, targets: Sequence[Target]) -> Sense:
    name, squared = norm_name(text)
    target = next((i for i, one in enumerate(targets) if name in one.names), None) if name else None
    root = target is None and name == "Frobenius norm"
    target = _squared_error(targets) if root else target
    wrong = [one for one in re.findall(r"[A-Z]_?\d", text) if sense(one, targets).target is None]
    return Sense() if target is None or wrong else Sense(target, squared=squared, root=root)


__all__ = ["COLUMNS", "Meaning", "meaning"]
