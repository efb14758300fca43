"""Text to concepts: readers, weights against their formulas, search, added documents, saved collections, evaluation."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer

import eckart as ek
from eckart.cli import main
from eckart.concept_space.documents import read_documents
from eckart.concept_space.stop_words import stop_words
from eckart.concept_space.word_weights import weigh
from eckart.errors import FileError, InputError, ModelFileError, ParameterError

PETS = [
    "cats chase mice in the garden", "the kitten is a young cat and chases mice", "dogs and cats are pets",
    "stocks and bonds fell sharply", "bonds rose while stocks fell", "investors sold bonds and bought stocks",
]  # fmt: skip
SMART = ".I 7\n.T\nlens\n.A\nsomebody\n.W\nthe crystalline lens\nof the eye\n.I 9\n.W\nlung tissue\n"


def test_tfidf_is_that_of_scikit_learn() -> None:
    counter, matrix = weigh(PETS, "tfidf")
    other = TfidfVectorizer(token_pattern=r"[^\W_]{2,}")
    np.testing.assert_allclose(matrix.toarray(), other.fit_transform(PETS).toarray(), atol=1e-14)
    assert list(counter.vocabulary) == other.get_feature_names_out().tolist()


def test_log_entropy_and_bm25_by_their_formulas() -> None:
    texts = ["aa aa bb", "aa cc", "bb bb bb cc"]
    counts = np.array([[2.0, 1, 0], [1, 0, 1], [0, 3, 1]])
    p = counts / counts.sum(axis=0)
    weight = 1 + np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0).sum(axis=0) / math.log(3)
    expected = np.log1p(counts) * weight
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(weigh(texts, "log_entropy")[1].toarray(), expected, atol=1e-14)
    df, length = (counts > 0).sum(axis=0), counts.sum(axis=1, keepdims=True)
    idf = np.log(1 + (3 - df + 0.5) / (df + 0.5))
    bm25 = idf * counts * 2.2 / (counts + 1.2 * (0.25 + 0.75 * length / length.mean()))
    bm25 /= np.linalg.norm(bm25, axis=1, keepdims=True)
    np.testing.assert_allclose(weigh(texts, "bm25")[1].toarray(), bm25, atol=1e-14)


@pytest.mark.parametrize("weights", ["log_entropy", "tfidf", "bm25"])
def test_search_similar_add_save(weights: str, tmp_path: Path) -> None:
    model = ek.TextConcepts(2, weights=weights).fit(PETS)
    assert set(model.search("stocks", 3).names) == {"4", "5", "6"}
    assert set(model.similar("1", 2).names) == {"2", "3"}
    assert model.similar(1, 2).names == model.similar("1", 2).names
    with pytest.raises(
        InputError, match=r"There is no document 0. The names of the documents are whole numbers: 1, 2, 3"
    ):
        model.similar(0)
    assert model.snippet(2) == model.snippet("2") == PETS[1]
    model.add(["kittens and cats are young"], names=["new"])
    assert "new" in model.search("cats", 4).names
    model.save(tmp_path / "c.eckart")
    again = ek.TextConcepts.load(tmp_path / "c.eckart")
    for query in ("cats", "bonds and stocks", "pets mice"):
        before, after = model.search(query, 7), again.search(query, 7)
        assert before.names == after.names
        np.testing.assert_allclose(before.scores, after.scores, atol=1e-12)
    assert again.snippet("new") == "kittens and cats are young"
    np.testing.assert_allclose(again.transform(PETS), model.transform(PETS), atol=1e-12)


def test_estimator_and_its_limits() -> None:
    model = clone(ek.TextConcepts(3, weights="bm25"))
    assert model.get_params()["weights"] == "bm25"
    assert ek.TextConcepts().fit(PETS).decomposition_.k == 6
    with pytest.raises(ParameterError, match="weights"):
        ek.TextConcepts(weights="idf").fit(PETS)
    with pytest.raises(InputError, match="already"):
        ek.TextConcepts(2).fit(PETS).add(["x y"], names=["1"])
    with pytest.raises(InputError, match="The documents contain no words of two or more letters"):
        ek.TextConcepts(2).fit(["a b", "c"])
    with pytest.raises(InputError, match=r"The documents contain only stop words. Use stop_words=None"):
        ek.TextConcepts(2, stop_words="english").fit(["the and", "of"])
    with pytest.raises(InputError, match=r"No word occurs in 2 or more documents. Use a smaller min_df"):
        ek.TextConcepts(2, min_df=2).fit(["red", "blue"])
    assert not len(ek.TextConcepts(2).fit(PETS).search("zebra"))


def test_an_unknown_document_is_called_a_document(tmp_path: Path) -> None:
    model = ek.TextConcepts(2).fit(PETS)
    model.save(tmp_path / "pets.eckart")
    again = ek.TextConcepts.from_decomposition(ek.load(tmp_path / "pets.eckart"))
    for one in (model, again, again.add(["cats and dogs"])):
        with pytest.raises(InputError, match=r"There is no document 'nothing'"):
            one.similar("nothing")


def test_topics_are_words() -> None:
    rows = ek.TextConcepts(2, stop_words="english").fit(PETS).topics(2, words=6).rows
    words = {word for row in rows for side in row[1:3] for word in str(side).split(", ")}
    assert {"cats", "stocks"} <= words
    assert "the" not in words


def test_stop_words_by_language() -> None:
    assert "the" in stop_words("english")
    assert "und" in stop_words("auto", ["der", "hund", "und", "die", "katze", "sind", "nicht", "hier"])
    assert stop_words(["The"]) == {"the"}
    with pytest.raises(ParameterError, match="is not a supported language"):
        stop_words("klingon")


def test_readers(tmp_path: Path) -> None:
    (tmp_path / "docs" / "in").mkdir(parents=True)
    (tmp_path / "docs" / "a.txt").write_text("first text")
    (tmp_path / "docs" / "in" / "b.md").write_text("second text")
    (tmp_path / "docs" / "c.txt").write_bytes(b"\x00\x01")
    (tmp_path / "docs" / "d.bin").write_bytes(b"not read")
    assert read_documents(tmp_path / "docs").names == ("a.txt", str(Path("in") / "b.md"))
    smart = tmp_path / "med.all.gz"
    smart.write_bytes(gzip.compress(SMART.encode()))
    assert read_documents(smart).names == ("7", "9")
    assert read_documents(smart).texts[0].split() == ["lens", "the", "crystalline", "lens", "of", "the", "eye"]
    table = tmp_path / "t.csv"
    table.write_text('id;abstract;year\nx1;"a long; text\nover lines";1990\nx2;another text;1991\n')
    assert read_documents(table).names == ("x1", "x2")
    assert read_documents(table).texts[0] == "a long; text\nover lines"
    assert read_documents(table, column="year").texts == ("1990", "1991")
    lines = tmp_path / "t.jsonl"
    lines.write_text("\n".join(json.dumps({"body": f"text {i}", "n": i}) for i in range(3)))
    assert read_documents(lines).texts == ("text 0", "text 1", "text 2")
    with pytest.raises(FileError, match="no column 'x'"):
        read_documents(table, column="x")
    with pytest.raises(FileError, match="does not exist"):
        read_documents(tmp_path / "nowhere")
    with pytest.raises(InputError, match="must be strings"):
        read_documents([1, 2])


def test_average_precision_by_hand() -> None:
    model = ek.TextConcepts(2).fit(PETS)
    order = list(model.search("cats", 6).names)
    relevant = {order[0], order[2]}
    assert model.evaluate(["cats"], [relevant]).mean_average_precision == pytest.approx((1 + 2 / 3) / 2)
    numbers = set(map(int, relevant))  # the same names as integers
    assert model.evaluate(["cats"], [numbers]).mean_average_precision == pytest.approx((1 + 2 / 3) / 2)
    with pytest.raises(InputError, match="None of the queries"):
        model.evaluate(["cats"], [set()])


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    for i, text in enumerate(PETS):
        Path("docs", f"{i}.txt").write_text(text)
    run = CliRunner().invoke
    done = run(main, ["search", "docs", "stocks", "-k", "2", "-n", "3", "-o", "d.eckart"])
    assert done.exit_code == 0, done.output
    assert {line.split()[1] for line in done.stdout.splitlines()[2:]} == {"3.txt", "4.txt", "5.txt"}
    again = run(main, ["search", "d.eckart", "stocks", "-n", "3", "--json"])
    assert [hit["name"] for hit in json.loads(again.stdout)["hits"]] == [
        line.split()[1] for line in done.stdout.splitlines()[2:]
    ]
    assert "cats" in run(main, ["search", "d.eckart", "--topics"]).stdout
    assert "0.txt" in run(main, ["search", "d.eckart", "--similar", "1.txt"]).stdout
    Path("q.txt").write_text("cats\n")
    Path("rel.txt").write_text("1 0 0.txt 1\n1 0 3.txt 0\n")
    measured = run(main, ["search", "d.eckart", "--evaluate", "q.txt", "--relevant", "rel.txt", "--json"])
    assert 0 < json.loads(measured.stdout)["mean_average_precision"] <= 1
    assert run(main, ["search", "docs"]).exit_code == 2
    with pytest.raises(ModelFileError, match="not fitted on documents"):
        ek.TextConcepts.from_decomposition(ek.decompose(np.eye(3), "svd", k=1))


def test_a_few_documents_are_told_apart():
    """With one concept, every document would match every query equally well."""
    texts = ["the cat sat on the mat", "dogs and cats at home", "interest rates rise", "banks lend money at interest"]
    found = ek.TextConcepts().fit(texts).search("interest of banks", 4)
    assert [int(name) for name in found.names[:2]] == [4, 3]
    assert max(found.scores[2:]) < 0.1 < found.scores[1] < found.scores[0]


RARE = [*(["red green blue red"] * 6), *(["one two three two"] * 5), "zebra quagga"]


def test_words_outside_the_concepts_are_matched_in_the_documents(tmp_path: Path) -> None:
    model = ek.TextConcepts(2).fit(RARE)
    model.save(tmp_path / "rare.eckart")
    for one in (model, ek.TextConcepts.load(tmp_path / "rare.eckart")):
        found = one.search("zebra xylophone")
        assert found.names == ("12",)
        assert found.scores[0] == pytest.approx(1 / math.sqrt(2))
        assert [note.partition(",")[0] for note in found.notes] == [
            "Not found in the data and ignored: 'xylophone'.",
            "No word of the query occurs in any of the 2 concepts",
        ]
        assert "n_components=4" in found.notes[1]
    assert model.search("red").notes == ()
    assert model.add(["zebra zebra"], names=["new"]).search("zebra").names == ("new", "12")


def test_documents_with_the_words_are_named_if_none_is_listed() -> None:
    model = ek.TextConcepts(2).fit([*RARE, "zebra red"])
    found = model.search("zebra", n=3)
    assert "zebra" not in " ".join(map(model.snippet, found.names))
    expected = "None of the listed documents contains a word of the query. These documents do: '13', '12'."
    assert found.notes[0].startswith(expected)


def test_the_command_matches_words_too(tmp_path: Path) -> None:
    for i, text in enumerate(RARE):
        (tmp_path / f"{i:02}.txt").write_text(text)
    result = CliRunner().invoke(main, ["search", str(tmp_path), "zebra", "-k", "2"])
    assert result.exit_code == 0
    assert "11.txt" in result.stdout
    assert "use more concepts: -k 4." in result.stderr


@pytest.mark.parametrize("weights", ["log_entropy", "tfidf", "bm25"])
def test_an_empty_document_is_similar_to_none(weights: str) -> None:
    texts = ["rates rise", "banks lend money at rates", "fish swim in the river", "", "dogs and cats are pets"]
    model = ek.TextConcepts(weights=weights).fit(texts)
    for query in ("rates", "fish river", "pets money"):
        found = model.search(query, 5)
        assert found.scores[found.names.index("4")] == 0.0
    assert not model.similar("4").names
