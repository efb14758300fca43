"""Statements of an answer: a label of words and symbols, and the values that it is about.

answer    = (word | symbol | relation | value | separator)*
statement = label relation? values ((relation) values)* words

Values are read wherever they occur; the text since the last value is the label of the next one. Words after a value
belong to it if they follow a verb (`3 is the rank`), otherwise to the next value (`rank 2, basis rows 1 and 2`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from eckart.errors import InputError
from eckart.worked.exercises.arithmetic import Entry, Grid, Linear, Typed
from eckart.worked.exercises.expressions import Reader
from eckart.worked.exercises.lexicon import AND, ARTICLES, ENOUGH, HAS, IS, OF, OR, PLACES, WITH, word_set
from eckart.worked.exercises.statement import SEPARATORS, Item, Statement, agree, is_percentage, text_of
from eckart.worked.exercises.tokens import Token, Tokens, tokens_of

_FUNCTIONS = word_set("det rank rg rk trace tr determinant determinante определитель rango ранг")
Mode = tuple[int, bool]
MODES: tuple[Mode, ...] = ((0, False), (1, False), (2, False), (0, True))
"""Where a space multiplies, and whether it separates a number from a vector, as in `Reader`."""


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
        self.alternative = self.splits = self.either = False
        self.others: list[list[Item]] = []
        self.steps: dict[str, Callable[[Token], None]] = {
            "relation": self.relation, "word": self.word, "norm": self.norm,
            **dict.fromkeys(("end", "comma", "open", "close"), self.separator),
        }  # fmt: skip

    def run(self) -> list[Statement]:
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            if token.starts_value and self.value(token):
                continue
            self.place += 1
            self.steps.get("word" if token.text == "|" else token.kind, self.operator)(token)
        self.close(at_end=True)
        return self.done

    def operator(self, token: Token) -> None:
        """A sign behind a label changes its meaning: `det(A)/5`."""
        if token.text not in "+-*/^" or not self.own.label or self.own.entries:
            return
        number = self.peek().text if self.peek().kind == "number" else ""
        self.place += bool(number)
        self.own.label[-1:] = [f"{text_of(self.own.label[-1:])}{token.text}{number}"]

    def peek(self, ahead: int = 0) -> Token:
        place = self.place + ahead
        return self.tokens[place] if place < len(self.tokens) else Token("end", "")

    def word(self, token: Token) -> None:
        own, text = self.own, token.text
        self.alternative = False
        if not own.entries and not own.equals:
            own.label.append(text)
            own.relation = own.relation or ("is" if text.lower() in IS and len(own.label) > 1 else "")
        elif self.joins(text):
            self.either = text in OR
            own.after.clear()
        else:
            own.after.append(text)

    def norm(self, token: Token) -> None:
        """A norm between two equals signs is another name of the value behind them: ‖E‖_F = ‖E‖_2 = 3."""
        own = self.own
        if own.label and own.relation == "=" == self.peek().text and not (own.entries or own.equals):
            self.others.append(own.label)
            own.label = []
        self.word(token)

    def joins(self, text: str) -> bool:
        """Whether a conjunction joins a value to the next one: `3 and 1`, `2 (or 3)`."""
        following = self.peek()
        opened = self.own.after == ["("] and text in OR
        joined = opened or (text in AND | OR and self.own.after in ([], [","]))
        return joined and following.starts_value and following.kind != "symbol"

    def separator(self, token: Token) -> None:
        """The end of a line or sentence closes a statement; after a comma, words belong to the next value."""
        own = self.own
        text = {"close": ",", "open": "("}.get(token.kind, token.text)
        self.alternative = self.alternative and token.kind not in {"end", "comma"}
        if token.kind == "end":
            self.end(text)
        elif own.after or (own.equals and not own.entries):
            own.after.append(text)
        elif own.entries:
            own.after += [text] if self.peek().kind in {"word", "symbol"} else []
        elif own.label:
            own.label.append(text)

    def end(self, text: str) -> None:
        """The end of a line or a sentence."""
        if self.own.entries or self.own.equals:
            self.close(at_end=True)
        elif self.own.label:
            self.own.label.append(text)
        self.own.starts = True

    def relation(self, token: Token) -> None:
        own = self.own
        if token.text == ":" and own.indices and self.peek(1).kind == "relation":
            self.close()
            return
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
            self.unreadable(token, str(error))
            return True
        self.place = stop
        for value in values:
            self.symbols(value) if isinstance(value, Linear) else self.entry(value)
        return True

    def unreadable(self, token: Token, error: str) -> None:
        """What is not a value is a word if it has letters, as in 1/lambda, 1/det or -det."""
        stop = self.skip()
        skipped = self.tokens[self.place : stop]
        self.place = stop
        text = "".join(one.text for one in skipped)
        if self.own.relation in {"=", "≈"} and self.peek().text in {"=", "≈"}:
            return  # u1 = A v1/sigma1 = (1, 2)
        if "symbol" in {one.kind for one in skipped}:
            self.expression(token, text)
        elif self.peek().kind == "word" and (len(skipped) > 1 or not token.is_operand) and not _is_list(skipped):
            self.place += 1
            self.word(Token("word", text + self.tokens[self.place - 1].text))
        else:
            self.errors += [error] if token.is_operand or len(skipped) > 1 else []

    def expression(self, token: Token, text: str) -> None:
        """An expression with symbols as a word, except the root behind a name: error sqrt(s2^2 + s3^2) = 5."""
        if token.kind != "function" or not self.own.label:
            self.word(Token("word", text))

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
        if all(map(_is_filler, own.after)):
            own.after.clear()  # the 4 and the 2
        if self.alternative and is_percentage(value) and len(own.entries) > 1:
            own.entries.pop()  # sigma = 3, 1 and 9/10 = 90 %
            self.alternative = False
        if (self.alternative and self.side(value)) or self.repeats(value):
            return
        if own.after or (own.entries and (self.splits or self.changes(value))):
            splits = self.splits and not own.after
            self.close()
            self.own.vector = splits
        self.own.entries.append(value)
        self.splits = False

    def changes(self, value: Entry) -> bool:
        """Whether a value is of another kind than the one before it: a percentage, or a vector after indices."""
        own = self.own
        shares = is_percentage(value) != is_percentage(own.entries[-1])
        return shares or (own.indices and isinstance(value, Grid))

    def side(self, value: Entry) -> bool:
        """Whether it is a further side of an equality: the same value, or what an expression with a matrix comes to."""
        own = self.own
        if not own.entries or own.after:
            return False
        if isinstance(own.entries[-1], Grid) and isinstance(value, Typed):
            own.entries[-1:] = [value]  # 1/2 det [1 2; 3 4] = -1
            own.label = [item for item in own.label if not (isinstance(item, str) and re.search(r"[\d*/]", item))]
        else:
            own.differs = own.differs or not agree(own.entries[-1], value)
        return True

    def repeats(self, value: Entry) -> bool:
        """Whether a value after `or` is the one before it, rounded: `√78 or 8.83`."""
        own, either = self.own, self.either
        self.either = False
        if either and own.entries and agree(own.entries[-1], value):
            return True
        own.either = own.either or either
        return False

    def symbols(self, value: Linear) -> None:
        """Symbols are a name, one side of an equality, or indices such as r1, r2 in a basis."""
        is_name = self.is_name(value)
        is_index = bool(value.index) and not is_name and not self.is_before_vector()
        if not is_name and not is_index and any(map(_is_verb, self.own.after[-1:])):
            self.close()  # .. and row 4 is 2 r1 - r2
            self.own.relation = "is"
        own = self.own
        named = own.entries and self.alternative and not own.label  # 12 = det A
        if self.is_side(value, is_name) and not (is_index and self.is_list()):
            own.equals.append(value)
        elif is_index and not named:
            self.index(value)
        else:
            own.after.append(value) if (own.entries or own.equals) and not named else own.label.append(value)

    def is_before_vector(self) -> bool:
        return self.peek().kind == "open" and self.reader.is_numeric(self.place)

    def is_name(self, value: Linear) -> bool:
        """Whether symbols name what follows: a relation, a number, or a verb and a value."""
        following, beyond = self.peek(), self.peek(1)
        word = following.text.lower()
        if following.kind in {"relation", "number"} or word in HAS:
            return not self.heads()
        if not _is_place(value):
            return word in IS
        of = word in OF or following.kind == "symbol" or following.text == "-"
        return of or (word in IS and beyond.starts_value)

    def heads(self) -> bool:
        """Whether a colon ends a list of indices in front of another name: `x2, x3: r = 0.5, 0.9`."""
        return self.own.indices and self.peek().text == ":" and self.peek(2).kind == "relation"

    def is_side(self, value: Linear, is_name: bool) -> bool:
        """Whether symbols are the right-hand side of an equality."""
        own = self.own
        if own.entries or own.after or (own.relation == ":" and not _is_combination(value)):
            return False
        named = own.relation in {"=", "≈", "->"} and not _is_place(value)
        return named or bool(own.relation and not is_name)

    def is_list(self) -> bool:
        """Whether an index after a relation is in a list: not in `r1 = r1`."""
        label = [item for item in self.own.label if isinstance(item, Linear)]
        return not (label and (label[-1].index or " " in label[-1].name))

    def index(self, value: Linear) -> None:
        if self.own.indices and all(map(_is_filler, self.own.after)):
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
        own, others = self.own, self.others
        self.own, self.others = Statement(starts=False), []
        self.alternative = self.splits = False
        if not own.entries and not own.equals:
            self.done += [own] if own.label else []
            return
        counts = _counts(own.after)
        if counts and len(own.entries) > 1:
            self.count(own)
        if own.after:
            self.name(own, counts, at_end)
        if own.vector:
            own.entries = _one_vector(own.entries)
        self.done += own.counted() if own.unit else [own]
        self.done += [replace(own, label=label, after=[], starts=False) for label in others]

    def count(self, own: Statement) -> None:
        """Separate named values from the count behind them: `sigma = 3.2, 1.5, 1 of them is enough`."""
        if own.is_named and own.is_count:
            self.done.append(replace(own, entries=own.entries[:-1], after=[]))
            own.entries, own.label = own.entries[-1:], []

    def name(self, own: Statement, counts: bool, at_end: bool) -> None:
        """Share the words after values between a statement and the next one."""
        verb = _is_verb(own.after[0])
        if not own.is_named and (verb or at_end or (counts and own.is_count)):
            self.own.label = _take_name(own, all_taken=verb or at_end)
            own.unit = counts
        elif not at_end:
            self.own.label = _leave_name(own)


def _one_vector(entries: list[Entry]) -> list[Entry]:
    """Several numbers as one vector: `3: 0.6 0.8`."""
    numbers = tuple(x for x in entries if isinstance(x, Typed))
    return [Grid((numbers,))] if len(numbers) == len(entries) > 1 else entries


def _take_name(own: Statement, *, all_taken: bool) -> list[Item]:
    """Make the words after values their label, up to a conjunction; return the label of the next statement."""
    after = own.after
    stop = next((i for i, item in enumerate(after) if i and (item in AND or item == ",")), len(after))
    own.label, own.after = after[:stop], []
    return after[stop + 1 :] if all_taken or stop < len(after) else after


def _leave_name(own: Statement) -> list[Item]:
    """Leave the words behind the last comma, or all of them, to the next statement, and return them."""
    after = own.after
    last = max((i for i, item in enumerate(after) if item == ","), default=-1)
    own.after = after[: max(last, 0)]
    return after[last + 1 :]


def _is_list(tokens: Tokens) -> bool:
    """Whether some tokens are several values in a bracket, which no word can be."""
    return bool({one.kind for one in tokens} & {"comma", "end"})


def _is_filler(item: Item) -> bool:
    """Whether a word between two values says nothing: `3 and the 4`."""
    return isinstance(item, str) and item.lower() in AND | ARTICLES | {","}


def _is_verb(item: Item) -> bool:
    return isinstance(item, str) and item.lower() in IS


def _counts(after: list[Item]) -> bool:
    """Whether words after a number say what it counts: `2 components`, `2 are enough`."""
    noun = bool(after) and after[0] not in SEPARATORS | WITH | AND and not _is_verb(after[0])
    return noun or any(item in ENOUGH for item in after)


def _is_place(value: Linear) -> bool:
    """Whether a symbol is the number of a row, column or point."""
    return value.symbol.startswith(tuple(PLACES))


def _is_combination(value: Linear) -> bool:
    """Whether symbols are a sum of several variables: 0.6 x1 + 0.8 x2."""
    return len(value.terms) > 1 and all(re.fullmatch(r"[xX]_?\d", name) for name, _ in value.terms)
