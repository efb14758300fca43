"""Plots: the numbers behind them, what they say about themselves, labels that do not cover each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.path import Path
from matplotlib.text import Annotation

import eckart as ek
from eckart import plots, tables
from eckart.analysis.plots import geometry
from eckart.analysis.plots.groups import groups
from eckart.errors import FileError, InputError, ParameterError
from tests.samples import arrests, built, usarrests


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


def many(rows: int = 3000, columns: int = 50, k: int = 12, **more: Any) -> Any:
    return built(np.random.default_rng(0).normal(size=(rows, columns)), k, **more)


def test_form_biplot_keeps_distances_between_rows() -> None:
    data, *_ = usarrests()
    d = built(data[:, :2], 2)
    plane = geometry.biplot(d, "form")
    assert plane.points is not None
    for i, j in ((0, 1), (3, 40)):
        expected = np.linalg.norm(data[i, :2] - data[j, :2])
        assert np.linalg.norm(plane.points[i] - plane.points[j]) == pytest.approx(expected)


def test_covariance_biplot_has_covariances_of_columns() -> None:
    data, *_ = usarrests()
    plane = geometry.biplot(built(data[:, :2], 2), "covariance")
    np.testing.assert_allclose(plane.arrows @ plane.arrows.T, np.cov(data[:, :2].T))
    assert plane.points is not None
    np.testing.assert_allclose(np.cov(plane.points.T), np.eye(2), atol=1e-12)


def test_subset_is_repeatable_and_holds_the_extremes() -> None:
    points = np.random.default_rng(1).normal(size=(5000, 2))
    first = geometry.drawn_rows(points)
    np.testing.assert_array_equal(first, geometry.drawn_rows(points))
    assert len(np.unique(first)) == 2000
    assert set(np.argsort(-np.hypot(*points.T))[:100]) <= set(first)


def test_scree_shows_shares_and_bounds() -> None:
    ax = plots.scree(arrests())
    heights = [patch.get_height() for patch in ax.patches]
    np.testing.assert_allclose(heights, [62.006, 24.744, 8.914, 4.336], atol=5e-4)
    assert "variance" in ax.get_ylabel()
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert set(words) == {"share", "broken stick", "mean share (Kaiser)", "certified bounds"}
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [52.083, 27.083, 14.583, 6.25], atol=5e-4)
    assert "broken stick" not in [line.get_label() for line in plots.scree(arrests(), thresholds=False).lines]


def test_scree_without_certificate() -> None:
    ax = plots.scree(many(certificate=None))
    assert "certified bounds" not in [text.get_text() for text in ax.get_legend().get_texts()]


def test_loadings_heatmap() -> None:
    ax = plots.loadings(arrests())
    np.testing.assert_array_equal(ax.images[0].get_array(), arrests().right)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Murder", "Assault", "UrbanPop", "Rape"]
    assert "10 weaker columns not shown" in plots.loadings(many()).get_title()


def labels_apart(ax: Any) -> int:
    """How many labels there are, after it was found that none covers another."""
    ax.figure.canvas.draw()
    boxes = [t.get_window_extent() for t in ax.texts if isinstance(t, Annotation) and t.get_text()]
    assert not any(a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1 for a, b in combinations(boxes, 2))
    return len(boxes)


@pytest.mark.parametrize("scaling", ["form", "covariance"])
@pytest.mark.parametrize("d", [arrests(), many()], ids=["arrests", "many"])
def test_biplot_is_labelled_without_overlap(d: Any, scaling: Any) -> None:
    ax = plots.biplot(d, scaling)
    assert f"{scaling} biplot" in ax.get_title()
    assert ax.get_xlabel() == f"PC1 ({100 * d.explained_variance_ratio[0]:.1f} %)"
    assert ax.get_aspect() == 1
    assert labels_apart(ax) > 8


def test_biplot_says_what_is_missing() -> None:
    assert "only arrows are drawn" in plots.biplot(arrests(left=False)).get_title()
    assert "2,000 of 3,000 rows are shown" in plots.biplot(many()).get_title()


def every_plot(d: Any) -> dict[str, Any]:
    """Each picture that can be drawn of d, as a function of the axes to draw into."""
    groups = ["odd", "even"] * (d.rows // 2) + ["odd"] * (d.rows % 2)
    return {
        "scree": lambda ax=None: plots.scree(d, ax),
        "cumulative": lambda ax=None: plots.cumulative(d, ax),
        "biplot": lambda ax=None: plots.biplot(d, ax=ax),
        "covariance": lambda ax=None: plots.biplot(d, "covariance", ax=ax),
        "circle": lambda ax=None: plots.correlation_circle(d, ax=ax),
        "contributions": lambda ax=None: plots.contributions(d, ax=ax),
        "rows": lambda ax=None: plots.contributions(d, ax=ax, of="rows"),
        "loadings": lambda ax=None: plots.loadings(d, ax),
        "scores": lambda ax=None: plots.scores(d, ax=ax, by=groups),
        "outliers": lambda ax=None: plots.outlier_map(d, ax, k=2),
        "reconstruction": lambda ax=None: plots.reconstruction(d, ax),
        "row": lambda ax=None: plots.reconstruction(d, ax, row=1),
    }


@pytest.mark.parametrize("name", list(every_plot(arrests())))
def test_axes_are_given_back(name: str) -> None:
    _, given = plt.subplots()
    assert every_plot(arrests())[name](given) is given


@pytest.mark.parametrize("name", list(every_plot(arrests())))
def test_nothing_is_cut_off(name: str) -> None:
    """Titles, labels and names lie within the figure."""
    ax = every_plot(arrests())[name]()
    ax.figure.canvas.draw()
    inside = ax.figure.bbox
    names = ax.get_yticklabels() if name in ("loadings", "contributions", "rows") else []
    for text in (ax.title, ax.xaxis.label, ax.yaxis.label, *names, *ax.texts):
        box = text.get_window_extent()
        if text.get_text() and text.get_visible():
            assert inside.x0 - 2 <= box.x0, text
            assert box.x1 <= inside.x1 + 2, text
            assert inside.y0 - 2 <= box.y0, text
            assert box.y1 <= inside.y1 + 2, text


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"scaling": "auto"}, "'form' or 'covariance'"),
        ({"components": (0, 4)}, "from 0 to 3"),
        ({"components": (1, 1)}, "different"),
    ],
)
def test_wrong_wishes_are_refused(options: Any, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        plots.biplot(arrests(), **options)


def test_names_are_no_formulas() -> None:
    names = ("$x_1$", "$\\frac{", "\ud800", "x" * 10_000)
    rows = tuple(f"$\\frac{{ {i}" for i in range(50))
    for draw in every_plot(arrests().named(rows, names)).values():
        draw().figure.draw_without_rendering()
        plt.close()
    ax = plots.scores(arrests().named(rows, names), by=["$\\frac{", "_hidden"] * 25)
    ax.figure.draw_without_rendering()
    assert [text.get_text().strip() for text in ax.get_legend().get_texts()] == ["$\\frac{ (25)", "_hidden (25)"]


def test_all_columns_are_named_in_the_circle() -> None:
    d = ek.decompose(usarrests()[0], scale=True, left=True).named(*usarrests()[1:])
    other = ek.supplementary.columns(d, {"more": usarrests()[0][:, 0] * -1.0})
    ax = plots.correlation_circle(d, supplementary=other)
    assert labels_apart(ax) == 5
    assert ax.get_aspect() == 1
    assert "supplementary" in ax.get_title()
    with pytest.raises(ParameterError, match="another decomposition"):
        plots.correlation_circle(arrests(2), supplementary=ek.supplementary.columns(arrests(1), usarrests()[0]))


def test_supplementary_rows_are_crosses() -> None:
    data, *_ = usarrests()
    d = ek.decompose(data[:45], k=2, scale=True, left=True)
    ax = plots.scores(d, supplementary=ek.supplementary.rows(d, data[45:]))
    np.testing.assert_allclose(np.asarray(ax.collections[-1].get_offsets()), ek.project(d, data[45:]))
    assert "supplementary rows" in ax.get_title()
    assert labels_apart(ax) > 20


def test_cumulative_says_how_many_axes() -> None:
    ax = plots.cumulative(arrests(), targets=(0.6, 0.9, 0.99))
    assert [text.get_text() for text in ax.texts] == ["60 %: 1 component", "90 %: 3 components", "99 %: 4 components"]
    assert [text.get_text() for text in plots.cumulative(arrests(2), targets=(0.95,)).texts] == [
        "95 %: more components"
    ]


def test_contributions_are_sorted_and_show_signs() -> None:
    ax = plots.contributions(arrests(), 1)
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(widths, sorted(100 * np.asarray(arrests().right)[:, 1] ** 2, reverse=True))
    assert [bar.get_hatch() for bar in ax.patches] == ["", "///", "///", ""]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["UrbanPop", "Murder", "Assault", "Rape"]
    np.testing.assert_allclose(ax.lines[0].get_xdata(), 25)
    assert "30 smaller ones not shown" in plots.contributions(arrests(), of="rows").get_title()


def test_outlier_map_shows_the_numbers_of_the_table() -> None:
    d = arrests()
    ax = plots.outlier_map(d, k=2)
    drawn = np.vstack([np.asarray(part.get_offsets()) for part in ax.collections])
    table = tables.outliers(d, k=2)
    expected = np.array([[row[1], row[3]] for row in table.rows], dtype=float)
    np.testing.assert_allclose(drawn[np.lexsort(drawn.T)], expected[np.lexsort(expected.T)])
    named = {text.get_text() for text in ax.texts}
    assert named == {row[0] for row in tables.outliers(d, k=2, only=True).rows}
    assert "explain all of the variance" in plots.outlier_map(d).get_ylabel()


def test_ellipses_hold_their_share() -> None:
    random = np.random.default_rng(0)
    points = random.normal(size=(20_000, 2)) @ np.array([[2.0, 0.5], [0.0, 1.0]]) + [3.0, -1.0]
    (group,) = groups(points, ["a"] * 20_000, np.ones(20_000), share=0.9)
    assert group.outline is not None
    inside = Path(group.outline).contains_points(points).mean()
    assert inside == pytest.approx(0.9, abs=0.01)
    (mean,) = groups(points[:400], ["a"] * 400, np.ones(400), around="means")
    assert mean.outline is not None
    (all_,) = groups(points[:400], ["a"] * 400, np.ones(400))
    assert all_.outline is not None
    np.testing.assert_allclose(20 * (mean.outline - mean.mean), all_.outline - all_.mean)


def test_weights_of_groups_are_repeated_rows() -> None:
    random = np.random.default_rng(0)
    points, times = random.normal(size=(30, 2)), random.integers(1, 4, 30)
    labels = np.array(list("ab") * 15)
    weighted = groups(points, labels, times.astype(float))
    repeated = groups(np.repeat(points, times, axis=0), np.repeat(labels, times), np.ones(times.sum()))
    by_name = {group.name: group for group in repeated}
    for group in weighted:
        np.testing.assert_allclose(group.mean, by_name[group.name].mean)
        assert group.outline is not None
        other = by_name[group.name].outline
        assert other is not None
        np.testing.assert_allclose(np.cov(group.outline.T), np.cov(other.T))


def test_axes_that_are_not_made_of_columns() -> None:
    d = replace(arrests(2), method="isomap", right=np.empty((4, 0)))
    for draw in (plots.biplot, plots.loadings, plots.contributions):
        with pytest.raises(ParameterError, match="no loadings"):
            draw(d)
    with pytest.raises(ParameterError, match="orthogonal"):
        plots.biplot(replace(arrests(2), method="nmf"))
    assert labels_apart(plots.scores(d)) > 20
    assert plots.contributions(d, of="rows").patches


def test_many_groups_and_rows_without_one() -> None:
    labels = [f"g{i % 20}" if i > 2 else None for i in range(50)]
    found = groups(np.random.default_rng(0).normal(size=(50, 2)), labels, np.ones(50))
    assert len(found) == 8
    assert found[-1].name == "others (13)"
    assert sum(len(group.members) for group in found) == 47
    ax = plots.scores(arrests(), by=labels)
    assert len(ax.get_legend().get_texts()) == 8
    with pytest.raises(InputError, match=r"number of group labels \(3\)"):
        plots.scores(arrests(), by=["a"] * 3)
    with pytest.raises(ParameterError, match="'rows', 'means'"):
        plots.scores(arrests(), by=["a"] * 50, around="hull")  # type: ignore[arg-type]


def test_groups_differ_in_shape_and_colour() -> None:
    ax = plots.scores(arrests(), by=list("abcde") * 10)
    looks = [(tuple(c.get_facecolor()[0]), c.get_paths()[0].vertices.tobytes()) for c in ax.collections[::2]]
    assert len({color for color, _ in looks}) == 5
    assert len({shape for _, shape in looks}) == 5
    assert labels_apart(ax) > 20


def test_reconstruction_of_a_row() -> None:
    data, *_ = usarrests()
    d = built(data, 4, scale=True)
    ax = plots.reconstruction(d, row=3, k=[2])
    standard = (data[3] - data.mean(axis=0)) / data.std(axis=0, ddof=1)
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], standard)
    right = np.asarray(d.right)[:, :2]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), standard @ right @ right.T)
    cut = built(data, 2, scale=True)
    assert not plots.reconstruction(cut, row=3).patches
    np.testing.assert_allclose(
        [bar.get_height() for bar in plots.reconstruction(cut, row=3, values=data[3]).patches], standard
    )
    with pytest.raises(ParameterError, match="from 1 to 4"):
        plots.reconstruction(d, row=3, k=[7])


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_pictures_are_saved_whole_and_the_same_each_time(tmp_path: Any, ending: str) -> None:
    first, second = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    plots.save(plots.scree(arrests()), first, dpi=60)
    plots.save(plots.scree(arrests()), second, dpi=60)
    assert first.read_bytes() == second.read_bytes()
    with pytest.raises(FileError, match="already exists"):
        plots.save(plots.scree(arrests()), first)
    with pytest.raises(ParameterError, match=r"\.svg, \.png or \.pdf"):
        plots.save(plots.scree(arrests()), tmp_path / "a.doc")


def test_weighted_rows_are_drawn_where_they_are() -> None:
    data, *_ = usarrests()
    weights = np.random.default_rng(0).integers(1, 5, 50).astype(float)
    d = ek.decompose(data, k=2, left=True, sample_weight=weights)
    expected = (data - d.mean) @ d.right
    form, covariance = geometry.biplot(d).points, geometry.biplot(d, "covariance").points
    np.testing.assert_allclose(form, expected, atol=1e-9)
    np.testing.assert_allclose(covariance, expected / np.sqrt(np.asarray(d.explained_variance)), atol=1e-9)
