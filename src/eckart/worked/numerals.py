"""Exact numbers in print: as text, as LaTeX, and as decimals."""

from __future__ import annotations

import re

import sympy as sp

from eckart.worked.messages import current, tr

DIGITS = 6
"""Significant digits of a decimal."""

_LONGEST, _LONGEST_TERM = 240, 60
"""Maximum number of characters of a readable exact number, and of one of its terms, which must fit on a line."""

GUARD = 40
"""Number of digits for numbers without a closed form."""


def is_exact(value: object) -> bool:
    """Whether all entries are exact: only fractions and roots.

    >>> is_exact(sp.sqrt(2)), is_exact(sp.Float("1.5"))
    (True, False)
    """
    if isinstance(value, sp.MatrixBase):
        return all(is_exact(entry) for entry in value)
    return not sp.sympify(value).has(sp.Float)


def is_readable(value: object) -> bool:
    """Whether a value is exact and short enough to print; symbolic values are always printed.

    >>> is_readable(sp.sqrt(2)), is_readable(sp.Integer(3) ** 200), is_readable(sp.Float("1.5"))
    (True, False, False)
    """
    if isinstance(value, sp.MatrixBase):
        return all(is_readable(entry) for entry in value)
    number: sp.Expr = sp.sympify(value)
    if not is_exact(number) or number.free_symbols:
        return is_exact(number)
    shown = text_number(number)
    return len(shown) <= _LONGEST and max(map(len, shown.split(" "))) <= _LONGEST_TERM


def is_plain(value: object) -> bool:
    """Whether a value is an integer, or a matrix of integers, so that no decimal is needed."""
    if isinstance(value, sp.MatrixBase):
        return all(is_plain(entry) for entry in value)
    real, imaginary = sp.sympify(value).as_real_imag()
    return bool(real.is_Integer and imaginary.is_Integer)


def comma() -> bool:
    """Whether the language writes a decimal comma."""
    return current() != "en"


def separator() -> str:
    """What separates the numbers of a list."""
    return "; " if comma() else ", "


def figure(value: float, digits: int = DIGITS) -> str:
    """A number inside a sentence, with the decimal sign of the language.

    >>> figure(0.25), figure(1e-8), figure(1.5e7)
    ('0.25', '10^-8', '1.5·10^7')
    """
    return _localised(f"{value:.{digits}g}")


def too_long_note(value: object) -> str:
    """The text printed instead of very long exact values."""
    if isinstance(value, sp.MatrixBase):
        return tr("(exact values too long to print)")
    return tr("(exact value too long to print)")


def relation(value: object) -> str:
    """ "=" if the printed decimals are exact, as for 3/2 = 1.5, otherwise "≈"."""
    entries = list(value) if isinstance(value, sp.MatrixBase) else [sp.sympify(value)]
    return "=" if all(_is_short_decimal(entry) for entry in entries) else "≈"


def _is_short_decimal(value: sp.Expr) -> bool:
    parts = value.as_real_imag()
    return all(bool(part.is_Rational) and sp.Rational(f"{float(part):.{DIGITS}g}") == part for part in parts)


def latex_decimal(value: object) -> str:
    """A decimal in LaTeX, where a decimal comma needs braces to avoid a space."""
    text = decimal(value).replace(",", "{,}")
    return re.sub(r"10\^(-?\d+)", r"10^{\1}", text).replace("·", r" \cdot ")


def _localised(text: str) -> str:
    """The number with the decimal sign of the language and powers of ten as people write them."""
    text = re.sub(r"e([+-])0*(\d+)", lambda m: f"·10^{'-' if m[1] == '-' else ''}{m[2]}", text)
    text = re.sub(r"(?<![\d.])1·10\^", "10^", text)
    return text.replace(".", ",") if comma() else text


def decimal(value: object, digits: int = DIGITS) -> str:
    """A few significant digits, without trailing zeros.

    >>> decimal(2 + sp.sqrt(3)), decimal(sp.Rational(1, 3)), decimal(sp.Integer(58)), decimal(sp.I / 3)
    ('3.73205', '0.333333', '58', '0.333333i')
    >>> decimal(sp.Rational(1, 2) - sp.I), decimal(-sp.I)
    ('0.5 - i', '-i')
    """
    number = complex(sp.N(value, 30))
    if abs(number.imag) > 1e-25 * max(1.0, abs(number)):
        real = f"{number.real:.{digits}g}" if abs(number.real) > 1e-12 * abs(number) else ""
        size = re.sub(r"^1$", "", f"{abs(number.imag):.{digits}g}")  # i rather than 1i
        sign = "-" if number.imag < 0 else "+" if real else ""
        return _localised(f"{real} {sign} {size}i" if real else f"{sign}{size}i")
    text = f"{number.real:.{digits}g}"
    return "0" if float(text) == 0 or abs(number.real) < 1e-25 else _localised(text)


