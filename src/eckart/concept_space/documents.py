"""Documents as texts with names: from a folder, a CSV column, JSON lines, a SMART collection, or Python values.

A SMART collection (MED, CRAN, CISI, ...) is a text in which ".I 17" begins document 17, and lines such as ".W" or ".T"
begin its fields.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from eckart.aliases import JsonObject
from eckart.errors import FileError, InputError
from eckart.wording import either

_TEXT_FILES = (".txt", ".md", ".rst", ".tex", ".html", ".htm", ".text", ".log", "")
_TEXT_KEYS = ("text", "body", "content", "abstract", "document", "description", "title")
_NAME_KEYS = ("name", "id", "_id", "title", "key", "file", "url")
_SMART = re.compile(r"^\.I[ \t]+(\S+)[ \t]*$", re.MULTILINE)
_FIELD = re.compile(r"^\.([A-Z])[ \t]*$", re.MULTILINE)
_SHOWN = 90


@dataclass(frozen=True)
class Documents:
    """Texts and their names, which are all different."""

    texts: tuple[str, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.texts) != len(self.names):
            raise InputError(
                f"The number of names ({len(self.names):,}) differs from the number of documents "
                f"({len(self.texts):,}). Pass one name per document."
            )
        if not any(text.strip() for text in self.texts):
            raise InputError("None of the documents contains text. Add at least one document with text.")
        if len(set(self.names)) < len(self.names):
            raise InputError(
                "Some document names occur more than once, but the names must be unique. Rename these documents."
            )

    def __len__(self) -> int:
        return len(self.texts)

    def snippet(self, place: int) -> str:
        """The beginning of a document on one line."""
        return beginning(self.texts[place])


Texts: TypeAlias = str | os.PathLike[str] | Iterable[str] | Mapping[str, str] | Documents
"""A path of a file or folder, texts, or texts by name."""


def beginning(text: str) -> str:
    """The first words of a text on one line."""
    line = " ".join(text[: 4 * _SHOWN].split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 3].rstrip() + "..."


def read_documents(source: Texts, *, column: str | None = None, names: Iterable[str] | str | None = None) -> Documents:
    """Documents from a path or from Python values.

    Parameters
    ----------
    source : path, sequence of str, mapping of names to texts, or Series
        A folder of text files, a .csv or .tsv file, a JSON Lines file (.jsonl, .ndjson), a SMART collection, or any
        other text file with one document per line. Files may be compressed (.gz).
    column : str, optional
        CSV column or JSON key that contains the text. By default, the one named text, body, content or similar, or
        otherwise the one with the longest texts.
    names : iterable of str, optional
        Names of the documents. For a CSV or JSON Lines file, a single string is the column or key that contains them.
    """
    if isinstance(source, Documents):
        return source
    if isinstance(source, str | os.PathLike):
        name = names if isinstance(names, str) else None
        found = _read(Path(source), column, name)
        return found if names is None or name is not None else Documents(found.texts, tuple(map(str, names)))
    if isinstance(source, Mapping):
        return Documents(tuple(map(str, source.values())), tuple(map(str, source)))
    texts = _texts(source.tolist() if hasattr(source, "tolist") else source)
    given = tuple(map(str, names)) if names is not None else tuple(str(i + 1) for i in range(len(texts)))
    return Documents(tuple(texts), given)


def _texts(given: Iterable[object]) -> list[str]:
    texts = []
    for text in given:
        if not isinstance(text, str):
            raise InputError(f"Documents must be strings, but {str(text)[:40]!r} is of type {type(text).__name__}.")
        texts.append(text)
    return texts


def _read(path: Path, column: str | None, name: str | None) -> Documents:
    if path.is_dir():
        return _folder(path)
    if not path.is_file():
        raise FileError(
            f"{path} does not exist. Give the path of a folder of text files, a CSV file, a JSON "
            "Lines file or a text file."
        )
    text = file_text(path)
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        return _records(_json_lines(text, path), path, column, name)
    if suffix in (".csv", ".tsv"):
        return _records(_csv_rows(text, "\t" if suffix == ".tsv" else None), path, column, name)
    if _SMART.match(text.lstrip()):
        return _smart(text)
    lines = [line for line in text.splitlines() if line.strip()]
    return Documents(tuple(lines), tuple(str(i + 1) for i in range(len(lines))))


def file_text(path: Path) -> str:
    """The text of a file in UTF-8, else in Latin-1, which can be any bytes."""
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, gzip.BadGzipFile) as error:
        raise FileError(f"{path} cannot be read: {error}. Check the path and the permissions.") from error
    if b"\x00" in raw[:4096]:
        raise FileError(f"{path} is not a text file. Use text files, a CSV file or a JSON Lines file.")
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return raw.decode("latin-1").replace("\r\n", "\n")


def _folder(path: Path) -> Documents:
    """Every text file of a folder and the folders in it; binary files are left out."""
    texts, names = [], []
    for file in sorted(path.rglob("*")):
        if not file.is_file() or file.name.startswith("."):
            continue
        if Path(file.name.removesuffix(".gz")).suffix.lower() not in _TEXT_FILES:
            continue
        try:
            texts.append(file_text(file))
        except FileError:
            continue
        names.append(str(file.relative_to(path)))
    if not texts:
        raise FileError(
            f"{path} contains no text files. Their names must end in {', '.join(kind for kind in _TEXT_FILES if kind)}."
        )
    return Documents(tuple(texts), tuple(names))


def _smart(text: str) -> Documents:
    """Documents of a SMART collection: title and text (.T and .W, or everything if there are no such fields)."""
    starts = list(_SMART.finditer(text))
    ends = [match.start() for match in starts[1:]] + [len(text)]
    texts = []
    for start, end in zip(starts, ends, strict=True):
        body = text[start.end() : end]
        fields = list(_FIELD.finditer(body))
        stops = [match.start() for match in fields[1:]] + [len(body)]
        parts = {match[1]: body[match.end() : stop] for match, stop in zip(fields, stops, strict=True)}
        chosen = [parts[key] for key in ("T", "W") if key in parts]
        texts.append("\n".join(part.strip("\n") for part in chosen) if chosen else body)
    return Documents(tuple(texts), tuple(match[1] for match in starts))


def _json_lines(text: str, path: Path) -> list[JsonObject]:
    records = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise FileError(f"{path}, line {number}: this is not valid JSON ({error}). Correct the line.") from error
        if not isinstance(record, dict):
            record = {"text": record} if isinstance(record, str) else {}
        records.append(record)
    return records


def _csv_rows(text: str, delimiter: str | None) -> list[JsonObject]:
    if delimiter is None:
        delimiter = max((",", ";", "\t"), key=text.partition("\n")[0].count)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    return [{key: value for key, value in row.items() if key is not None} for row in rows]


def _records(records: list[JsonObject], path: Path, column: str | None, name: str | None) -> Documents:
    keys = list(dict.fromkeys(key for record in records for key in record))
    _refuse_unknown((column, name), keys, path)
    column = column or _text_key(records, keys, path)
    texts = [str(record.get(column) or "") for record in records]
    name = name or _name_key(records, keys, column)
    names = [str(record[name]) for record in records] if name else [str(i + 1) for i in range(len(records))]
    return Documents(tuple(texts), tuple(names))


def _refuse_unknown(given: Iterable[str | None], keys: list[str], path: Path) -> None:
    for name in given:
        if name is not None and name not in keys:
            raise FileError(f"{path} has no column {name!r}. Its columns are {', '.join(map(repr, keys[:8]))}.")


def _text_key(records: list[JsonObject], keys: list[str], path: Path) -> str:
    lengths = {key: _length(records, key) for key in keys}
    if not any(lengths.values()):
        raise FileError(
            f"{path} has no column of text that Eckart can recognise. Choose a column with "
            f"{either('column=...', '--column')}."
        )
    called = next((key for word in _TEXT_KEYS for key in keys if key.lower() == word and lengths[key]), None)
    longest = max(lengths, key=lambda key: lengths[key])
    return called if called is not None and 4 * lengths[called] >= lengths[longest] else longest


def _length(records: list[JsonObject], key: str) -> int:
    """Characters of text under a key."""
    return sum(len(record[key]) for record in records if isinstance(record.get(key), str))


def _name_key(records: list[JsonObject], keys: list[str], column: str) -> str | None:
    """A column with unique values and a name such as id or title."""
    for word in _NAME_KEYS:
        for key in keys:
            if key.lower() == word and key != column:
                values = [record.get(key) for record in records]
                if all(value not in (None, "") for value in values) and len(set(map(str, values))) == len(values):
                    return key
    return None
