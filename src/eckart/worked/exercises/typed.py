"""Normalise typed answers: Unicode signs, LaTeX and words become plain characters.

Nothing is evaluated here: text in, text out. `½√2`, `\\frac{\\sqrt{2}}{2}` and `1/2*sqrt(2)` reach the same grammar,
which `answers` reads.
"""

from __future__ import annotations

import re
import unicodedata

from eckart.errors import InputError
from eckart.worked.exercises.arithmetic import DEEPEST
from eckart.worked.exercises.formulas import (
    approximations,
    exponentials,
    pseudo_inverses,
    roots_as_signs,
    roots_of_factors,
)
from eckart.worked.exercises.inequalities import chains_as_lists
from eckart.worked.exercises.layout import laid_out
from eckart.worked.exercises.operators import with_signs
from eckart.worked.exercises.ordinals import with_numbers
from eckart.worked.exercises.programs import as_matrices, columns_of_maple, eigenspaces, lengths, with_values
from eckart.worked.messages import tr

_PLAIN = str.maketrans({
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "·": "*", "×": "*", "∙": "*", "⋅": "*", "•": "*", "∗": "*",
    "÷": "/", "∕": "/", "⁄": "/", "√": "sqrt", "∛": "cbrt", "⟨": "(", "⟩": ")", "〈": "(", "〉": ")",
    "⎡": "[", "⎤": " ", "⎢": " ", "⎥": " ", "⎣": " ", "⎦": "]", "⎛": "(", "⎞": " ", "⎜": " ", "⎟": " ", "⎝": " ",
    "⎠": ")", "∨": ",", "∓": "±", "≃": "≈", "≅": "≈", "ᵀ": "^T", "†": "^+", "→": "->", "⇒": "->", "↦": "->", "⟼": "->",
    "∈": "=", "↔": "->", "⟷": "->", "@": " ", "✓": "", "✔": "", "☑": "", "“": "", "”": "", '"': "", "«": "", "»": "",
    "№": "", "#": "",
})  # fmt: skip
_GREEK = {"λ": "lambda", "σ": "sigma", "Σ": "Sigma", "μ": "mu", "φ": "phi", "ρ": "rho", "Λ": "Lambda"}
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_COMMANDS = {
    "pm": "±", "mp": "±", "cdot": "*", "times": "*", "ast": "*", "div": "/", "approx": "≈", "simeq": "≈", "top": "T",
    "intercal": "T", "lor": ",", "vee": ",", "langle": "(", "rangle": ")", "quad": " ", "qquad": " ", "left": "",
    "right": "", "bigl": "", "bigr": "", "Bigl": "", "Bigr": "", "big": "", "Big": "", "displaystyle": "", "%": "%",
    "{": "{", "}": "}", ",": "", ";": "", "!": "", ":": "", " ": " ", "(": "", ")": "", "[": "", "]": "", "&": ",",
    "lambda": "lambda", "sigma": "sigma", "Sigma": "Sigma", "mu": "mu", "varphi": "phi", "phi": "phi", "rho": "rho",
    "Lambda": "Lambda", "dagger": "+", "to": "->", "mapsto": "->", "rightarrow": "->", "Rightarrow": "->",
    "max": "max", "min": "min", "exp": "exp", "infty": "inf",
    "|": "‖", "Vert": "‖", "lVert": "‖", "rVert": "‖", "Delta": "det", "det": "det",
    "ge": "≥", "geq": "≥", "le": "≤", "leq": "≤", "lt": "<", "gt": ">",
    "in": "=", "neq": "≠", "ne": "≠", "ldots": "", "dots": "", "mathstrut": "", "phantom": "", "small": "", "large": "",
}  # fmt: skip
_ACCENTS = {
    "vec", "hat", "bar", "tilde", "overrightarrow", "underline", "overline", "boldsymbol", "bm", "mathbf", "mathrm",
    "boxed", "text", "mathbb", "mathcal", "mathsf", "mathit", "textbf", "textrm", "pmb", "operatorname",
}  # fmt: skip
_UPRIGHT = r"\\(?:text|mathrm|mathbf|operatorname|mathsf)\s*\{([^{}]*)\}"
_INSIDE = r"((?:(?!\\begin|\\end).)*)\\end\s*\{\1\}"
_MATRIX = re.compile(
    rf"\\begin\s*\{{((?:[pbvBV]?matrix\*?|smallmatrix|array))\}}(?:\[\w+\])?(?:\{{[^{{}}]*\}})?{_INSIDE}", re.DOTALL
)
_LINES = re.compile(
    r"\\begin\s*\{((?:aligned|align|gathered|gather|multline|eqnarray|equation|split|cases)\*?)\}" + _INSIDE, re.DOTALL
)
_BREAK = re.compile(r"\\\\(?:\s*\[[\d.\s]*[a-z]{2}\])?")  # with a distance: \\[2pt]
_TYPES = r"matrix|array|diag|vector(?=\S)|list|set|span|gen|lin|float\d*|int\d*"  # np.float64(0.5) is 0.5
_MODULES = r"(?<![\w.])(?:np|numpy|sp|sympy|math)\.(?=(?:sqrt|cbrt|Rational|S|Integer)\s*\()"
_ABSOLUTE = r"(?<![|\w])\|\s*-\s*(\d+(?:[.,]\d+)?)\s*\|(?!\|)"  # |-3| is 3
_WRAPPERS = rf"(?<![\w.])(?:np\.|sp\.|sympy\.|numpy\.)?(?:{_TYPES})\s*(?=[(\[{{])"
_COLUMN = r"\[((?:\s*\[\s*[^\s\[\],;]+\s*\]\s*,?){2,})\s*\]"  # [[1], [2]] has two rows
_MINUS = r"(?i)(?<![\w])(?:minus|meno|menos|минус)\s+(?=[\d.(]|sqrt|cbrt)"
_ITEM = (  # 1) or 1. or - before a line
    r"(?m)^[^\S\n]*(?:[a-zа-я\d]\)[^\S\n]+(?=\S)|\d\.[^\S\n]+(?=‖|(?!sqrt|cbrt)[^\W\d_])|"
    r"[-*][^\S\n]+(?=(?!sqrt|cbrt)[^\W\d_]))"
)
_PRODUCT = (  # V diag(1, 2) V^T =
    r"(?<=[=:])\s*[A-Z]\w?\s*\*?\s*diag\([^()]*\)(?:\^\d)?\s*\*?\s*[A-Z]\w?(?:\^\(?-1\)?|\^T|')?\s*=(?!=)"
)
_GRID = r"\[(?:[^\[\]=]|\[[^\[\]=]*\])*\]|\([^()=]*[;,][^()=]*\)"
_OF_QUESTION = r"[AMX](?:\^T|')?"
_SIDE = rf"(?<=[=≈])(?:[-+\d./*\s]*(?:{_GRID})\s*\*?\s*{_OF_QUESTION}|\s*{_OF_QUESTION}\s*\*?\s*(?:{_GRID}))\s*=(?!=)"
"""A product with the matrix of the question between two signs: A^+ = [1 0; 0 2] A^T = ..."""
_QUOTIENT = r"(?<==)\s*det\s*\([A-Z]\)\s*/\s*[a-z]_?\d*(?:\^\S+)?\s*=(?!=)"  # det(A) = det(B)/a11 = ..
_BARS = r"(?<![|\w])\|(?=[^|\n]*[;\s][^|\n]*\d)[-+\d\s,;./()sqrt*]+\|(?!\|)\s*="  # |1 2; 3 4| = -2
_NUMBER = r"\d+(?:[.,]\d+)?"
_THRESHOLD = (  # 300/350 = 85.7% >= 85%, 0.857 > 0.85
    rf"(?<=%)\s*(?:[<>]=?|[≤≥])\s*{_NUMBER}\s*%|(?<=\d)\s*(?:[<>]=?|[≤≥])\s*0[.,]\d+(?!\s*[<>≤≥%])"
)
_TOO_LITTLE = (
    rf"=?\s*{_NUMBER}\s*%\s*(?:is |are |non |no )?(?:not enough|too little|insufficient|basta\w*|недостаточно)"
)
_FROM = r"(?:start|from|inizio|da|inicio|desde|начало|от)"
_INDICES = r"(?<!\w)([A-Za-z])_?[1-9](?:[^\S\n]+\1_?[1-9])+(?![\w^(])"  # r1 r2 r3
_EIGENSYSTEM = r"\s*\{\s*\{([^{}]*)\}\s*,\s*\{((?:\s*\{[^{}]*\}\s*,?){2,})\}\s*\}\s*"
_ABOUT = r"(?<!K)~\s*(?=[-+]?\s*(?:[\d.(]|sqrt|cbrt))|(?i:\b(?:ca|approx|aprox|circa|ок|прибл)\.)\s*(?=[-+]?[\d.])"


