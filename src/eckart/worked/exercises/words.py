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
    столбца столбцы столбцов первого второго третьего четвёртого первой второй третьей
    вектор векторы векторов значение значения значений матрица компонента компоненты компонент число
    числа чисел точка точки ребро рёбра ребра пара пары ровно примерно около плюс получаем итак тогда следовательно
    точно первый первая первое второй вторая второе третий третья третье матрицы матрицу вектора числом отв округлённо
    потому поскольку прямая прямой заменить заменяем заменяется них нужны нужен нужна
"""
_OTHER = """
    trace tr tracc traza след следа
    permanent cofactor cofattor minors invers обратн transpos traspost traspuest транспон
    recipro opposit opuest negat adjoint adjug sum sums somm suma sumas сумм product prodott producto произвед differen
    diferenc разност ratio quotient cocient quozient rapport частн отношен half halves metà mitad половин twice doubl
    doppi doble удвоен вдвое tripl root roots radic raíz корень корня norm norma норм length lunghezz longitud длин
    nullity nullità nulidad дефект radius raggio radio радиус mean means averag media medie medias средн median медиан
    varian дисперс std deviation deviaz desviac отклонен angle angol ángul угол polynom polinom многочлен multiplic
    кратност det determ определител rank rango ранг rg rk eigenv eigval autov propi собственн singular singolar
    сингулярн covarian ковариац correlation correlaz correlació correlaciones корреляц
    score punteggi puntuac probab вероят error ошиб погрешн residu остат
    log exp hundred thousand million dozen square quadrat cuadrad квадрат cube cubo куб sigma
    izquierd derech sinistr destr left левы правы
    lambda mu pi minor order ordine orden degree grado previous preceden anterior предыдущ guess relativ относит
    initial inizial inicial начальн old vecchi viejo viejos старый cosin
"""
"""Words, or their beginnings if longer than three letters, of quantities that are not asked for, and of changes."""
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
    times volte veces раз or oppure или
    not no never none neither nor without except unlike wrong false different isn aren doesn don cannot more
    less than over under between maybe perhaps possibly either
    non né senza tranne eccetto diverso diversa diversi sbagliato almeno forse oppure
    ni sin salvo excepto distinto distinta distintos nunca quizá quizás tal
    не нет ни без кроме никогда неверно больше меньше возможно либо разве
"""
NEUTRAL, CHANGING, ARTICLES, _ALLOWED = (frozenset(text.split()) for text in (_NEUTRAL, _CHANGING, _ARTICLES, _UNITS))
"""Words that may stand next to a number without changing it, those that change its meaning, and articles."""
_STEMS = tuple(stem for stem in _OTHER.split() if len(stem) > 3)
_UNIT_LENGTH = ("normali", "нормир")  # normalised vectors have the norm 1
_SHORT = frozenset(_OTHER.split()) - set(_STEMS)
_LIMITS = (
    r"(?i)\b(?:at (?:most|least)|up to|fino a|хотя бы|не менее|не более|по крайней мере|самое (?:большее|меньшее)|"
    r"al massimo|al minimo|al menos|a lo sumo|al más|como (?:máximo|mínimo)|"
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
_LETTER = re.compile(
    r"(?<![^\W_])(?![aeioylAEIOYLавикосуАВИКОСУ](?![\w^]))[^\W\d_](?![^\W\d_'’])|\^"
)  # x, A, v_2: symbols


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


def is_other(text: str) -> bool:
    """Whether a text mentions another quantity, or a change of one: `trace`, `sum of`, `half`.

    >>> is_other("the trace of"), is_other("sum of"), is_other("I found"), is_other("normalised")
    (True, True, False, False)
    """
    return any(
        (word.startswith(_STEMS) or word in _SHORT) and word not in NEUTRAL and not word.startswith(_UNIT_LENGTH)
        for word in words_of(text)
    )


def are_units(text: str) -> bool:
    """Whether a text after a number leaves its meaning as it is: `components`, `singular values suffice`.

    >>> are_units("singular value suffices"), are_units("half"), are_units("perhaps"), are_units("i")
    (True, False, False, False)
    """
    said = [word for word in words_of(text) if word not in _ALLOWED and not word.startswith(("covarian", "ковариац"))]
    changed = is_other(" ".join(said)) or any(word in CHANGING for word in said)
    return not changed and not _LETTER.search(text) and max(map(len, words_of(text)), default=2) > 1


def says_enough(text: str) -> bool:
    """Whether a text says that a number of things suffices."""
    return bool(set(_ENOUGH.split()) & set(words_of(text)))


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
    text = re.sub(r"(?i)(?:меньше|больше|menos|más|meno|più) (?:всего|всех)", "", text)
    for word in [*words_of(text), *re.findall(_LIMITS, text)]:
        if word in CHANGING or " " in word:
            raise InputError(
                tr("The answer could not be read: it contains the word {word}, but only direct answers can be "
                   "checked. Write the numbers, with names if you like.", word=repr(word))
            )  # fmt: skip
