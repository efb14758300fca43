"""One notation for formulas, converted to plain text, Markdown and LaTeX.

Formulas are written as typed: `A^T A v_1 = λ_1 v_1`, `‖A - A_k‖_F^2`, `sqrt(n)`, `a_{ij}`.
"""

from __future__ import annotations

import re

from eckart.worked.messages import current
from eckart.worked.numerals import comma

_SIGNS = {
    "λ": r"\lambda ", "σ": r"\sigma ", "Σ": r"\Sigma ", "μ": r"\mu ", "ε": r"\varepsilon ", "γ": r"\gamma ",
    "φ": r"\varphi ", "δ": r"\delta ", "Δ": r"\Delta ",
    "⇒": r"\Rightarrow ",
    "←": r"\leftarrow ", "↔": r"\leftrightarrow ", "π": r"\pi ", "−": "-", "⟨": r"\langle ", "⟩": r"\rangle ",
    "∞": r"\infty ", "∑": r"\sum ", "≈": r"\approx ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "·": r"\cdot ",
    "×": r"\times ", "→": r"\to ", "±": r"\pm ", "‖": r"\| ", "…": r"\dots ", "∈": r"\in ",
    "⟂": r"\perp ", "⊙": r"\odot ", "%": r"\%", "#": r"\#", "&": r"\&",
}  # fmt: skip
_WORDS = ("det", "cos", "max", "min", "log", "exp", "tanh")
_OPERATORS = ("tr", "diag", "rank", "rg", "th", "Var", "Cov", "PVE", "KL", "mean", "sign")
_PROSE = {"\\": r"\textbackslash{}", "%": r"\%", "&": r"\&", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
          "^": r"\^{}", "~": r"\textasciitilde{}", "$": r"\$", "<": r"$<$", ">": r"$>$", "|": r"$|$"}  # fmt: skip


def latex_formula(formula: str) -> str:
    r"""The formula in LaTeX.

    >>> latex_formula("λ_12 = ‖A v‖^2 / sqrt(n - 1)")
    '\\lambda_{12} = \\| A v\\|^{2} / \\sqrt{n - 1}'
    """
    formula = re.sub(r"∛(\w+)", r"cbrt(\1)", formula).replace("∛(", "cbrt(")
    formula = re.sub(r"√(\w+)", r"sqrt(\1)", formula).replace("√(", "sqrt(")
    # Not between indices: a_{i+1,1}.
    formula = re.sub(r"(?<=\d),(?=\d)(?![^{}]*\})", "{,}", formula) if comma() else formula
    formula = localized_words(formula)
    text = _roots(formula.replace(",  ", r", \quad ").replace("  ", r" \quad "))
    text = re.sub(r"(\w)~", r"\\tilde{\1}", text)
    text = re.sub(r"([_^])(-?\w+|\+)", lambda m: f"{m[1]}{{{m[2]}}}", text)
    for word in _WORDS:
        text = re.sub(rf"(?<![\\\w]){word}(?![\w])", rf"\\{word} ", text)
    for word in _OPERATORS:
        text = re.sub(rf"(?<![\\\w]){word}(?![\w])", rf"\\operatorname{{{word}}}", text)
    text = re.sub(r"(?<![\\\w{])([A-Za-z]{3,})(?![\w}])( ?)", _word, text)
    text = "".join(_SIGNS.get(sign, sign) for sign in text)
    return re.sub(r" +(?=[_^{}|,.)])", "", re.sub(r"  +", " ", text)).strip()


def _word(found: re.Match[str]) -> str:
    """LaTeX mathematics ignores spaces, so the one after a word is explicit."""
    return rf"\text{{{found[1]}}}" + (r"\ " if found[2] else "")


def localized_words(formula: str) -> str:
    """The names of functions in the language: rg for the rank outside English, th for tanh in Russian."""
    formula = re.sub(r"(?<![\\\w])rank(?![\w])", "rg", formula) if current() != "en" else formula
    return re.sub(r"(?<![\\\w])tanh(?![\w])", "th", formula) if current() == "ru" else formula


