"""Notations of whole answers: lists, sentences, bullets, LaTeX, and the output of programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.answer_formats import (
    AND,
    ASCII,
    COMMA,
    DECIMAL,
    LATEX,
    LONG,
    NESTED,
    SHORT,
    TYPESET,
    UNICODE,
    Format,
    body,
    is_exact,
)
from benchmarks.answer_special import SPECIAL
from benchmarks.answer_values import Value

Random = np.random.Generator
Write = Callable[[str, str, Sequence[Value], Format], str]
IS = {"en": ("is", "are"), "it": ("è", "sono"), "es": ("es", "son"), "ru": ("—", "—")}
EQUALS = {"en": ("is equal to", "are equal to"), "it": ("è uguale a", "sono uguali a"),
          "es": ("es igual a", "son iguales a"), "ru": ("равен", "равны")}  # fmt: skip
NOT = {"en": ("is not", "are not"), "it": ("non è", "non sono"), "es": ("no es", "no son"), "ru": ("не", "не")}
SO = {"en": "Therefore", "it": "Quindi", "es": "Por lo tanto", "ru": "Следовательно,"}
GET = {"en": "I get", "it": "ottengo", "es": "obtengo", "ru": "получаю"}
ANSWER = {"en": "Answer", "it": "Risposta", "es": "Respuesta", "ru": "Ответ"}
SOLUTION = {"en": "Solution", "it": "Soluzione", "es": "Solución", "ru": "Решение"}
FOUND = {"en": "We found that", "it": "Abbiamo trovato che", "es": "Hemos encontrado que", "ru": "Мы нашли, что"}
APPROXIMATELY = {"en": "approximately", "it": "circa", "es": "aproximadamente", "ru": "приблизительно"}
MATRICES = {"matrix", "frame", "scores", "directions", "axes", "inverse"}


@dataclass(frozen=True)
class Style:
    """A notation: its name, how it writes a key, its format of numbers, and for which keys."""

    name: str
    writer: Write
    form: Format
    languages: tuple[str, ...] = ("en", "it", "es", "ru")
    kinds: tuple[str, ...] = ()
    plain: bool = True

    def fits(self, kind: str, language: str, key: Sequence[Value]) -> bool:
        usable = language in self.languages and (not self.kinds or kind in self.kinds)
        if any(value.negated for value in key) and self.writer not in _DENYING:
            return False
        return usable and (not self.form.exact or is_exact(key))

    def write(self, kind: str, language: str, key: Sequence[Value], rng: Random) -> str:
        return self.writer(kind, language, key, self.form)


def _bare(between: str) -> Write:
    return lambda kind, language, key, form: between.join(_alone(kind, language, v, form) for v in key)


def _alone(kind: str, language: str, value: Value, form: Format) -> str:
    whole = value.form in {"directions", "axes"} and form.nested
    return body(kind, language, value, form, whole=whole)


def _letter(value: Value, whole: bool) -> str:
    upper = whole and value.form == "directions" and len(value.symbol) == 1 and value.value.cols > 1
    return value.symbol.upper() if upper else value.symbol


def _named(between: str, sign: str = " = ", *, whole: bool = False) -> Write:
    """`λ = 3, 1; V = [...]`."""

    def write(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
        parts = []
        for v in key:
            name, text = _letter(v, whole), body(kind, language, v, form, whole=whole)
            parts.append(f"{name}{sign}{text}" if name else text)
        return between.join(parts)

    return write


def _indexed(between: str, *, under: str = "") -> Write:
    """`λ1 = 3, λ2 = 1, v1 = (..), v2 = (..)`."""

    def write(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
        parts = []
        for v in key:
            one = hasattr(v.value, "cols") and v.value.cols == 1
            if v.form in {"numbers", "list"} and len(v.value) > 1 and "^" not in v.symbol:
                parts += [f"{v.symbol}{under}{i} = {form.number(x)}" for i, x in enumerate(v.value, 1)]
            elif v.form == "directions" and not one:
                parts += [f"{v.symbol}{under}{j + 1} = {form.vector(v.value[:, j])}" for j in range(v.value.cols)]
            else:
                name, text = v.symbol, body(kind, language, v, form)
                parts.append(f"{name} = {text}" if name else text)
        return between.join(parts)

    return write


def _nouns(between: str, sign: str, *, start: str = "", bare: bool = True, last: bool = False) -> Write:
    """`eigenvalues: 3, 1; eigenvectors: ...`."""

    def write(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
        parts = []
        for v in key:
            noun = _bare_noun(v.noun(language)) if bare else v.noun(language)
            parts.append(f"{start}{noun}{sign}{body(kind, language, v, form, last=AND[language] if last else '')}")
        return between.join(parts)

    return write


def _bare_noun(noun: str) -> str:
    for article in ("the ", "gli ", "il ", "lo ", "la ", "le ", "i ", "l'", "los ", "las ", "el "):
        if noun.startswith(article):
            return noun[len(article) :]
    return noun


def _sentences(between: str, copula: dict[str, tuple[str, str]], end: str = "", first: str = "") -> Write:
    """`The eigenvalues are 3 and 1.`"""

    def write(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
        parts = []
        for v in key:
            verb = (NOT if v.negated else copula)[language][v.plural]
            noun = v.noun(language)
            noun = noun[0].upper() + noun[1:] if end else noun
            parts.append(f"{noun} {verb} {body(kind, language, v, form, last=AND[language])}{end}")
        return first.format(so=SO[language], found=FOUND[language]) + between.format(AND=AND[language]).join(parts)

    return write


def _after(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    """`3 and 1 are the eigenvalues`"""
    parts = []
    for v in key:
        verb = (NOT if v.negated else IS)[language][v.plural]
        parts.append(f"{body(kind, language, v, form, last=AND[language])} {verb} {v.noun(language)}")
    return "; ".join(parts)


def _both(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    """`the rank r = 2`"""
    return "; ".join(f"{v.noun(language)} {_letter(v, False)} = {body(kind, language, v, form)}" if v.symbol and not
                     v.noun(language).endswith(v.symbol) else f"{v.noun(language)} = {body(kind, language, v, form)}"
                     for v in key)  # fmt: skip


def _in_parentheses(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    """`eigenvalues (λ): 3, 1`"""
    return "\n".join(
        f"{_bare_noun(v.noun(language))}{f' ({v.symbol})' if v.symbol else ''}: {body(kind, language, v, form)}"
        for v in key
    )


def _approximate(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    """`√2 ≈ 1.414`, for numbers only"""
    parts = []
    for v in key:
        exact, rounded = body(kind, language, v, UNICODE), body(kind, language, v, form)
        same = exact == rounded or v.form != "number"
        name = f"{v.symbol} = " if v.symbol else ""
        parts.append(f"{name}{exact}" if same else f"{name}{exact} ≈ {rounded}")
    return "; ".join(parts)


def _dollars(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    greek = {"λ": r"\lambda", "σ": r"\sigma", "‖": r"\|"}
    parts = []
    for v in key:
        name = _letter(v, True)
        for sign, command in greek.items():
            name = name.replace(sign, command)
        text = body(kind, language, v, form, whole=True)
        text = text if v.form != "set" else rf"\text{{{text}}}"
        parts.append(f"${name} = {text}$" if name else f"${text}$")
    return ", ".join(parts)


def _matlab(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    """`V =\n\n    0.6000   0.8000\n ...`"""
    parts = []
    for v in key:
        name = {"λ": "lambda", "σ": "sigma"}.get(v.symbol, _letter(v, True))
        if v.form in MATRICES:
            lines = ["   " + "   ".join(form.number(x) for x in v.value.row(i)) for i in range(v.value.rows)]
            parts.append(f"{name} =\n\n" + "\n".join(lines) + "\n")
        elif name:
            text = body(kind, language, v, form)
            parts.append(f"{name} =\n\n   {text}\n" if v.form in {"number", "count"} else f"{name} = {text}")
        else:
            parts.append(body(kind, language, v, form))
    return "\n".join(parts)


def _numpy(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    """`V = array([[0.6, 0.8],\n [0.8, -0.6]])`"""
    parts = []
    for v in key:
        name = {"λ": "lambda", "σ": "sigma"}.get(v.symbol, _letter(v, True))
        text = body(kind, language, v, form, whole=True)
        text = f"array({text})" if v.form in MATRICES else text
        text = f"array([{text}])" if v.form in {"numbers", "list"} else text
        parts.append(f"{name} = {text}" if name else text)
    return "\n".join(parts).replace("], [", "],\n       [")


_SENTENCES = {
    "sentences": _sentences(" ", IS, "."),
    "sentences-equal": _sentences("; ", EQUALS),
    "sentences-and": _sentences(" {AND} ", IS),
    "sentences-so": _sentences(", ", IS, first="{so} "),
    "sentences-found": _sentences(" {AND} ", IS, first="{found} "),
}
_DENYING = (*_SENTENCES.values(), _after)
_ROMANCE = ("it", "es", "ru")


def _started(starts: dict[str, str], write: Write, sign: str = ": ") -> Write:
    return lambda kind, language, key, form: starts[language] + sign + write(kind, language, key, form)


def _listed(mark: str, write: Write) -> Write:
    """One item per line, with a mark in front."""

    def listed(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
        lines = write(kind, language, key, form).split("\n")
        return "\n".join(f"{mark.replace('1', str(i))} {line}" for i, line in enumerate(lines, 1))

    return listed


STYLES: tuple[Style, ...] = (
    Style("bare-semicolons", _bare("; "), UNICODE),
    Style("bare-lines", _bare("\n"), DECIMAL),
    Style("bare-nested", _bare("\n"), NESTED),
    Style("bare-comma", _bare("\n"), COMMA, _ROMANCE),
    Style("letters", _named("; "), ASCII),
    Style("letters-commas", _named(", "), SHORT, plain=False),
    Style("letters-lines", _named("\n"), UNICODE),
    Style("letters-colon", _named("\n", ": "), DECIMAL),
    Style("letters-whole", _named("; ", whole=True), TYPESET),
    Style("letters-comma", _named("; ", whole=True), COMMA, _ROMANCE),
    Style("letters-approx", _named("; ", " ≈ "), SHORT),
    Style("indexed", _indexed("; "), UNICODE),
    Style("indexed-commas", _indexed(", ", under="_"), SHORT),
    Style("indexed-lines", _indexed("\n", under="_"), ASCII),
    Style("indexed-comma", _indexed("; "), COMMA, _ROMANCE),
    Style("nouns", _nouns("; ", ": "), UNICODE),
    Style("nouns-lines", _nouns("\n", ": "), SHORT),
    Style("nouns-equal", _nouns("; ", " = "), DECIMAL),
    Style("nouns-space", _nouns("; ", " "), UNICODE),
    Style("nouns-comma", _nouns("\n", ": "), COMMA, _ROMANCE),
    Style("nouns-and", _nouns("; ", ": ", last=True), SHORT),
    Style("bullets", _nouns("\n", ": ", start="- "), UNICODE),
    Style("numbered", _listed("1)", _nouns("\n", ": ")), SHORT),
    Style("numbered-dots", _listed("1.", _named("\n")), UNICODE),
    Style("answer", _started(ANSWER, _named("; ")), ASCII),
    Style("solution", _started(SOLUTION, _indexed(", "), ". "), SHORT),
    Style("get", _started(GET, _indexed(", "), " "), UNICODE),
    Style("both", _both, UNICODE),
    Style("in-parentheses", _in_parentheses, DECIMAL),
    Style("exact-approx", _approximate, SHORT),
    Style("dollars", _dollars, LATEX),
    Style("matlab", _matlab, DECIMAL),
    Style("numpy", _numpy, LONG),
    Style("after", _after, UNICODE),
    Style("after-decimal", _after, SHORT),
    *[Style(name, write, UNICODE) for name, write in _SENTENCES.items()],
    *[Style(f"{name}-decimal", write, SHORT) for name, write in _SENTENCES.items()],
    *[Style(f"{name}-comma", write, COMMA, _ROMANCE) for name, write in _SENTENCES.items()],
    *[Style(name, write, form, kinds=kinds, plain=plain) for name, kinds, write, form, plain in SPECIAL],
)  # fmt: skip
