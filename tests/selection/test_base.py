"""Ties go to the smaller set, and a selection that predicts nothing says so."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression, Ridge

import eckart as ek
from eckart.cli import main
from eckart.errors import DataWarning, InputError
from eckart.selection.base import best_set


def test_scores_equal_but_for_rounding_are_ties() -> None:
    scores, sizes = np.array([0.9, 0.9 + 1e-13, 0.9 - 1e-13, 0.8]), np.array([4, 5, 2, 1])
    assert best_set(scores, sizes) == 2
    assert best_set(np.array([0.5, 0.5]), np.array([1, 1])) == 0


@pytest.mark.parametrize("kind", ["backward", "random"])
def test_a_column_that_repeats_another_is_left_out(kind: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 1))
    table = np.hstack([x, x, x])
    search = {
        "backward": ek.BackwardElimination(Ridge(alpha=1e-9)),
        "random": ek.RandomSubsetSearch(Ridge(alpha=1e-9), n_iter=7, random_state=0),
    }[kind]
    assert search.fit(table, 2 * x[:, 0] + 1).n_features_ == 1


@pytest.mark.parametrize("nested", [False, True])
def test_noise_warns(nested: bool) -> None:
    rng = np.random.default_rng(1)
    search = ek.BackwardElimination(Ridge(), nested=nested, n_features_to_select=3)
    with pytest.warns(DataWarning, match="The columns do not predict the target"):
        search.fit(rng.standard_normal((40, 6)), rng.standard_normal(40))


@pytest.mark.parametrize("seed", range(5))
def test_a_gain_within_chance_warns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    search = ek.BackwardElimination(LogisticRegression(), nested=True)
    with pytest.warns(DataWarning, match="The columns (do|may) not predict the target"):
        search.fit(rng.standard_normal((80, 6)), rng.choice([0, 1], 80))


@pytest.mark.parametrize("score", ["pearson", "spearman"])
@pytest.mark.parametrize("classes", [False, True])
def test_correlations_within_chance_warn(score: str, classes: bool) -> None:
    rng = np.random.default_rng(4)
    table, noise = rng.standard_normal((60, 10)), rng.standard_normal(60)
    told = pytest.warns(DataWarning, match="The columns may not predict the target: the highest correlation")
    with told:
        ek.CorrelationFilter(score).fit(table, np.where(noise > 0, "a", "b") if classes else noise)
    real = table[:, 3] + noise
    ek.CorrelationFilter(score).fit(table, np.where(real > 0, "a", "b") if classes else real)


def test_the_share_of_noise_that_warns() -> None:
    rng = np.random.default_rng(5)
    count = 0
    for _ in range(200):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ek.CorrelationFilter().fit(rng.standard_normal((30, 8)), rng.choice(["a", "b", "c"], 30))
        count += len(caught)
    assert 180 <= count <= 198  # 95 % of the tables, within 3 standard errors


def test_what_predicts_does_not_warn() -> None:
    rng = np.random.default_rng(2)
    table = rng.standard_normal((60, 4))
    ek.BackwardElimination(LogisticRegression(), nested=True).fit(table, (table[:, 0] > 0).astype(int))


def test_names_are_not_cut_and_missing_values_are_imputed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    long = "a very long name of a measurement in the laboratory, taken twice"
    rows = [f"{a:.3f},{b:.3f},{a + 0.1 * b:.3f}" for a, b in rng.standard_normal((30, 2))]
    rows[4] = f",{rows[4].partition(',')[2]}"
    Path("t.csv").write_text(f'"{long}",b,y\n' + "\n".join(rows) + "\n")
    for how in ("correlation", "backward", "random"):
        done = CliRunner().invoke(main, ["select", "t.csv", "--target", "y", "--how", how, "--missing", "mean"])
        assert done.exit_code == 0, done.output
        assert long in " ".join(done.stdout.split())
        assert "..." not in done.stdout
    assert CliRunner().invoke(main, ["select", "t.csv", "--target", "y"]).exit_code == 2


def test_too_few_rows_for_a_nested_search() -> None:
    table = np.random.default_rng(3).standard_normal((6, 4))
    with pytest.raises(InputError, match="fewer folds"):
        ek.BackwardElimination(LogisticRegression(), cv=3, nested=True).fit(table, [0, 1] * 3)
