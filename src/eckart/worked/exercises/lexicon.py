"""The vocabulary of answers in four languages: what is asked for, other quantities, and words that change a meaning.

Prose is ignored, except for these words. `the rank is 2` means the same as `2`; `not 2`, `at least 2` and `the trace
is 2` do not.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from eckart.errors import InputError
from eckart.worked.exercises.synonyms import SYNONYMS
from eckart.worked.messages import LANGUAGES, catalogue, tr


def word_set(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


IS = word_set("""is are be equals equal becomes become gives è sono vale valgono diventa diventano risulta es son
    será pasa queda равен равна равно равны равняется равняются это есть становится""")
AND = word_set("and e ed y и as well also")
WITH = word_set("with con с for per para для to")
ENOUGH = word_set("""enough suffice suffices sufficient needed necessary required basta bastano bastan necessari
    necessarie necesarios necesarias хватает достаточно хватит нужно нужны необходимо необходимы""")
HAS = word_set("has have ha hanno tiene tienen имеет имеют")
OR = word_set("or o u или oppure ó")
CHOSEN = word_set("""selected select chosen choose picked pick scelta scelto selezionata selezionato prescelta elegida
    elegido seleccionada seleccionado escogida escogido выбран выбрана выбрано выбираем отобран отобрана отобрано""")
OF = word_set("of for to di del della dei delle degli dell per relativo relativa a al alla de para из для")
PLACES = {
    "row": "row riga fila строка строке строкой строку",
    "column": "column col colonna columna столбец столбца столбцу столбцом",
    "point": "point punto точка точки точке",
}
"""Nouns in the singular that are numbered: `row 3` is a symbol."""
_GENITIVE = "строки"
"""Of the row, or the rows: what follows decides."""
SIDES = {
    "rows": "row rows riga righe fila filas строка строки строк строке строкам строками строку",
    "columns": "column columns col cols colonna colonne columna columnas столбец столбца столбцы столбцов столбцам",
}
ARTICLES = word_set("""a an the of for in on to by its their his il lo la i gli le l un uno una di del della dei delle
    degli dell per el los las de al su sus en y e and suo sua suoi sue loro для из в на его её ее их matrix matrices
    matrice matrici matriz matrices матрица матрицы матрицу матрице матрицей""")
_OTHER = """
    trace tr tracc traza след следа permanent cofactor cofattor minors invers обратн transpos traspost traspuest
    транспон recipro opposit opuest negat adjoint adjug sum sums somm suma sumas сумм total totale product prodott
    producto
    произвед     differen diferenc разност ratio quotient cocient quozient rapport частн отношен half halves metà
    mitad половин twice
    doubl doppi doble удвоен вдвое tripl roots radic raíz корень корня norm norma норм length lunghezz longitud длин
    nullity nullità nulidad дефект radius raggio radio радиус mean means averag media medie medias средн median медиан
    varian дисперс std deviation deviaz desviac отклонен angle angol ángul угол polynom polinom многочлен multiplic
    кратност det determ определител rank rango ранг ранга rg rk eigenv eigval autov propi собственн singular singolar
    сингулярн covarian ковариац correlation correlaz correlació correlaciones корреляц score punteggi puntuac probab
    вероят error ошиб погрешн residu остат log exp hundred thousand million dozen cube cubo куб izquierd derech
    sinistr
    destr left левы правы minor order ordine orden degree grado previous preceden anterior предыдущ guess relativ
    относит initial inizial inicial начальн old vecchi viejo viejos старый cosin energi distan расстоян component
"""
"""Words, or their beginnings if longer than three letters, of quantities that may not be asked for, and of
    changes."""
_CHANGING = """
    not no never none neither nor without except unlike wrong false different isn aren doesn don cannot more
    less than over under between maybe perhaps possibly either times
    non né senza tranne eccetto diverso diversa diversi sbagliato almeno forse volte
    ni sin salvo excepto distinto distinta distintos nunca quizá quizás tal veces
    не нет ни без кроме никогда неверно больше меньше возможно либо разве раз
    corrected correction oops sorry wait anzi ops scusa scusate correggo correzione
    perdón perdon corrijo corrección digo вернее ой исправляю исправление исправлено поправка простите извините
