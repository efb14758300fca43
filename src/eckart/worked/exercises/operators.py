"""Operators in words: `-2 times the first row`, `(3, 1) diviso √10`, `la primera menos 2 veces la segunda`.

Text in, text out, as in `typed`. A word is an operator only between two operands.
"""

from __future__ import annotations

import re

from eckart.worked.exercises.lexicon import PLACES

_ROW = "|".join(sorted(PLACES["row"].split(), key=len, reverse=True))
ARTICLE = r"(?:(?:the|il|lo|la|el|l'|una?)\s+)?"
TIMES = (
    r"(?:times|multiplied by|volte|moltiplicat[oaie] per|veces|multiplicad[oa]s? por|раза?|умножить на|"
    r"умноженн\w+ на)"
)
_OVER = (
    r"(?:divided by|over|diviso(?: per)?|divis[aie](?: per)?|fratto|dividid[oa]s? (?:por|entre)|entre|"
    r"(?:раз)?делить на|(?:раз)?дел[её]нн\w+ на)"
)
_ROOT = r"(?:sqrt|cbrt|√|∛|\\sqrt|(?:square )?root|radic|ra[ií]z|кор[ен])"
_LEFT = r"(?<=[\d)\]}])"
_SIGNS = (
    (re.compile(rf"(?i){_LEFT}\s+{TIMES}\s+{ARTICLE}(?=[(\[\d]|{_ROOT}|(?:{_ROW})\s|[a-zа-я]_?\d)"), "*"),
    (re.compile(rf"(?i){_LEFT}\s+p[eo]r\s+(?=[(\[][^()\[\]]*[,;])"), "*"),  # 2 por (1, 1)
    (re.compile(rf"(?i){_LEFT}\s+{_OVER}\s+(?:the |la )?(?=\d|{_ROOT})"), "/"),
)
_COMBINATION = re.compile(  # row 3: -r1 + 2 r2
    rf"(?i)((?:{_ROW})(?:\s+\d)?|(?<![^\W_])[raf]_?\d)\s*:\s*(?=[-+\d.,/()*\s]*[^\W\d_]_?\d\s*(?:[-+]|[;,.\n]|$))"
)


def with_signs(text: str) -> str:
    """The text with signs for words between operands, and an equation for a row and its combination.

    >>> with_signs("row 3 = -2 times row 1 - 2 times the row 2"), with_signs("(1, 1, -2) diviso √6")
    ('row 3 = -2*row 1 - 2*row 2', '(1, 1, -2)/√6')
    >>> with_signs("row 3: -r1 + 2 r2"), with_signs("terza riga: 2 r1"), with_signs("2 times")
    ('row 3 = -r1 + 2 r2', 'terza riga = 2 r1', '2 times')
    """
    for pattern, sign in _SIGNS:
        text = pattern.sub(sign, text)
    return _COMBINATION.sub(r"\1 = ", text)
