"""Messages in four languages: English in the code, translations in `locale/LANGUAGE.po` (the format of GNU gettext).

`tr("text with {name}", name=...)` marks a message; `trn` marks one whose form depends on a count. To extract the
messages again, run `pybabel extract -k tr -k mark -k trn:1,2 src/eckart/worked`. A test fails if a translation is
missing.
"""

from __future__ import annotations

import os
import re
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from gettext import c2py
from importlib.resources import files

from eckart.options import check_choice

LANGUAGES = {"en": "English", "it": "italiano", "es": "español", "ru": "русский"}
_current: ContextVar[str] = ContextVar("language", default="en")


@dataclass
class Catalogue:
    """The messages of one language and its plural rule."""

    messages: dict[str, list[str]] = field(default_factory=dict)
    plural_rule: str = "n != 1"

    def form(self, n: int) -> int:
        """The plural form for a count."""
        return _rule(self.plural_rule)(n)


@cache
def _rule(text: str) -> Callable[[int], int]:
    return c2py(text)


@contextmanager
def language(name: str) -> Iterator[None]:
    """Set the language of solutions, exercises and sheets.

    Parameters
    ----------
    name : {'en', 'it', 'es', 'ru'}
        English, Italian, Spanish or Russian.

    Yields
    ------
    None
        Nothing. Use the function in a ``with`` statement.

    Raises
    ------
    ParameterError
        If the language is not known.

    See Also
    --------
    lesson : Theory in the current language.
    exercise : Exercises in the current language.

    Examples
    --------
    >>> from eckart import worked
    >>> with worked.language("it"):
    ...     print(worked.rank("1 2; 2 4").title)
    Rango di una matrice 2 x 2
    """
    check_choice("language", name, tuple(LANGUAGES))
    token = _current.set(name)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> str:
    """The language in use."""
    return _current.get()


def preferred(environment: Mapping[str, str] | None = None) -> str:
    """The language of the locale if supported, otherwise English.

    >>> preferred({"LANG": "ru_RU.UTF-8"}), preferred({"LANG": "de_DE.UTF-8"}), preferred({"LC_ALL": "C", "LANG": "it"})
    ('ru', 'en', 'en')
    """
    environment = os.environ if environment is None else environment
    names = [environment.get(name, "") for name in ("LC_ALL", "LC_MESSAGES", "LANG")]
    first = next((name for name in names if name), "")
    code = re.split(r"[_.@-]", first.lower())[0]
    return code if code in LANGUAGES else "en"


def mark(message: str) -> str:
    """Mark a message for a later `tr`, such as one in a table created at import."""
    return message


def tr(message: str, /, **values: object) -> str:
    """The message in the current language, with the values inserted."""
    found = catalogue(current()).messages.get(message) if current() != "en" else None
    text = found[0] if found and found[0] else message
    return text.format(**values) if values else text


def trn(singular: str, plural: str, n: int, /, **values: object) -> str:
    """The message in the plural form for the count `n`; `{n}` is replaced with the count.

    >>> trn("{n} row", "{n} rows", 1), trn("{n} row", "{n} rows", 5)
    ('1 row', '5 rows')
    """
    text = singular if n == 1 else plural
    if current() != "en":
        own = catalogue(current())
        forms = own.messages.get(singular)
        if forms and all(forms):
            text = forms[own.form(n)]
    return text.format(n=n, **values)


@cache
def catalogue(name: str) -> Catalogue:
    """The catalogue of a language, read once."""
    path = files("eckart.worked") / "locale" / f"{name}.po"
    return parse(path.read_text(encoding="utf-8")) if path.is_file() else Catalogue()


def parse(text: str) -> Catalogue:
    r"""Read a catalogue in gettext's text format.

    >>> parse('msgid "row"\nmsgstr "riga"\n').messages
    {'row': ['riga']}
    """
    found = Catalogue()
    entry: dict[str, str] = {}
    for line in [*text.splitlines(), ""]:
        if not line.strip():
            _store(found, entry)
            entry, key = {}, ""
        elif match := re.fullmatch(r'(msgid_plural|msgid|msgstr(?:\[\d\])?)\s+(".*")', line):
            key = match[1]
            entry[key] = literal_eval(match[2])
        elif line.startswith('"'):
            entry[key] += literal_eval(line)
    if rule := re.search(r"plural=([^;]+);", found.messages.pop("", [""])[0]):
        found.plural_rule = rule[1]
    return found


def _store(found: Catalogue, entry: Mapping[str, str]) -> None:
    if "msgid" in entry:
        forms = [text for key, text in sorted(entry.items()) if key.startswith("msgstr")]
        found.messages[entry["msgid"]] = forms
