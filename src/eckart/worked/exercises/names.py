"""The meaning of a name in an answer: `det(A)`, `the unit eigenvectors`, `v2`, `sigma^2`, `autovalori`.

A name matches a target only if nothing in it changes its meaning: `det(2A)`, `trace` and `the sum of the eigenvalues`
are different things. A single letter is free: the writer may have chosen it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from eckart.worked.exercises.answers import Target
from eckart.worked.exercises.synonyms import SYNONYMS
from eckart.worked.exercises.words import (
    ARTICLES,
    METHOD,
    are_articles,
    are_neutral,
    are_sides,
    counts,
    extreme_of,
    is_other,
    side_of,
    words_of,
)
from eckart.worked.messages import LANGUAGES, catalogue

COLUMNS = {"directions", "axes", "frame", "scores"}
_SUBJECTS = {"A", "M", "X"}
"""Names of the matrix of a question, as in rank(A). Intermediate results may be meant too: eigenvalues of C."""
_FIXED = {"A", "k", "K", "n", "I"}
"""Letters with one meaning in all questions; any other letter may be the writer's own name."""
_PLAIN = re.compile(r"(?:[^\W\d_]+(?:[\s_]?\d+)?[\s.,']*)*")  # words, perhaps with numbers: row 1, row2
_SUFFIX = r"_?(?:max|min|dom|inf|F|tot)"  # lambda_max, error_F
_CAPITALS = {"I", "E", "O", "L", "В", "С", "И", "К"}
"""Words of one letter at the beginning of a sentence."""
_MOST = 9
_OPPOSITE = {"largest": "smallest", "smallest": "largest"}
_WITH = r"\s(?:with|where|con|dove|donde|где|при)\s"  # A = QR with Q = ...
_LINK = (
    r"(?i)^(?:because|since|so|hence|thus|with|where|and|then|for|as|perché|poiché|quindi|con|dove|e|per|porque|pues|luego|"
    r"así que|donde|y|para|como|come|потому что|так как|поэтому|с|где|и|при|для|тогда|как),?\s+(?=\S)"
)
_ELIDED = r"(?i)(?<![^\W_])(?:l|un|d|dell|all|nell|dall|sull|quell)['’](?=[^\W\d_])"  # l'autovalore
_OF_COVARIANCE = (
    r"(?i)\s+(?:(?:of|della?|de(?: la)?|di)\s+)?(?:the\s+)?(?:(?:matrix|matrice|matriz) (?:of|di|de) )?"
    r"(?:covarian\w+|ковариац\w+)(?:\s+(?:matrix|матриц\w+))?$"
)
_SQUARED = (
    r"(?i)\(?\b(?:squared?|quadratic[oie]|al quadrato|cuadrátic[oa]s?|al cuadrado|квадрат\w*|в квадрате)\b\)?(?: of)?"
)


def find(name: str, targets: Sequence[Target]) -> tuple[int, int] | None:
    """The target of this name, and its column or entry (0: all): v2 is column 2 of v, lambda2 entry 2.

    >>> targets = (Target(("lambda", "eigenvalues"), "numbers", [3, 1]), Target(("det", "determinant"), "number", 3))
    >>> find("the eigenvalues of A", targets), find("lambda_2", targets), find("det(A)", targets)
    ((0, 0), (0, 2), (1, 0))
    >>> find("det(2A)", targets), find("sum of the eigenvalues", targets), find("det^2", targets)
    (None, None, None)
    """
    name = re.sub(r"\s+(?:is|are|è|sono|es|son)$", "", with_power(bare(name)))
    pieces = [piece for pattern in (r"=", _WITH, r",") for one in reversed(name.split("="))
              for piece in re.split(pattern, one)]  # fmt: skip
    pieces += [re.sub(_OF_COVARIANCE, "", piece) for piece in pieces]  # the eigenvalues of the covariance matrix
    found = next((found for one in pieces if (found := _find(bare(one), targets))), None)
    return found if found and not _contradicts(name, targets[found[0]]) else None


def bare(name: str) -> str:
    """A name without words that link it to what precedes: `with u_1` is u_1."""
    return re.sub(_LINK, "", name.strip())


