"""Words in answers: those that add nothing, and those that change the meaning.

`the rank is 2` means the same as `2`. `not 2`, `at least 2` and `2 or more` do not, and must never be read as `2`.
"""

from __future__ import annotations

import re

from eckart.errors import InputError
from eckart.worked.messages import tr

_NEUTRAL = """
    a an the of for in is are be as and so then thus hence therefore we get have with by from to at on that this it its
    they these has them because since line replace replaced replacing after
    my answer answers result results solution solutions row rows column columns vector vectors value values matrix
    entry entries component components number numbers unit first second third point points user users item items score
    scores exactly exact about approximately approx ca circa roughly plus equals equal gives obtain find found here
    where edge edges pair pairs ans sol res final i.e col cols vec vecs val vals rounded
    just only becomes become diventa diventano становится
    keep choose pick take tengo teniamo scelgo scegliamo elijo elegimos выбираем оставляем берём
    need needed suffice suffices enough required sono ne bastano basta servono bastan basta hacen falta se necesitan
    нужно достаточно требуется хватает
    il lo la i gli le un uno una di del della dei delle degli dell per con da dal nel nella è sono e ed quindi allora
    risposta risultato soluzione riga righe colonna colonne vettore vettori valore valori matrice componente componenti
    numero numeri punto punti arco archi coppia coppie esattamente esatto esatta più vale valgono si ottiene dunque l
    prima primo seconda secondo terza terzo arrotondato perché poiché retta sostituire sostituisco sostituito si loro
    el los las unos unas de para con por desde en es son y así entonces luego respuesta resultado solución fila filas
    columna columnas valor valores vector vectores matriz número números punto puntos arista aristas par pares
    porque recta reemplazar reemplaza reemplazo sustituir sustituye ellos ellas
    exactamente exacto exacta aproximadamente más vale se obtiene primero primer primera segundo segunda redondeado
    это равен равна равно равны есть и а для из с со в во на ответ ответы результат решение строка строки строк столбец
    столбцы столбцов вектор векторы векторов значение значения значений матрица компонента компоненты компонент число
    числа чисел точка точки ребро рёбра ребра пара пары ровно примерно около плюс получаем итак тогда следовательно
    точно первый первая первое второй вторая второе третий третья третье матрицы матрицу вектора числом отв округлённо
    потому поскольку прямая прямой заменить заменяем заменяется них нужны нужен нужна
"""
_DESCRIBING = """
    unit normalised normalized orthonormal principal main dominant leading largest smallest greatest lowest highest
    biggest minimum maximum minimal maximal max min least corresponding associated respective numerical new computed
    calculated sought required requested given best optimal approximation reconstruction total all both two three its
    resulting shortest frobenius following chosen drawn selected best-fitting respectively one variance energy
    missing imputed filled round step iteration vary varies along direction directions
    unitari unitario normalizzati normalizzato ortonormali principali principale dominante massimo massima minimo minima
    maggiore minore corrispondenti corrispondente associati relativo relativi calcolato richiesto dato data nuovi
    nuove nuovo nuova
    migliore totale tutti tutte scelte cercato ricostruzione approssimazione varianza energia mancante
    dopo giro passo iterazione lungo direzione
    unitarios unitario normalizados normalizado ortonormales principales principal máximo mínima mínimo mayor menor
    correspondientes correspondiente asociados calculado pedido dado dada nuevos nuevas nuevo nueva mejor todos
    todas elegidas
    reconstrucción aproximación varianza energía faltante perdido después tras ronda paso iteración
    dirección
    единичные единичный нормированные нормированный ортонормированные главные главная главный наибольшее наименьшее
    максимальное минимальное соответствующие соответствующий данной данная искомый искомые новых новые лучшее все
    выбранные найденные приближения восстановления кратчайшие кратчайших дисперсии энергии исходной пропущенное новое
    после шаг шага итерации вдоль направление
"""
_ARTICLES = """
    a an the of for is are in on to il lo la i gli le l un uno una di del della dei delle degli dell per el los las de
    al en для из в на это
"""
_UNITS = """
    singular singolare singolari singulares сингулярное сингулярных сингулярные principal principali principales
    frobenius norm norma фробениуса норме
"""
_ENOUGH = "enough suffice suffices basta bastano bastan хватает достаточно"
_CHANGING = """
    not no never none neither nor without except unlike wrong false different isn aren doesn don cannot more
    less than over under between maybe perhaps possibly either
    non né senza tranne eccetto diverso diversa diversi sbagliato almeno forse oppure
    ni sin salvo excepto distinto distinta distintos nunca quizá quizás tal
    не нет ни без кроме никогда неверно больше меньше возможно либо разве
"""
NEUTRAL, CHANGING = (frozenset(text.split()) for text in (_NEUTRAL, _CHANGING))
"""Words that may stand next to a number without changing it, and those that change its meaning."""
DESCRIBING, ARTICLES = (frozenset(text.split()) for text in (_DESCRIBING, _ARTICLES))
"""Words that describe a thing without making it another one, such as `unit` for eigenvectors; articles and `of`."""
_LIMITS = (
    r"(?i)\b(?:at (?:most|least)|al massimo|al minimo|al menos|a lo sumo|al más|como (?:máximo|mínimo)|"
    r"(?:maggiore|minore|mayor|menor|superiore|inferiore|superior|inferior) (?:di|a|que|o)\b)"
)
METHOD = r"\s+(?:by|using|via|mediante|tramite|usando|con|with|методом|с помощью|по)\s+"
"""Words that introduce how something was found, not what it is."""
SIDES = {
    "rows": {"row", "rows", "riga", "righe", "fila", "filas", "строка", "строки", "строк"},
    "columns": {
        "column",
        "columns",
        "colonna",
        "colonne",
        "columna",
        "columnas",
        "столбец",
        "столбца",
        "столбцы",
        "столбцов",
    },
}
_EXTREMES = {
    "largest": {"max", "maximum", "maximal", "largest", "greatest", "biggest", "dominant", "leading", "dom", "massimo",
                "maggiore", "dominante", "máximo", "mayor", "наибольшее", "максимальное"},
    "smallest": {"min", "minimum", "minimal", "smallest", "least", "lowest", "minimo", "minore", "mínimo", "menor",
                 "наименьшее", "минимальное"},
}  # fmt: skip
_COUNTS = {"number", "count", "numero", "número", "quantità", "cantidad", "число", "количество"}

