"""The report: one closed page, true numbers, names that cannot do harm, the same content as Markdown."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

import eckart as ek
from eckart.analysis.column_roles import ColumnRole
from eckart.analysis.report.charts import MOST_ROWS, drawn_rows
from eckart.analysis.report.pack import levels, packed
from eckart.cli import main
from eckart.errors import FileError, ParameterError
from eckart.reporting import report
from eckart.result import Decomposition, SVDDetails
from tests.samples import arrests, built, usarrests

HOSTILE = (
    "<script>document.body.dataset.hit = 1</script>",
    '"><img src="http://names.invalid/x" onerror="document.body.dataset.hit = 2">',
    "</script></title></style><script>document.body.dataset.hit = 3</script>",
    "javascript:document.body.dataset.hit = 4",
)


def hostile() -> Decomposition:
    d = arrests(4, notes=(*HOSTILE, "\u202eturned", "\ud800"))
    assert d.plan is not None
    assert d.certificate is not None
    plan = replace(d.plan, why=HOSTILE[0], settings={HOSTILE[0]: HOSTILE[1]})
    rows = tuple(f"{HOSTILE[i % 4]} {i}" for i in range(48))
    named = d.named((*rows, "\ud800\x00", "x" * 10_000), HOSTILE)
    return replace(named, plan=plan, certificate=replace(d.certificate, summary=HOSTILE[2]))


class Tags(HTMLParser):
    """Every tag, and what lies in scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append((tag, dict(attrs)))
        if tag in self.inside:
            self.inside[tag].append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem in self.inside:  # from 3.13.6 on, titles are such elements too
            self.inside[self.cdata_elem][-1] += data


def numbers(page: str) -> dict[str, Any]:
    """What the script of the page reads."""
    content: dict[str, Any] = json.loads(Tags(page).inside["script"][0])
    return content


def unpacked(given: dict[str, Any]) -> np.ndarray:
    """As the page unpacks it."""
    codes = np.frombuffer(base64.b64decode(given["data"]), "<" + given["type"])
    if "step" not in given:
        return codes.astype(float)
    low, step = np.array(given["low"]), np.array(given["step"])
    return np.where(codes.reshape(-1, len(low)) == 65535, np.nan, low + step * codes.reshape(-1, len(low)))


def test_page_says_what_was_found(tmp_path: Path) -> None:
    page = report(arrests(3, notes=("Units differ.",)), tmp_path / "r.html", title="Crime & punishment")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == page
    words = re.sub(r"\s+", " ", page.partition('id="numbers"')[0])
    for part in (
        "<title>Crime &amp; punishment</title>", "62.01 %", "62.006 %", "62.007 %", "95.66 %",
        "Assault +0.58, Rape +0.54, Murder +0.54", "Units differ.", "California", "Keep 1 component", "Rows × columns",
        "PC1 is dominated by Assault, Rape and Murder", "PC1 and PC2 together explain 86.8 %", "1 pass over the data",
        "divided by its standard deviation", "The bounds hold with certainty", "at least 62.006 % of the variance",
    ):  # fmt: skip
        assert part in words
    for fact in ("Seed", "Threads", "Solver", "Requested accuracy", "numpy", "Planned", "Numerical rank"):
        assert fact in page
    assert [axis["label"] for axis in numbers(page)["axes"]] == ["PC1 (62.0 %)", "PC2 (24.7 %)", "PC3 (8.9 %)"]


def test_page_is_the_same_each_time() -> None:
    assert report(arrests()) == report(arrests())