def _contradicts(name: str, target: Target) -> bool:
    """Whether a name contradicts the target: `columns` for chosen rows, or `largest` for the smallest value."""
    rows = not {"columns", "column"} & set(target.names)
    side = side_of(name) if target.form == "set" else ""
    return side == ("columns" if rows else "rows") or extreme_of(name) == _OPPOSITE.get(target.extreme)


def with_power(name: str) -> str:
    """`squared error` as `error^2`.

    >>> with_power("the squared error"), with_power("errore quadratico"), with_power("sigma")
    ('the error^2', 'errore^2', 'sigma')
    """
    name = re.sub(r"(?i)(?:the\s+|il\s+|el\s+)?(?:cube of|cubo d[ie]|куб)\s+([A-Z])(?!\w)", r"\1^3", name)
    name = re.sub(r"(?i)\s+(?:cubed|al cubo|в кубе|в третьей степени)(?!\w)", "^3", name)
    name = re.sub(r"(?i)\s+(?:to the fourth|alla quarta|a la cuarta|в четв[её]ртой степени)(?!\w)", "^4", name)
    shorter = re.sub(_SQUARED, " ", name).strip()
    return name if shorter == name.strip() or not shorter else f"{shorter}^2"


def is_free(name: str, targets: Sequence[Target] = ()) -> bool:
    """Whether a name has no meaning of its own: a letter of the writer's choice, or neutral words.

    >>> is_free("x"), is_free("y_2"), is_free("the answer"), is_free("trace"), is_free("A^-1"), is_free("|A|^2")
    (True, True, True, False, False, False)
    """
    if are_sides(name) and not is_free_of_sides(name, targets):
        return False
    letter = re.fullmatch(r"([^\W\d_]|mu|nu|rho|phi)(?:_?\d+|')?", name.strip())
    own = {letter[0], letter[0].rstrip("_0123456789")} if letter is not None else set()
    if any(own & set(target.reserved) for target in targets):
        return False
    later = letter is not None and letter[0][len(letter[1]) :].strip("_") not in {"", "1", "'"}
    if letter is not None and any(
        letter[1] in target.names and (_place(target) or (later and target.form == "matrix")) for target in targets
    ):
        return False  # another entry than the one that is asked for, or W_2 for the first W
    return (letter is not None and letter[1] not in _FIXED) or says_nothing(name)


def is_free_of_sides(name: str, targets: Sequence[Target]) -> bool:
    """Whether a name does not choose rows or columns; row1, row2, ... are rows of something."""
    return not any(target.form == "set" for target in targets) or not side_of(name) or bool(re.search(r"\d", name))


def is_called(name: str, target: Target) -> bool:
    """Whether this is one of the names of a target, without an index, a power or further words."""
    return _normal(name) in _names(target.names)


def says_nothing(name: str) -> bool:
    """Whether a name has only neutral words; `A` is a matrix, `a` an article."""
    is_letter = re.fullmatch(r"\s*[A-Z](?:_?\d+)?\s*", name)
    return are_neutral(name) and bool(words_of(name)) and bool(_PLAIN.fullmatch(name)) and not is_letter


def is_unknown(name: str, targets: Sequence[Target]) -> bool:
    """Whether the words of a name say nothing about its values: `I found`, `we keep`, `in the second step`."""
    words = _described_words(name)
    if not all(map(str.isalpha, words)) or max(map(len, words), default=0) < 2 or not is_free_of_sides(name, targets):
        return False
    own, rest = _mentioned(words, targets)
    return len({target for target, _ in own}) != 1 and not any(map(_changes, rest))


def _find(name: str, targets: Sequence[Target]) -> tuple[int, int] | None:
    if not _normal(name):
        return None
    if (whole := _named(name, targets)) is not None:
        return whole, 0
    if squared := re.fullmatch(r"(.+?)\s*\^\s*\(?2\)?", name):
        found = _find(squared[1], targets)  # d^2 is d, not d2
        if found or " " not in name:
            return found if found and (targets[found[0]].squared or targets[found[0]].unsigned) else None
    if transposed := re.fullmatch(r"(.+?)(?:\^\(?[TtH]\)?|')", name):
        found = _find(transposed[1], targets)
        return found if found and hasattr(targets[found[0]].value, "shape") else None
    if first := re.fullmatch(r"(.+?)\^\(?1\)?", name):
        return _find(first[1], targets)  # W^(1) is the first W
    if "^" in name and " " not in name:
        return None  # V^-1 is not V, det^3 not det
    if suffixed := re.fullmatch(rf"(.+?){_SUFFIX}", name):
        return _find(suffixed[1], targets)
    return _indexed(name, targets) or _with_argument(name, targets) or _described(name, targets)


