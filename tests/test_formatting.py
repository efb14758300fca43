"""Numbers in messages; names cut to a length stay different, in tables, sentences and figures."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek
from eckart.environment import say_bytes
from eckart.formatting import allowed, joined, precise_percent, short_names, shorten


def test_the_allowed_memory_agrees_in_number() -> None:
    assert allowed(1) == "1 byte is allowed"
    assert allowed(1_000) == "1,000 bytes are allowed"
    assert say_bytes(1) == "1 byte"
    assert say_bytes(2) == "2 bytes"


def test_long_names_are_cut_and_short_ones_are_not() -> None:
    assert shorten("a" * 12, 12) == "a" * 12
    assert shorten("a" * 13, 12) == "a" * 9 + "..."
    assert shorten("\x1b[31m", 12) == r"\x1b[31m"


def test_shares_below_one_percent_have_three_digits() -> None:
    assert [precise_percent(share) for share in (0.12345, 0.01, 0.0012345)] == ["12.35 %", "1.00 %", "0.123 %"]


def test_lists_of_words() -> None:
    assert [joined(["a", "b", "c"][:count]) for count in range(4)] == ["nothing", "a", "a and b", "a, b and c"]
    assert joined(["a", "b"], "or") == "a or b"


WARDS = [f"University Hospital of the Northern Region, ward {i}" for i in range(12)]
SPENDING = [f"Annual household expenditure on {what} per year" for what in ("food", "rent", "rail travel")]


@pytest.mark.parametrize("length", [8, 12, 20, 24, 40])
@pytest.mark.parametrize(
    "names",
    [
        WARDS,
        SPENDING,
        ["a" * 50 + "b", "a" * 50 + "c", "a" * 50],
        [f"x{'y' * 90}{i}{'z' * 90}" for i in range(30)],
        ["Länge " * 20 + str(i) for i in range(5)],
        ["short", "a name that is cut but stands alone in the table"],
    ],
)
def test_different_names_stay_different(names, length):
    short = short_names(names, length)
    assert list(short) == names
    assert len(set(short.values())) == len(names)
    assert all(len(text) <= length for text in short.values())


def test_what_differs_is_kept():
    found = short_names(SPENDING, 24).values()
    assert [text.rpartition("...")[2] for text in found] == ["food", "rent", "rail travel"]
    assert short_names(["unlike any other, and long"], 15) == {"unlike any other, and long": "unlike a...long"}


def test_tables_sentences_and_descriptions_tell_long_names_apart():
    rows = np.random.default_rng(0).normal(size=(12, 3)) * [3.0, 2.0, 1.0]
    d = ek.decompose(rows, k=2, left=True).named(tuple(WARDS), tuple(SPENDING))
    text = str(ek.tables.loadings(d)) + str(ek.tables.scores(d)) + ek.summary(d)
    for word in ("...food", "...rent", "...rail travel", "... 11"):
        assert word.replace("... ", "...") in text.replace("... ", "..."), word
