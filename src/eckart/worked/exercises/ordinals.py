"""Which rows or columns: `the first and third columns`, `le prime tre righe`, `2-й столбец`, `rows 1-3`."""

from __future__ import annotations

import re

from eckart.worked.exercises.cardinals import CARDINAL, number_of
from eckart.worked.exercises.lexicon import ENOUGH, PLACES, SIDES
from eckart.worked.exercises.operators import TIMES

_WORDS = (
    r"first|prim[aoie]|primer[ao]?s?|перв(?:ый|ая|ое|ую|ые|ых|ой|ого|ому|ым|ыми|ом)",
    r"second|second[aoie]|segund[ao]s?|втор(?:ой|ая|ое|ую|ые|ых|ого|ому|ым|ом)",
    r"third|terz[aoie]|tercer[ao]?s?|трет(?:ий|ья|ье|ью|ьи|ьей|ьего|ьему|ьим)",
    r"fourth|quart[aoie]|cuart[ao]s?|четв[её]рт(?:ый|ая|ое|ую|ые|ой|ого|ому|ым)",
    r"fifth|quint[aoie]s?|пят(?:ый|ая|ое|ую|ые|ой|ого)",
    r"sixth|sest[aoie]|sext[ao]s?|шест(?:ой|ая|ую|ые)",
)
_FIGURE = r"[1-9](?:st|nd|rd|th|[ao]|-?(?:й|я|ю|е|ый|ая|ой))"
ORDINAL = rf"(?:{'|'.join(_WORDS)}|{_FIGURE})"
_NOUN = "|".join(sorted((word for words in SIDES.values() for word in words.split()), key=len, reverse=True))
_ARTICLE = r"(?:(?:from the|by the|the|d?[ae]?ll[ao]|da[li]|de[li]|de la|por la|il|el|la|las|le|los)\s)?"
_VERB = "is|are|è|sono|es|son|это|являются"
_LIST = re.compile(
    rf"(?i)(?<![\w-])({ORDINAL}(?:\s*(?:,|and|ed?|y|и)\s+{_ARTICLE}{ORDINAL})*)\s+({_NOUN})"
    r"(?:(?=\s*(?:[,;.()\n]|$|->))|(\s*:)(?=\s*(?:r|rho|corr\w*)(?:_?\d)?\b))"  # first column: r1 = ...
)
_EQUATED = re.compile(  # 4th row = 2 * 1st row - 2nd row, 4th row: (2, 1)
    rf"(?i)(?<![\w-])({_FIGURE})\s+({_NOUN})(?=\s*(?:[=+*-]|:\s*[(\[]))"
)
_SIGNS = {
    "1/2*": "half(?: of)?|metà|la mitad|половина", "*": rf"{TIMES}|per|por|на",
    "+": "plus|più|más|плюс|и", "-": "minus|meno|menos|минус",
}  # fmt: skip
_SIGN = "|".join(_SIGNS.values())
_COMBINED = re.compile(  # third row = 2 * first - second, la terza è 2 volte la prima meno la seconda
    rf"(?i)(?<![\w-])({ORDINAL})(?:\s+({_NOUN}))?(?:\s*=|\s+(?:is|es|è|равна))\s*"
    rf"((?:[-+*\d./()\s]|(?<=\d),(?=\d)|(?<=\s)(?:{_SIGN})(?=\s)|{ORDINAL}|{_NOUN}|{_ARTICLE})*"
    rf"(?:[-+*\d./)]|\s(?:{_SIGN}))\s*{_ARTICLE}{ORDINAL}(?:\s+(?:{_NOUN}))?)(?!\w)"
)
_AFTER = re.compile(  # las columnas segunda y cuarta
    rf"(?i)(?<![\w-])({_NOUN})\s+({ORDINAL}(?:\s*(?:,|ed?|y|и)\s+{ORDINAL})*)(?=\s*(?:[,;.()\n]|$|->))"
)
_STATED = re.compile(  # the most correlated column is the second, le colonne scelte sono la prima e la terza
    rf"(?i)(?<![\w-])({_NOUN})((?:\s+[^\W\d_]+){{0,3}}\s+(?:{_VERB}))\s+{_ARTICLE}"
    rf"({ORDINAL}(?:\s*(?:,|and|ed?|y|и)\s+{_ARTICLE}{ORDINAL})*)(?:(?=\s*(?:[,;.()\n]|$|->))|(\s*:))"
)
_ALONE = re.compile(  # the second (r = 0.98), the second; r1 = 0.98
    rf"(?i)(^|[;:,.\n]\s*){_ARTICLE}({ORDINAL})(?=\s*[(;]\s*(?:r|rho|corr\w*)(?:_?\d)?\s*[=:≈])"
)
_SINGULAR = "|".join(sorted((word for words in PLACES.values() for word in words.split()), key=len, reverse=True))
_SPELT = re.compile(rf"(?i)(?<![\w-])({_SINGULAR})\s+({CARDINAL})(?=\s*(?:[,;.()\n]|$|->))")  # column three
_ENOUGH = "|".join(sorted(ENOUGH, key=len, reverse=True))
_SUFFICES = re.compile(  # the first is enough, basta la prima, достаточно первой
    rf"(?i)(?<![\w-])(?:({_ENOUGH})(?:\s+con)?\s+{_ARTICLE}(?:{_WORDS[0]})|{_ARTICLE}(?:{_WORDS[0]})\s+"
    rf"(?:(?:one|component|componente|pc|singular value|компонент[аы])\s+)?(?:alone\s+|da sol[ao]\s+)?"
    rf"(?:(?:is|es|è|уже)\s+)?({_ENOUGH}))"
    r"(?![\w-])"
)
_ITEMS = re.compile(r"(?i)(?<![\w-])(?:item|movie|film|фильм|pel[ií]cula)(s?)(?!\w)")  # columns of a table of ratings
_FIRST = re.compile(
    rf"(?i)(?<![\w-])(?:(?:{_WORDS[0]})\s+({CARDINAL})|({CARDINAL})\s+(?:{_WORDS[0]}))\s+({_NOUN})(?!\w)"
)
_RANGE = re.compile(
    rf"(?i)(?<![\w-])({_NOUN}|basis|base|базис)(\s*[:=])?\s*(?<=[\s:=])({CARDINAL})\s?(?:-|to|through|al?|до)\s?({CARDINAL})(?!\w|[.,]\d|\s*[-+*/^])(\s*,)?"
)


