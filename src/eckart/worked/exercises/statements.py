"""Statements of an answer: a label of words and symbols, and the values that it is about.

answer    = (word | symbol | relation | value | separator)*
statement = label relation? values ((relation) values)* words

Values are read wherever they occur; the text since the last value is the label of the next one. Words after a value
belong to it if they follow a verb (`3 is the rank`), otherwise to the next value (`rank 2, basis rows 1 and 2`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from eckart.errors import InputError
from eckart.worked.exercises.arithmetic import Entry, Grid, Linear, Typed, Value
from eckart.worked.exercises.expressions import Reader
from eckart.worked.exercises.lexicon import AND, ARTICLES, ENOUGH, HAS, IS, OF, OR, PLACES, WITH, word_set
from eckart.worked.exercises.tokens import Token, Tokens, tokens_of

Item = str | Linear
"""A piece of a label: a word, a norm in bars, a separator, or symbols."""
SEPARATORS = frozenset({",", ";", ".", "\n", ":", "("})
_FUNCTIONS = word_set("det rank rg rk trace tr determinant determinante определитель rango ранг")
Mode = tuple[int, bool]
MODES: tuple[Mode, ...] = ((0, False), (1, False), (2, False), (0, True))
"""Where a space multiplies, and whether it separates a number from a vector, as in `Reader`."""


@dataclass
class Statement:
    """A statement about some values.

    `equals` are the sides of an equality that have symbols, `differs` whether its sides are different numbers, and
    `after` the words that follow. `starts` says whether it begins a line or a sentence.
    """

    label: list[Item] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    equals: list[Linear] = field(default_factory=list)
    after: list[Item] = field(default_factory=list)
    differs: bool = False
    relation: str = ""
    starts: bool = True
    indices: bool = False
    vector: bool = False
    either: bool = False
    unit: bool = False
    """Whether its label is what its number counts, as in `2 components`."""

    @property
    def is_count(self) -> bool:
        """Whether the last value is a whole number of things, after others that are not, or alone."""
        if not self.entries:
            return False
        *others, last = self.entries
        whole = isinstance(last, Typed) and not last.error and last.value == last.value.to_integral_value()
        return whole and (not others or any(isinstance(x, Typed) and x.value % 1 for x in others))

    @property
    def is_whole(self) -> bool:
        """Whether all values are whole numbers."""
        return all(
            isinstance(x, Typed) and not x.error and x.value == x.value.to_integral_value() for x in self.entries
        )

    def counted(self) -> list[Statement]:
        """The values before a count, and the count: `3.2, 1.5, 2 are enough`."""
        if len(self.entries) < 2 or not self.is_count:
            return [self]
        first = Statement(entries=self.entries[:-1], starts=self.starts)
        return [first, replace(self, entries=self.entries[-1:], starts=False)]

    @property
    def text(self) -> str:
        """The label as text."""
        return text_of(self.label)

    def atoms(self) -> list[tuple[Entry, ...]]:
        """Adjacent numbers, and each bracket: units that may belong to different targets."""
        found: list[tuple[Entry, ...]] = []
        for entry in self.entries:
            if found and isinstance(entry, Typed) and isinstance(found[-1][0], Typed):
                found[-1] += (entry,)
            else:
                found.append((entry,))
        return found


def text_of(items: Sequence[Item]) -> str:
    """A label as text, from its last separator on that has something behind it."""
    words: list[str] = []
    ended = False
    for item in items:
        shown = item.name if isinstance(item, Linear) else item
        if shown not in SEPARATORS:
            words, ended = [*([] if ended else words), shown], False
        ended = ended or shown in {";", ".", "\n", ","}
    return " ".join(words)


def statements(text: str, mode: Mode, errors: list[str]) -> list[Statement]:
    """The statements of a text, read in one way; what cannot be read is reported in `errors`.

    >>> for one in statements("rank 2, basis = 1 and 3; 2 det A = 4 V = [1 2; 3 4]", (False, False), []):
    ...     print(one.text, [str(x) for x in one.entries if isinstance(x, Typed)])
    rank ['2']
    basis ['1', '3']
    2 det A ['4']
    V []
    """
    return _Machine(tokens_of(text), mode, errors).run()


class _Machine:
    """One pass over the tokens."""

    def __init__(self, tokens: Tokens, mode: Mode, errors: list[str]) -> None:
        self.tokens, self.errors = tokens, errors
        self.reader = Reader(tokens, *mode)
        self.place = 0
        self.done: list[Statement] = []
        self.own = Statement()
        self.alternative = self.splits = False

    def run(self) -> list[Statement]:
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            if token.starts_value and self.value(token):
                continue
            self.place += 1
            if token.kind == "relation":
                self.relation(token)
            elif token.kind in {"word", "norm"}:
                self.word(token)
            elif token.kind in {"end", "comma", "open", "close"}:
                self.separator(token)
            elif token.text == "|":
                self.word(token)
            elif token.text in "+-*/^" and self.own.label and not self.own.entries:
                number = self.peek().text if self.peek().kind == "number" else ""
                self.place += bool(number)
                self.own.label.append(f"{text_of(self.own.label[-1:])}{token.text}{number}")  # det(A)/5
                del self.own.label[-2]
        self.close(at_end=True)
        return self.done

    def peek(self) -> Token:
        return self.tokens[self.place] if self.place < len(self.tokens) else Token("end", "")

    def word(self, token: Token) -> None:
        own, text = self.own, token.text
        self.alternative = False
        if not own.entries and not own.equals:
            own.label.append(text)
            own.relation = own.relation or ("is" if text.lower() in IS and len(own.label) > 1 else "")
        elif (
            text in AND | OR and own.after in ([], [","]) and self.peek().starts_value and self.peek().kind != "symbol"
        ):
            own.either = own.either or text in OR  # 3 and 1
        else:
            own.after.append(text)

    def separator(self, token: Token) -> None:
        """The end of a line or sentence closes a statement; after a comma, words belong to the next value."""
        own = self.own
        text = "," if token.kind == "close" else "(" if token.kind == "open" else token.text
        self.alternative = self.alternative and token.kind not in {"end", "comma"}
        if token.kind == "end":
            if own.entries or own.equals:
                self.close(at_end=True)
            elif own.label:
                own.label.append(text)
            self.own.starts = True
        elif own.after or (own.equals and not own.entries) or (own.entries and self.peek().kind in {"word", "symbol"}):
            own.after.append(text)
        elif not own.entries and own.label:
            own.label.append(text)

    def relation(self, token: Token) -> None:
        own = self.own
        if own.after and self.is_factor():
            own.label, own.entries, own.after = [f"{own.entries[0]}", *own.after], [], []  # 2 det A = 4
        if own.after:
            self.close()
            own = self.own
        if own.indices and not own.relation:
            self.unread()  # v1, v2 = ...
        if own.entries:
            self.alternative = token.text in {"=", "≈"}
            self.splits = not self.alternative
            return
        own.relation = token.text
        if token.text == ":" and own.label:
            own.label.append(":")

    def is_factor(self) -> bool:
        """Whether a number in front of words multiplies them."""
        own, first = self.own, self.own.after[0]
        return not own.label and len(own.entries) == 1 and isinstance(first, str) and first.strip("()") in _FUNCTIONS

    def unread(self) -> None:
        """Symbols that turn out to be names, not indices."""
        numbers = [x for x in self.own.entries if isinstance(x, Typed)]
        self.own.label += [f"_{x.value}" for x in numbers]
        self.own.entries, self.own.indices = [], False

    def value(self, token: Token) -> bool:
        """Read an expression, if there is one here."""
        if token.kind == "open" and not self.reader.is_numeric(self.place):
            return False
        named = bool(self.own.entries or self.own.relation)
        try:
            values, stop = self.reader.read(self.place, named)
        except InputError as error:
            stop = self.skip()
            skipped = self.tokens[self.place : stop]
            self.place = stop
            if token.kind == "function" and self.own.label and any(one.kind == "symbol" for one in skipped):
                return True  # error sqrt(s2^2 + s3^2) = 5
            if any(one.kind == "symbol" for one in skipped):
                self.word(Token("word", "".join(one.text for one in skipped)))  # 1/lambda
            elif self.peek().kind == "word" and len(skipped) > 1:
                self.place += 1
                self.word(
                    Token("word", "".join(one.text for one in skipped) + self.tokens[self.place - 1].text)
                )  # 1/det
            elif token.kind in {"number", "function", "open"} or len(skipped) > 1:
                self.errors.append(str(error))
            elif self.peek().kind == "word":
                self.place += 1
                self.word(Token("word", token.text + self.tokens[self.place - 1].text))  # -det
            return True
        self.place = stop
        for value in values:
            self.symbols(value) if isinstance(value, Linear) else self.entry(value)
        return True

    def skip(self) -> int:
        """The place behind what could not be read."""
        if self.tokens[self.place].kind != "open":
            return max(self.place + 1, min(self.reader.place, len(self.tokens)))
        depth = 0
        for place in range(self.place, len(self.tokens)):
            depth += (self.tokens[place].kind == "open") - (self.tokens[place].kind == "close")
            if not depth:
                return place + 1
        return len(self.tokens)

    def entry(self, value: Entry) -> None:
        own = self.own
        if all(isinstance(item, str) and item.lower() in AND | ARTICLES | {","} for item in own.after):
            own.after.clear()  # the 4 and the 2
        if own.entries and self.alternative and not own.after:
            own.differs = own.differs or not _agree(own.entries[-1], value)
            return
        changes = bool(own.entries) and (_is_share(value) != _is_share(own.entries[-1]) or
                                         (own.indices and isinstance(value, Grid)))  # fmt: skip
        if own.after or changes or (self.splits and own.entries):
            splits = self.splits and not own.after
            self.close()
            self.own.vector = splits
        self.own.entries.append(value)
        self.splits = False

    def symbols(self, value: Linear) -> None:
        """Symbols are a name, one side of an equality, or indices such as r1, r2 in a basis."""
        own, following = self.own, self.peek()
        word = following.text.lower()
        placed = value.symbol.startswith(tuple(PLACES))
        beyond = self.tokens[self.place + 1] if self.place + 1 < len(self.tokens) else Token("end", "")
        verb = word in IS and (not placed or beyond.starts_value)
        is_name = following.kind in {"relation", "number"} or verb or word in HAS or (placed and (
            word in OF or following.kind == "symbol" or following.text == "-"))  # fmt: skip
        is_index = (
            bool(value.index) and not is_name and not (following.kind == "open" and self.reader.is_numeric(self.place))
        )
        if (
            own.after
            and isinstance(own.after[-1], str)
            and own.after[-1].lower() in IS
            and not is_name
            and not is_index
        ):
            self.close()  # .. and row 4 is 2 r1 - r2
            own, self.own.relation = self.own, "is"
        named = own.relation in {"=", "≈", "->"} and not placed
        side = (named or (own.relation and not is_name)) and own.relation != ":" and not own.entries and not own.after
        if side and not (is_index and self.is_list()):
            own.equals.append(value)
        elif own.entries and self.alternative and not own.label:
            own.label.append(value)  # 12 = det A
        elif is_index:
            self.index(value)
        elif own.entries or own.equals:
            own.after.append(value)
        else:
            own.label.append(value)

    def is_list(self) -> bool:
        """Whether an index after a relation is in a list: not in `r1 = r1`."""
        label = [item for item in self.own.label if isinstance(item, Linear)]
        return not (label and (label[-1].index or " " in label[-1].name))

    def index(self, value: Linear) -> None:
        if self.own.indices and all(item in AND | ARTICLES | {","} for item in self.own.after):
            self.own.after.clear()  # r1 and r2
        if (self.own.entries and not self.own.indices) or self.own.after:
            self.close()
        own = self.own
        own.entries.append(Typed(Decimal(value.index)))
        own.indices = True
        noun = value.symbol.rpartition("_")[0]
        if noun in PLACES and noun not in own.label:
            own.label.append(noun)

    def close(self, *, at_end: bool = False) -> None:
        """End a statement; the words after its values may be its own name, or that of the next one."""
        own, after = self.own, self.own.after
        self.own = Statement(starts=False)
        self.alternative = self.splits = False
        if not own.entries and not own.equals:
            self.done += [own] if own.label else []
            return
        named = any(item not in SEPARATORS for item in own.label)
        verb = bool(after) and isinstance(after[0], str) and after[0].lower() in IS
        counts = bool(after) and after[0] not in SEPARATORS | WITH | AND and not verb
        counts = counts or any(item in ENOUGH for item in after)
        if counts and named and own.is_count and len(own.entries) > 1:
            first = replace(own, entries=own.entries[:-1], after=[])  # sigma = 3.2, 1.5, 1 of them is enough
            self.done.append(first)
            own.entries, own.label, named = own.entries[-1:], [], False
        if after and not named and (verb or at_end or (counts and own.is_count)):
            stop = next((i for i, item in enumerate(after) if i and (item in AND or item == ",")), len(after))
            own.label, own.after, own.unit = after[:stop], [], counts
            self.own.label = after[stop + 1 :] if verb or at_end or stop < len(after) else after
        elif after and not at_end:
            last = max((i for i, item in enumerate(after) if item == ","), default=-1)
            own.after, self.own.label = (after[:last], after[last + 1 :]) if last >= 0 else ([], after)
        if own.vector and len(own.entries) > 1 and not any(isinstance(x, Grid) for x in own.entries):
            own.entries = [Grid((tuple(x for x in own.entries if isinstance(x, Typed)),))]  # 3: 0.6 0.8
        self.done += own.counted() if own.unit else [own]


def _is_share(value: Entry) -> bool:
    return isinstance(value, Typed) and value.percent


def _agree(first: Entry, last: Entry) -> bool:
    """Whether two sides of an equality are equal, within rounding."""
    a, b = flat([first]), flat([last])
    return len(a) == len(b) and all(map(_is_rounded, a, b))


def _is_rounded(a: Typed, b: Typed) -> bool:
    """Whether one number is the other, rounded or truncated; two decimals may both be rounded."""
    gap = abs(a.value - b.value)
    errors = [x.error or Decimal(int(x.percent)) / 100 for x in (a, b)]  # 95 % may be rounded
    if all(errors):
        return gap <= max(*errors, abs(a.value) / 50)
    error = max(errors)
    cut = gap < error and abs(b.value if errors[1] else a.value) < abs(a.value if errors[1] else b.value)
    return cut or gap <= error / 2 * Decimal("1.0000001") or gap <= Decimal("1e-12") * abs(a.value)


def flat(entries: Sequence[Entry]) -> list[Typed]:
    """All numbers of some entries, in row order."""
    return [x for entry in entries for x in (sum(entry.rows, ()) if isinstance(entry, Grid) else (entry,))]


__all__ = ["MODES", "Item", "Mode", "Statement", "Value", "flat", "statements", "text_of"]
