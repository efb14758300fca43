"""Split an answer into statements: a name, the words before the first value, and the text of the values.

answer    = section ((";" | line break | full stop) section)*
section   = (name relation)* values (relation values)* ...
values    = (words? value)* unit?
relation  = "=" | "≈" | ":" | "->"

A name is any text before a relation that is not a value: `det A`, `2 det A`, `‖A - B‖_F`, `E(-6)`. Between values,
`and` separates, other words name what follows (`rank 2, basis rows 1 and 2`), and words at the end are units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from eckart.worked.exercises.cardinals import with_figures
from eckart.worked.exercises.tokens import IS, Token, Tokens, cut, group_end, text_of, tokens_of
from eckart.worked.exercises.words import METHOD, are_articles, are_units, is_other, says_enough

_AND = {"and", "or", "e", "ed", "o", "oppure", "y", "и", "или"}
_LINKS = _AND | {"with", "con", "с", "while", "mentre", "mientras"}
_OF = {"of", "for", "to", "a", "per", "di", "para", "de", "для"}
_SYMBOL = re.compile(r"(?:[^\W\d_]|sigma|Sigma|lambda)(?:_?\d+)?(?:\^.+|')?")
_INDEXED = re.compile(r"[^\W\d_]_?(\d+)")


@dataclass(frozen=True)
class Statement:
    """A name, the words before the first value, and the text of the values."""

    name: str
    words: str
    content: str


_COMMA, _END = Token("sign", ","), Token("end", ";")
_SHARE = [_END, Token("word", "share"), Token("relation", "=")]


def statements(text: str) -> list[Statement]:
    """The statements of an answer.

    >>> for one in statements("rank 2, basis = 1 and 3; 2 det A = 4 V = [1 2; 3 4]"):
    ...     print(repr(one.name), repr(one.words), repr(one.content))
    '' 'rank' '2'
    'basis' '' '1, 3'
    '2 det A' '' '4'
    'V' '' '[1 2; 3 4]'
    """
    found: list[Statement] = []
    name = ""
    for section in cut(_unfolded(tokens_of(text)), "end"):
        for title, values in _named(section, name):
            name = title  # a name at the end of a line belongs to the next one
            for words, content in _labelled(values):
                found.append(Statement(name, words, content))
                name = ""
    return found


def _unfolded(tokens: Tokens) -> Tokens:
    """Statements in parentheses as separate parts: `k = 1 (97.8 %)`, `√2 (≈ 1.41)`, `2, 3 (r = 1, 2)`."""
    found: Tokens = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        if token.kind != "open" or token.depth or (found and found[-1].is_word and not token.space):
            if _is_share(found, token, tokens[place + 1 : place + 2]):
                found[-1:] = _SHARE
            found.append(token)
            place += 1
            continue
        stop = group_end(tokens, place)
        found += _inside(tokens[place : stop + 1], bool(found) and found[-1].ends_value)
        place = stop + 1
    return found


def _is_share(before: Tokens, token: Token, following: Tokens) -> bool:
    """Whether a percentage comes last, next to a value, as in `k = 1, 97.8 %` and `k = 1: 97.8 %`."""
    alone = len(before) > 1 and before[-1].text in {",", ":"} and before[-2].ends_value
    last = not following or following[0].kind == "end"
    return alone and last and token.text.endswith("%") and not before[-2].text.endswith("%") and not token.depth


def _inside(group: Tokens, after_value: bool) -> Tokens:
    """A bracket unchanged, or its content."""
    inner = [replace(token, depth=token.depth - 1) for token in group[1:-1]]
    if not inner:
        return group
    if after_value and len(inner) == 1 and inner[0].text.endswith("%"):
        return [*_SHARE, *inner, _END]
    stated = inner[0].kind == "word" and after_value and any(token.kind == "number" for token in inner)
    if not stated and not any(token.kind == "relation" and token.depth == 0 for token in inner):
        return group
    return inner if inner[0].kind == "relation" else [_END, *inner, _END]


def _named(section: Tokens, name: str) -> Iterator[tuple[str, Tokens]]:
    """Names with their values; values before the first name belong to that of the last line, if any."""
    chunks = cut(section, "relation")
    relations = [token for token in section if token.kind == "relation" and token.depth <= 0]
    values: Tokens = []
    for place, relation in enumerate(relations):
        before, title = _split(chunks[place], relation, place == 0)
        values += before
        if not title:
            if values and not name and place + 2 == len(chunks) and _is_name(chunks[-1]):
                yield text_of(chunks[-1]), values  # 12 = det A
                return
            if values:
                chunks[place + 1] = _joined(relation, chunks[place], chunks[place + 1])
            continue
        shown = f"E({title})" if relation.text == "->" and _is_eigenpair(title, chunks[place + 1]) else title
        if values or not name:
            yield name, values
            name, values = shown, []
        else:
            name = f"{name} = {shown}"  # det = |A| = 12 has two names
    yield name, values + chunks[-1]


def _is_eigenpair(title: str, after: Tokens) -> bool:
    """Whether an arrow leads from an eigenvalue to its vector, `λ1 -> (1, 2)`; `λ -> 3` is a limit."""
    inside = [token for token in after if token.depth]
    listed = any(token.text in {",", ";"} for token in inside) or _has_neighbours(inside)
    return listed and bool(re.fullmatch(r"lambda_?\d?", title))


def _has_neighbours(tokens: Tokens) -> bool:
    """Whether two numbers are adjacent: two values, not one."""
    return any(one.kind == other.kind == "number" for one, other in pairwise(tokens))


def _is_name(chunk: Tokens) -> bool:
    return bool(chunk) and chunk[0].is_word and not any(token.kind == "number" for token in chunk)


def _joined(relation: Token, before: Tokens, after: Tokens) -> Tokens:
    """What a relation between values means: `1:2` is a ratio, `3: (1, 2)` and `3: 1 2` a number and a vector."""
    if relation.text in {"=", "≈"}:
        return [relation, *after]
    ratio = relation.text == ":" and bool(relation.space) == bool(after and after[0].space)
    if ratio and before and after and before[-1].kind == after[0].kind == "number":
        return [Token("sign", "/"), *after]
    is_vector = sum(token.kind == "number" for token in after) > 1
    if is_vector and not any(token.is_word or token.kind == "open" for token in after):
        return [_COMMA, Token("open", "("), *[replace(token, depth=1) for token in after], Token("close", ")")]
    return [_COMMA, *after]


def _split(chunk: Tokens, relation: Token, first: bool) -> tuple[Tokens, str]:
    """The values of the last name, and the name before a relation."""
    start = _item_start(chunk)
    tail = chunk[start:]
    if not any(token.is_word and (token.text not in _AND or not place) for place, token in enumerate(tail)):
        return chunk, ""  # `e = 3` has a name, `3 e 4` has none
    if not first and not start and _is_product(chunk):
        return [], text_of(chunk)  # A_1 = 3 u_1 v_1^T = ...
    stop = _values_end(tail, first and not start)
    if stop is None or _states_value(tail[stop:], relation):
        return chunk, ""
    return chunk[: start + stop] if stop else chunk[: max(0, start - 1)], text_of(_without_and(tail[stop:]))


def _is_product(chunk: Tokens) -> bool:
    """Whether a side of an equality is a product of letters, perhaps with a number in front: `3 u_1 v_1^T`."""
    letters = [token for token in chunk if token.is_word]
    first = next((i for i, token in enumerate(chunk) if token.is_word), len(chunk))
    symbols = all(_SYMBOL.fullmatch(one.text) and one.text not in _AND for one in letters)
    return len(letters) > 1 and len(letters) == len(chunk) - first and symbols


def _item_start(chunk: Tokens) -> int:
    """The start of the last item of a list; 0 for a name with a comma."""
    start = next((i for i in range(len(chunk) - 1, -1, -1) if chunk[i].text == "," and not chunk[i].depth), -1) + 1
    is_name = start > 1 and not any(token.ends_value for token in chunk[:start]) and not _are_columns(chunk, start)
    return 0 if is_name else start


def _values_end(tail: Tokens, alone: bool) -> int | None:
    """Where the values in front of a name end; None if there is no name, as in `1 is enough: sigma = 3, 1`."""
    ends = [i + 1 for i in range(len(tail) - 1) if _is_end(tail, i)]
    if len(ends) == 1 and alone and _is_remark(text_of(tail[ends[0] :])):
        return None
    if not ends or (alone and tail[ends[-1]].text not in _AND and _is_factor(tail[: ends[-1]])):
        return 0
    return ends[-1]


def _without_and(title: Tokens) -> Tokens:
    return title[1:] if len(title) > 1 and title[0].text in _AND and title[1].is_word else title


def _states_value(title: Tokens, relation: Token) -> bool:
    """Whether a value follows the name: `error 3 sqrt(59) = 23.04`, `columns are 1 and 2: ...`; not in `lambda 1`."""
    last = next((i for i, token in reversed([*enumerate(title)]) if token.is_word and token.text not in _AND), -1)
    value = title[last + 1 :]
    if last < 0 or not value or title[last].depth or not (value[0].starts_value and value[0].space):
        return False
    if title[last].text in IS:
        return True
    return relation.text in {"=", "≈"} and title[last].text not in _OF and any(map(_is_no_index, value))


def _is_no_index(token: Token) -> bool:
    """Whether a token belongs to a root, a fraction or a decimal, which cannot number anything."""
    return token.kind == "function" or token.text == "/" or "." in token.text


def _are_columns(chunk: Tokens, start: int) -> bool:
    """Whether columns are listed before a name: `x1, x3, r = 0.5`; `v1, v2` is a name."""
    listed = [token for token in chunk[:start] if token.text != "," and token.text not in _AND]
    while len(listed) > 1 and not _INDEXED.fullmatch(listed[0].text):
        listed = listed[1:]  # I suggest x2 and x3
    return all(_INDEXED.fullmatch(token.text) for token in listed) and not any(
        token.text[0] == listed[0].text[0] for token in chunk[start:]
    )


def _is_end(tail: Tokens, place: int) -> bool:
    """Whether a value ends here and a name begins."""
    following = tail[place + 1]
    if not (tail[place].ends_value and following.is_word and following.space) or tail[place].depth or following.depth:
        return False
    if following.text in _AND and place + 2 < len(tail) and tail[place + 2].kind == "number":
        return False  # columns 1 and 2: ...
    if tail[place].kind == "number":
        return not _is_exponent(tail, place)
    opening = next(i for i in range(place, -1, -1) if tail[i].kind == "open" and not tail[i].depth)
    indexes = opening > 0 and tail[opening - 1].is_word and not tail[opening].space
    return not indexes and any(token.kind == "number" for token in tail[opening:place])


def _is_exponent(tail: Tokens, place: int) -> bool:
    """Whether a number is the exponent of a matrix, as in `(A^T A)^-1`."""
    before = tail[:place]
    while before and before[-1].text in {"-", "^"}:
        before = before[:-1]
    return len(before) < place and before != [] and before[-1].kind == "close" and any(t.is_word for t in before)


def _is_factor(tokens: Tokens) -> bool:
    """Whether these tokens multiply what follows, as in `2 det A` and `-1/2 det A`; `2 3 k` has two values."""
    return not _has_neighbours(tokens) and all(
        token.kind in {"number", "function"} or token.text in "+-*/" for token in tokens
    )


def _labelled(values: Tokens) -> Iterator[tuple[str, str]]:
    """Words and the values that follow them, without units and empty remarks."""
    words: Tokens = []
    row: Tokens = []
    place, is_list = 0, False
    while place < len(values):
        stop = _words_end(values, place)
        following = values[stop] if stop < len(values) else _END
        run = values[place:stop]
        if not run:
            if _INDEXED.fullmatch(following.text) and row and not is_list:
                yield from _row(words, row)  # rank 3 and r1, r2, r3 form a basis
                words, row = [], []
            is_list = bool(_INDEXED.fullmatch(following.text)) or (is_list and not following.starts_value)
            place = _take(values, place, row)
        elif run[0].text in _AND and are_articles(text_of(run[1:])) and row and _starts(following):
            row.append(_COMMA)
        elif not _starts(following):
            if row and run[0].text in IS and not says_enough(text_of(run)):
                yield from _row([*words, *run[1:]], row)  # 15 is the largest eigenvalue
                words, row = [], []
            elif row and run[0].space and _is_remark(text_of(run)):
                before, row = _counted(row, run)
                if before:
                    yield from _row(words, before)
                    words = []
            elif row and is_other(text_of(run)):
                yield from _row([*words, *run], row)
                words, row = [], []
            else:
                row += run
        elif row:
            own, after = _named_after(run)
            yield from _row([*words, *own], row)
            words, row = after, []
        else:
            words = run
        place = max(place, stop)
    yield from _row(words, row)


def _named_after(run: Tokens) -> tuple[Tokens, Tokens]:
    """The name of the values before some words, and that of the values after them: `is W and`, `and H is`."""
    linked = [i for i, token in enumerate(run) if token.text in _LINKS] if run[0].text in IS else [0]
    if run[0].text not in IS or not linked:
        return [], _without_and(run)
    return run[1 : linked[0]], run[linked[0] + 1 :]


def _starts(following: Token) -> bool:
    """Whether a value follows some words: a number, a bracket or a column such as x3."""
    return following.starts_value or bool(_INDEXED.fullmatch(following.text))


def _counted(row: Tokens, unit: Tokens) -> tuple[Tokens, Tokens]:
    """The values before a count, and the count: `3, 1, 2 are enough` has the numbers 3, 1 and the count 2."""
    commas = [place for place, token in enumerate(row) if token.text == "," and not token.depth]
    if not commas:
        return [], row
    last = text_of(row[commas[-1] + 1 :])
    is_count = last.isdigit() and any(map(_is_no_index, row[: commas[-1]]))
    if not is_count and not says_enough(text_of(unit)):
        return [], row
    return row[: commas[-1]], row[commas[-1] + 1 :]


def _words_end(values: Tokens, place: int) -> int:
    """The end of the words that begin here; x1 and x3 are values, as names of columns."""
    stop = place
    while stop < len(values) and values[stop].is_word and not values[stop].depth:
        following = values[stop + 1] if stop + 1 < len(values) else _END
        if _INDEXED.fullmatch(values[stop].text) and not following.starts_value:
            break
        stop += 1
    return stop


def _take(values: Tokens, place: int, row: Tokens) -> int:
    """Add a value to a row, without a remark in parentheses; return the start of the next one."""
    token = values[place]
    stop = group_end(values, place) if token.kind == "open" and not token.depth else place
    group = values[place : stop + 1]
    if stop > place and row and any(map(_is_plain_word, group)) and _is_remark(text_of(group[1:-1])):
        return stop + 1
    row += [_column(one) for one in group]
    return stop + 1


def _is_plain_word(token: Token) -> bool:
    return token.kind == "word" and not _INDEXED.fullmatch(token.text)


def _column(token: Token) -> Token:
    """x3 as 3: the number of a column or a row."""
    indexed = _INDEXED.fullmatch(token.text)
    return replace(token, kind="number", text=indexed[1]) if indexed else token


def _is_remark(text: str) -> bool:
    """Whether words after a value only say how it was found: `(exact)`, `components`, `by Chio`."""
    return not re.search(r"\d", text) and are_units(re.split(METHOD, f" {text}")[0])


def _row(words: Tokens, row: Tokens) -> Iterator[tuple[str, str]]:
    while row and row[-1].text == ",":
        row = row[:-1]
    while row and row[0].text in {",", "=", "≈", "."}:
        row = row[1:]
    figures = any(token.kind in {"number", "open", "function"} for token in row)
    if figures or (row and with_figures(text_of(row)) != text_of(row)):
        yield text_of(words), text_of(row)