def plain(text: str) -> str:
    r"""The text in one spelling.

    >>> plain(r"$\frac{\sqrt{2}}{2}$"), plain("½√2"), plain("5×10⁻¹"), plain("λ₁ = 2 − √3")
    ('((sqrt(2))/(2))', '(1/2)sqrt2', '5*10^(-1)', 'lambda1 = 2 - sqrt3')
    """
    text = re.sub(r"q\u0302|\\hat\s*\{?q\}?|\bq_?hat\b", "q'", laid_out(columns_of_maple(eigenspaces(text))))
    text = re.sub(r"(?<=[\d)\]}%])[^\S\n]+[—–][^\S\n]+(?=[^\W\d_]\S*\s*[=≈:])", "; ", text)  # column 3 — q = ..
    text = re.sub(r"(?<=[\d)\]}%])[^\S\n]+[—–][^\S\n]+(?=[^\W\d_])", " это ", text)  # 3 — ранг
    text = re.sub(r"(?<=\d)[^\S\n]+[—–][^\S\n]+(?=[(\[])", ": ", text)  # для 4 — (0,6; 0,8)
    text = re.sub(r"(?<=[^\W_])[^\S\n]+[—–][^\S\n]+", " = ", text)  # Ранг — 3
    text = re.sub(r"<-(?![^<>\n]*[^<>\s-]\s*>)", "=", text)  # x <- 3 assigns in R, but <-1, 4> is a vector
    text = _unicode(text.replace("{,}", ","))  # the decimal comma of LaTeX
    text = as_matrices(_pasted(re.sub(_MODULES, "", text)))
    text = re.sub(_ABSOLUTE, r"\1", text)
    text = re.sub(_MINUS, "-", re.sub(_ITEM, "", text)).replace("=>", "->")
    text = re.sub(r"(?<=[\d)\]}])\s*->\s*(?=[^\W\d]\w{0,6}\s*=)", "; ", text)  # 3, 1 -> k = 2
    text = re.sub(r"(?<!\S)\?(?=\s*(?:[=:]|by|with|con|por|на))", "x", text)
    if "\\" in text or "$" in text:
        text = _latex(text)
    text = re.sub(r"(?<=[A-Z])(Sigma|Lambda)(?=[A-Z\s*])", r" \1 ", text)  # U Sigma V^T
    text = re.sub(_BARS, " det =", re.sub(rf"(?<==)[-+\d./()\s*]*{_BARS}", "", text))
    text = re.sub(r"(?:≠|!=)\s*0(?![\d.,])", "", re.sub(_ABOUT, "≈ ", text))
    text = re.sub(rf"\([-+\d./()\s*]*\d[)\s]*[=≈]\s*(?={_NUMBER}\s*%\s*\))", "(", text)  # 1 (400/425 ≈ 94.1 %)
    text = re.sub(_THRESHOLD, "", chains_as_lists(re.sub(_TOO_LITTLE, "", text)))
    text = lengths(re.sub(r"\)\s+/\s+(?=[-+]?\d+\s*[(:])", "); ", text))  # 3 (1, 1) / 1 (1, -1)
    text = re.sub(rf"(?m)([:=]\s*(?:{_FROM}\s+)?)[-+]?[\d./]+\s*->\s*(?=[-+]?[\d./]+\s*$)", _last, text)  # x = 9 -> 3
    text = re.sub(r"(?<![^\W_])([A-Z])\.T\b", r"\1^T", text)
    text = re.sub(r"(?<![^\W_])([A-Z])\.(?=[A-Z](?![^\W\d_]))", r"\1 ", text)  # C.U.R of Mathematica
    if inequality := re.search(r"[<≤≥≠]|(?<!-)>", text):
        raise InputError(tr("{sign} was not expected.", sign=repr(inequality[0])))
    # x_{1} is x_1, E_{-6} is E(-6), and a superscript {..} is a parenthesis; remaining braces are a set.
    text = re.sub(r"_\{\s*(\w+)\s*\}", r"_\1", text)
    text = re.sub(r"_\{([^{}]*)\}", r"(\1)", text)
    text = re.sub(r"(?<=[A-Za-z]_)(?:(\d),(\d)|\((\d)[,;]\s?(\d)\))(?=\s*[=:≈])", _joined, text)  # x_4,1 = 2
    text = re.sub(_INDICES, lambda found: re.sub(r"\s+", ", ", found[0]), text)
    text = re.sub(r"\^\{([^{}]*)\}", r"^(\1)", text)
    text = _identifiers(_powers(re.sub(r"\|\|", "‖", text)))
    text = "\n".join(re.sub(r"^\s*\|([^|]*)\|\s*$", r"\1", line) for line in text.splitlines())
    text = with_numbers(with_signs(_without_results(text)))
    text = re.sub(_WRAPPERS, "", re.sub(_PRODUCT, "", text), flags=re.IGNORECASE)
    text = re.sub(_QUOTIENT, "", re.sub(_SIDE, "", text))
    text = re.sub(_COLUMN, lambda found: "[" + "; ".join(re.findall(r"[^\s\[\],]+", found[1])) + "]", text)
    text = re.sub(r"(?<=[)\]}])(?<![^\W\d_]\))(?<!\+\))\s*(?:\^\s*(?:T|\(\s*T\s*\))|\.T\b|')", "'", text)
    text = approximations(exponentials(_functions(roots_as_signs(text))))
    text = re.sub(r"\+\s*/\s*-|\+-", "±", text).replace("**", "^")
    text = re.sub(r"(^|[=:,;\n>]|[^\W\d_]\s)\s*±\s*(?=[(\[{][^()\[\]{}]*[,;])", r"\1 ", text)  # a vector of either sign
    return with_values(roots_of_factors(pseudo_inverses(text)))