def test_page_is_closed_and_its_policy_names_its_own_parts() -> None:
    tags = Tags(report(arrests()))
    policy = next(str(a["content"]) for _, a in tags.found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy
    for text in (*tags.inside["script"][2:], *tags.inside["style"]):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    for tag, attributes in tags.found:
        assert tag not in {"img", "link", "iframe", "object", "embed", "base"}
        assert not {"src", "style", "srcset"} & set(attributes)
        assert not any(name.startswith("on") for name in attributes)
        assert str(attributes.get("href", "#")).startswith("#")


def test_page_can_be_read_by_everybody() -> None:
    tags = Tags(report(arrests()))
    kinds = [tag for tag, _ in tags.found]
    assert ("html", {"lang": "en"}) in tags.found
    assert kinds.count("figure") == kinds.count("figcaption") == 6
    assert kinds.count("details") >= 5
    ids = {a["id"] for _, a in tags.found if "id" in a}
    charts = [a for _, a in tags.found if a.get("class") == "chart"]
    assert len(charts) == 6
    assert all(a["aria-labelledby"] in ids and a["role"] in ("img", "application") for a in charts)
    style = tags.inside["style"][0]
    assert "prefers-color-scheme:dark" in style
    assert "@media print" in style


def test_facts_have_no_escaped_line_breaks() -> None:
    page = report(ek.decompose(usarrests()[0], k=2, left=True))
    facts = page.partition('<h2 id="how">')[2].partition("<h2")[0]
    assert "over the data" in facts
    assert "\\n" not in facts


def test_hostile_names_add_no_tag() -> None:
    labels = {HOSTILE[1]: [HOSTILE[i % 3] for i in range(50)]}
    data = usarrests()[0]
    found = replace(ek.analyze(hostile(), data=data, labels=labels), name=HOSTILE[0], reading=HOSTILE)
    found = replace(found, roles=tuple(ColumnRole(name, name, name) for name in HOSTILE))
    page = found.report(title=HOSTILE[2], command=HOSTILE[0])
    plain = ek.analyze(arrests(4, notes=("a",) * 6), data=data, labels={"side": ["a", "b"] * 25})
    roles = tuple(ColumnRole(name, "measure", "analysed") for name in "abcd")
    plain = Tags(replace(plain, roles=roles).report(command="eckart report a.csv"))
    tags = Tags(page)
    assert {tag for tag, _ in tags.found} == {tag for tag, _ in plain.found}
    assert len(tags.inside["script"]) == 4
    content = json.loads(tags.inside["script"][0])
    assert content["columns"]["names"][0] == HOSTILE[0]
    assert content["colours"][0]["name"] == HOSTILE[1][:57] + "..."
    page.encode("utf-8")
    assert "\u202e" not in page
    assert "\x00" not in page
    assert "x" * 300 not in page


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("k", [1, 3])
def test_every_link_leads_somewhere(k: int, left: bool) -> None:
    for d in (arrests(k, left=left), replace(arrests(k, left=left), method="kernel_pca", right=np.zeros((4, 0)))):
        tags = Tags(report(d))
        ids = {a["id"] for _, a in tags.found if "id" in a}
        assert {str(a["href"])[1:] for tag, a in tags.found if tag == "a"} <= ids


@pytest.mark.parametrize("k", [1, 2])
def test_few_axes(k: int) -> None:
    page = report(arrests(k))
    assert ("A plane needs two components" in page) == (k == 1)


def test_no_axis_is_refused() -> None:
    d = Decomposition("svd", np.zeros(0), np.zeros((3, 0)), 4, 3, 1.0, 4.0)
    with pytest.raises(ParameterError, match="no components"):
        report(d)


def test_bare_decomposition() -> None:
    page = report(Decomposition("svd", np.zeros(2), np.eye(3)[:, :2], 4, 3, 0.0, 4.0))
    assert "not certified" in page
    assert "component 1" in page


def test_axes_without_weights_of_columns() -> None:
    rng = np.random.default_rng(0)
    d = Decomposition("kernel_pca", np.array([3.0, 2.0]), np.zeros((5, 0)), 40, 5, 4.0, 40.0,
                      left=np.linalg.qr(rng.normal(size=(40, 2)))[0])  # fmt: skip
    page = report(d, data=rng.normal(size=(40, 5)))
    content = numbers(page)
    assert content["columns"]["right"] is None
    assert 'id="loadings"' not in page
    assert 'id="row"' not in page
    assert 'id="plane"' in page


def test_rows_that_were_not_kept() -> None:
    page = report(arrests(3, left=False))
    assert "only the columns are drawn" in page
    assert numbers(page)["rows"] | {"count": 0} == {
        "count": 0, "drawn": 0, "numbered": False, "names": [], "scores": None, "distances": None,
        "weights": None,
    }  # fmt: skip


def test_page_holds_what_rebuilds_the_table() -> None:
    """mean + scale * (T V^T), from the numbers in the page alone, is the table; with fewer axes its best copy."""
    data, _, _ = usarrests()
    content = numbers(report(arrests(4), data=data))
    scores = unpacked(content["rows"]["scores"]).reshape(50, 4)
    right = unpacked(content["columns"]["right"]).reshape(4, 4)
    mean, scale = (unpacked(content["columns"][name]) for name in ("mean", "scale"))
    np.testing.assert_allclose(unpacked(content["observed"]).reshape(50, 4), data, rtol=1e-6)
    np.testing.assert_allclose(scores @ right.T * scale + mean, data, rtol=2e-5)
    standard = (data - mean) / scale
    for k, error in enumerate(content["errors"]):
        left = np.linalg.norm(standard - scores[:, :k] @ right[:, :k].T) / np.linalg.norm(standard)
        assert left == pytest.approx(error, abs=1e-5)


def test_groups_are_told_from_all_rows() -> None:
    data, _, _ = usarrests()
    words = ["north" if i % 3 else "south" for i in range(50)]
    content = numbers(report(arrests(2), labels={"side": words, "own": [str(i) for i in range(50)], "one": ["a"] * 50}))
    (choice,) = content["colours"]
    scores = ek.decompose(data, k=2, scale=True, left=True)
    assert scores.left is not None
    t = scores.left * scores.values
    assert [group["name"] for group in choice["groups"]] == ["north", "south"]
    for group, word in zip(choice["groups"], ("north", "south"), strict=True):
        own = t[np.array(words) == word]
        assert group["count"] == len(own)
        np.testing.assert_allclose(np.abs(group["mean"]), np.abs(own.mean(axis=0)), rtol=1e-4)
        np.testing.assert_allclose(np.abs(group["covariance"]), np.abs(np.cov(own.T)), rtol=1e-4)
    np.testing.assert_array_equal(unpacked(choice["codes"]), [0 if word == "north" else 1 for word in words])


def test_many_groups_are_joined() -> None:
    words = [f"w{i % 25}" for i in range(50)]
    (choice,) = numbers(report(arrests(2), labels={"w": words}))["colours"]
    assert len(choice["groups"]) == 8
    assert choice["groups"][-1]["name"] == "others (18 categories)"
    assert sum(group["count"] for group in choice["groups"]) == 50


def test_unusual_rows_are_named_with_their_columns() -> None:
    data = np.random.default_rng(5).normal(size=(300, 6)) @ np.diag([9, 7, 5, 1, 1, 1])
    data[17, 4] += 40.0
    d = replace(built(data, 3), row_names=tuple(f"r{i}" for i in range(300)))
    d = replace(d, details=SVDDetails(row_norms=np.linalg.norm(data - data.mean(axis=0), axis=1)))
    page = report(d, data=data)
    table = json.loads(Tags(page).inside["script"][1])["unusual"]
    (found,) = (row for row in table["rows"] if row[0] == "r17")
    assert found[3].startswith("x5")
    q = unpacked(numbers(page)["outliers"]["distances"]).reshape(-1, 2)[:, 1]
    assert int(q.argmax()) == 17
    assert q[17] > 1


def test_many_rows_and_columns_are_thinned_and_said_so() -> None:
    data = np.random.default_rng(0).normal(size=(MOST_ROWS + 1000, 60))
    d = built(data, 12)
    page = report(d, data=data)
    for sentence in (
        "of 21,000 rows are shown", "The 30 longest of 60 arrows", "20 weaker columns are not drawn",
        "The first 10 of 12 components", "The first 200 of 21,000 are listed", "strongest of 60 columns",
        "1 part in 65,535",
    ):  # fmt: skip
        assert sentence in page
    content = numbers(page)
    assert 19_000 < len(content["rows"]["names"]) <= 20_000
    assert len(page) < 4_000_000
    shown = [int(name[1:]) - 1 for name in content["columns"]["names"]]
    rows = [int(name) - 1 for name in content["rows"]["names"]]
    part = data[rows][:, shown]
    step = np.ptp(part, axis=0) / 65534
    assert (np.abs(unpacked(content["observed"]) - part) <= 0.51 * step).all()


@pytest.mark.parametrize("words", [0, 1, 6])
def test_ten_thousand_rows_and_ten_axes_stay_below_three_megabytes(words: int) -> None:
    rng = np.random.default_rng(1)
    data = rng.normal(size=(10_000, 50))
    d = replace(built(data, 10), row_names=tuple(f"{'customer ' * words}{i:07d}" for i in range(10_000)))
    lengths = np.linalg.norm(data - data.mean(axis=0), axis=1)
    page = report(replace(d, details=SVDDetails(row_norms=lengths)), data=data, labels={"side": ["a", "b"] * 5000})
    assert len(page.encode()) < 3_000_000


@given(st.integers(1, 400), st.integers(1, 4), st.integers(20, 100), st.integers(0, 5))
def test_drawn_rows(rows: int, k: int, most: int, seed: int) -> None:
    """At most so many, in order, none twice, with the extreme rows of every axis, and even along the first."""
    scores = np.random.default_rng(seed).normal(size=(rows, k))
    drawn = drawn_rows(scores, most)
    assert len(drawn) <= most
    assert (np.diff(drawn) > 0).all()
    if rows <= most:
        assert len(drawn) == rows
        return
    assert set(scores.argmax(axis=0)) | set(scores.argmin(axis=0)) <= set(drawn.tolist())
    below = np.searchsorted(np.sort(scores[drawn, 0]), np.median(scores[:, 0])) / len(drawn)
    assert abs(below - 0.5) < 0.5


def test_strata_keep_the_shape_of_a_crowd() -> None:
    scores = np.random.default_rng(2).normal(size=(200_000, 3))
    drawn = drawn_rows(scores)
    assert 0.97 * MOST_ROWS <= len(drawn) <= MOST_ROWS
    for share in (0.1, 0.25, 0.5, 0.75, 0.9):
        mark = np.quantile(scores[:, 0], share)
        assert (scores[drawn, 0] <= mark).mean() == pytest.approx(share, abs=0.01)


@given(arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.floats(-1e300, 1e300)))
def test_packing_loses_no_more_than_it_says(table: np.ndarray) -> None:
    direct = packed(table)
    np.testing.assert_allclose(unpacked(direct).reshape(table.shape), table, rtol=1e-6, atol=1e-6 * np.abs(table).max())
    step = table.max(axis=0) / 65534 - table.min(axis=0) / 65534
    assert (np.abs(unpacked(levels(table)) - table) <= 0.51 * step + 1e-12 * np.abs(table)).all()


