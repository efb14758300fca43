"""eckart worked and eckart exercise."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from eckart.cli import main
from eckart.cli.worked_options import ABOUT, SECOND

POINTS = "1 2; 2 1; 3 4; 4 3"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*args: str, **more: object) -> Result:
    return CliRunner().invoke(main, list(args), **more)  # type: ignore[arg-type]


def refused(*args: str) -> str:
    done = run("worked", *args)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_pca_of_the_notes() -> None:
    done = run("worked", "pca", POINTS, "--no-center", "--flip", "2")
    assert done.exit_code == 0
    assert "λ_1 = 58" in done.stdout
    assert "T = ⎢ 3√2/2  -√2/2 ⎥" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("name", list(ABOUT))
def test_every_solution_is_a_command(name: str) -> None:
    more = ["1 1"] if name == "query" else ["1 2"] if name in SECOND else []
    matrix = {"missing": "1 2; 2 ?; 3 5", "isomap": "0 2; 0 1; 0 0"}.get(name, "2 1; 1 2")
    for spelled in (name, name.replace("-", "_")):
        assert run("worked", spelled, matrix, *more, "--as", "latex").stdout.startswith("\\documentclass")
    shown = run("worked", name, "--help").stdout
    assert f"eckart worked {name} " in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert all(option in shown for option in ("--json", "--quiet", "--debug", "--as"))


def test_options_reach_the_library() -> None:
    assert "reconstruct" in run("worked", "pca", POINTS, "--route", "reconstruction").stdout.replace(
        "lost", "reconstruct"
    )
    assert "‖A - A_1‖_F" in run("worked", "svd", POINTS, "-k", "1").stdout
    assert "as specified" in run("worked", "cur", POINTS, "--rows", "1,1", "--columns", "2").stdout
    assert "RBF kernel" in run("worked", "kernel-pca", POINTS, "--kernel", "rbf", "--gamma", "1/2").stdout
    assert "seed 3" in run("worked", "cur", POINTS, "--seed", "3").stdout
    assert "A^5" in run("worked", "diagonalize", "2 1; 1 2", "--power", "5").stdout


def test_a_matrix_may_begin_with_a_minus_sign() -> None:
    assert "λ_1 = -2 - √3" in run("worked", "eigen", "-2 1; 3 -2").stdout


def test_forms_and_files(folder: Path) -> None:
    assert run("worked", "eigen", "2 1; 3 2", "--as", "latex").stdout.startswith("\\documentclass")
    assert run("worked", "eigen", "2 1; 3 2", "--as", "markdown").stdout.startswith("## Eigen")
    for name, start in (("a.tex", "\\documentclass"), ("a.md", "## "), ("a.txt", "Eigen")):
        assert run("worked", "eigen", "2 1; 3 2", "-o", name).exit_code == 0
        assert (folder / name).read_text(encoding="utf-8").startswith(start)
    full = run("worked", "svd", POINTS, "--form", "full", "--as", "latex").stdout
    assert "full form" in full
    assert full.startswith("\\documentclass")
    assert "--force" in refused("eigen", "2 1; 3 2", "-o", "a.tex")
    assert ".txt .md .tex" in refused("eigen", "2 1; 3 2", "-o", "a.docx")


def test_csv_and_standard_input(folder: Path) -> None:
    (folder / "points.csv").write_text("\ufeffx,y\n1,2\n2,1\n3,4\n4,3\n", encoding="utf-8")
    wanted = run("worked", "pca", POINTS).stdout
    assert run("worked", "pca", "points.csv").stdout == wanted
    assert run("worked", "pca", "-", input="1 2\n2 1\n3 4\n4 3\n").stdout == wanted


def test_json() -> None:
    document = json.loads(run("worked", "eigen", "2 1; 3 2", "--json").stdout)
    assert document["command"] == "eigen"
    assert document["solution"]["parts"]["eigenvalues"]["exact"] == [["sqrt(3) + 2"], ["2 - sqrt(3)"]]
    failed = run("worked", "eigen", "2 a; 3 2", "--json")
    assert json.loads(failed.stdout)["error"]["exit_code"] == failed.exit_code == 2


def test_refusals() -> None:
    assert "only square matrices have determinants" in refused("determinant", "1 2 3; 4 5 6")
    assert "Row 2 has 1 entry, but row 1 has 2" in refused("pca", "1 2; 3")
    assert "'a' is not a number" in refused("eigen", "a b; c d")
    assert "is not a number" in refused("eigen", "__import__('os').system('true') 1; 1 1")
    assert "No such command" in refused("eign", "1 2; 2 1")
    big = "; ".join([" ".join(["1"] * 50)] * 50)
    for name in ABOUT:
        if name not in SECOND:
            message = refused(name, big)
            assert "50 x 50" in message
            assert "For a numerical result, use" in message
    assert "is not a list of whole numbers" in refused("cur", "1 2; 2 1", "--rows", "a")


def test_exercise() -> None:
    with_key = run("exercise", "pca", "--seed", "7", "--size", "4x2")
    assert with_key.exit_code == 0
    assert "Answer" in with_key.stdout
    without = run("exercise", "pca", "--seed", "7", "--size", "4x2", "--no-key").stdout
    assert "Answer" not in without
    assert run("exercise", "kernel-pca").exit_code == 0
    assert run("exercise", "pca", "--size", "many").exit_code == 2
    assert run("exercise", "pca", "--size", "90x2").exit_code == 2
    assert "eckart exercise" in run("exercise", "-h").stdout


def test_a_worked_solution_loads_no_large_library() -> None:
    """They would take longer to load than the solution takes to compute."""
    program = (
        "import atexit, sys; from eckart.cli import main; "
        "atexit.register(lambda: print(*sorted({name.partition('.')[0] for name in sys.modules}))); "
        "main(['worked', 'pca', sys.argv[1], '--no-center'])"
    )
    found = subprocess.run([sys.executable, "-c", program, POINTS], check=True, capture_output=True, text=True)
    loaded = set(found.stdout.splitlines()[-1].split())
    assert "sympy" in loaded
    assert not loaded & {"scipy", "sklearn", "numba", "pyarrow", "matplotlib", "pandas", "polars", "dask", "torch"}