def _pasted(text: str) -> str:
    """Without what R and notebooks print around values; an eigensystem of Mathematica as its values and vectors."""
    text = re.sub(r"(?m)^\s*(?:\$\w+\s*$|(?:\[,\d+\]\s*)+$|\[\d+,?\](?=\s)|Out\s?\[\d+\]\s?[:=])", "", text)
    text = re.sub(r"Standard deviations \(1, \.\., p=\d+\):", "deviations:", text)  # prcomp of R
    text = re.sub(r"Rotation \(n x k\) = \(\d+ x \d+\):", "components:", text)
    pair = re.fullmatch(_EIGENSYSTEM, text)
    return f"{pair[1]}; {pair[2].replace('{', '(').replace('}', ')')}" if pair else text


def _last(found: re.Match[str]) -> str:
    return found[1][0]


def _joined(found: re.Match[str]) -> str:
    return "".join(digit for digit in found.groups() if digit)


def _powers(text: str) -> str:
    """`A cubed` and `A*A*A` as A^3."""
    text = re.sub(r"(?<![\w*])([A-Z])((?:\s*\*\s*\1){1,4})(?=\s*[=:])", lambda m: f"{m[1]}^{m[2].count('*') + 1}", text)
    text = re.sub(r"(?i)(?:the\s+|il\s+|el\s+)?(?:cube of|cubo d[ie]|куб)\s+([A-Z])(?!\w)", r"\1^3", text)
    text = re.sub(r"(?i)\s+(?:cubed|al cubo|в кубе|в третьей степени)(?!\w)", "^3", text)
    return re.sub(r"(?i)\s+(?:to the fourth|alla quarta|a la cuarta|в четв[её]ртой степени)(?!\w)", "^4", text)