def test_missing_cells_stay_missing() -> None:
    table = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(unpacked(levels(table)), table, rtol=1e-4)
    np.testing.assert_allclose(unpacked(packed(table)).reshape(3, 2), table, rtol=1e-6)


def test_sparse_data_are_shown_too() -> None:
    table = sparse.random_array((60, 20), density=0.2, rng=0, format="csr")
    d = ek.decompose(table, "svd", k=3, left=True)
    content = numbers(report(d, data=table))
    np.testing.assert_allclose(unpacked(content["observed"]).reshape(60, 20), table.toarray(), atol=1e-6)


def test_weighted_rows_take_their_part() -> None:
    data, weights = usarrests()[0], np.arange(1.0, 51.0)
    d = ek.decompose(data, k=2, scale=True, left=True, sample_weight=weights)
    content = numbers(report(d, data=data))
    scores = unpacked(content["rows"]["scores"]).reshape(50, 2)
    values = np.array([axis["value"] for axis in content["axes"]])
    parts = unpacked(content["rows"]["weights"])[:, None] * (scores / values) ** 2
    np.testing.assert_allclose(parts.sum(axis=0), 1.0, rtol=1e-5)


def test_markdown_has_the_same_content(tmp_path: Path) -> None:
    text = report(arrests(3, notes=("Units *differ*.",)), tmp_path / "r.md", title="# A | <b>")
    assert (tmp_path / "r.md").read_text(encoding="utf-8") == text
    assert text.startswith("# \\# A \\| \\<b\\>\n")
    for part in (
        "Units \\*differ\\*.",
        "| PC1 | 2.480 | 62.01 % | 62.01 % | 62.006 % | 62.007 % |",
        "## Certificate",
    ):
        assert part in text
    assert "<script" not in report(hostile(), tmp_path / "h.md").replace("\\<", "")


