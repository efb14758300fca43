"""Formulas in words or as factors, as plain ones: `3 radice di 10`, `(lambda - 3)(lambda - 1) = 0`, `1 - e^(-1/2)`.

Text in, text out, as in `typed`.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal, localcontext

from eckart.worked.exercises.arithmetic import DIGITS

_OPERAND = r"(?:(\d+(?:[.,]\d+)?|\))\s*(?:\*|times\b|per\b|por\b)?\s*)?"
_RADICAND = r"\s+(\(|\d+(?:[.,]\d+)?)"
_SQUARE = (
    r"(?:the |la )?(?:(?:square )?roots? of|radic[ei](?: quadrat[ae])? di|ra[ií]z(?: cuadrada)? de|"
    r"(?:квадратн\w+ )?кор(?:ень|ня|нем)(?: квадратн\w+)? из)"
)
_CUBE = r"(?:the |la )?(?:cube root of|radice cubica di|ra[ií]z cúbica de|кубическ\w+ кор(?:ень|ня|нем) из)"
_ROOTS = tuple(
    (re.compile(rf"(?i){_OPERAND}(?<![^\W\d_]){words}{_RADICAND}"), sign)
    for words, sign in ((_CUBE, "cbrt"), (_SQUARE, "sqrt"))
)
_CONSTANT = r"\d+(?:[.,]\d+)?(?:/\d+)?"
_POWER = r"(?:\^\(?\d\)?)?"
_SUM = rf"(?:[-+]?\s*lambda\s*[-+]\s*{_CONSTANT}|[-+]?\s*{_CONSTANT}\s*[-+]\s*lambda)"
_BINOMIAL = rf"\(\s*{_SUM}\s*\){_POWER}\s*\*?\s*"
_NAME = (
    r"(?:(?<!\w)(?:(?:p|P|chi)(?:\s*\(lambda\))?|det\s*\([^()\n]*\))\s*=|"
    r"(?i:char\w*\.? pol\w*\.?|polinomio caratteristico|polinomio característico|характеристический многочлен)\s*[:=])"
)
_POLYNOMIAL = re.compile(
    rf"({_NAME})?\s*(?<![\w)*/^])-?\s*((?:lambda{_POWER}\s*\*?\s*)?(?:{_BINOMIAL})+)(=\s*0(?![.,]?\d))?(?=\s*(?:[;,.\n]|->|$))"
)
_ROOT = re.compile(
    rf"\(\s*([-+]?)\s*(?:lambda\s*([-+])\s*({_CONSTANT})|({_CONSTANT})\s*([-+])\s*lambda)\s*\)(?:\^\(?(\d))?|"
    r"lambda(?:\^\(?(\d))?"
)
_SOLVED = re.compile(r"lambda[\s_\d,()]*[=:≈]|(?:eigenv|autov|собственн|valor)", re.IGNORECASE)


_EXPONENTIAL = re.compile(
    r"(?<![^\W_])(?:e\s*\^\s*(?:\(\s*([-+]?\s*[\d.,]+)\s*(?:/\s*(\d+)\s*)?\)|([-+]?\d+(?:\.\d+)?))|"
    r"exp\s*\(\s*([-+]?\s*[\d.,]+)\s*(?:/\s*(\d+)\s*)?\))"
)


_INVERSE = r"\(\s*%s\s*\)\s*\^\(?-1\)?"
_PSEUDO_INVERSE = re.compile(
    r"(?<![\w^)=])(?<![=≈]\s)(?:"
    + _INVERSE % r"A\^T\s*\*?\s*A"
    + r"\s*\*?\s*A\^T|A\^T\s*\*?\s*"
    + _INVERSE % r"A\s*\*?\s*A\^T"
    + r")\s*(?==)"
)


def pseudo_inverses(text: str) -> str:
    """The text with the name of the pseudo-inverse for its formula.

    >>> pseudo_inverses("(A^T A)^(-1)A^T = [1 2]"), pseudo_inverses("A^+ = (A^T A)^-1 A^T = [1 2]")
    ('A^+ = [1 2]', 'A^+ = (A^T A)^-1 A^T = [1 2]')
    """
    return _PSEUDO_INVERSE.sub("A^+ ", text)


_IDENTITY = re.compile(
    r"(?<=[=≈])\s*(-?\d+(?:/\d+)?)?\s*\*?\s*(?:I(?:_?\d)?|(?:np\.)?(?:eye|identity)\(\d\))(?=\s*(?:[;,.\n]|$))"
)


def identities(text: str, size: int) -> str:
    """The text with a matrix for a multiple of the identity.

    >>> identities("A^4 = 16 I", 2), identities("D = 3*eye(2); V = I", 2)
    ('A^4 = [16 0; 0 16]', 'D = [3 0; 0 3]; V = [1 0; 0 1]')
    """

    def shown(found: re.Match[str]) -> str:
        entry = found[1] or "1"
        rows = [" ".join(entry if i == j else "0" for j in range(size)) for i in range(size)]
        return f" [{'; '.join(rows)}]"

    return _IDENTITY.sub(shown, text)


def exponentials(text: str) -> str:
    """The text with a decimal for a power of e.

    >>> exponentials("lambda = 1 - e^(-1/2)")[:29], exponentials("exp(0)")
    ('lambda = 1 - 0.60653065971263', '1')
    """
    return _EXPONENTIAL.sub(_decimal, text)


def _decimal(found: re.Match[str]) -> str:
    """The value of a power of e; one that is too large to be an answer stays as it is."""
    numerator, denominator = found[1] or found[3] or found[4], found[2] or found[5] or "1"
    try:
        exponent = Decimal(re.sub(r"\s", "", numerator).replace(",", ".")) / Decimal(denominator)
    except ArithmeticError:
        return found[0]
    if abs(exponent) > 100:
        return found[0]
    with localcontext(Context(prec=DIGITS)):
        return f"{exponent.exp():f}"


def roots_as_signs(text: str) -> str:
    """The text with `sqrt(..)` for a root in words.

    >>> roots_as_signs("3 radice di 10"), roots_as_signs("корень из 90"), roots_as_signs("the roots of the polynomial")
    ('3*sqrt(10)', 'sqrt(90)', 'the roots of the polynomial')
    """

    def shown(found: re.Match[str], sign: str) -> str:
        factor = f"{found[1]}*" if found[1] else ""
        return f"{factor}{sign}(" + ("" if found[2] == "(" else f"{found[2]})")

    for pattern, sign in _ROOTS:
        text = pattern.sub(lambda found, sign=sign: shown(found, sign), text)  # type: ignore[misc]
    return text


def _repeated_root(factor: re.Match[str]) -> list[str]:
    """The root of a factor, as often as its power says."""
    constant = factor[3] or factor[4]
    if not constant:
        root = "0"
    else:
        first, second = factor[1] == "-", (factor[2] or factor[5]) == "-"
        root = f"-{constant}" if first == second else constant
    return [root] * int(factor[6] or factor[7] or 1)


_FIRST_TERM = r"(?:sigma|s)_?1\s*\*?\s*u_?1\s*\*?\s*v_?1\s*(?:\^T|')"
_APPROXIMANT = re.compile(
    rf"(?<![\w*)^+-])(?<![*^+-]\s)(?:A\s*≈\s*(?:{_FIRST_TERM}\s*[=≈]\s*)?|{_FIRST_TERM}\s*[=≈]\s*)(?=[-+\d./*\s]*[\[(])"
)


def approximants(text: str, name: str) -> str:
    """The text with the name of an approximation for `A ≈ [..]` and, if its rank is 1, for its only term.

    >>> approximants("A ≈ [1 2; 2 4]", "A_2"), approximants("sigma1*u1*v1' = [1 2; 2 4]", "A_1")
    ('A_2 = [1 2; 2 4]', 'A_1 = [1 2; 2 4]')
    """
    if not name:
        return text
    return _APPROXIMANT.sub(lambda found: f"{name} = " if name[-1] == "1" or "u" not in found[0] else found[0], text)


_APPROXIMATED = re.compile(
    r"(?<![\w.)])(?:(\d*)\s*\*?\s*sqrt\s*(\()?(\d+)(?(2)\))(?:\s*/\s*(\d+))?|(\d+)/(\d+))[^\S\n]*"
    r"\(\s*-?(\d+[.,]\d+)\s*\)"
)


def approximations(text: str) -> str:
    """The text without the decimal in parentheses behind a root or a fraction that has this value.

    >>> approximations("3 sqrt5 (6.71)"), approximations("d = 104/9 (11,56); k = 2"), approximations("sqrt5 (2,1)")
    ('3 sqrt5', 'd = 104/9; k = 2', 'sqrt5 (2,1)')
    """

    def shown(found: re.Match[str]) -> str:
        above, _, radicand, below, numerator, denominator, decimal = found.groups()
        exact = int(above or 1) * int(radicand) ** 0.5 / int(below or 1) if radicand else int(numerator)
        exact = exact / max(int(denominator), 1) if denominator else exact
        same = abs(exact - float(decimal.replace(",", "."))) <= 0.01 * exact
        return found[0].rpartition("(")[0].rstrip() if same else found[0]

    return _APPROXIMATED.sub(shown, text)


def roots_of_factors(text: str) -> str:
    """The text with the eigenvalues for a factored characteristic polynomial, unless it states them.

    >>> roots_of_factors("p(lambda) = (lambda - 3)^2(lambda + 1/2)"), roots_of_factors("lambda(5 - lambda) = 0")
    ('lambda = 3, 3, -1/2', 'lambda = 0, 5')
    >>> roots_of_factors("char poly: -(lambda - 3)(lambda - 1). v = (1, 0)")
    'lambda = 3, 1. v = (1, 0)'
    >>> roots_of_factors("(lambda - 3)(lambda - 1) = 0, lambda = 3, 1")
    '(lambda - 3)(lambda - 1) = 0, lambda = 3, 1'
    """
    found = _POLYNOMIAL.search(text)
    if found is None or not (found[1] or found[3]) or _SOLVED.search(text[: found.start()] + text[found.end() :]):
        return text
    roots = [root for factor in _ROOT.finditer(found[2]) for root in _repeated_root(factor)]
    return f"{text[: found.start()]}lambda = {', '.join(roots)}{text[found.end() :]}"