def _identifiers(text: str) -> str:
    """Names of programs as words, `n_components`, `corr(x1, y)`, `qVV'`, and `score(1)` as `score_1`."""
    text = re.sub(r"(?<![^\W_])(score|punteggio|t|d)(\^\(?2\)?)?\(([1-9])\)(\^\(?2\)?)?(?=\s*[=≈])", r"\1_\3\2\4", text)
    text = re.sub(r"(?i)\b(?:corr?|corrcoef|correlation|rho)\s*\(\s*X_?(\d)\s*,\s*y\s*\)", r"r_\1", text)
    text = re.sub(r"\b(?:[Cc]orr?|corrcoef)\s*\(\s*X\s*,\s*y\s*\)", "r", text)
    text = re.sub(r"\bq\s?V\s?V'", "qVV^T", text)
    text = re.sub(r"(?<![^\W_])([A-Za-z])'_?([1-9])(?=\s*[=≈:])", r"\1\2'", text)  # z'_1 of z'
    text = re.sub(r"(?<![^\W_])(?:V_?[th]|v[th])(?=\s*(?:[=:≈]|[(\[]))", "V^T", text)  # vt and Vh of NumPy
    text = re.sub(r"(?<![^\W_])(?:n|num)_(?=[^\W\d_]{3})", "number of ", text)
    return re.sub(r"(?<!lambda)(?<!sigma)(?<=[^\W\d_]{3})_(?=[^\W\d_]{3})", " ", text)


