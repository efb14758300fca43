"""eckart select: what it prints, writes and refuses."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import eckart as ek
from eckart import datasets
from eckart.cli import main

ARRESTS = str(datasets.path("usarrests"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


def run(*args):
    return CliRunner().invoke(main, ["select", *args])


def refused(*args):
    done = run(*args)
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done.stderr


def test_correlation():
    done = run(ARRESTS, "--target", "Murder", "--threshold", "0.5")
    assert done.exit_code == 0, done.output
    values = datasets.load("usarrests").values
    r = abs(np.corrcoef(values[:, 0], values[:, 1])[0, 1])
    assert f"{r:.4f}    kept  Assault" in done.stdout
    assert "Kept 2 of 3 columns to predict 'Murder': Assault, Rape." in done.stdout


def test_backward_is_the_library_s():
    from eckart.selection.judges import judge

    document = json.loads(run(ARRESTS, "--target", "Murder", "--how", "backward", "--json").stdout)
    values = datasets.load("usarrests").values
    found = ek.BackwardElimination(judge("linear", classes=False)).fit(values[:, 1:], values[:, 0])
    assert document["history"]["score"] == found.history_["score"].tolist()
    assert document["history"]["dropped"] == [[], ["Rape"], ["UrbanPop"]]
    assert document["chosen"] == ["Assault", "UrbanPop"]
    assert document["kind"] == "numbers"
    assert document["nested_score"] is not None
    done = run(ARRESTS, "--target", "Murder", "--how", "backward", "--no-nested")
    assert "To estimate the score on new rows, add --nested" in done.stdout


def test_random_with_a_forest():
    done = run(
        ARRESTS, "--target", "Murder", "--how", "random", "--tries", "3", "-n", "2", "--judge", "forest", "--no-nested"
    )
    assert done.exit_code == 0, done.output
    assert "Kept 2 of 3 columns" in done.stdout


def test_classes_and_files():
    iris = np.random.default_rng(0)
    lines = ["a,b,kind"] + [f"{i % 2 + iris.random():.3f},{iris.random():.3f},{'uv'[i % 2]}" for i in range(40)]
    Path("t.csv").write_text("\n".join(lines))
    done = run("t.csv", "--target", "kind", "--how", "backward", "-n", "1", "-o", "chosen.csv")
    assert done.exit_code == 0, done.output
    assert "Kept 1 of 2 columns to predict 'kind': a." in done.stdout
    assert Path("chosen.csv").read_text().splitlines()[0] == "a"
    assert "already exists" in refused("t.csv", "--target", "kind", "-o", "chosen.csv")
    shown = run("t.csv", "--target", "kind", "--score", "mutual_info", "-o", "-")
    assert shown.stdout.startswith("a\n")


def test_the_target_may_be_left_out_of_the_columns():
    done = run(ARRESTS, "--target", "Murder", "--columns", "Assault,Rape", "-n", "1")
    assert "Kept 1 of 2 columns to predict 'Murder': Assault." in done.stdout


def test_refusals():
    Path("gap.csv").write_text("a,b,y\n1,2,3\n,4,5\n2,3,4\n")
    assert "did you mean 'Murder'" in refused(ARRESTS, "--target", "Murdr")
    assert "contains the row names" in refused(ARRESTS, "--target", "State")
    assert "Use only one of" in refused(ARRESTS, "--target", "Murder", "-n", "1", "--threshold", "0.5")
    assert "--threshold applies only to" in refused(
        ARRESTS, "--target", "Murder", "--how", "random", "--threshold", "0.5"
    )
    assert "did you mean 'roc_auc'" in refused(ARRESTS, "--target", "Murder", "--how", "random", "--scoring", "roc_au")
    assert "missing" in refused("gap.csv", "--target", "y")
    assert "minimum of 2" in refused("gap.csv", "--target", "y", "--columns", "b", "--how", "backward")
    assert "number of columns" in refused(ARRESTS, "--target", "Murder", "-n", "x")


def test_honest_score_and_the_kind_of_the_target_are_said():
    """Noise: the score of the folds that chose is far above chance, the nested one is not."""
    rng = np.random.default_rng(6)
    code = rng.permutation(np.arange(80) % 2)
    lines = ["a,b,c,d,e,f,g,h,y"] + [",".join(f"{v:.4f}" for v in rng.standard_normal(8)) + f",{c}" for c in code]
    Path("noise.csv").write_text("\n".join(lines))
    search = ("noise.csv", "--target", "y", "--how", "random", "--folds", "3")
    document = json.loads(run(*search, "--tries", "15", "--json").stdout)
    assert document["kind"] == "classes"
    assert document["best_score"] > document["nested_score"] + 0.05
    done = run(*search, "--tries", "2")
    assert "treated as class labels. If they are measurements, add --numbers" in done.stderr
    assert "On held-out rows" in done.stdout
    assert json.loads(run("noise.csv", "--target", "y", "--numbers", "--json").stdout)["kind"] == "numbers"


def test_a_column_that_numbers_the_rows_is_no_candidate_unless_it_is_named():
    rng = np.random.default_rng(0)
    lines = [f"{1000 + i},{2000 + i % 20},{rng.normal():.4f},{rng.normal():.4f}" for i in range(60)]
    Path("orders.csv").write_text("\n".join(["order id,year,a,y", *lines]))
    done = run("orders.csv", "--target", "y")
    assert "of 2 columns to predict 'y'" in done.stdout
    assert "'order id'" in done.stderr
    assert "of 2 columns to predict 'y'" in run("orders.csv", "--target", "y", "--columns", "order id,a").stdout
