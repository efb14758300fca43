"""Notations of single kinds: eigenpairs, combinations of rows, products of factors, rows with several results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy as sp

from benchmarks.answer_formats import AND, ASCII, COLUMN, LATEX, SHORT, UNICODE, Format, body
from benchmarks.answer_values import Value

Write = Callable[[str, str, Sequence[Value], Format], str]
EIGEN = ("eigen", "deflation")
PAIRED = {
    "en": ("the eigenvalue {0} has eigenvector {1}", "for λ = {0} the eigenvector is {1}", "{0} with eigenvector {1}",
           "λ = {0} has unit eigenvector {1}", "the eigenvector of {0} is {1}"),
    "it": ("l'autovalore {0} ha autovettore {1}", "per λ = {0} l'autovettore è {1}", "{0} con autovettore {1}",
           "λ = {0} ha autovettore unitario {1}", "l'autovettore di {0} è {1}"),
    "es": ("el autovalor {0} tiene autovector {1}", "para λ = {0} el autovector es {1}", "{0} con autovector {1}",
           "λ = {0} tiene autovector unitario {1}", "el autovector de {0} es {1}"),
    "ru": ("собственному значению {0} соответствует вектор {1}", "при λ = {0} собственный вектор {1}",
           "{0} с собственным вектором {1}", "λ = {0} имеет единичный вектор {1}", "собственный вектор для {0}: {1}"),
}  # fmt: skip


def _vectors(value: Value, form: Format) -> list[str]:
    return [form.vector(value.value[:, j]) for j in range(value.value.cols)]


def _pairs(pattern: Callable[[str, int, str, str], str], between: str) -> Write:
    """One text for every eigenvalue with its vector; what else is asked for follows."""

    def write(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
        values = next((v for v in key if v.form in {"numbers", "number"}), None)
        vectors = next((v for v in key if v.form in {"directions", "axes"}), None)
        if values is None or vectors is None:
            return "; ".join(body(kind, language, v, form) for v in key)
        numbers = values.value if isinstance(values.value, list) else [values.value]
        shown = [pattern(language, i, form.number(x), v) for i, (x, v) in
                 enumerate(zip(numbers, _vectors(vectors, form), strict=False), 1)]  # fmt: skip
        rest = [f"{v.symbol} = {body(kind, language, v, form)}" for v in key if v is not values and v is not vectors]
        return between.join([*shown, *rest])

    return write


def _said(place: int) -> Callable[[str, int, str, str], str]:
    return lambda language, i, x, v: PAIRED[language][place].format(x, v)


def _coordinates(kind: str, language: str, key: Sequence[Value]) -> dict[int, list[tuple[sp.Expr, int]]]:
    """The rows outside the basis as combinations of those in it."""
    basis, matrix = key[-2].value, key[-1].value
    return {
        i + 1: [(matrix[i, j], int(row)) for j, row in enumerate(basis) if matrix[i, j] != 0]
        for i in range(matrix.rows)
        if i + 1 not in set(map(int, basis))
    }


def _combination(terms: Sequence[tuple[sp.Expr, int]], form: Format, letter: str) -> str:
    text = ""
    for factor, row in terms:
        sign = "-" if factor < 0 else "+"
        size = "" if abs(factor) == 1 else f"{form.number(abs(factor))} "
        text += f" {sign} {size}{letter}{row}"
    return text.strip().removeprefix("+ ").replace("- ", "-", 1) if text.startswith(" -") else text[3:]


def _with_rows(opening: dict[str, str], letter: str = "r", *, whole: bool = False) -> Write:
    def write(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
        if [v.form for v in key] != ["count", "set", "matrix"]:
            return "; ".join(f"{v.symbol} = {body(kind, language, v, form)}" for v in key)
        try:
            rows = _coordinates(kind, language, key)
        except (IndexError, TypeError):
            rows = {}
        found = []
        for row, terms in rows.items():
            below = sp.ilcm(1, *[sp.sympify(x).q for x, _ in terms]) if whole else 1
            front = f"{below} " if below != 1 else ""
            found.append(f"{front}{letter}{row} = {_combination([(x * below, j) for x, j in terms], form, letter)}")
        basis = [int(x) for x in key[1].value]
        named = {"n": key[0].value, "listed": ", ".join(f"{letter}{i}" for i in basis),
                 "numbers": f" {AND[language]} ".join([", ".join(map(str, basis[:-1])), str(basis[-1])]),
                 "last": basis[-1], "rows": "; ".join(found)}  # fmt: skip
        return opening[language].format(**named)

    return write


_RANK = {
    "en": "rank {n}; basis {listed}; {rows}", "it": "rango {n}; base {listed}; {rows}",
    "es": "rango {n}; base {listed}; {rows}", "ru": "ранг {n}; базис {listed}; {rows}",
}  # fmt: skip
_RANK_ROWS = {
    "en": "The rank is {n}. Rows {numbers} form a basis. Moreover {rows}.",
    "it": "Il rango è {n}. Le righe {numbers} formano una base. Inoltre {rows}.",
    "es": "El rango es {n}. Las filas {numbers} forman una base. Además {rows}.",
    "ru": "Ранг равен {n}. Строки {numbers} образуют базис. Кроме того, {rows}.",
}
_RANK_SINCE = {
    "en": "since {rows}, the rank is {n} and a basis is {{{listed}}}",
    "it": "poiché {rows}, il rango è {n} e una base è {{{listed}}}",
    "es": "como {rows}, el rango es {n} y una base es {{{listed}}}",
    "ru": "так как {rows}, ранг равен {n}, базис {{{listed}}}",
}


def _svd_product(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    """`A = U S V^T` with the three factors."""
    if len(key) < 3:
        return "; ".join(f"{v.symbol} = {body(kind, language, v, form)}" for v in key)
    s, v, u = key
    middle = form.matrix(sp.diag(*s.value))
    return f"A = U S V^T, U = {form.matrix(u.value)}, S = {middle}, V^T = {form.matrix(v.value.T)}"


def _svd_triplets(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    if len(key) < 3:
        return "; ".join(f"{v.symbol} = {body(kind, language, v, form)}" for v in key)
    s, v, u = key
    return "\n".join(
        f"σ{i} = {form.number(x)}, v{i} = {a}, u{i} = {b}"
        for i, (x, a, b) in enumerate(zip(s.value, _vectors(v, form), _vectors(u, form), strict=True), 1)
    )


def _diagonal(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    """`D = diag(3, 1), V = [..]`."""
    parts = []
    for v in key:
        text = f"diag({form.items(v.value)})" if v.form == "numbers" else body(kind, language, v, form, whole=True)
        parts.append(f"{v.symbol} = {text}")
    return ", ".join(parts)


def _diagonal_product(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    text = _diagonal(kind, language, key, form)
    power = key[-1].symbol
    return "A = V D V^-1, " + text.replace(f"{power} = ", f"{power} = V D{power[1:]} V^-1 = ")


_ENOUGH = {
    "en": ("one is enough", "two are enough"), "it": ("ne basta uno", "ne bastano due"),
    "es": ("basta uno", "bastan dos"), "ru": ("достаточно одного", "достаточно двух"),
}  # fmt: skip


def _enough(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    """`..., one is enough`."""
    parts = []
    for v in sorted(key, key=lambda v: v.form == "count"):
        if v.form == "count" and 1 <= int(v.value) <= 2:
            parts.append(_ENOUGH[language][int(v.value) - 1])
        else:
            parts.append(f"{v.symbol} = {body(kind, language, v, form)}")
    return "; ".join(parts)


def _selected(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    """`r1 = .., r2 = .., so column 2`."""
    so = {"en": "so I choose", "it": "quindi scelgo", "es": "por eso elijo", "ru": "поэтому выбираю"}[language]
    if len(key) < 2:
        return "; ".join(body(kind, language, v, form) for v in key)
    chosen, r = key
    listed = ", ".join(f"r{i} = {form.number(x)}" for i, x in enumerate(r.value, 1))
    return f"{listed}, {so} {body(kind, language, chosen, form, last=AND[language])}"


def _each_column(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    """`column 1: r = 0.5; column 2: r = 0.9; best: column 2`."""
    best = {"en": "the best is", "it": "la migliore è", "es": "la mejor es", "ru": "лучший —"}
    many = {"en": "the best are", "it": "le migliori sono", "es": "las mejores son", "ru": "лучшие —"}
    if len(key) < 2:
        return "; ".join(body(kind, language, v, form) for v in key)
    chosen, r = key
    listed = "; ".join(f"{COLUMN[language]} {i}: r = {form.number(x)}" for i, x in enumerate(r.value, 1))
    say = best if len(chosen.value) == 1 else many
    return f"{listed}; {say[language]} {body(kind, language, chosen, form, last=AND[language])}"


def _suggested(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    """`q V V^T = (..), so I suggest column 2`."""
    so = {"en": "so I suggest", "it": "quindi suggerisco", "es": "así que sugiero", "ru": "поэтому рекомендую"}[
        language
    ]
    if len(key) < 2:
        return "; ".join(body(kind, language, v, form) for v in key)
    back, chosen = key
    return f"q V V^T = {form.vector(back.value.T)}, {so} {body(kind, language, chosen, form, last=AND[language])}"


def _by_row(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    """`row 1: score 3, squared distance 4`."""
    words = {"en": ("row", "score", "scores", "squared distance"),
             "it": ("riga", "punteggio", "punteggi", "distanza al quadrato"),
             "es": ("fila", "puntuación", "puntuaciones", "distancia al cuadrado"),
             "ru": ("строка", "счёт", "счета", "квадрат расстояния")}[language]  # fmt: skip
    if len(key) < 2:
        return "; ".join(f"{v.symbol} = {body(kind, language, v, form)}" for v in key)
    scores, distances = key
    lines = []
    for i, d in enumerate(distances.value):
        own = list(scores.value.row(i))
        name = words[1] if len(own) == 1 else words[2]
        text = form.number(own[0]) if len(own) == 1 else f"({form.items(own)})"
        lines.append(f"{words[0]} {i + 1}: {name} {text}, {words[3]} {form.number(d)}")
    return "\n".join(lines)


def _path(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    """Edges in braces, the matrix, and y1 = .., y2 = .. ."""
    parts = []
    for v in key:
        if v.form == "edges":
            parts.append("{" + ", ".join(f"({i}, {j})" for i, j in v.value) + "}")
        elif v.form == "scores":
            parts.append(", ".join(f"y{i} = {form.number(x)}" for i, x in enumerate(v.value, 1)))
        else:
            parts.append(f"{v.symbol} = {body(kind, language, v, form)}")
    return "; ".join(parts)


_ROUND = {
    "en": "After one round the missing entry becomes {}", "it": "Dopo un passo il valore mancante diventa {}",
    "es": "Tras una vuelta el valor que falta pasa a ser {}", "ru": "После одного шага пропуск заменяется на {}",
}  # fmt: skip
_STEPS = {
    "en": "expanding along the first row, det A = {} + {} = {}",
    "it": "sviluppando la prima riga, det A = {} + {} = {}",
    "es": "desarrollando por la primera fila, det A = {} + {} = {}",
    "ru": "разложение по первой строке: det A = {} + {} = {}",
}  # fmt: skip


def _round(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    return _ROUND[language].format(body(kind, language, key[0], form))


def _expanded(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    value = int(key[0].value)
    return _STEPS[language].format(value - 7, 7, value)


def _points(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    """Scores point by point."""
    point = {"en": "point", "it": "punto", "es": "punto", "ru": "точка"}[language]
    parts = []
    for v in key:
        if v.form == "scores":
            parts += [f"{point} {i + 1}: ({form.items(list(v.value.row(i)))})" for i in range(v.value.rows)]
        else:
            parts += [f"λ{i} = {form.number(x)}" for i, x in enumerate(v.value, 1)]
    return "\n".join(parts)


def _factor_out(kind: str, language: str, key: Sequence[Value], form: Format) -> str:
    """`1/6 [2 -2; 3 1]`."""
    parts = []
    for v in key:
        if not hasattr(v.value, "cols") or not all(sp.sympify(x).is_Rational for x in v.value):
            parts.append(f"{v.symbol} = {body(kind, language, v, form)}")
            continue
        below = sp.ilcm(1, *[sp.sympify(x).q for x in v.value])
        front = "" if below == 1 else f"1/{below} "
        parts.append(f"{v.symbol} = {front}{form.matrix(v.value * below)}")
    return ", ".join(parts)


SPECIAL: tuple[tuple[str, tuple[str, ...], Write, Format, bool], ...] = (
    *[(f"pairs-{i}", EIGEN, _pairs(_said(i), "; "), form, True) for i, form in
      enumerate((UNICODE, SHORT, UNICODE, ASCII, SHORT))],
    *[(f"pairs-lines-{i}", EIGEN, _pairs(_said(i), "\n"), UNICODE, True) for i in range(5)],
    ("pairs-colon", EIGEN, _pairs(lambda _, i, x, v: f"{x}: {v}", "; "), UNICODE, True),
    ("pairs-arrow", EIGEN, _pairs(lambda _, i, x, v: f"{x} → {v}", "\n"), SHORT, True),
    ("pairs-equation", EIGEN, _pairs(lambda _, i, x, v: f"A v{i} = {x} v{i}, v{i} = {v}", "; "), UNICODE, False),
    ("pairs-space", EIGEN, _pairs(lambda _, i, x, v: f"E({x}) = span{{{v}}}", ", "), UNICODE, True),
    ("pairs-named", EIGEN, _pairs(lambda _, i, x, v: f"λ{i} = {x}, v{i} = {v}", "\n"), SHORT, True),
    ("pairs-tuples", EIGEN, _pairs(lambda _, i, x, v: f"({x}, {v})", ", "), UNICODE, True),
    ("pairs-one", ("power_iteration",), _pairs(_said(3), "; "), UNICODE, True),
    ("pairs-one-equation", ("power_iteration",), _pairs(lambda _, i, x, v: f"A x = {x} x, x = {v}", "; "), SHORT, True),
    ("diagonal", ("diagonalize",), _diagonal, ASCII, True),
    ("diagonal-product", ("diagonalize",), _diagonal_product, UNICODE, True),
    ("combination", ("rank",), _with_rows(_RANK), ASCII, False),
    ("combination-sentences", ("rank",), _with_rows(_RANK_ROWS, "R"), ASCII, False),
    ("combination-since", ("rank",), _with_rows(_RANK_SINCE), UNICODE, False),
    ("combination-whole", ("rank",), _with_rows(_RANK, whole=True), ASCII, False),
    ("combination-latex", ("rank",), _with_rows(_RANK, "r_"), LATEX, False),
    ("svd-product", ("svd",), _svd_product, UNICODE, True),
    ("svd-product-decimal", ("svd",), _svd_product, SHORT, True),
    ("svd-triplets", ("svd",), _svd_triplets, UNICODE, True),
    ("enough", ("energy", "pca"), _enough, SHORT, False),
    ("enough-exact", ("energy", "pca"), _enough, UNICODE, False),
    ("selected", ("select",), _selected, SHORT, True),
    ("each-column", ("select",), _each_column, SHORT, True),
    ("suggested", ("query",), _suggested, SHORT, True),
    ("suggested-exact", ("query",), _suggested, UNICODE, True),
    ("by-row", ("project",), _by_row, SHORT, True),
    ("by-row-exact", ("project",), _by_row, UNICODE, True),
    ("path", ("isomap",), _path, UNICODE, True),
    ("round", ("missing",), _round, SHORT, True),
    ("expanded", ("determinant",), _expanded, ASCII, False),
    ("points", ("kernel_pca",), _points, SHORT, True),
    ("factor-out", ("pseudo_inverse", "cur", "bounds", "nmf"), _factor_out, UNICODE, True),
)  # fmt: skip