def test_never_overwrites_unless_told(tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    path.write_text("mine")
    with pytest.raises(FileError, match="overwrite=True"):
        report(arrests(), path)
    assert path.read_text() == "mine"
    report(arrests(), path, overwrite=True)
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
@pytest.mark.parametrize("method", ["pca", "svd", "cur"])
def test_a_result_of_tensors_with_data_of_tensors(method: str) -> None:
    torch = pytest.importorskip("torch")
    A = np.random.default_rng(2).standard_normal((40, 6))
    d, plain = (ek.decompose(X, method, k=3, left=True) for X in (torch.asarray(A), A))
    for data in (torch.asarray(A), torch.asarray(A).to_sparse_csr()):
        page = ek.report(d, data=data)
        assert len(page) == pytest.approx(len(ek.report(plain, data=A)), rel=0.01)
    assert len(ek.tables.scores(d).rows) == 40
    assert ek.tables.loadings(d).rows[0][0] == ek.tables.loadings(plain).rows[0][0]


def test_rows_are_first_coloured_by_a_category_with_a_colour_for_each_value():
    makers, kinds = [f"maker {i % 20}" for i in range(50)], ["abc"[i % 3] for i in range(50)]
    content = numbers(report(arrests(2), labels={"maker": makers, "type": kinds}))
    assert [choice["name"] for choice in content["colours"]] == ["type", "maker"]
    assert content["first_colour"] == "g0"


def test_an_nmf_without_bounds_on_single_parts_has_a_report():
    table = np.random.default_rng(0).random((20, 5))
    table[3, 2] = np.nan
    model = ek.NMF(2, max_iter=500, random_state=0, missing="mask").fit(table)
    assert "Explained variance" in ek.report(model)
    assert all(row[4] != row[4] for row in ek.tables.eigenvalues(model).rows)


@pytest.mark.parametrize("name", ["t.npy", "t.parquet", "t.h5ad", "t.csv.gz", "t.txt", "m.eckart"])
def test_a_report_never_replaces_a_table_or_a_model(tmp_path, name):
    (tmp_path / name).write_bytes(b"data")
    with pytest.raises(ek.errors.FileError, match="reports are HTML or Markdown"):
        ek.report([[1.0, 2.0], [2.0, 1.0], [4.0, 3.0]], tmp_path / name, overwrite=True)
    assert (tmp_path / name).read_bytes() == b"data"


@pytest.mark.parametrize("door", ["python", "command"])
def test_names_of_other_formats_are_refused(tmp_path, monkeypatch, door):
    monkeypatch.chdir(tmp_path)
    if door == "python":
        with pytest.raises(ek.errors.FileError, match="print it"):
            ek.report([[1.0, 2.0], [2.0, 1.0], [4.0, 3.0]], "page.pdf")
    else:
        (tmp_path / "t.csv").write_text("a,b\n1,2\n2,1\n4,3\n")
        done = CliRunner().invoke(main, ["report", "t.csv", "-o", "page.docx"])
        assert done.exit_code == 2
        assert "HTML or Markdown" in done.stderr
    assert not list(tmp_path.glob("page.*"))


def test_the_page_counts_the_components_that_it_does_not_describe():
    rows = np.random.default_rng(0).normal(size=(40, 11))
    page = ek.report(ek.decompose(rows, k=11, left=True))
    assert '<li dir="auto">PC8: ' in page
    assert "... and 3 more components" in page
    assert "more component" not in ek.report(ek.decompose(rows, k=8, left=True))


def test_names_of_options_stay_on_one_line(tmp_path):
    rows = np.random.default_rng(0).normal(size=(40, 3)) * [1, 1, 1000]
    np.savetxt(tmp_path / "t.csv", rows, delimiter=",", header="a,b,<c>", comments="")
    out = tmp_path / "t.html"
    assert CliRunner().invoke(main, ["report", str(tmp_path / "t.csv"), "-o", str(out)]).exit_code == 0
    page = out.read_text(encoding="utf-8")
    assert 'use <span class="option">--scale</span>.' in page
    assert "<c>" not in page.partition("<script")[0]


@pytest.mark.parametrize(
    "table",
    [
        np.column_stack([np.full(4, 2.0**64), 2.0**62 * np.arange(4.0)]),
        1.7e18 + 256.0 * np.random.default_rng(0).integers(0, 4, (20, 3)),  # times in nanoseconds
        5e-324 * np.random.default_rng(0).integers(0, 3, (20, 3)),
    ],
    ids=["constant", "around large numbers", "subnormal"],
)
def test_columns_whose_values_are_too_close_for_bins_are_reported(table: np.ndarray) -> None:
    assert "</html>" in ek.report(table, method="pca", k=1)
