"""Options of single methods, short forms of `report --method`, and the columns that label or weigh rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import make_circles
from sklearn.linear_model import LogisticRegression

import eckart as ek
from eckart import datasets
from eckart.cli import main
from eckart.cli.tuning import TAKEN

ARRESTS = str(datasets.path("usarrests"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


def run(*args):
    done = CliRunner().invoke(main, list(args))
    assert "Traceback" not in done.output
    return done


def fitted(*args):
    done = run("fit", *args, "-o", "model.eckart", "--force")
    assert done.exit_code == 0, done.output
    return ek.load("model.eckart")


@pytest.mark.parametrize(
    ("method", "options", "arguments"),
    [
        ("kernel-pca", ["--kernel", "poly", "--gamma", "1e-4", "--degree", "2"],
         {"kernel": "poly", "gamma": 1e-4, "degree": 2}),
        ("kernel-pca", ["--gamma", "median"], {"gamma": "median"}),
        ("isomap", ["--neighbors", "12"], {"n_neighbors": 12}),
        ("isomap", ["--neighbors", "12", "--landmarks", "30"], {"n_neighbors": 12, "n_landmarks": 30}),
        ("nmf", ["--loss", "kullback-leibler", "--iterations", "2000", "--runs", "2"],
         {"beta_loss": "kullback-leibler", "n_runs": 2, "max_iter": 2000}),
        ("nmf", ["--regularize", "0.5", "--solver", "cd"], {"alpha_W": 0.5, "solver": "cd"}),
        ("cur", ["--select", "leverage", "--core", "intersection", "--columns-count", "3", "--rows-count", "3"],
         {"select": "leverage", "core": "intersection", "n_columns": 3, "n_rows": 3}),
        ("pca", ["--solver", "lanczos"], {"solver": "lanczos"}),
    ],
)  # fmt: skip
def test_options_reach_the_method(method, options, arguments):
    d = fitted(ARRESTS, "--method", method, "-k", "2", *options)
    name = method.replace("-", "_")
    wanted = ek.decompose(ARRESTS, name, k=2, **arguments)
    np.testing.assert_allclose(d.values, wanted.values, rtol=1e-10)


def test_options_of_another_method_are_refused():
    done = run("fit", ARRESTS, "--method", "pca", "--kernel", "rbf", "-o", "m.eckart")
    assert done.exit_code == 2
    assert "--kernel does not apply to --method pca, only to --method kernel-pca." in done.stderr
    done = run("fit", ARRESTS, "--method", "nmf", "--solver", "gram", "-o", "m.eckart")
    assert "--solver gram is not available for --method nmf. Use one of auto, cd, mu." in done.stderr


def test_weights_and_labels():
    rng = np.random.default_rng(4)
    table = rng.normal(size=(40, 3)) * [3, 2, 1]
    times = rng.integers(1, 4, 40)
    lines = [f"{a!r},{b!r},{c!r},{w},{w % 2}" for (a, b, c), w in zip(table.tolist(), times, strict=True)]
    Path("t.csv").write_text("\n".join(["x,y,z,times,group", *lines]))
    d = fitted("t.csv", "-k", "2", "--weights", "times", "--labels", "group")
    repeated = np.repeat(table, times, axis=0)
    wanted = np.linalg.svd(repeated - repeated.mean(axis=0), compute_uv=False)[:2]
    np.testing.assert_allclose(d.values, wanted, rtol=1e-10)
    assert d.column_names == ("x", "y", "z")
    done = run("pca", "t.csv", "-k", "2", "--labels", "group", "--drop", "times", "-o", "page.html")
    assert done.exit_code == 0, done.output
    assert '"group"' in Path("page.html").read_text()
    assert run("pca", "t.csv", "--weights", "nothing").exit_code == 2


@pytest.mark.parametrize("method", ["pca", "cur", "kernel_pca"])
def test_short_forms_are_report_with_a_method(method):
    """The same document, and only the options that the method has."""
    name = method.replace("_", "-")
    short = run(name, ARRESTS, "-k", "2", "--json", "-o", "a.html")
    long = run("report", ARRESTS, "--method", name, "-k", "2", "--json", "-o", "b.html")
    assert short.exit_code == long.exit_code == 0, short.output
    one, two = json.loads(short.stdout), json.loads(long.stdout)
    assert one["components"] == two["components"] if "components" in one else one.keys() == two.keys()
    text = run(name, "--help").stdout
    for other, options in TAKEN.items():
        for option in set(options) - set(TAKEN[method]):
            assert f"--{option.replace('_', '-')} " not in text, (other, option)


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_rings_come_apart_by_default(seed):
    """The two rings of the notes, which a kernel of the median width leaves nested."""
    points, ring = make_circles(200, factor=0.3, noise=0.05, random_state=seed)
    d = ek.decompose(points, "kernel_pca", k=2, left=True)
    scores = d.left * d.values / d.values
    assert LogisticRegression(C=1e4).fit(scores, ring).score(scores, ring) == 1.0


def test_scan_takes_the_best_kernel(tmp_path):
    points, _ = make_circles(60, factor=0.3, noise=0.05, random_state=1)
    np.save("rings.npy", points)
    done = run("fit", "rings.npy", "--method", "kernel-pca", "-k", "2", "--scan", "-o", "model.eckart")
    assert done.exit_code == 0, done.output
    best = ek.scan_kernels(points, n_components=2).best
    d = ek.load("model.eckart")
    wanted = ek.decompose(points, "kernel_pca", k=2, kernel=best.kernel, gamma=best.gamma)
    np.testing.assert_allclose(d.values, wanted.values, rtol=1e-9)


def test_select_imputes_when_asked():
    Path("gaps.csv").write_text(Path(ARRESTS).read_text().replace("13.2,236", "13.2,", 1))
    refused = run("select", "gaps.csv", "--target", "Murder")
    assert refused.exit_code == 2
    assert "--missing em" in refused.stderr
    for way in ("mean", "em"):
        done = run("select", "gaps.csv", "--target", "Murder", "--missing", way)
        assert done.exit_code == 0, done.output