def _named(name: str, targets: Sequence[Target]) -> int | None:
    """The target with exactly this name, or one with a similar spelling."""
    wanted = _normal(name)
    exact = [i for i, target in enumerate(targets) if name in target.names]
    loose = [i for i, target in enumerate(targets) if wanted in _names(target.names)]
    inflected = not re.search(r"\s\S{1,2}$", name)  # the B of `determinant B` is not an ending
    alike = [i for i, target in enumerate(targets) if any(_alike(wanted, one) for one in _names(target.names))
             or any(_inflected(name, one) for one in _phrases(target.names))]  # fmt: skip
    return next(iter(exact + loose + (alike if inflected else [])), None)


def _indexed(name: str, targets: Sequence[Target]) -> tuple[int, int] | None:
    """A name with the number of a column or an entry."""
    match = re.fullmatch(r"(.*[^\W\d])_?\s?\(?([1-9]\d?)\)?[yY]?", name)  # r_1y is that of x_1 and y
    if match:
        for i, target in enumerate(targets):
            base, names = _normal(match[1]), _names(target.names)
            if _place(target) and base in names:
                return (i, 0) if match[2] == _place(target) else None
            if (base in names or any(_alike(base, one) for one in names)) and int(match[2]) <= _count(target):
                return i, int(match[2])
    return None


def _with_argument(name: str, targets: Sequence[Target]) -> tuple[int, int] | None:
    """`rank(A)`, `x(2, 1)`, `v (unit vectors)`, `sigma (singular values)`: the parentheses change nothing."""
    match = re.fullmatch(r"(.+?)\s*\(([^()]*)\)", name)
    if match is None:
        return None
    inside, found = match[2].strip(), _find(match[1], targets)
    if found is None:
        return None
    if pair := re.fullmatch(r"[Xx]?_?([1-9]\d?)\s*[,;]\s*[Yy]", inside):
        return _find(f"{match[1]}_{pair[1]}", targets)  # r(x1, y) is r_1
    place = re.fullmatch(r"\d+(?:\s*[,;]\s*\d+)+", inside)
    if place and _place(targets[found[0]]):
        return found if re.sub(r"\D", "", inside) == _place(targets[found[0]]) else None
    if re.search(r".-", inside):
        return found if _is_difference(inside, targets) else None
    same = _find(inside, targets)
    harmless = re.fullmatch(r"[^\W\d_]{2,}(?:[\s-][^\W\d_]+)*", inside) and not is_other(inside)
    return found if place or harmless or _is_subject(inside, targets) or (same and same[0] == found[0]) else None


def _is_difference(inside: str, targets: Sequence[Target]) -> bool:
    """Whether `A - A_1` is the requested error, with the same index."""
    pieces = [piece.strip() for piece in inside.split("-", 1)]
    return all(pieces) and not any(re.fullmatch(r"[A-Z]_?\d+", one) and _named(one, targets) is None for one in pieces)


def _is_subject(word: str, targets: Sequence[Target]) -> bool:
    """Whether a letter denotes the matrix of the question or a target."""
    return word in _SUBJECTS or any(word in target.names and word.isupper() for target in targets)


def _described(name: str, targets: Sequence[Target]) -> tuple[int, int] | None:
    """A name among words that do not change its meaning: `the rank of A`, `unit eigenvectors`, `eigenvectors V`."""
    words = _described_words(name)
    if words == [name]:
        return None
    if any(map(counts, words)):
        return next(((i, 0) for i, target in enumerate(targets) if target.form == "count"), None)
    own, rest = _mentioned(words, targets)
    named = [word for word in words if word not in rest and word.isalpha() and len(word) > 1]
    if set(rest) & _SUBJECTS and (not named or rest[0] == words[0]):
        return None  # A^+ A is not A^+, A v not v
    return own[0] if len({target for target, _ in own}) == 1 and not any(map(_changes, rest)) else None


