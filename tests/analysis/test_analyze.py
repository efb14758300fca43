"""analyze: one decomposition, one verdict, the same from Python and from the command line."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import sparse
from sklearn.datasets import load_wine

import eckart as ek
from eckart.analysis import analyze as module
from eckart.analysis.summary import summary_text
from eckart.cli import main
from eckart.details import SVDDetails
from eckart.errors import InputError

ARRESTS = ek.datasets.path("usarrests")


def factors(rows: int, columns: int, k: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return 4 * rng.standard_normal((rows, k)) @ rng.standard_normal((k, columns)) + rng.standard_normal((rows, columns))


def test_the_table_is_decomposed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the rules nor the outliers decompose the table itself again; rules draw other tables."""
    from eckart.pca import fit as pca_fit
    from eckart.rank import evidence
    from eckart.registry import resolve

    table = factors(80, 12, 2)
    resolve.cache_clear()
    whole: list[bytes] = []
    for where, name in ((pca_fit, "decompose_pca"), (evidence, "find_components")):
        original = getattr(where, name)

        def counted(data: Any, *args: Any, original: Any = original, **options: Any) -> Any:
            matrix = np.asarray(getattr(data, "matrix", data))
            if matrix.shape == table.shape and np.array_equal(matrix, table):
                whole.append(b"")
            return original(data, *args, **options)

        monkeypatch.setattr(where, name, counted)
    found = ek.analyze(table)
    assert found.k == 2
    resolve.cache_clear()
    assert len(whole) == 1


@pytest.mark.parametrize("scale", [False, True])
def test_rules_answer_as_they_do_by_themselves(scale: bool) -> None:
    table = factors(60, 9, 3, seed=4)
    found, alone = ek.analyze(table, scale=scale), ek.choose_rank(table, scale=scale)
    assert found.ranks is not None
    assert {v.rule: v.k for v in found.ranks.verdicts} == {v.rule: v.k for v in alone.verdicts}


def test_imputed_values_are_shared() -> None:
    table = factors(50, 6, 1)
    table[3, 2] = table[10, 0] = np.nan
    found, alone = ek.analyze(table, missing="em"), ek.choose_rank(table, missing="em")
    assert found.ranks is not None
    assert found.k == alone.k == 1


def test_shares_of_a_filled_table_are_not_given_for_those_of_the_data() -> None:
    """Imputed values lack noise, so components explain too much of a filled table; the sentence says how much."""
    rng = np.random.default_rng(61)
    table = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 9)) + 0.7 * rng.normal(size=(60, 9))
    found = ek.analyze(np.where(rng.random(table.shape) < 0.4, np.nan, table), missing="em")
    k, low = found.recommendation.k or 0, (found.recommendation.explained or (0.0, 0.0))[0]
    said = re.search(
        r"of the table with imputed values. .* the share is about ([\d.]+) %", found.recommendation.sentence
    )
    assert said is not None
    details = found.decomposition.details
    assert isinstance(details, SVDDetails)
    assert details.missing is not None
    assert details.missing.explained_variance_ratio is not None
    assert float(said[1]) == pytest.approx(100 * details.missing.explained_variance_ratio[:k].sum(), abs=0.06)
    assert float(said[1]) < 100 * low - 3
    assert "(of the table with imputed values)" in found.report()
    assert "imputed values" not in ek.analyze(table).recommendation.sentence


def test_explained_variance_is_that_of_the_recommended_components() -> None:
    table = factors(200, 40, 3)
    found = ek.analyze(table)
    centred = table - table.mean(axis=0)
    s = np.linalg.svd(centred, compute_uv=False)
    assert found.k == 3
    assert found.decomposition.k == 5
    low, high = found.recommendation.explained or (2.0, -1.0)
    share = float((s[:3] ** 2).sum() / (s**2).sum())
    assert low <= share + 1e-15
    assert share <= high
    assert f"{100 * share:.2f} %" in found.recommendation.sentence
    assert found.kept.k == found.outliers.k == 3
    page = found.report()
    assert "Keep 3 components." in page
    assert "100.00\N{NO-BREAK SPACE}%" not in page.partition('id="components"')[0]


def test_noise_has_no_component() -> None:
    found = ek.analyze(np.random.default_rng(7).standard_normal((120, 10)))
    assert found.k == 0
    assert "No component stands out from noise" in found.summary()
    reason = "the first component of unrelated columns with the same variances would explain as much"
    assert reason in found.recommendation.sentence