"""
_LIMITS = re.compile(
    r"(?i)\b(?:at (?:most|least)|up to|fino a|хотя бы|не менее|не более|по крайней мере|самое (?:большее|меньшее)|"
    r"i mean|mejor dicho|quiero decir|volevo dire|"
    r"al massimo|al minimo|al menos|a lo sumo|al más|como (?:máximo|mínimo)|"
    r"(?:maggiore|minore|mayor|menor|superiore|inferiore|superior|inferior) (?:di|a|que|o)\b)"
)
_EXTREMES = {
    "largest": """max maximum maximal largest greatest biggest highest most dominant leading dom massimo massima
        maggiore         maggior dominante máximo máxima mayor наибольшее наибольшая наибольшей наибольший
    максимальное максимальная
        доминирующее больше сильнее""",
    "smallest": """min minimum minimal smallest least lowest minor minimo minima minore minor mínimo mínima menor
    menos
        meno наименьшее наименьшая наименьшей наименьший минимальное минимальная наименее слабее меньше""",
}
_SQUARED = (
    r"(?i)(?:\(?\b(?:squared?|squares of|quadratic[oie]|al quadrato|quadrati?|cuadrátic[oa]s?|cuadrados?|al cuadrado|"
    r"квадрат\w*|в квадрате)\b\)?|\^\(?2\)?)(?:\s+(?:of|del?|dell[ae]?|degli|de))?"
)
_COUNTS = word_set("number count numero número quantità cantidad число количество количества")
_STEMS = tuple(stem for stem in _OTHER.split() if len(stem) > 3)
_SHORT = frozenset(_OTHER.split()) - set(_STEMS)
_UNIT_LENGTH = ("normali", "нормир", "следов")
_WORD = re.compile(r"[^\W\d_]+")
_SPLIT = {key: frozenset(words.split()) for key, words in {**_EXTREMES, **SIDES}.items()}
Mention = tuple[int, int]
"""A target, and the number of words that name it; the target is -1 for another quantity."""


def words_of(text: str) -> list[str]:
    """The words of a text in lower case.

    >>> words_of("The rank of A_1 is")
    ['the', 'rank', 'of', 'a', 'is']
    """
    return [word.lower() for word in _WORD.findall(text)]


def place_noun(word: str, *, heads: bool = False) -> str:
    """ "row", "column" or "point" for a noun in the singular, else ""; `heads` if one number and a colon follow.

    >>> place_noun("riga"), place_noun("строки"), place_noun("строки", heads=True)
    ('row', '', 'row')
    """
    found = next((noun for noun, words in PLACES.items() if word.lower() in words.split()), "")
    return found or ("row" if heads and word.lower() == _GENITIVE else "")


def side_of(text: str) -> str:
    """ "rows" or "columns" if a text mentions one of them, otherwise "".

    >>> side_of("basis: rows"), side_of("le colonne scelte"), side_of("rows and columns")
    ('rows', 'columns', '')
    """
    return _only(("rows", "columns"), text)


def extreme_of(text: str) -> str:
    """ "largest" or "smallest" if a text contains that word, else "".

    >>> extreme_of("lambda_max"), extreme_of("the smallest eigenvalue"), extreme_of("lambda")
    ('largest', 'smallest', '')
    """
    return _only(("largest", "smallest"), text)


def _only(kinds: tuple[str, ...], text: str) -> str:
    found = [kind for kind in kinds if _SPLIT[kind] & set(words_of(text))]
    return found[0] if len(found) == 1 else ""


def without_square(text: str) -> tuple[str, bool]:
    """A text without the words for a square, and whether there were any.

    >>> without_square("the squared error"), without_square("errore quadratico"), without_square("sigma")
    (('the  error', True), ('errore ', True), ('sigma', False))
    """
    shorter = re.sub(_SQUARED, " ", text)
    return (shorter, True) if shorter != text and words_of(shorter) else (text, False)


def refuse_changing(text: str) -> None:
    """Refuse an answer with `not`, `at least` or the like, which may state the opposite of its number.

    >>> refuse_changing("k is not")
    Traceback (most recent call last):
    eckart.errors.InputError: The answer could not be read: it contains the word 'not', ...
    """
    text = re.sub(r"(?i)(?:меньше|больше) (?:всего|всех)|кроме того", "", text)
    changing = frozenset(_CHANGING.split())
    for word in [*words_of(text), *_LIMITS.findall(text)]:
        if word in changing or " " in word:
            raise InputError(
                tr("The answer could not be read: it contains the word {word}, but only direct answers can be "
                   "checked. Write the numbers, with names if you like.", word=repr(word))
            )  # fmt: skip


def is_other(word: str) -> bool:
    """Whether a word names a quantity that may not be asked for, or a change of one: `trace`, `sum`, `half`."""
    return (word.startswith(_STEMS) or word in _SHORT) and not word.startswith(_UNIT_LENGTH)


def changes(word: str) -> bool:
    """Whether a word behind a name makes it the name of something else: `the determinant of the inverse`."""
    return word.startswith(("invers", "обратн", "adjug", "adjoint", "cofact", "cofatt"))


def is_count(word: str) -> bool:
    """Whether a word asks how many there are, as in `number of components`."""
    return word in _COUNTS


def mentions(words: list[str], names: tuple[tuple[str, ...], ...]) -> list[tuple[int, int]]:
    """What some words name, in order: the number of the target, or -1 for another quantity, and where.

    >>> names = (("eigenvalues",), ("k", "number"))
    >>> mentions("sum of the eigenvalues".split(), names), mentions("gli autovalori".split(), names)
    ([(-1, 0), (0, 1)], [(0, 0)])
    """
    own = [word for word in words if word not in ARTICLES]
    found, place = [], 0
    while place < len(own):
        for size in range(min(5, len(own) - place), 0, -1):
            window = own[place : place + size]
            target = next((i for i, one in enumerate(names) if _names(window, one)), None)
            if target is not None:
                found.append((target, place))
                break
        else:
            size = 1
            if is_other(own[place]):
                found.append((-1, place))
        place += size
    return found


def _names(window: list[str], names: tuple[str, ...]) -> bool:
    """Whether some words are one of the names of a target, in any order and inflection."""
    return any(len(phrase) == len(window) and _same(window, phrase) for phrase in phrases(names))


def _same(window: list[str], phrase: tuple[str, ...]) -> bool:
    left = list(phrase)
    for word in window:
        match = next((one for one in left if _alike(word, one)), None)
        if match is None:
            return False
        left.remove(match)
    return True


@cache
def _alike(a: str, b: str) -> bool:
    """Whether two words differ only in their endings: distance and distances, autovalore and autovalori."""
    a, b = _unaccented(a), _unaccented(b)
    longest = max(len(a), len(b))
    stem = max(4, longest - 2 - (longest > 10))
    return a == b or (len(a) >= stem and a[:stem] == b[:stem])


@cache
def _unaccented(word: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFD", word.lower()) if not unicodedata.combining(sign))


@cache
def phrases(names: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    """What a target may be called, in all languages, as words without articles; letters are symbols."""
    known = [*names, *[other for name in names for other in SYNONYMS.get(name, "").split(", ")]]
    known += [form[0] for code in LANGUAGES for name in known if (form := catalogue(code).messages.get(name))]
    words = map(_content, known)
    return frozenset(one for one in words if one and max(map(len, one)) > 1)


def _content(name: str) -> tuple[str, ...]:
    """The words of a name, without articles and without what is filled in."""
    return tuple(word for word in words_of(name.split(": {")[0]) if word not in ARTICLES)
