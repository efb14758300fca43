"""eckart rank."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from eckart import datasets
from eckart.cli import main


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "u.csv").write_bytes(datasets.path("usarrests").read_bytes())
    return lambda *arguments: CliRunner().invoke(main, ["rank", *arguments])


def test_text(run):
    result = run("u.csv", "--scale")
    assert result.exit_code == 0, result.output
    assert "Minka" in result.stdout
    assert "finds 1 component." in " ".join(result.stdout.split())
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_json(run):
    document = json.loads(run("u.csv", "--scale", "--rules", "quick", "--explain", "80%", "--json").stdout)
    found = {rule["rule"]: rule["k"] for rule in document["rules"]}
    assert document["command"] == "rank"
    assert found["variance"] == 2
    assert found["kaiser"] == 1
    assert "permutation" not in found


def test_named_rules_and_seed(run):
    first, second = (run("u.csv", "--scale", "--rules", "permutation, minka", "--seed", "4") for _ in range(2))
    assert first.stdout == second.stdout
    assert "Kaiser" not in first.stdout


def test_refused_in_one_line(run, tmp_path):
    wrong = run("u.csv", "--rules", "minkas")
    assert wrong.exit_code == 2
    assert "did you mean 'minka'" in wrong.output
    table = np.random.default_rng(0).standard_normal((20, 3))
    rows = [",".join(map(str, row)) for row in table]
    (tmp_path / "gaps.csv").write_text("a,b,c\n" + "\n".join(rows) + "\n1.5,,2.5\n")
    gaps = run("gaps.csv")
    assert gaps.exit_code == 2
    assert "--missing" in gaps.output
    filled = run("gaps.csv", "--missing", "mean", "--rules", "quick")
    assert filled.exit_code == 0
    assert "replaced by the means" in filled.output
    assert run("nowhere.csv").exit_code == 2
