"""Words in answers: those that add nothing, and those that change what an answer says.

`the rank is 2` says the same as `2`. `not 2`, `at least 2` and `2 or more` do not, and must never be read as `2`.
"""

from __future__ import annotations

import re

from eckart.errors import InputError
from eckart.worked.messages import tr

_NEUTRAL = """
    a an the of for in is are be as and so then thus hence therefore we get have with by from to at on that this it its
    my answer answers result results solution solutions row rows column columns vector vectors value values matrix
    entry entries component components number numbers unit first second third point points user users item items score
    scores exactly exact about approximately approx ca circa roughly plus equals equal gives obtain find found here
    where singular edge edges pair pairs
    il lo la i gli le un uno una di del della dei delle degli dell per con da dal nel nella è sono e ed quindi allora
    risposta risultato soluzione riga righe colonna colonne vettore vettori valore valori matrice componente componenti
    numero numeri punto punti arco archi coppia coppie esattamente più vale valgono si ottiene dunque
    el los las unos unas de para con por desde en es son y así entonces luego respuesta resultado solución fila filas
    columna columnas valor valores vector vectores matriz número números punto puntos arista aristas par pares
    exactamente aproximadamente más vale se obtiene
    это равен равна равно равны есть и а для из с со в во на ответ ответы результат решение строка строки строк столбец
    столбцы столбцов вектор векторы векторов значение значения значений матрица компонента компоненты компонент число
    числа чисел точка точки ребро рёбра ребра пара пары ровно примерно около плюс получаем итак тогда следовательно
"""
_CHANGING = """
    not no never none neither nor without except unlike wrong false different isn aren doesn don cannot least more
    less greater smaller larger than over under between maybe perhaps possibly either
    non né senza tranne eccetto diverso diversa diversi sbagliato almeno massimo maggiore minore forse oppure
    ni sin salvo excepto distinto distinta distintos nunca menor mayor quizá quizás tal
    не нет ни без кроме никогда неверно больше меньше возможно либо разве
"""
NEUTRAL, CHANGING = (frozenset(text.split()) for text in (_NEUTRAL, _CHANGING))
"""Words that may stand next to a number without changing it, and those that turn it into something else."""

_WORD = re.compile(r"[^\W\d_]+")


def words_of(text: str) -> list[str]:
    """The words of a text in small letters.

    >>> words_of("The rank of A_1 is")
    ['the', 'rank', 'of', 'a', 'is']
    """
    return [word.lower() for word in _WORD.findall(text)]


def are_neutral(text: str) -> bool:
    """Whether a text has no word that says anything: articles, `is`, `answer`, units such as `components`.

    >>> are_neutral("the answer is"), are_neutral("trace")
    (True, False)
    """
    return all(word in NEUTRAL for word in words_of(text))


def refuse_changing(text: str) -> None:
    """Refuse an answer that contains `not`, `at least` or the like, which may say the opposite of its number.

    >>> refuse_changing("k is not")
    Traceback (most recent call last):
    eckart.errors.InputError: The answer could not be read: it has the word 'not', ...
    """
    for word in [*words_of(text), *re.findall(r"(?i)\bat most\b", text)]:
        if word in CHANGING or " " in word:
            raise InputError(
                tr("The answer could not be read: it has the word {word}, and only what is right can be checked. Write "
                   "the numbers, with names if you like.", word=repr(word))
            )  # fmt: skip


def without_units(text: str) -> str:
    """Without neutral words after a number: `2 components` is 2.

    >>> without_units("k = 2 components; 3 apples")
    'k = 2; 3 apples'
    """
    pattern = r"(?<=[\d)\]}%])[^\S\n]+([^\W\d_]+(?:[^\S\n]+[^\W\d_]+)*)[^\S\n]*(?=[;,.\n]|$)"
    return re.sub(pattern, lambda found: "" if are_neutral(found[1]) else found[0], text)
