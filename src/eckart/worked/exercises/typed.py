"""Normalise typed answers: Unicode signs, LaTeX and words become plain characters.

Nothing is evaluated here: text in, text out. `½√2`, `\\frac{\\sqrt{2}}{2}` and `1/2*sqrt(2)` reach the same grammar,
which `answers` reads.
"""

from __future__ import annotations

import re
import unicodedata

from eckart.errors import InputError
from eckart.worked.exercises.arithmetic import DEEPEST
from eckart.worked.exercises.ordinals import with_numbers
from eckart.worked.messages import tr

_PLAIN = str.maketrans({
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "·": "*", "×": "*", "∙": "*", "⋅": "*", "•": "*", "∗": "*",
    "÷": "/", "∕": "/", "⁄": "/", "√": "sqrt", "∛": "cbrt", "⟨": "(", "⟩": ")", "〈": "(", "〉": ")",
    "⎡": "[", "⎤": " ", "⎢": " ", "⎥": " ", "⎣": " ", "⎦": "]", "⎛": "(", "⎞": " ", "⎜": " ", "⎟": " ", "⎝": " ",
    "⎠": ")", "∨": ",", "∓": "±", "≃": "≈", "≅": "≈", "ᵀ": "^T", "†": "^+", "→": "->", "⇒": "->", "↦": "->", "⟼": "->",
    "∈": "=", "↔": "-", "⟷": "-", "✓": "", "✔": "", "☑": "", "“": "", "”": "", '"': "", "«": "", "»": "",
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
    "max": "max", "min": "min", "infty": "inf",
    "|": "‖", "Vert": "‖", "lVert": "‖", "rVert": "‖", "Delta": "det", "det": "det",
    "in": "=", "neq": "≠", "ne": "≠", "ldots": "", "dots": "", "mathstrut": "", "phantom": "", "small": "", "large": "",
}  # fmt: skip
_ACCENTS = {
    "vec", "hat", "bar", "tilde", "overrightarrow", "underline", "overline", "boldsymbol", "bm", "mathbf", "mathrm",
    "boxed", "text", "mathbb", "mathcal",
}  # fmt: skip
_TYPES = r"matrix|array|diag|vector|list|set|span|gen|lin|float\d*|int\d*"  # np.float64(0.5) is 0.5
_WRAPPERS = rf"(?<![\w.])(?:np\.|sp\.|sympy\.|numpy\.)?(?:{_TYPES})\s*(?=[(\[{{])"
_COLUMN = r"\[((?:\s*\[\s*[^\s\[\],;]+\s*\]\s*,?){2,})\s*\]"  # [[1], [2]] has two rows
_PAIR = re.compile(  # 39, [1, 2] and 39, ((1)/(sqrt(2)))(1, 2)
    r"\s*[^()\[\]{},;\n]+?\s*[,;]\s*[^,;\[\]{}\n]*(?:\[[^\[\]\n]*\]|\([^()\n]*[,;][^()\n]*\))(?:\s*/[^,;\[\]{}\n]+)?\s*"
)
_MINUS = r"(?i)(?<![\w])(?:minus|meno|menos|минус)\s+(?=[\d.(]|sqrt|cbrt)"
_BELONGS = (
    r"(?i)\b(?:(?:belongs|corresponds) to|(?:appartiene|corrisponde|pertenece|corresponde) a|соответствует)"
    r"(?=\s*[-\d./]*\s*[(\[])"
)
_BECAUSE = r"(?i)[,\s]\s*(?:because|since|perché|poiché|porque|ya que|потому что|так как|поскольку)\s+"
_COUNTED = r"(?i)\b(points?|punto|точк\w|row|riga|fila|строка)\s+([1-9]\d?)\s+(?=[(\[])"  # point 1 (3, 4)
_ITEM = (  # 1) or 1. or - before a line
    r"(?m)^[^\S\n]*(?:[a-zа-я\d]\)[^\S\n]+(?=\S)|\d\.[^\S\n]+(?=(?!sqrt|cbrt)[^\W\d_])|"
    r"[-*][^\S\n]+(?=(?!sqrt|cbrt)[^\W\d_]))"
)
_ABOUT = r"(?<!K)~\s*(?=[-+]?\s*(?:[\d.(]|sqrt|cbrt))|(?i:\b(?:ca|approx|aprox|circa|ок|прибл)\.)\s*(?=[-+]?[\d.])"


def plain(text: str) -> str:
    r"""The text in one spelling.

    >>> plain(r"$\frac{\sqrt{2}}{2}$"), plain("½√2"), plain("5×10⁻¹"), plain("λ₁ = 2 − √3")
    ('((sqrt(2))/(2))', '(1/2)sqrt2', '5*10^(-1)', 'lambda1 = 2 - sqrt3')
    """
    text = re.sub(r"\s—\s+(?=[^\W\d_])", "; ", text)
    text = _unicode(text.replace("{,}", ","))  # the decimal comma of LaTeX
    text = re.sub(_BECAUSE, "; ", text)
    text = re.sub(_COUNTED, r"\1 \2: ", text)
    text = re.sub(_MINUS, "-", re.sub(_ITEM, "", text)).replace("=>", "->")
    text = re.sub(_BELONGS, "->", re.sub(r"(?<!\S)\?(?=\s*(?:[=:]|by|with|con|por|на))", "x", text))
    text = re.sub(r"(?:≠|!=)\s*0(?![\d.,])", "", re.sub(_ABOUT, "≈ ", text))
    if inequality := re.search(r"[<≤≥≠]|(?<!-)>", text):
        raise InputError(tr("{sign} was not expected.", sign=repr(inequality[0])))
    if "\\" in text or "$" in text:
        text = _latex(text)
    # x_{1} is x_1, E_{-6} is E(-6), and a superscript {..} is a parenthesis; remaining braces are a set.
    text = re.sub(r"_\{\s*(\w+)\s*\}", r"_\1", text)
    text = re.sub(r"_\{([^{}]*)\}", r"(\1)", text)
    text = re.sub(r"\^\{([^{}]*)\}", r"^(\1)", text)
    text = re.sub(r"(?<=\))\^\((-?\w)\)", r"^\1", text)  # (A^T A)^{-1}
    text = re.sub(r"\|\|", "‖", text)
    text = "\n".join(re.sub(r"^\s*\|([^|]*)\|\s*$", r"\1", line) for line in text.splitlines())
    text = with_numbers(_without_results(text))
    text = re.sub(_WRAPPERS, "", text, flags=re.IGNORECASE)
    text = _without_pairs(text)
    text = re.sub(_COLUMN, lambda found: "[" + "; ".join(re.findall(r"[^\s\[\],]+", found[1])) + "]", text)
    text = re.sub(r"(?<=[)\]}])(?<![^\W\d_]\))(?<!\+\))\s*(?:\^\s*(?:T|\(\s*T\s*\))|\.T\b|')", "'", text)
    text = _functions(text)
    text = re.sub(r"\+\s*/\s*-|\+-", "±", text).replace("**", "^")
    return re.sub(r"(^|[=:,;\n>]|[^\W\d_]\s)\s*±\s*(?=[(\[{][^()\[\]{}]*[,;])", r"\1 ", text)  # a vector of either sign


def plain_name(name: str) -> str:
    """A name in one spelling.

    >>> plain_name("Det[A]"), plain_name("|A|"), plain_name("np.linalg.det(A)"), plain_name("Vt")
    ('Det(A)', 'det', 'det(A)', 'V^T')
    >>> plain_name("detA"), plain_name("rkA"), plain_name("det")
    ('det A', 'rk A', 'det')
    >>> plain_name("‖A - B‖_F^2"), plain_name("‖A‖_F"), plain_name("v(lambda=3)")
    ('error (A - B)^2', '‖A‖_F', 'v(3)')
    """
    name = re.sub(r"(?<=[^\W\d_])\[([^\[\]]*)\]", r"(\1)", name)
    name = re.sub(r"(?<![^\W_])(?:[^\W\d_]+\.)+(?=[^\W\d_]+\()", "", name)
    name = re.sub(r"\(\s*lambda\s*=\s*", "(", name)
    name = re.sub(r"(?<=\w)\s+sqrt\s*\((?=[^()]*[^\W\d_])[^()]*\)$", "", name)  # error sqrt(s2^2 + s3^2)
    name = re.sub(r"\|\s*([A-Z])\s*\|", "det", name)
    name = re.sub(r"(?<![^\W_])(det|rank|rango|rk|rg)(?=[A-Z]$)", r"\1 ", name)
    name = re.sub(r"\^\(([-+]?\w*)\)", r"^\1", name)
    norm = re.search(r"‖([^‖]*[^‖\s]\s*-[^‖]*)‖(_2)?(?:_\w)?(\^2)?", name)
    if norm:  # of a difference, so that it is an error
        kind = "spectral norm" if norm[2] else "error" if norm[3] else "Frobenius norm"
        name = f"{name[: norm.start()]}{kind} ({norm[1].strip()}){norm[3] or ''}{name[norm.end() :]}"
    return re.sub(r"(?<![^\W_])([UV])[tTh]$", r"\1^T", name)


def _without_results(text: str) -> str:
    """`EigResult(eigenvalues=..., eigenvectors=...)`, as NumPy prints it, as its named parts."""
    while found := re.search(r"\b[A-Za-z]+Result\(", text):
        depth, end = 1, found.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        text = text[: found.start()] + text[found.end() : end - 1 if not depth else end] + text[end:]
    return text


def _without_pairs(text: str) -> str:
    """`(39, (1, 2)/sqrt(5))`, an eigenvalue and its vector, as `39, (1, 2)/sqrt(5)`."""
    pieces, stack, start = [], [], 0
    for place, sign in enumerate(text):
        if sign in "([{":
            stack.append(place)
        elif sign in ")]}" and stack:
            begin = stack.pop()
            if not stack and text[begin] == "(" and _PAIR.fullmatch(text[begin + 1 : place]):
                pieces += [text[start:begin], text[begin + 1 : place]]
                start = place + 1
    return "".join([*pieces, text[start:]])


def unwrapped(text: str) -> str:
    """With `[(1, 2), (3, 4)]` as two vectors; `[[1, 2], [3, 4]]` is a matrix."""
    vectors = r"(?:[^()\[\]{}]*\([^(),;]*[,;][^()]*\)){2,}[^()\[\]{}]*"
    return re.sub(rf"\[({vectors})\]|\{{({vectors})\}}|\(({vectors})\)", _unwrapped, text)


def _unwrapped(found: re.Match[str]) -> str:
    """The content of a bracket around vectors as a separate row, if the bracket stands alone."""
    before, after = found.string[: found.start()].rstrip(" "), found.string[found.end() :].lstrip(" ")
    if (before and before[-1] not in "=:;,\n") or (after and after[0] not in ";,\n"):
        return found[0]
    inside = found[1] or found[2] or found[3]
    return inside if not before or before[-1] in "=:;\n" else f"; {inside}"


def _unicode(text: str) -> str:
    """Replace superscripts and subscripts, fractions, operators, Greek letters, and spaces within numbers."""
    text = re.sub(r"(?<=\d)[\u00a0\u202f\u2009'’](?=\d{3}(?!\d))", "", text)
    text = re.sub(r"(?<!\d)(\d{1,9})([¼-¾⅐-⅞])", lambda m: f"({m[1]}+{_fraction(m[2])})", text)
    text = re.sub(r"[¼-¾⅐-⅞]", lambda m: _fraction(m[0]), text)
    text = re.sub(r"[⁰¹²³⁴-⁹⁺⁻]+", lambda m: f"^({m[0].translate(_RAISED)})", text)
    text = re.sub(r"[₀-₉](?:,[₀-₉])+(?=\s*=)", lambda m: f"({m[0]})", text)
    text = text.translate(_LOWERED).translate(_PLAIN)
    for letter, word in _GREEK.items():
        text = text.replace(letter, word)
    if re.search(r"<[^<>]*,[^<>]*>", text):
        text = text.replace("<", "(").replace(">", ")")
    return re.sub("[\u0302\u0304\u0305\u20d7]", "", unicodedata.normalize("NFKC", text))  # a hat, a bar or an arrow


def _fraction(sign: str) -> str:
    return f"({unicodedata.normalize('NFKC', sign).replace('⁄', '/')})"


def _functions(text: str) -> str:
    """`Sqrt[2]`, `SQRT(2)`, `root(2)` and `sqrt{2}` are sqrt(2)."""
    text = re.sub(r"(?<![^\W_])(?:sqrt|root|rad)(?![^\W\d_])", "sqrt", text, flags=re.IGNORECASE)
    text = re.sub(r"(?<![^\W_])cbrt(?![^\W\d_])", "cbrt", text, flags=re.IGNORECASE)
    return re.sub(r"(sqrt|cbrt)\s*(?:\[([^\[\]]*)\]|\{([^{}]*)\})", lambda m: f"{m[1]}({m[2] or m[3]})", text)


def _latex(text: str, depth: int = 0) -> str:
    """Replace LaTeX commands with plain characters; an unknown command is refused."""
    if depth > DEEPEST:
        raise InputError(tr("Brackets are nested more than {most} levels deep.", most=DEEPEST))
    text = re.sub(r"\\begin\s*\{vmatrix\}.*?\\end\s*\{vmatrix\}\s*(?==)", "det ", text, flags=re.DOTALL)
    text = re.sub(r"\$|\\\\\[[^\]]*pt\]", "", text).replace("\\\\", ";")
    text = re.sub(r"\\begin\s*\{(?:[pbvBV]?matrix|smallmatrix|array)\}(?:\{[^{}]*\})?", "[", text)
    text = re.sub(r"\\end\s*\{(?:[pbvBV]?matrix|smallmatrix|array)\}", "]", text).replace("&", ", ")
    text = re.sub(r"\\(?:text|mathrm|mathbf|operatorname|mathsf)\s*\{([^{}]*)\}", r" \1 ", text)
    pieces, place = [], 0
    while match := re.compile(r"\\([A-Za-z]+|.)", re.DOTALL).search(text, place):
        pieces.append(text[place : match.start()])
        shown, place = _command(text, match, depth)
        pieces.append(shown)
    return "".join([*pieces, text[place:]])


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
        raise InputError(tr("The command {name} was not expected.", name=f"\\{name}"))
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