def _described_words(name: str) -> list[str]:
    """The words of a name, without articles and without how it was found; none if there is anything else."""
    words = [word.strip(",") for word in re.sub(_ELIDED, "", re.split(METHOD, name)[0]).split()]
    if not all(re.fullmatch(r"[^\W\d](?:[\w'~+-]|\^-?)*", word) for word in words):
        return []
    starts = bool(words) and (
        words[0] in _CAPITALS or (words[0] == "A" and len(words) > 1 and words[1].islower() and len(words[1]) > 2)
    )
    return [word for word in words[starts:] if word.lower() not in ARTICLES or (len(word) == 1 and word.isupper())]


def _mentioned(words: list[str], targets: Sequence[Target]) -> tuple[list[tuple[int, int]], list[str]]:
    """What some words name, the longest names first, and the other words; neutral words only if no other names it."""
    spans = [(a, a + size) for size in range(len(words), 0, -1) for a in range(len(words) - size + 1)]
    for neutral in (False, True):
        own: list[tuple[int, int]] = []
        left = set(range(len(words)))
        for a, b in spans:
            part = " ".join(words[a:b])
            if (
                left.issuperset(range(a, b))
                and (neutral or not are_neutral(part))
                and (found := _simple(part, targets))
            ):
                own.append(found)
                left -= set(range(a, b))
        if own:
            break
    return own, [words[i] for i in sorted(left)]


def _simple(name: str, targets: Sequence[Target]) -> tuple[int, int] | None:
    """The target of a name without further words."""
    if " " not in name:
        return _find(name, targets)
    whole = _named(name, targets)
    return (whole, 0) if whole is not None else _indexed(name, targets)


def _changes(word: str) -> bool:
    """Whether a word next to a name makes it the name of something else: `sum`, `B`, `A^2`."""
    return is_other(word) or "^" in word or (len(word) == 1 and word.isupper() and word not in _SUBJECTS)


def _place(target: Target) -> str:
    """The indices of a requested single entry, 52 for x_{5,2}; "" for all other targets."""
    return re.sub(r"\D", "", target.label) if re.search(r"\d,\d", target.label) else ""


def _count(target: Target) -> int:
    """Number of columns or entries of a target; the scores t1, t2, ... may be those of rows."""
    if target.form == "scores" or (target.form in COLUMNS and target.value.cols == 1):
        return int(max(target.value.shape))
    if target.form in COLUMNS:
        return int(target.value.cols)
    if target.form == "number" or (target.form == "numbers" and len(target.value) == 1):
        return _MOST  # one eigenvalue of several, whatever its number
    return len(target.value) if target.form in {"numbers", "list", "probabilities"} else 0


@cache
def _names(names: tuple[str, ...]) -> frozenset[str]:
    """What a target may be called, in all languages."""
    return frozenset(filter(None, (_normal(_spelt(name)) for name in _all_names(names))))


@cache
def _phrases(names: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    """The names of several words, in all languages."""
    return frozenset(words for name in _all_names(names) if len(words := tuple(_spelt(name).lower().split())) > 1)


def _all_names(names: tuple[str, ...]) -> list[str]:
    known = [*names, *[other for name in names for other in SYNONYMS.get(name, "").split(", ")]]
    return known + [form[0] for code in LANGUAGES for name in known if (form := catalogue(code).messages.get(name))]


def _spelt(name: str) -> str:
    """A name without articles, which `find` ignores too; for a sentence, the text before its values."""
    name = name.split(": {")[0]
    return " ".join(word for word in name.split() if not are_articles(word) or len(word) == len(name))


def _alike(a: str, b: str) -> bool:
    """Whether two words differ only in their endings: distance and distances, autovalore and autovalori."""
    stem = max(4, len(a) - 2, len(b) - 2)
    return a.isalpha() and len(a) >= stem and a[:stem] == b[:stem]


def _inflected(name: str, words: tuple[str, ...]) -> bool:
    """Whether the words of two names differ only in their endings: собственных значений and собственные значения."""
    own = name.lower().split()
    return len(own) == len(words) > 1 and all(a == b or _alike(a, b) for a, b in zip(own, words, strict=True))


def _normal(name: str) -> str:
    return re.sub(r"[\s_^{}(),]", "", name.lower())