def _without_results(text: str) -> str:
    """`EigResult(eigenvalues=..., eigenvectors=...)`, as NumPy prints it, as its named parts."""
    while found := re.search(r"\b[A-Za-z]+Result\(", text):
        depth, end = 1, found.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        text = text[: found.start()] + text[found.end() : end - 1 if not depth else end] + text[end:]
    return text


def _unicode(text: str) -> str:
    """Replace superscripts and subscripts, fractions, operators, Greek letters, and spaces within numbers."""
    text = re.sub(r"(?<=\d)[\u00a0\u202f\u2009'’](?=\d{3}(?!\d))", "", text)
    text = re.sub(r"(?<!\d)(\d{1,9})([¼-¾⅐-⅞])", lambda m: f"({m[1]}+{_fraction(m[2])})", text)
    text = re.sub(r"[¼-¾⅐-⅞]", lambda m: _fraction(m[0]), text)
    text = re.sub(r"[⁰¹²³⁴-⁹⁺⁻]+", lambda m: f"^({m[0].translate(_RAISED)})", text)
    text = re.sub(r"₋([₀-₉]+)", r"(-\1)", text)  # v₋₄ of the eigenvalue -4
    text = re.sub(r"[₀-₉](?:,[₀-₉])+(?=\s*=)", lambda m: f"({m[0]})", text)
    text = re.sub(r"(?<=\d)\s*[↔⟷]\s*(?=\d)", "-", text)
    text = text.translate(_LOWERED).translate(_PLAIN)
    for letter, word in _GREEK.items():
        text = text.replace(letter, word)
    text = re.sub(r"<([^<>=]*,[^<>=]*)(?<!-)>", r"(\1)", text)
    return re.sub("[\u0302\u0304\u0305\u20d7]", "", unicodedata.normalize("NFKC", text))  # a hat, a bar or an arrow


def _fraction(sign: str) -> str:
    return f"({unicodedata.normalize('NFKC', sign).replace('⁄', '/')})"