def with_numbers(text: str) -> str:
    """Ordinals that count rows or columns as numbers after the noun; `first column of V` is a name and stays.

    >>> with_numbers("the first and third columns, r = 0.5"), with_numbers("terza colonna")
    ('the columns 1, 3, r = 0.5', 'colonna 3')
    >>> with_numbers("the first three rows; rows 1-3"), with_numbers("las dos primeras columnas")
    ('the rows 1, 2, 3; rows 1, 2, 3', 'las columnas 1, 2')
    >>> with_numbers("third row = 1/2 first row - second")
    'row 3 = 1/2 row 1 - row 2'
    >>> with_numbers("column three"), with_numbers("basta il primo"), with_numbers("the first is enough")
    ('column 3', 'basta 1', '1 enough')
    >>> with_numbers("le colonne scelte sono la prima e la terza; r = 0.5")
    'le colonne scelte sono 1, 3; r = 0.5'
    >>> with_numbers("2-й столбец"), with_numbers("first column of V: (1, 2)")
    ('столбец 2', 'first column of V: (1, 2)')
    """
    text = _ITEMS.sub(r"column\1", text)
    text = _SUFFICES.sub(lambda found: f"{found[1] or ''} 1 {found[2] or ''}".strip(), text)
    text = _SPELT.sub(lambda found: f"{found[1]} {number_of(found[2])}", text)
    text = _ALONE.sub(lambda found: f"{found[1]}column {_number(found[2])}", _COMBINED.sub(_combination, text))
    text = _FIRST.sub(lambda found: f"{found[3]} {_listed(1, number_of(found[1] or found[2]))}", text)
    text = _RANGE.sub(
        lambda found: (
            f"{found[1]}{found[2] or ''} {_listed(number_of(found[3]), number_of(found[4]))}{';' if found[5] else ''}"
        ),
        text,
    )
    text = _EQUATED.sub(lambda found: f"{found[2]} {_number(found[1])}", text)
    text = _AFTER.sub(lambda found: f"{found[1]} {_numbers(found[2])}", text)
    text = _STATED.sub(lambda found: f"{found[1]}{found[2]} {_numbers(found[3])}{';' if found[4] else ''}", text)
    return _LIST.sub(lambda found: f"{found[2]} {_numbers(found[1])}{';' if found[3] else ''}", text)


def _combination(found: re.Match[str]) -> str:
    """`third row = 2 * first - second row` with the noun and the number of every row."""
    noun = found[2] or "row"
    body = found[3]
    for sign, words in _SIGNS.items():
        body = re.sub(rf"(?i)(?<!\S)(?:{words})(?!\S)", sign, body)
    named = re.sub(
        rf"(?i)(?<![\w-]){_ARTICLE}({ORDINAL})(?:\s+(?:{_NOUN}))?(?!\w)",
        lambda one: f"{noun} {_number(one[1])}",
        body,
    )
    return f"{noun} {_number(found[1])} = {named}"


def _numbers(ordinals: str) -> str:
    return ", ".join(map(_number, re.findall(ORDINAL, ordinals, re.IGNORECASE)))


def _listed(first: int, last: int) -> str:
    """The numbers from one to the other; backwards they are left as a difference."""
    return ", ".join(map(str, range(first, last + 1))) or f"{first}-{last}"


def ordinal_of(text: str) -> int:
    """The number of the first ordinal in a text; 0 if there is none.

    >>> ordinal_of("the second row"), ordinal_of("row")
    (2, 0)
    """
    found = re.search(rf"(?i)(?<![\w-]){ORDINAL}(?!\w)", text)
    return int(_number(found[0])) if found else 0


def _number(ordinal: str) -> str:
    if ordinal[0].isdigit():
        return ordinal[0]
    return str(next(i for i, words in enumerate(_WORDS, 1) if re.fullmatch(words, ordinal, re.IGNORECASE)))