@pytest.mark.parametrize(
    ("table", "answer"),
    [
        (np.full((9, 3), 7.0), "All columns are constant, so there is nothing to explain."),
        (np.arange(9.0)[:, None] ** 2, "The data vary in only one direction, so PC1 explains all of the variance."),
        (np.array([[1.0, 2.0, 4.0], [3.0, 3.0, 3.0]]), "The data vary in only one direction"),
        (np.corrcoef(np.random.default_rng(2).normal(size=(6, 40))), "The rows of this table are not observations"),
    ],
    ids=["constant", "one column", "two rows", "correlations"],
)
@pytest.mark.filterwarnings("ignore:The data have no variance")
def test_tables_without_a_number_to_choose(table: np.ndarray, answer: str) -> None:
    found = ek.analyze(table)
    assert answer in found.recommendation.sentence
    assert "noise" not in found.recommendation.sentence.replace("Rules about noise do not apply", "")
    assert answer in " ".join(found.summary().split())


def test_a_rule_for_correlated_noise_says_nothing_of_unrelated_columns() -> None:
    """Wine: the first component explains 36 %, that of shuffled columns 13 %, and `gap` finds none set apart."""
    table = load_wine().data
    found = ek.analyze(table, scale=True)
    shuffled = np.random.default_rng(5).permuted((table - table.mean(axis=0)) / table.std(axis=0), axis=0)
    s = np.linalg.svd(shuffled - shuffled.mean(axis=0), compute_uv=False)
    assert float(s[0] ** 2 / (s**2).sum()) < 0.2 < 0.36 < found.decomposition.explained_variance_ratio[0]
    assert "unrelated" not in found.recommendation.sentence


def test_python_and_the_command_line_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["report", str(ARRESTS), "--scale", "--json"])
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    here = json.loads(json.dumps(ek.analyze(ARRESTS, scale=True).to_dict()))
    for key in ("recommended", "roles", "sections", "components", "loadings", "ranks", "clusters"):
        assert document[key] == here[key], key


def test_identifiers_are_set_aside_unless_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = "\n".join(f"{1000 + 7 * i},{1990 + i},{i * i % 11},{i % 5},{'ab'[i % 2]}" for i in range(20))
    path.write_text(f"customer_id,year,x,y,kind\n{rows}\n")
    found = ek.analyze(path)
    roles = {role.name: role.role for role in found.roles}
    assert roles == {"customer_id": "identifier", "year": "date", "x": "measure", "y": "measure", "kind": "category"}
    assert found.decomposition.columns == 2
    named = ek.analyze(path, columns=["customer_id", "x", "y"])
    assert named.decomposition.columns == 3


def test_distances_become_principal_coordinates() -> None:
    points = np.random.default_rng(1).standard_normal((15, 2))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    found = ek.analyze(distances)
    d = found.decomposition
    assert d.method == "kernel_pca"
    assert d.left is not None
    coordinates = np.asarray(d.left) * np.asarray(d.values)
    made = np.linalg.norm(coordinates[:, None, :2] - coordinates[None, :, :2], axis=2)
    np.testing.assert_allclose(made, distances, atol=1e-8)
    assert "distance matrix" in found.summary()
    assert ek.analyze(distances, "pca").decomposition.method == "pca"


def test_notebooks_and_repr() -> None:
    found = ek.analyze(ARRESTS, scale=True)
    assert "Keep 1 component" in repr(found)
    html = found._repr_html_()
    assert "62.01 %" in html
    assert "<script" not in html


def test_only_ranks_that_exist() -> None:
    with pytest.raises(ek.errors.ParameterError, match="ranks"):
        ek.analyze(factors(20, 4, 1), ranks="every")
    assert ek.analyze(factors(20, 4, 1), ranks=None).ranks is None


def test_a_model_is_not_decomposed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    table = factors(30, 5, 1)
    model = ek.PCA(2).fit(table)
    monkeypatch.setattr(module, "decompose", lambda *_, **__: pytest.fail("decomposed again"))
    found = ek.analyze(model, data=table)
    assert found.decomposition.k == 2
    with pytest.raises(TypeError, match="already fitted"):
        ek.analyze(model, k=1)


