"""Rounded sums and means of columns: named where rounding explains every difference, and only there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import eckart as ek
from eckart.analysis.combined_columns import combined_columns
from eckart.notes import for_door


def _table(rows: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    numbers = 20.0 * np.exp(0.5 * rng.standard_normal((rows, 4)))
    return pd.DataFrame(numbers, columns=list("abcd"))


def _note(table: pd.DataFrame, **options: object) -> str:
    notes = ek.analyze(table, ranks=None, **options).decomposition.notes
    return "".join(str(note) for note in notes if getattr(note, "code", "") == "combined_columns")


@pytest.mark.parametrize("decimals", [1, 2])
@pytest.mark.parametrize("method", ["pca", "svd"])
def test_totals_that_were_rounded_are_named(decimals: int, method: str) -> None:
    table = _table().assign(total=lambda t: t.a + t.b + t.c).round(decimals)
    assert not np.allclose(table.total, table.a + table.b + table.c, rtol=0, atol=1e-6)
    found = _note(table, method=method)
    assert found.startswith("'total' is a linear combination of 'a', 'b' and 'c', up to rounding. It repeats")


def test_rounded_differences_means_and_shares_are_named() -> None:
    table = _table()
    assert "'net' is a linear combination of 'a' and 'b'" in _note(table.assign(net=lambda t: t.a - t.b).round(1))
    means = table.assign(mean=lambda t: (t.a + t.b + t.d) / 3).round(1)
    assert "'mean' is a linear combination of 'a', 'b' and 'd'" in _note(means)
    shares = (100 * table.div(table.sum(axis=1), axis=0)).round(1)
    assert "'d' is a linear combination of 'a', 'b' and 'c'" in _note(shares)


def test_differences_beyond_rounding_are_not_combinations() -> None:
    table = _table().assign(total=lambda t: t.a + t.b + t.c).round(1)
    table.loc[7, "total"] += 0.3  # at most 4 half units of 0.05
    assert _note(table) == ""
    assert _note(_table().assign(index=lambda t: 0.6 * t.a + 0.4 * t.b).round(1)) == ""
    assert _note(_table().round(1)) == _note(_table().round(0)) == ""


def test_a_column_in_other_units_is_named():
    table = np.random.default_rng(2).normal(size=(40, 4))
    table = np.column_stack([table, 1.8 * table[:, 0] + 32, -table[:, 1]])
    (note,) = combined_columns(table, "abcdef", center=True)
    assert note.code == "copied_columns"
    assert note.startswith("Apart from a factor and a constant, 'e' repeats 'a'; 'f' repeats 'b'.")
    assert "--drop e,f" in for_door(note, "cli")
    (note,) = combined_columns(table, "abcdef", center=False)
    assert note.startswith("Apart from a factor, 'f' repeats 'b'. A")