def factor_text(value: object) -> str:
    """A number as a factor: a sum or a negative number in parentheses.

    >>> factor_text(3), factor_text(-3), factor_text(1 + sp.sqrt(2))
    ('3', '(-3)', '(1 + √2)')
    """
    shown = text_number(value)
    return f"({shown})" if shown.startswith("-") or " " in shown else shown


def divisor_text(value: object) -> str:
    """A number behind a division sign: anything but digits and a root of digits in parentheses.

    >>> divisor_text(3), divisor_text(sp.sqrt(3)), divisor_text(3 * sp.sqrt(3)), divisor_text(sp.Rational(1, 2))
    ('3', '√3', '(3√3)', '(1/2)')
    """
    shown = text_number(value)
    return shown if re.fullmatch(r"√?\d+", shown) else f"({shown})"


def product_text(*factors: object) -> str:
    """A product written out.

    >>> product_text(2, -3), product_text(sp.sqrt(2) / 2, 1 - sp.Symbol("lambda"))
    ('2 · (-3)', '√2/2 · (1 - λ)')
    >>> product_text(1 - sp.Symbol("lambda"), -2)
    '(1 - λ) (-2)'
    """
    return " · ".join(map(factor_text, factors)).replace(") · (", ") (")


def square_text(entry: object) -> str:
    """A square written out, with everything but whole numbers in parentheses.

    >>> square_text(3), square_text(-3), square_text(sp.Rational(1, 2))
    ('3^2', '(-3)^2', '(1/2)^2')
    """
    shown = text_number(entry)
    return f"{shown}^2" if shown.isdigit() else f"({shown})^2"


def text_number(value: object) -> str:
    """The exact number in one line.

    >>> text_number(3 * sp.sqrt(2) / 2), text_number(sp.sqrt(2 + sp.sqrt(3))), text_number(sp.I * 2)
    ('3√2/2', '√(2 + √3)', '2i')
    >>> text_number(1 + sp.cbrt(3) + sp.cbrt(9))
    '1 + ∛3 + ∛9'
    >>> text_number(1 + 2 * sp.cbrt(4 + sp.sqrt(2)))
    '1 + 2∛(4 + √2)'
    >>> x = sp.Symbol("lambda")
    >>> text_number(x**2 - 4 * x + 1)
    'λ^2 - 4λ + 1'
    """
    value = sp.sympify(value)
    if not is_exact(value):
        return decimal(value)
    text = sp.sstr(value, order=_order(value)).replace("**", "^").replace("lambda", "λ")
    text = _with_cube_roots(re.sub(r"\b(\d+)\^\(([12])/3\)", lambda m: f"∛{int(m[1]) ** int(m[2])}", text))
    text = re.sub(r"sqrt\((\w+)\)", r"√\1", text).replace("sqrt(", "√(")
    text = re.sub(r"\*?\bI\b", "i", text)
    return re.sub(r"\*", "", re.sub(r"(?<=[\w)])\*(?=\d)", "·", text))


def _with_cube_roots(text: str) -> str:
    """`(...)^(1/3)` as `∛(...)`."""
    while (end := text.find(")^(1/3)")) >= 0:
        depth, start = 1, end
        while depth:
            start -= 1
            depth += {")": 1, "(": -1}.get(text[start], 0)
        text = f"{text[:start]}∛{text[start : end + 1]}{text[end + len(')^(1/3)') :]}"
    return text.replace("^(1/3)", "^{1/3}")


def latex_number(value: object) -> str:
    """The exact number in LaTeX; a decimal where there is no exact form."""
    value = sp.sympify(value)
    if not is_exact(value):
        return latex_decimal(value)
    text = sp.latex(value, order=_order(value))
    return re.sub(r"(?<![\d.])(\d+)\^\{\\frac\{2\}\{3\}\}", lambda m: rf"\sqrt[3]{{{int(m[1]) ** 2}}}", text)


def _order(value: sp.Expr) -> str | None:
    """Order of terms: numbers as they are read, 2 + √3; polynomials from the highest power."""
    return None if value.free_symbols else "none"


def without_dust(matrix: sp.Matrix) -> sp.Matrix:
    """The matrix with decimals at the level of rounding errors of the largest entry set to 0."""
    if is_exact(matrix):
        return matrix
    limit = max(abs(complex(sp.N(entry))) for entry in matrix) * 1e-12
    return matrix.applyfunc(lambda entry: entry if abs(complex(sp.N(entry))) > limit else sp.Integer(0))


def latex_matrix(matrix: sp.Matrix, *, decimals: bool = False) -> str:
    """Square brackets, one line."""
    show, matrix = (latex_decimal, without_dust(matrix)) if decimals else (latex_number, matrix)
    rows = r" \\ ".join(" & ".join(show(matrix[i, j]) for j in range(matrix.cols)) for i in range(matrix.rows))
    # An array, because the matrix environments stop at ten columns.
    return rf"\left[\begin{{array}}{{{'r' * matrix.cols}}} {rows} \end{{array}}\right]"