def test_the_command_line_reads_options_and_python_reads_keywords(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes("città;età;peso\nForlì;1,5;2\nRoma;2,5;4\nMilano;3;5,5\nBari;4;9\n".encode("latin-1"))
    found = ek.analyze(path)
    assert "encoding=..." in summary_text(found)
    assert "--encoding" in summary_text(found, door="cli")


def test_missing_values_are_counted_once():
    table = np.random.default_rng(3).normal(size=(30, 4))
    table[4, 1] = np.nan
    text = " ".join(ek.analyze(table, missing="em").summary().split())
    assert text.count("1 of 120 values") == 1


def test_bars_are_never_cut():
    for power in range(0, 12, 3):
        table = np.random.default_rng(3).normal(size=(30, 6)) * 10.0**power
        assert "\u2026" not in ek.analyze(table).summary()


def test_the_summary_claims_no_choice_where_there_is_none() -> None:
    rng = np.random.default_rng(0)
    one = summary_text(ek.analyze(rng.standard_normal((30, 1))))
    assert "only one direction" in one
    assert "uncertain" not in one
    three = summary_text(ek.analyze(rng.standard_normal((3, 4))))
    assert "or more" not in three
    assert "With no directions left for noise" in " ".join(three.split())


def test_the_summary_names_weights_and_leaves_out_loadings_that_do_not_exist() -> None:
    table = factors(40, 6, 2)
    weighted = summary_text(ek.analyze(table, sample_weight=np.linspace(1, 2, 40)))
    assert "columns centred, rows weighted." in " ".join(weighted.split())
    assert "... and 1 more component\n" in weighted
    distances = np.sqrt(((table[:, None] - table[None]) ** 2).sum(axis=2))
    assert "loadings" not in summary_text(ek.analyze(distances))


def test_a_column_without_variance_makes_no_row_unusual():
    values = np.column_stack([np.ones(40), np.random.default_rng(0).normal(size=(40, 2))])
    table = ek.analyze(values).outliers.tables["unusual"]
    assert table.rows
    assert all("x1" not in str(row[-1]) for row in table.rows)


def test_a_row_that_makes_up_a_component_is_named():
    rows = np.random.default_rng(0).normal(size=(40, 5))
    assert not any(note.code == "dominant_row" for note in ek.analyze(rows).decomposition.notes)
    rows[7] = 60
    notes = [str(note) for note in ek.analyze(rows).decomposition.notes if note.code == "dominant_row"]
    assert len(notes) == 1
    assert notes[0].startswith("Row 8 alone accounts for 9")
    assert "of the variation along PC1" in notes[0]


def test_the_number_for_a_table_of_distances_was_not_requested(tmp_path):
    points = np.random.default_rng(0).normal(size=(8, 2))
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    path = tmp_path / "distances.csv"
    names = [f"city{i}" for i in range(8)]
    path.write_text(
        "\n".join(
            [",".join(["", *names]), *(f"{n}," + ",".join(map(str, r)) for n, r in zip(names, apart, strict=True))]
        )
    )
    found = ek.analyze(path)
    assert found.decomposition.method == "kernel_pca"
    assert not found.requested
    assert ek.analyze(path, k=2).requested


def test_next_steps_fit_the_table(tmp_path):
    (tmp_path / "ratings.csv").write_text(
        "userId,movieId,rating\n" + "\n".join(f"{i % 9},{i // 9 + 20},{i % 5 + 1}" for i in range(60))
    )
    (tmp_path / "constant.csv").write_text("a,b\n" + "1,2\n" * 20)
    for name, step in (("ratings", "eckart recommend"), ("constant", None)):
        found = CliRunner().invoke(
            main, ["report", str(tmp_path / f"{name}.csv"), "-o", str(tmp_path / "p"), "--force"]
        )
        assert found.exit_code == 0, found.output
        assert ("Next" in found.output) == (step is not None)
        assert step is None or step in found.output.split("Next")[1]
        assert "eckart rank" not in found.output


def test_millions_of_columns_are_refused_with_their_number() -> None:
    with pytest.raises(InputError, match=r"2,000,000 columns.*than 1,000,000.*decompose the table without a report"):
        ek.analyze(sparse.csr_array((3, 2_000_000)))
    assert ek.decompose(sparse.csr_array((3, 2_000_000)), "svd", k=1).values.tolist() == [0.0]


@pytest.mark.parametrize("of", ["csr", "coo", "torch", "float32"])
def test_arrays_of_all_libraries_are_analysed(of: str) -> None:
    table = factors(60, 12, 2) * (np.random.default_rng(0).random((60, 12)) < 0.5)
    if of == "torch":
        data: Any = pytest.importorskip("torch").tensor(table)
    else:
        data = {"csr": sparse.csr_array, "coo": sparse.coo_matrix, "float32": np.float32}[of](table)
    dense, found = ek.analyze(table), ek.analyze(data)
    np.testing.assert_allclose(found.decomposition.values, dense.decomposition.values, rtol=1e-5)
    assert found.k == dense.k


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("runner,split1,split2,weight", "r{i},2{a}:1{b},2{b}:3{a},{x:.1f}"),
        ("species,sex,mass", "{species},{sex},{x:.1f}"),
    ],
    ids=["named rows", "repeated pairs"],
)
def test_observations_with_two_labels_are_not_a_long_table(tmp_path, header, line):
    rng = np.random.default_rng(4)
    rows = [
        line.format(i=i, a=rng.integers(6), b=rng.integers(9), x=x, species="ab"[i % 2], sex="mf"[i // 2 % 2])
        for i, x in enumerate(rng.normal(70, 9, 60))
    ]
    path = tmp_path / "observations.csv"
    path.write_text("\n".join([header, *rows]))
    found = ek.analyze(path)
    assert "long_table" not in [note.code for note in found.decomposition.notes]
    assert found.recommendation.sentence.startswith("The data vary in only one direction")


def test_only_significant_associations_of_categories_are_reported():
    """Seven categories drawn at random explain 6 of 79 parts of any component by chance."""
    rng = np.random.default_rng(11)
    table = factors(80, 5, 2)
    by_chance = [str(day) for day in rng.integers(7, size=80)]
    planted = ["high" if row > np.median(table[:, 0]) else "low" for row in table[:, 0]]
    shares = ek.supplementary.association(ek.decompose(table, k=5, left=True), by_chance).rows
    assert max(float(row[1]) for row in shares) > 0.05
    sentence = "No category or date is associated with a component."
    assert sentence in ek.analyze(table, labels={"day": by_chance}).summary()
    assert "level explains" in ek.analyze(table, labels={"level": planted, "day": by_chance}).summary()


def test_a_share_just_below_everything_is_not_below_its_lower_bound():
    table = np.random.default_rng(3).normal(size=(60, 3)) * [1, 1, 2000]
    first = str(ek.tables.eigenvalues(ek.decompose(table, k=3))).splitlines()
    assert any(">99.99 %" in line and "99.999 %" in line for line in first)


def test_without_a_recommended_component_all_sections_use_the_same_number() -> None:
    found = ek.analyze(np.random.default_rng(7).standard_normal((120, 10)))
    assert found.k == 0
    assert found.clusters is not None
    assert found.clusters.k == found.outliers.k == found.kept.k == found.recommendation.model < 10
    reason = f"No component stands out, so this section uses the first {found.outliers.k} components, which explain "
    assert all(part.lines[0].startswith(reason) for part in (found.outliers, found.clusters))


def test_no_column_dominates_a_component_with_similar_loadings() -> None:
    rng = np.random.default_rng(3)
    table = 20 * rng.normal(size=(60, 1)) + rng.normal(size=(60, 7))
    assert "PC1 weights all columns about equally" in ek.analyze(table).summary()
    wide = rng.normal(size=(60, 1)) * np.linspace(1, 3, 60) + 0.1 * rng.normal(size=(60, 60))
    words = " ".join(ek.analyze(wide).summary().split())
    assert "PC1 loads most on " in words
    assert "It loads most on " in ek.tables.describe(ek.decompose(wide, k=1, left=True), 0)


def test_components_without_variance_are_not_called_arbitrary() -> None:
    table = np.random.default_rng(3).normal(size=(40, 4))
    found = ek.analyze(np.column_stack([table, table[:, :2]])).summary()
    assert "determined only as a subspace" not in found
    orthogonal = np.linalg.qr(np.random.default_rng(3).normal(size=(40, 4)))[0]
    assert "determined only as a subspace" in " ".join(ek.analyze(orthogonal, "svd").summary().split())


def test_sentences_begin_with_a_capital_letter() -> None:
    found = ek.analyze(np.random.default_rng(7).standard_normal((120, 10)), "svd")
    assert found.k == 0
    assert ". Component 1 explains" in found.recommendation.sentence


def test_numbers_stored_as_objects_are_analysed() -> None:
    table = np.random.default_rng(3).normal(size=(30, 4))
    for given in (table.astype(object), [[Fraction(cell) for cell in row] for row in table.tolist()]):
        np.testing.assert_allclose(ek.analyze(given).decomposition.values, ek.analyze(table).decomposition.values)


@pytest.mark.parametrize("names", [range(1, 41), range(101, 141), range(40, 0, -1)], ids=["from 1", "from 101", "down"])
def test_whole_numbers_as_names_of_rows_do_not_change_the_unusual_rows(names, tmp_path):
    """R writes the numbers of the rows in quotes, as names; the columns that make a row unusual are found by index."""
    rng = np.random.default_rng(11)
    table = rng.normal(size=(40, 5))
    table[7, 2], table[20, 4] = 9.0, -8.0
    found = []
    for labels in (list(map(str, names)), [f"row {name}" for name in names]):
        lines = [",".join([f'"{label}"', *(f"{x:.6f}" for x in row)]) for label, row in zip(labels, table, strict=True)]
        path = tmp_path / "x.csv"
        path.write_text("\n".join(['"","a","b","c","d","e"', *lines]))
        found.append(ek.analyze(path, k=2).outliers)
    rows, expected = (outliers.tables["unusual"].rows for outliers in found)
    assert {"row " + str(row[0]) for row in rows} == {row[0] for row in expected}
    assert [row[1:] for row in rows] == [row[1:] for row in expected]
    assert any(str(row[3]).startswith("c") for row in rows)


def test_the_summary_never_breaks_a_command_within_a_word(tmp_path):
    rng = np.random.default_rng(9)
    base = rng.normal(size=(40, 12))
    table = np.hstack([base, base[:, :6] + base[:, 6:]])
    names = [f"employees_in_industry_number_{j}" for j in range(18)]
    path = tmp_path / "x.csv"
    np.savetxt(path, table, delimiter=",", header=",".join(names), comments="")
    said = CliRunner().invoke(main, ["report", str(path), "-o", str(tmp_path / "x.html"), "--quiet"]).stdout
    (dropped,) = re.findall(r"--drop\s+(\S+)", said)
    assert set(dropped.rstrip(".").split(",")) <= set(names)
    assert len(dropped) > 80


def first_notes(text: str) -> str:
    """The notes under "Read this first", on one line."""
    return " ".join(text.partition("Read this first")[2].partition("\n\n")[0].split())


def test_answers_in_words_and_unknown_scripts_are_read_first(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    answers = ("agree", "neutral", "disagree")
    lines = [f"{answers[i % 3]},{answers[i % 2]},{answers[i // 7 % 3]},{i * i % 17},{i % 5}" for i in range(30)]
    Path("survey.csv").write_text("\n".join(["q1,q2,q3,age,hours", *lines]))
    found = CliRunner().invoke(main, ["report", "survey.csv"])
    assert "3 columns with text, such as 'q1', contain the same answers" in first_notes(found.output)
    assert found.output.count("the same answers") == 1
    lines = [f"Область {i};{i * i % 17};{i % 5}" for i in range(30)]
    Path("regions.csv").write_text("\n".join(["имя;доход;возраст", *lines]), encoding="cp1251")
    found = CliRunner().invoke(main, ["report", "regions.csv", "-o", "regions.html"])
    assert "Set the encoding with --encoding, such as cp1251 for Cyrillic" in first_notes(found.output)
    read = CliRunner().invoke(main, ["report", "regions.csv", "--encoding", "cp1251", "-o", "read.html"])
    assert "encoding" not in first_notes(read.output)


def test_the_number_of_components_of_clusters_is_the_one_that_was_used() -> None:
    rows = np.random.default_rng(5).standard_normal((80, 20))
    found = ek.analyze(rows)
    assert found.recommendation.k == 0
    assert found.recommendation.model > found.clusters.k == 10
    assert "uses the first 10 components" in found.clusters.lines[0]
    assert "The scores on 10 components" in found.clusters.lines[1]
    assert f"uses the first {found.recommendation.model} components" in found.outliers.lines[0]
