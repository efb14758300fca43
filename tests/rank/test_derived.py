"""Every rule that the verdict cites has a row in the table of rules."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import eckart as ek
from eckart.cli import main


def _correlated(rng):
    near = 0.6 ** np.abs(np.subtract.outer(np.arange(20), np.arange(20)))
    noise = rng.standard_normal((60, 20)) @ np.linalg.cholesky(near).T
    return noise + 4 * rng.standard_normal((60, 1)) @ rng.standard_normal((1, 20))


def _unequal(rng):
    table = 0.6 * rng.standard_normal((200, 5))
    table[:, :3] += rng.standard_normal((200, 1))
    return table / table.std(axis=0)


@pytest.mark.parametrize("make", [_correlated, _unequal])
def test_the_deciding_rule_is_in_every_table(make, tmp_path):
    table = make(np.random.default_rng(3))
    choice = ek.choose_rank(table)
    assert choice.decided_by in ("decorrelated", "equalised")
    row = choice[choice.decided_by]
    assert row.k == choice.k
    assert choice.decided_by in choice.agreement[choice.k]
    assert sum(line.startswith(row.title) for line in str(choice).splitlines()) == 2  # its row and the summary
    path = tmp_path / "table.csv"
    np.savetxt(path, table, delimiter=",")
    printed = CliRunner().invoke(main, ["rank", str(path)]).stdout
    assert any(line.startswith(row.title) and f" {row.k} " in line for line in printed.splitlines())
    found = json.loads(CliRunner().invoke(main, ["rank", str(path), "--json"]).stdout)
    assert choice.decided_by in [rule["rule"] for rule in found["rules"]]
    analysis = ek.analyze(table)
    assert row.title in analysis.recommendation.sentence


@pytest.mark.parametrize("seed", range(4))
def test_small_tables_have_a_row_for_the_drop_or_horn(seed):
    rng = np.random.default_rng(seed)
    table = 3 * rng.standard_normal((40, 2)) @ rng.standard_normal((2, 5)) + rng.standard_normal((40, 5))
    choice = ek.choose_rank(table)
    assert choice[choice.decided_by].k == choice.k