def is_words(name: str) -> bool:
    """Whether a name or heading is words rather than a formula.

    >>> is_words("dropped $λ$"), is_words("доля"), is_words("det(M)"), is_words("‖A - A_1‖_F"), is_words("x^T A x")
    (True, True, False, False, False)
    """
    words = re.findall(r"[^\W\d_]{3,}", name)
    return "$" in name or any(word not in {*_WORDS, *_OPERATORS, "sqrt"} for word in words)


def text_name(name: str) -> str:
    """The name of a value, or a heading, for a terminal."""
    return text_prose(name) if is_words(name) else text_formula(name)


def markdown_name(name: str) -> str:
    """The name of a value, or a heading, in Markdown."""
    return markdown_prose(name) if is_words(name) else f"${latex_formula(name)}$"


def latex_name(name: str, *, inline: bool = False) -> str:
    """The name of a value, or a heading: as mathematics, or for a place inside a line of text."""
    if inline:
        return latex_prose(name) if is_words(name) else f"${latex_formula(name)}$"
    return rf"\text{{{latex_prose(name)}}}" if is_words(name) else latex_formula(name)


def text_formula(formula: str) -> str:
    """The formula for a terminal, without braces around indices.

    >>> text_formula("b_{ij} = sqrt(2) a_1")
    'b_ij = √2 a_1'
    """
    text = re.sub(r"\bcbrt\((\w+)\)", r"∛\1", formula).replace("cbrt(", "∛(")
    text = re.sub(r"sqrt\((\w+)\)", r"√\1", text).replace("sqrt(", "√(")
    text = re.sub(r"([_^])\{(\w+)\}", r"\1\2", localized_words(text))
    return re.sub(r"([_^])\{([^{}]*)\}", r"\1(\2)", text)


def latex_prose(prose: str) -> str:
    r"""Sentences in LaTeX; text between dollar signs is a formula.

    >>> latex_prose("50 % of $λ_1$")
    '50 \\% of $\\lambda_{1}$'
    """
    return "".join(
        f"${latex_formula(part)}$" if odd else re.sub(r"(?<=\d) x (?=\d)", r" $\\times$ ", latex_words(part))
        for odd, part in split_prose(prose)
    )


def latex_words(words: str) -> str:
    r"""Words escaped for LaTeX: no character is a command or starts a formula.

    >>> latex_words(r"A$AP \\input{x}")
    'A\\$AP \\textbackslash{}\\textbackslash{}input\\{x\\}'
    """
    return "".join(_PROSE.get(sign, sign) for sign in words)


def markdown_words(words: str) -> str:
    """Words escaped for Markdown: no character is markup or starts a formula."""
    return re.sub(r"([\\*_|<>`$\[\]#])", r"\\\1", words)


def markdown_prose(prose: str) -> str:
    """Sentences in Markdown with formulas in LaTeX."""
    return "".join(
        f"${latex_formula(part)}$" if odd else re.sub(r"([*_|<])", r"\\\1", part) for odd, part in split_prose(prose)
    )


def text_prose(prose: str) -> str:
    """Sentences as plain text."""
    return "".join(text_formula(part) if odd else part for odd, part in split_prose(prose))


def split_prose(prose: str) -> list[tuple[bool, str]]:
    """The pieces of a sentence, with True for formulas."""
    return [(bool(place % 2), part) for place, part in enumerate(prose.split("$"))]


def _roots(formula: str) -> str:
    """Turn sqrt(...) and cbrt(...) into commands with braces."""
    indices = [place for place in (formula.find("sqrt("), formula.find("cbrt(")) if place >= 0]
    if not indices:
        return formula
    start = min(indices)
    command = "sqrt" if formula[start] == "s" else "sqrt[3]"
    depth = 0
    for place in range(start + 4, len(formula)):
        depth += {"(": 1, ")": -1}.get(formula[place], 0)
        if depth == 0:
            inside, rest = _roots(formula[start + 5 : place]), _roots(formula[place + 1 :])
            return f"{formula[:start]}\\{command}{{{inside}}}{rest}"
    return formula