def _functions(text: str) -> str:
    """`Sqrt[2]`, `SQRT(2)`, `root(2)`, `radice(2)` and `sqrt{2}` are sqrt(2)."""
    root = r"(?<![^\W_])(?:sqrt|root|rad|(?:radice|ra[ií]z|корень)(?=\s?\())(?![^\W\d_])"
    text = re.sub(root, "sqrt", text, flags=re.IGNORECASE)
    text = re.sub(r"(?<![^\W_])cbrt(?![^\W\d_])", "cbrt", text, flags=re.IGNORECASE)
    return re.sub(r"(sqrt|cbrt)\s*(?:\[([^\[\]]*)\]|\{([^{}]*)\})", lambda m: f"{m[1]}({m[2] or m[3]})", text)


def _latex(text: str, depth: int = 0) -> str:
    """Replace LaTeX commands with plain characters; an unknown command is refused."""
    if depth > DEEPEST:
        raise InputError(tr("Brackets are nested more than {most} levels deep.", most=DEEPEST))
    text = re.sub(r"\\begin\s*\{vmatrix\}.*?\\end\s*\{vmatrix\}(?=\s*=)", "|0; 0|", text, flags=re.DOTALL)
    text = _BREAK.sub(";", _environments(text.replace("$", ""))).replace("&", ", ")
    text = re.sub(rf"{_UPRIGHT}(?=\s*[_^'])", r" \1", text)
    text = re.sub(_UPRIGHT, r" \1 ", text)
    pieces, place = [], 0
    while match := re.compile(r"\\([A-Za-z]+|.)", re.DOTALL).search(text, place):
        pieces.append(text[place : match.start()])
        shown, place = _command(text, match, depth)
        pieces.append(shown)
    return "".join([*pieces, text[place:]])


def _environments(text: str) -> str:
    """Matrices in brackets, the innermost first, and aligned equations one per line."""
    while text != (shorter := _MATRIX.sub(lambda found: f"[{_BREAK.sub(';', found[2]).replace('&', ', ')}]", text)):
        text = shorter
    while text != (shorter := _LINES.sub(lambda found: _BREAK.sub("\n", found[2]).replace("&", " "), text)):
        text = shorter
    return text


def _command(text: str, match: re.Match[str], depth: int) -> tuple[str, int]:
    """One command with its arguments, and where it ends."""
    name, place = match[1], match.end()
    if name in {"frac", "dfrac", "tfrac", "cfrac"}:
        above, place = _argument(text, place, depth + 1)
        below, place = _argument(text, place, depth + 1)
        return f"(({above})/({below}))", place
    if name == "binom":
        above, place = _argument(text, place, depth + 1)
        below, place = _argument(text, place, depth + 1)
        return f"[{above}; {below}]", place
    if name in _ACCENTS:
        return _argument(text, place, depth + 1)
    if name == "sqrt":
        order = re.compile(r"\s*\[([^\[\]]*)\]").match(text, place)
        inside, place = _argument(text, order.end() if order else place, depth + 1)
        if order is None:
            return f"sqrt({inside})", place
        return (f"cbrt({inside})" if order[1].strip() == "3" else f"(({inside})^(1/({order[1]})))"), place
    if name not in _COMMANDS:
        raise InputError(tr("The LaTeX command {name} cannot be used in an answer.", name=f"\\{name}"))
    return _COMMANDS[name], place


def _argument(text: str, place: int, depth: int) -> tuple[str, int]:
    """The argument of a command: a group in braces, one character, or another command."""
    while place < len(text) and text[place] == " ":
        place += 1
    if place >= len(text):
        raise InputError(tr("Something is missing at the end."))
    if text[place] == "\\" and (match := re.compile(r"\\([A-Za-z]+|.)").match(text, place)):
        if depth > DEEPEST:
            raise InputError(tr("Brackets are nested more than {most} levels deep.", most=DEEPEST))
        return _command(text, match, depth)
    if text[place] != "{":
        return text[place], place + 1
    depth = 0
    for end in range(place, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            # Spaces between braces have no meaning: 3 \\sqrt{2} is one number.
            return re.sub(r"\s+", "", _latex(text[place + 1 : end], depth)), end + 1
    raise InputError(tr("A bracket is not closed."))
