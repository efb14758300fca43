"""Plots: the numbers behind them, what they say about themselves, labels that do not cover each other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Annotation
from samples import arrests, built, usarrests

from eckart.errors import ParameterError
from eckart.views import geometry, plots


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


@pytest.mark.parametrize(
    ("ends", "expected"),
    [((0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1]), ((-3.1, 2.9), [-3, -2, -1, 0, 1, 2]), ((5, 5), [5]), ((0, 1e-9), 6)],
)
def test_ticks_are_round(ends: tuple[float, float], expected: Any) -> None:
    found = geometry.ticks(*ends)
    assert (len(found) if isinstance(expected, int) else found) == expected


def test_scree_shows_shares_and_bounds() -> None:
    ax = plots.scree(arrests())
    heights = [patch.get_height() for patch in ax.patches]
    np.testing.assert_allclose(heights, [62.006, 24.744, 8.914, 4.336], atol=5e-4)
    assert "variance" in ax.get_ylabel()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["cumulative", "share", "certified bounds"]


def test_scree_without_certificate() -> None:
    ax = plots.scree(many(certificate=None))
    assert "certified bounds" not in [text.get_text() for text in ax.get_legend().get_texts()]


def test_loadings_heatmap() -> None:
    ax = plots.loadings(arrests())
    np.testing.assert_array_equal(ax.images[0].get_array(), arrests().right)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Murder", "Assault", "UrbanPop", "Rape"]
    assert "10 weaker columns not shown" in plots.loadings(many()).get_title()


@pytest.mark.parametrize("scaling", ["form", "covariance"])
@pytest.mark.parametrize("d", [arrests(), many()], ids=["arrests", "many"])
def test_biplot_is_labelled_without_overlap(d: Any, scaling: Any) -> None:
    ax = plots.biplot(d, scaling)
    assert f"{scaling} biplot" in ax.get_title()
    assert ax.get_xlabel() == f"PC1 ({100 * d.shares[0]:.1f} %)"
    assert ax.get_aspect() == 1
    boxes = [t.get_window_extent() for t in ax.texts if isinstance(t, Annotation) and t.get_text()]
    assert len(boxes) > 8
    assert not any(a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1 for a, b in combinations(boxes, 2))


def test_biplot_says_what_is_missing() -> None:
    assert "arrows only" in plots.biplot(arrests(left=False)).get_title()
    assert "Of 3,000 rows 2,000 are drawn" in plots.biplot(many()).get_title()


def test_axes_are_given_back() -> None:
    _, given = plt.subplots(1, 3)
    for draw, ax in zip((plots.scree, plots.loadings, plots.biplot), given, strict=True):
        assert draw(arrests(), ax=ax) is ax


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"scaling": "auto"}, "'form' or 'covariance'"),
        ({"axes": (0, 4)}, "from 0 to 3"),
        ({"axes": (1, 1)}, "different"),
    ],
)
def test_wrong_wishes_are_refused(options: Any, reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        plots.biplot(arrests(), **options)


def test_names_are_no_formulas() -> None:
    names = ("$x_1$", "$\\frac{", "\ud800", "x" * 10_000)
    d = arrests().named(None, names)
    for draw in (plots.loadings, plots.biplot):
        draw(d).figure.canvas.draw()
