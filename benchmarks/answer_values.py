"""The values of a key with the words for them in four languages, and the slips that students make in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

if TYPE_CHECKING:
    from eckart.worked.exercises import Exercise

Random = np.random.Generator


@dataclass(frozen=True)
class Value:
    """One thing that is asked for: its letter, its nouns by language, its form and its value."""

    symbol: str
    nouns: tuple[str, str, str, str]
    plural: bool
    form: str
    value: Any
    pairing: str = ""
    negated: bool = False

    def noun(self, language: str) -> str:
        return self.nouns[("en", "it", "es", "ru").index(language)]


_EIGENVALUES = ("the eigenvalues", "gli autovalori", "los autovalores", "собственные значения")
_EIGENVECTORS = ("the unit eigenvectors", "gli autovettori unitari", "los autovectores unitarios",
                 "единичные собственные векторы")  # fmt: skip
_SCORES = ("the scores", "i punteggi", "las puntuaciones", "координаты в новых осях")
_COMPONENTS = ("the principal components", "le componenti principali", "las componentes principales",
               "главные компоненты")  # fmt: skip
_COLUMNS = ("the chosen columns", "le colonne scelte", "las columnas elegidas", "выбранные столбцы")
NOUNS: dict[tuple[str, str], tuple[str, tuple[str, str, str, str], bool]] = {
    ("rank", "rank"): ("r", ("the rank", "il rango", "el rango", "ранг"), False),
    ("rank", "basis"): ("B", ("the basis", "la base", "la base", "базис"), False),
    ("rank", "C"): ("C", ("the coordinates", "le coordinate", "las coordenadas", "координаты"), True),
    ("determinant", "det"): (
        "det A", ("the determinant", "il determinante", "el determinante", "определитель"), False,
    ),
    ("gram_schmidt", "Q"): ("Q", ("the matrix Q", "la matrice Q", "la matriz Q", "матрица Q"), False),
    ("gram_schmidt", "R"): ("R", ("the matrix R", "la matrice R", "la matriz R", "матрица R"), False),
    ("eigen", "lambda"): ("λ", _EIGENVALUES, True),
    ("eigen", "e"): ("v", _EIGENVECTORS, True),
    ("deflation", "lambda"): ("λ", _EIGENVALUES, True),
    ("deflation", "e"): ("x", _EIGENVECTORS, True),
    ("power_iteration", "lambda"): (
        "λ", ("the dominant eigenvalue", "l'autovalore dominante", "el autovalor dominante",
              "доминирующее собственное значение"), False,
    ),
    ("power_iteration", "x"): (
        "x", ("the unit eigenvector", "l'autovettore unitario", "el autovector unitario",
              "единичный собственный вектор"), False,
    ),
    ("diagonalize", "D"): ("D", ("the diagonal matrix D", "la matrice diagonale D", "la matriz diagonal D",
                                 "диагональная матрица D"), False),
    ("diagonalize", "V"): ("V", ("the matrix of eigenvectors V", "la matrice degli autovettori V",
                                 "la matriz de autovectores V", "матрица собственных векторов V"), False),
    ("diagonalize", "A"): ("A^{power}", ("the power A^{power}", "la potenza A^{power}", "la potencia A^{power}",
                                         "степень A^{power}"), False),
    ("svd", "sigma"): ("σ", ("the singular values", "i valori singolari", "los valores singulares",
                             "сингулярные числа"), True),
    ("svd", "v"): ("v", ("the right singular vectors", "i vettori singolari destri",
                         "los vectores singulares derechos", "правые сингулярные векторы"), True),
    ("svd", "u"): ("u", ("the left singular vectors", "i vettori singolari sinistri",
                         "los vectores singulares izquierdos", "левые сингулярные векторы"), True),
    ("pseudo_inverse", "A+"): ("A^+", ("the pseudo-inverse", "la pseudoinversa", "la pseudoinversa",
                                       "псевдообратная матрица"), False),
    ("bounds", "A_k"): ("A_{k}", ("the best approximation", "la migliore approssimazione", "la mejor aproximación",
                                  "наилучшее приближение"), False),
    ("bounds", "error"): ("‖A - A_{k}‖_F", ("the error", "l'errore", "el error", "ошибка"), False),
    ("energy", "k"): ("k", ("the number of singular values needed", "il numero di valori singolari necessari",
                            "el número de valores singulares necesarios",
                            "нужное количество сингулярных чисел"), False),
    ("energy", "sigma"): ("σ", ("the singular values", "i valori singolari", "los valores singulares",
                                "сингулярные числа"), True),
    ("query", "q V V^T"): ("q V V^T", ("the reconstructed row", "la riga ricostruita", "la fila reconstruida",
                                    "восстановленная строка"), False),
    ("query", "columns"): ("", ("the suggested columns", "le colonne suggerite", "las columnas sugeridas",
                                "рекомендуемые столбцы"), True),
    ("pca", "v"): ("v", _COMPONENTS, True),
    ("pca", "t"): ("T", _SCORES, True),
    ("pca", "k"): ("k", ("the number of components", "il numero di componenti", "el número de componentes",
                         "число компонент"), False),
    ("minor_components", "lambda"): ("λ", ("the smallest eigenvalue", "l'autovalore più piccolo",
                                           "el autovalor más pequeño", "наименьшее собственное значение"), False),
    ("minor_components", "w"): ("w", ("the component of least variance", "la componente di minima varianza",
                                      "la componente de menor varianza", "компонента с наименьшей дисперсией"), False),
    ("project", "Z'"): ("z", _SCORES, True),
    ("project", "d"): ("d^2", ("the squared distances", "le distanze al quadrato", "las distancias al cuadrado",
                               "квадраты расстояний"), True),
    ("correlation", "R"): ("R", ("the correlation matrix", "la matrice di correlazione", "la matriz de correlación",
                                 "корреляционная матрица"), False),
    ("correlation", "v"): ("v", ("the components of the covariance matrix", "le componenti della matrice di covarianza",
                                 "las componentes de la matriz de covarianza", "компоненты ковариационной матрицы"),
                           True),
    ("correlation", "w"): ("w", ("the components of the correlation matrix",
                                 "le componenti della matrice di correlazione",
                                 "las componentes de la matriz de correlación", "компоненты корреляционной матрицы"),
                           True),
    ("missing", "x"): ("x_{hole}", ("the missing entry", "il valore mancante", "el valor que falta",
                                    "пропущенное значение"), False),
    ("select", "columns"): ("", _COLUMNS, True),
    ("select", "r"): ("r", ("the correlations", "le correlazioni", "las correlaciones", "корреляции"), True),
    ("cur", "CUR"): ("CUR", ("the product CUR", "il prodotto CUR", "el producto CUR", "произведение CUR"), False),
    ("cur", "error"): ("‖A - CUR‖_F^2", ("the squared error", "l'errore quadratico", "el error cuadrático",
                                         "квадрат ошибки"), False),
    ("nmf", "W"): ("W", ("the new W", "la nuova W", "la nueva W", "новая матрица W"), False),
    ("nmf", "H"): ("H", ("the new H", "la nuova H", "la nueva H", "новая матрица H"), False),
    ("kernel_pca", "lambda"): ("λ", ("the two largest eigenvalues", "i due autovalori più grandi",
                                     "los dos mayores autovalores", "два наибольших собственных значения"), True),
    ("kernel_pca", "t"): ("T", ("the scores", "i punteggi", "las puntuaciones", "счета"), True),
    ("isomap", "edges"): ("E", ("the edges", "gli archi", "las aristas", "рёбра"), True),
    ("isomap", "D"): ("D", ("the matrix of shortest paths", "la matrice dei cammini minimi",
                            "la matriz de caminos mínimos", "матрица кратчайших путей"), False),
    ("isomap", "y"): ("y", ("the coordinates", "le coordinate", "las coordenadas", "координаты"), True),
}  # fmt: skip


def values_of(made: Exercise) -> list[Value]:
    """What is asked for, in the order of the question."""
    found = []
    for target in made.targets:
        if target.optional:
            continue
        name = target.names[0]
        known = "A_k" if made.kind == "bounds" and name.startswith("A_") else name
        known = "A" if made.kind == "diagonalize" and name.startswith("A^") else known
        symbol, nouns, plural = NOUNS[made.kind, known]
        places = {
            "{power}": name[2:],
            "A_{k}": made.targets[0].names[0],
            "{hole}": target.label[3:-1] if made.kind == "missing" else "",
        }
        for place, text in places.items():
            a, b, c, d = (noun.replace(place, text) for noun in nouns)
            symbol, nouns = symbol.replace(place, text), (a, b, c, d)
        found.append(Value(symbol, nouns, plural, target.form, target.value, target.pairing))
    return found


def _sign(value: Value, rng: Random) -> Any:
    """The opposite of one number that is not zero."""
    if value.form == "number":
        return -value.value
    if isinstance(value.value, list):
        place = int(rng.integers(len(value.value)))
        return [-x if i == place else x for i, x in enumerate(value.value)]
    matrix = sp.Matrix(value.value)
    places = [(i, j) for i in range(matrix.rows) for j in range(matrix.cols) if abs(float(matrix[i, j])) > 1e-9]
    columns = {j: sum(abs(float(matrix[i, j])) > 1e-9 for i in range(matrix.rows)) for j in range(matrix.cols)}
    free = [(i, j) for i, j in places if value.form == "matrix" or columns[j] > 1]
    if not free:
        return None
    i, j = free[int(rng.integers(len(free)))]
    matrix[i, j] = -matrix[i, j]
    return matrix


def _entry(value: Value, rng: Random) -> Any:
    """One number changed by 1 or more."""
    if value.form in {"number", "count"}:
        return value.value + 1
    if value.form in {"set", "edges"}:
        return None
    if isinstance(value.value, list):
        place = int(rng.integers(len(value.value)))
        return [x + 1 if i == place else x for i, x in enumerate(value.value)]
    matrix = sp.Matrix(value.value)
    i, j = int(rng.integers(matrix.rows)), int(rng.integers(matrix.cols))
    matrix[i, j] = matrix[i, j] + 1 if value.form != "directions" else matrix[i, j] / 2 - 1
    return matrix


def _longer(value: Value, rng: Random) -> Any:
    """Vectors that are not of unit length."""
    return 2 * value.value if value.form in {"directions", "frame"} else None


def _turned(value: Value, rng: Random) -> Any:
    """The transpose of a matrix that is not symmetric."""
    is_matrix = value.form in {"matrix", "frame"} and value.value != value.value.T
    return value.value.T if is_matrix and min(value.value.shape) > 1 else None


def _other(value: Value, rng: Random) -> Any:
    """Another choice."""
    if value.form == "set":
        return [*value.value[:-1], max(map(int, value.value)) + 1]
    if value.form == "edges":
        points = sorted({int(p) for pair in value.value for p in pair})
        known = {frozenset(map(int, pair)) for pair in value.value}
        new = next((a, b) for a in points for b in points if a < b and frozenset((a, b)) not in known)
        return [new, *value.value[1:]]
    return None


def _exchanged(value: Value, rng: Random) -> Any:
    """Two numbers or vectors in the other order, where the order counts."""
    if value.form == "list" and len(value.value) > 1 and abs(float(value.value[0] - value.value[1])) > 0.05:
        return [value.value[1], value.value[0], *value.value[2:]]
    if value.pairing and value.form == "directions" and value.value.cols > 1:
        order = [1, 0, *range(2, value.value.cols)]
        return value.value.extract(list(range(value.value.rows)), order)
    return None


SLIPS = {"sign": _sign, "entry": _entry, "longer": _longer, "turned": _turned, "other": _other,
         "exchanged": _exchanged}  # fmt: skip


def slips(kind: str, language: str, key: list[Value], rng: Random) -> Iterator[tuple[str, list[Value]]]:
    """The key with one slip each: in a number, in the order, or with a part missing or denied."""
    for name, slip in SLIPS.items():
        for place, value in enumerate(key):
            invariant = name == "sign" and value.form in {"count", "set", "edges"}
            only = name == "sign" and value.form == "scores" and value.value.rows == 1
            spoilt = None if invariant or only else slip(value, rng)
            if spoilt is not None and spoilt != value.value:
                yield name, [replace(v, value=spoilt) if i == place else v for i, v in enumerate(key)]
    for place in range(len(key)) if len(key) > 1 else ():
        yield "missing", [value for i, value in enumerate(key) if i != place]
    for place in range(len(key)):
        yield "negated", [replace(value, negated=i == place) for i, value in enumerate(key)]
