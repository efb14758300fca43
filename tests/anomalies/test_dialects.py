"""Texts in dialects drawn at random, whole and in blocks: what was written is what is read, or the text is refused."""

from __future__ import annotations

import gzip
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.anomalies.fuzz.outcomes import in_pieces, outcome, unequal

COUNT = 60
MISSING = ("", "NA", "NaN", "null", "N/A", "?", "-", ".")
WORDS = ("red", "green, dark", "blue\nsea", "it's", '5" pipe', "naïve", "  padded")


@dataclass(frozen=True)
class Dialect:
    """How a table is written."""

    delimiter: str
    decimal: str
    end: str
    encoding: str
    quoted: float
    """Share of the cells in quotes, though they need none."""
    names: bool
    labelled: bool
    """Whether the first column names the rows."""
    words: bool
    """Whether the last column is text."""
    missing: str | None

    @classmethod
    def draw(cls, rng: random.Random) -> Dialect:
        delimiter = rng.choice([",", ",", ";", "\t", "|", " "])
        names, blank = rng.random() < 0.8, delimiter == " "
        return cls(
            delimiter=delimiter,
            decimal="," if delimiter != "," and rng.random() < 0.4 else ".",
            end=rng.choice(["\n", "\n", "\r\n", "\r"]),
            encoding=rng.choice(["utf-8"] * 4 + ["utf-8-sig", "utf-16", "cp1252"]),
            quoted=rng.choice([0.0, 0.0, 0.3, 1.0]),
            names=names,
            labelled=names and rng.random() < 0.4,
            words=not blank and rng.random() < 0.3,
            missing=rng.choice(MISSING) if not blank and rng.random() < 0.4 else None,
        )

    def cell(self, text: str, rng: random.Random) -> str:
        needed = any(mark in text for mark in (self.delimiter, '"', "\n"))
        return f'"{text.replace(chr(34), 2 * chr(34))}"' if needed or rng.random() < self.quoted else text

    def number(self, kind: str, rng: random.Random) -> tuple[str, float]:
        value = rng.gauss(0, 1) * 10 ** rng.randint(-5, 5)
        text = {
            "integer": str(rng.randint(-999, 999)), "long": str(rng.randint(-(2**62), 2**62)), "plain": repr(value),
            "fixed": f"{value:.{rng.randint(1, 6)}f}", "signed": f"{value:+.3f}",
            "zeros": f"{rng.randint(0, 99999):06d}",
            "exponent": f"{value * 10 ** rng.randint(-20, 20):.{rng.randint(1, 17)}e}",
        }[kind]  # fmt: skip
        return text.replace(".", self.decimal), float(text)


def draw(rng: random.Random) -> tuple[Dialect, bytes, np.ndarray]:
    """(dialect, the text, its numbers)"""
    dialect = Dialect.draw(rng)
    kinds = [rng.choice(["integer", "long", "plain", "fixed", "signed", "zeros", "exponent"]) for _ in range(4)]
    kinds = kinds[: rng.randint(1, 4)]
    header = [f"{rng.choice(['alpha', 'Größe', 'y.', 'Z_'])}{j}" for j in range(len(kinds))]
    header = [*(["name"] if dialect.labelled else []), *header, *(["word"] if dialect.words else [])]
    rows, values = [header] if dialect.names else [], []
    for i in range(rng.choice([1, 2, 3, 30, 200])):
        cells = [dialect.number(kind, rng) for kind in kinds]
        if dialect.missing is not None and i > 5 and len(kinds) > 1 and rng.random() < 0.2:
            cells[rng.randrange(len(cells))] = (dialect.missing, np.nan)
        values.append([value for _, value in cells])
        label, word = [f"row{i}"] if dialect.labelled else [], [rng.choice(WORDS)] if dialect.words else []
        rows.append([*label, *(text for text, _ in cells), *word])
    lines = [dialect.delimiter.join(dialect.cell(text, rng) for text in row) for row in rows]
    before, after = rng.choice(["", "", "# a comment" + dialect.end]), rng.choice(["", dialect.end, 3 * dialect.end])
    return dialect, (before + dialect.end.join(lines) + after).encode(dialect.encoding), np.array(values)


@pytest.mark.parametrize("seed", range(4))
def test_any_dialect_is_read_as_it_was_written(tmp_path: Path, seed: int) -> None:
    rng = random.Random(f"dialects {seed}")
    refused = 0
    for number in range(COUNT):
        dialect, text, values = draw(rng)
        suffix = {"\t": "tsv", " ": "txt"}.get(dialect.delimiter, "csv")
        path = tmp_path / f"{number}.{suffix}"
        if rng.random() < 0.1:
            path, text = path.with_name(f"{path.name}.gz"), gzip.compress(text)
        path.write_bytes(text)
        found, blocks, pieces = outcome(path, stream=False), outcome(path, stream=True), in_pieces(path)
        refused += bool(found.refusal)
        assert found.differs(blocks) == "", (dialect, path)
        if found.refusal:
            assert pieces.refusal, (dialect, path)
            continue
        np.testing.assert_array_equal(found.matrix, values, err_msg=f"{dialect} {path}")
        if not pieces.refusal:
            assert (pieces.columns, unequal(pieces.matrix, values)) == (found.columns, ""), (dialect, path)
    assert refused <= COUNT // 8  # a comma that may separate thousands, a text of one number