_WORD = re.compile(r"[^\W\d_]+")


def words_of(text: str) -> list[str]:
    """The words of a text in lower case.

    >>> words_of("The rank of A_1 is")
    ['the', 'rank', 'of', 'a', 'is']
    """
    return [word.lower() for word in _WORD.findall(text)]


def are_neutral(text: str) -> bool:
    """Whether a text has only words without meaning: articles, `is`, `answer`, units such as `components`.

    >>> are_neutral("the answer is"), are_neutral("trace")
    (True, False)
    """
    return all(word in NEUTRAL for word in words_of(text))


def are_units(text: str) -> bool:
    """Whether a text has only words that may follow a count, as in `1 singular value`.

    >>> are_units("singular value suffices"), are_units("half")
    (True, False)
    """
    return all(word in NEUTRAL or word in _UNITS.split() for word in words_of(text))


def says_enough(text: str) -> bool:
    """Whether a text says that a number of things suffices."""
    return bool(set(_ENOUGH.split()) & set(words_of(text)))


def are_describing(text: str) -> bool:
    """Whether a text has only words that do not change the meaning of a name.

    >>> are_describing("unit"), are_describing("sum of")
    (True, False)
    """
    return all(word in NEUTRAL or word in DESCRIBING for word in words_of(text))


def are_articles(text: str) -> bool:
    """Whether a text has only articles and prepositions."""
    return all(word in ARTICLES for word in words_of(text))


def are_sides(text: str) -> bool:
    """Whether a text mentions only rows or columns.

    >>> are_sides("the columns"), are_sides("columns of Q"), are_sides("the answer")
    (True, False, False)
    """
    said = [word for word in words_of(text) if word not in ARTICLES]
    return bool(said) and all(word in SIDES["rows"] | SIDES["columns"] for word in said)


def side_of(text: str) -> str:
    """ "rows" or "columns" if a text mentions one of them, otherwise "".

    >>> side_of("basis: rows"), side_of("le colonne scelte"), side_of("rows and columns")
    ('rows', 'columns', '')
    """
    return _only(SIDES, text)


def extreme_of(text: str) -> str:
    """ "largest" or "smallest" if a text contains that word, else "".

    >>> extreme_of("lambda_max"), extreme_of("the smallest eigenvalue"), extreme_of("lambda")
    ('largest', 'smallest', '')
    """
    return _only(_EXTREMES, text)


def _only(kinds: dict[str, set[str]], text: str) -> str:
    found = [kind for kind, words in kinds.items() if words & set(words_of(text))]
    return found[0] if len(found) == 1 else ""


def counts(word: str) -> bool:
    """Whether a word asks how many there are, as in `number of components`."""
    return word.lower() in _COUNTS


def refuse_changing(text: str) -> None:
    """Refuse an answer with `not`, `at least` or the like, which may state the opposite of its number.

    >>> refuse_changing("k is not")
    Traceback (most recent call last):
    eckart.errors.InputError: The answer could not be read: it contains the word 'not', ...
    """
    for word in [*words_of(text), *re.findall(_LIMITS, text)]:
        if word in CHANGING or " " in word:
            raise InputError(
                tr("The answer could not be read: it contains the word {word}, but only direct answers can be "
                   "checked. Write the numbers, with names if you like.", word=repr(word))
            )  # fmt: skip
