"""Tables of pairs: which kind they are, and what the report says of them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import eckart as ek
from eckart.analysis.square_tables import recognise
from eckart.cli import main
from eckart.components.pairs import OF_PAIRS
from eckart.engine.blocks.source import MemorySource
from eckart.errors import DataWarning, InputError, MissingValuesError

NAMES = [f"place {i}" for i in range(9)]


def distances() -> pd.DataFrame:
    points = np.random.default_rng(4).normal(size=(9, 2))
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    return pd.DataFrame(apart, index=NAMES, columns=NAMES)


def correlations() -> pd.DataFrame:
    rows = np.random.default_rng(4).normal(size=(30, 9)) * [3, 2, 1, 1, 1, 1, 1, 2, 3]
    rows = rows + np.random.default_rng(5).normal(size=(30, 1)) * [1, 1, 1, 1, 1, 1, 1, -1, -1]
    return pd.DataFrame(np.corrcoef(rows.T), index=NAMES, columns=NAMES)


def one_triangle(table: pd.DataFrame, form: str) -> pd.DataFrame:
    keep = {"lower": np.tril, "upper": np.triu}[form.split()[0]]
    return table.where(keep(np.ones(table.shape, bool), (-1 if "lower" in form else 1) * ("strictly" in form)))


def values(found: ek.Analysis) -> np.ndarray:
    return np.asarray(found.decomposition.values)


@pytest.mark.parametrize("form", ["lower", "upper", "lower strictly", "upper strictly"])
@pytest.mark.parametrize("door", ["file", "frame", "array"])
def test_one_triangle_of_distances_is_enough(tmp_path: Path, form: str, door: str) -> None:
    whole = ek.analyze(distances())
    table = one_triangle(distances(), form)
    table.to_csv(tmp_path / "apart.csv")
    given = {"file": tmp_path / "apart.csv", "frame": table, "array": table.to_numpy()}[door]
    found = ek.analyze(given)
    assert found.decomposition.method == "kernel_pca"
    np.testing.assert_allclose(values(found), values(whole), rtol=1e-10)
    note = next(note for note in found.decomposition.notes if note.code == "distances")
    assert "Only one of its triangles was given" in note
    assert not any("missing" in line for line in (*found.decomposition.notes, *found.reading))
    if door == "file":
        assert found.decomposition.row_names == tuple(NAMES)


def test_one_triangle_of_correlations_has_ones_on_its_diagonal() -> None:
    whole, table = ek.analyze(correlations()), one_triangle(correlations(), "lower strictly")
    np.testing.assert_allclose(values(ek.analyze(table)), values(whole), rtol=1e-10)
    by_svd = ek.analyze(table, "svd")
    np.testing.assert_allclose(values(by_svd)[:3], np.linalg.svd(correlations(), compute_uv=False)[:3], rtol=1e-10)


@pytest.mark.parametrize("form", ["lower strictly", "upper strictly"])
@pytest.mark.parametrize("door", ["report", "rank", "array"])
def test_positive_values_without_a_diagonal_could_be_distances_or_correlations(
    tmp_path: Path, form: str, door: str
) -> None:
    table = one_triangle(abs(correlations()), form)
    assert recognise(table.to_numpy()) is None
    if door == "array":
        with pytest.raises(InputError, match="0 for distances, 1 for correlations"):
            ek.analyze(table.to_numpy())
        return
    table.to_csv(tmp_path / "pairs.csv")
    done = CliRunner().invoke(main, [door, str(tmp_path / "pairs.csv")])
    assert done.exit_code == 2
    assert "Fill in the diagonal" in done.stderr
    assert "--missing" not in done.stderr


@pytest.mark.parametrize("form", ["lower", "upper"])
def test_a_triangle_printed_without_its_diagonal_is_completed_by_its_names(tmp_path: Path, form: str) -> None:
    """R prints distances without the first row and the last column, which have no numbers below the diagonal."""
    whole, table = ek.analyze(distances()), one_triangle(distances(), f"{form} strictly")
    table = table.iloc[1:, :-1] if form == "lower" else table.iloc[:-1, 1:]
    table.to_csv(tmp_path / "apart.csv")
    for given in (table, tmp_path / "apart.csv"):
        found = ek.analyze(given)
        assert found.decomposition.row_names == tuple(NAMES)
        np.testing.assert_allclose(values(found), values(whole), rtol=1e-10)


def test_other_missing_values_are_still_an_error() -> None:
    table = one_triangle(distances(), "lower").to_numpy().copy()
    table[5, 2] = np.nan
    assert recognise(MemorySource(table)) is None
    with pytest.raises(MissingValuesError):
        ek.analyze(table)


@pytest.mark.parametrize("kind", OF_PAIRS)
def test_rows_of_pairs_are_no_observations(tmp_path: Path, kind: str) -> None:
    table = correlations()
    if kind == "symmetric":
        scales = np.arange(1.0, 10.0)
        table = table * scales * scales[:, None]
    found = ek.analyze(table)
    assert kind in {note.code for note in found.decomposition.notes}
    assert found.ranks is None
    assert found.clusters is None
    assert not found.outliers.lines
    table.to_csv(tmp_path / "pairs.csv")
    report = ["report", str(tmp_path / "pairs.csv"), "-o", str(tmp_path / "page.html")]
    said = CliRunner().invoke(main, report).output
    assert "Unusual rows" not in said
    command = said.partition("Next\n")[2].split("\n")[0].strip().removesuffix("\\")
    assert "eckart report" in command
    assert "eckart fit" not in said
    by_svd = CliRunner().invoke(main, [*report, "--method", "svd", "--force"])
    assert by_svd.exit_code == 0
    assert "absolute values of its eigenvalues" in " ".join(by_svd.output.split())
    assert "Next" not in by_svd.output


def test_the_answer_for_correlations_is_that_of_the_scaled_data() -> None:
    rows = np.random.default_rng(6).normal(size=(40, 5)) + np.random.default_rng(7).normal(size=(40, 1))
    found = ek.analyze(np.corrcoef(rows.T))
    scaled = ek.decompose(rows, scale=True).explained_variance_ratio
    assert found.recommendation.k is None
    assert f"explains {100 * scaled[0]:.1f} % of the variance" in found.recommendation.sentence
    enough = int(np.argmax(np.cumsum(scaled) >= 0.9)) + 1
    assert f"takes {enough} components" in found.recommendation.sentence
    cross = rows.T @ rows
    assert found.report()
    assert "does not recommend" in ek.analyze(cross).recommendation.sentence


def test_a_constant_table_is_not_called_symmetric() -> None:
    assert recognise(MemorySource(np.full((6, 6), 3.0))) is None
    assert recognise(MemorySource(np.random.default_rng(1).normal(size=(6, 6)))) is None


@pytest.mark.parametrize("form", ["links", "dense links", "ring", "large", "counts"])
def test_links_and_shared_counts_are_no_distances(form: str) -> None:
    rng = np.random.default_rng(6)
    groups = rng.gamma(0.5, size=18)
    table = {
        "links": rng.random((18, 18)) < 0.2,
        "dense links": rng.random((18, 18)) < 0.7,
        "ring": np.eye(18, k=1) + np.eye(18, k=17),
        "large": rng.random((700, 700)) < 0.01,
        "counts": rng.poisson(9 * np.outer(groups, groups)),
    }[form]
    upper = np.triu(table, 1).astype(float)
    found = recognise(MemorySource(upper + upper.T))
    assert found is not None
    assert found.kind == "symmetric"
    assert "like a matrix of links" in found.what


@pytest.mark.parametrize("form", ["squared", "classes", "copies", "judged", "rounded"])
def test_dissimilarities_are_distances(form: str) -> None:
    rng = np.random.default_rng(6)
    apart = distances().to_numpy()
    classes = rng.integers(0, 3, 12)
    copies = np.repeat(np.arange(9), 3)
    judged = np.triu(np.clip(np.rint(apart / apart.max() * 9 + rng.normal(0, 1.2, apart.shape)), 0, 9), 1)
    table = {
        "squared": 1e200 * apart**2,
        "classes": (classes[:, None] != classes).astype(float),
        "copies": apart[np.ix_(copies, copies)],
        "judged": judged + judged.T,
        "rounded": np.rint(2 * apart),
    }[form]
    found = recognise(MemorySource(table))
    assert found is not None
    assert found.kind == "distances"


def test_ones_on_the_diagonal_may_be_similarities() -> None:
    sets = np.random.default_rng(3).random((9, 30)) < 0.4
    shared = (sets[:, None] & sets).sum(axis=2) / (sets[:, None] | sets).sum(axis=2)
    found = recognise(MemorySource(shared))
    assert found is not None
    assert found.what.startswith("The table contains correlations or similarities")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["fit", "-o", "m.eckart"], "For the principal coordinates of these distances, use eckart report without"),
        (["rank"], "For the principal coordinates of these distances, use eckart report without --method"),
        (
            ["fit", "--method", "isomap", "-o", "i.eckart"],
            "Isomap compares the rows of this table and does not use its",
        ),
        (["isomap", "-o", "i.html"], "Isomap compares the rows of this table and does not use its distances"),
    ],
    ids=str,
)
def test_commands_that_treat_distances_as_rows_say_so(command, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    points = np.random.default_rng(2).normal(size=(20, 3))
    np.savetxt("apart.csv", np.linalg.norm(points[:, None] - points, axis=2), delimiter=",")
    found = CliRunner().invoke(main, [command[0], "apart.csv", *command[1:]])
    assert found.exit_code == 0, found.output
    assert said in " ".join(found.output.split())


def test_the_note_of_a_fitted_model_is_not_repeated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    distances().to_csv("apart.csv")
    found = CliRunner().invoke(main, ["fit", "apart.csv", "-o", "m.eckart"])
    assert " ".join(found.output.split()).count("The table is a distance matrix") == 1


def test_no_row_of_pairs_is_said_to_dominate() -> None:
    links = np.zeros((12, 12))
    links[0, 1:] = links[1:, 0] = 1.0
    links[1, 2] = links[2, 1] = 1.0
    found = ek.analyze(links)
    assert any("like a matrix of links" in note for note in found.decomposition.notes)
    assert not any("alone accounts for" in note for note in found.decomposition.notes)


@pytest.mark.parametrize(("rounded", "share"), [(None, None), (3, "rounded"), (0, "Compare distances with care")])
def test_distances_between_no_points_have_a_note_and_no_warning_about_kernels(rounded, share, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = distances() if rounded is None else distances().round(rounded)
    table.to_csv("apart.csv")
    found = CliRunner().invoke(main, ["report", "apart.csv"])
    text = " ".join(found.output.split())
    assert found.exit_code == 0
    assert "kernel is indefinite" not in text
    assert ("negative eigenvalues sum to" in text) is (share is not None)
    assert share is None or share in text


def test_other_kernels_keep_their_warning() -> None:
    rows, noise = np.random.default_rng(1).normal(size=(9, 3)), np.random.default_rng(2).normal(size=(9, 9))
    kernel = rows @ rows.T + 0.05 * (noise + noise.T)
    with pytest.warns(DataWarning, match="The kernel is indefinite"):
        found = ek.analyze(kernel, method="kernel_pca", kernel="precomputed")
    assert not any("distances between points" in note for note in found.decomposition.notes)
