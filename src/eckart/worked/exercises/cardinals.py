"""Numbers in words: `one is enough`, `rango due`, `basta una componente`, `k = два`.

The words for 1 to 20 are read in the four languages, in the forms that count something. A word is a number only in a
clause without figures: in `one singular value is 3`, `one` counts nothing that is asked for.
"""

from __future__ import annotations

import re

from eckart.worked.exercises.lexicon import IS

_WORDS = (
    r"one|un[oa]?|один|одн(?:а|о|ой|ого|ому|у|им)|единиц(?:а|е|у|ей)",
    r"two|due|dos|дв(?:а|е|ух|ум|умя)",
    r"three|tre|tres|тр(?:и|[её]х|[её]м|емя)",
    r"four|quattro|cuatro|четыр(?:е|[её]х|[её]м|ьмя)",
    r"five|cinque|cinco|пят(?:ь|и|ью)",
    r"six|sei|seis|шест(?:ь|и|ью)",
    r"seven|sette|siete|сем(?:ь|и|ью)",
    r"eight|otto|ocho|восемь|восьми|восемью",
    r"nine|nove|nueve|девят(?:ь|и|ью)",
    r"ten|dieci|diez|десят(?:ь|и|ью)",
    r"eleven|undici|once|одиннадцат(?:ь|и|ью)",
    r"twelve|dodici|doce|двенадцат(?:ь|и|ью)",
    r"thirteen|tredici|trece|тринадцат(?:ь|и|ью)",
    r"fourteen|quattordici|catorce|четырнадцат(?:ь|и|ью)",
    r"fifteen|quindici|quince|пятнадцат(?:ь|и|ью)",
    r"sixteen|sedici|diecis[eé]is|шестнадцат(?:ь|и|ью)",
    r"seventeen|diciassette|diecisiete|семнадцат(?:ь|и|ью)",
    r"eighteen|diciotto|dieciocho|восемнадцат(?:ь|и|ью)",
    r"nineteen|diciannove|diecinueve|девятнадцат(?:ь|и|ью)",
    r"twenty|venti|veinte|двадцат(?:ь|и|ью)",
)
CARDINAL = rf"(?:[1-9]|{'|'.join(_WORDS)})"
_PART = r"(?:and a |e |y )?(?:hal(?:f|ves)|thirds?|quarters?|fifths?|mezz[oi]|terz[oi]|quart[oi]|medi[oa]s?|tercios?)"
_WORD = re.compile(rf"(?i)(?<![\w-])(?:{'|'.join(_WORDS)})(?![\w-]|\s+{_PART}\b)")
_JOINED = re.compile(rf"(?i)(?<=\w)\s+(?:and|ed?|y|и)\s+(?={CARDINAL}(?![\w-]))")  # rows one and three
_THEN = re.compile(  # 3, 1 and two are enough, 3 e 1 e ne servono due
    rf"(?i)(?<=[\d)\]}}])(\s+)(?=(?:and|ed?|y|и)\s+(?:{CARDINAL}\s+[^\W\d_]|[^\W\d_][^\d,;:=≈()\[\]{{}}\n]*(?:$|[,;\n])))"
)
_CLAUSE = re.compile(r"(?:[^,;:=≈.()\[\]{}\n]|(?<=\d)[.,](?=\d))+")
_MINUS = r"(?i)(?<!\w)(?:minus|meno|menos|минус)\s+(?=\d)"
_ZERO = re.compile(
    rf"(?i)((?<!\w)(?:{'|'.join(sorted(IS, key=len, reverse=True))})\s+|[=:≈]\s*)"
    r"(?:zero|cero|ноль|нуль|нулю)(?=\s*(?:[,;.()\n]|$))"
)
_SHARE = r"\d+(?:[.,]\d+)?\s*%"


def with_figures(text: str) -> str:
    """Number words as figures, in clauses with one of them, or a list, and no figure but a share in per cent.

    >>> with_figures("one is enough, sigma = 3, 1"), with_figures("k = due")
    ('1 is enough, sigma = 3, 1', 'k = 2')
    >>> with_figures("one singular value is 3"), with_figures("one half"), with_figures("one or two")
    ('one singular value is 3', 'one half', 'one or two')
    >>> with_figures("det = zero"), with_figures("определитель равен нулю"), with_figures("the entries are zero here")
    ('det = 0', 'определитель равен 0', 'the entries are zero here')
    """
    text = _ZERO.sub(r"\g<1>0", text)
    return "".join(_CLAUSE.sub(lambda found: _figure(found[0]), piece) for piece in _THEN.split(text))


def _figure(clause: str) -> str:
    separate = len(_WORD.findall(clause)) - len(_JOINED.findall(clause))
    alone = separate == 1 and not re.search(r"\d|sqrt|cbrt", re.sub(_SHARE, "", clause))
    return re.sub(_MINUS, "-", _WORD.sub(lambda word: str(number_of(word[0])), clause)) if alone else clause


def number_of(word: str) -> int:
    """The number that a word or a figure means."""
    if word.isdigit():
        return int(word)
    return next(i for i, forms in enumerate(_WORDS, 1) if re.fullmatch(forms, word, re.IGNORECASE))
