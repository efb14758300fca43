"""Pictures: drawn, saved as SVG and PNG, and true to the numbers."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from eckart import worked
from eckart.errors import InputError
from eckart.worked import pictures

ALL: list[Callable[[], Any]] = [
    lambda: pictures.unit_circle("2 1; 0 1"),
    lambda: pictures.unit_circle("2 1 0; 0 1 1; 0 0 1"),
    lambda: pictures.unit_circle("1 2; 2 4"),
    lambda: pictures.drops("1 2; 2 1; 3 4; 4 3"),
    lambda: pictures.drops("1 2; 2 1; 3 4; 4 3", center=False),
    lambda: pictures.scree("1 2 0; 2 1 1; 3 4 1; 4 3 5", scale=True),
    pictures.circles,
    pictures.sphere,
]


@pytest.mark.parametrize("draw", ALL)
def test_saved_as_svg_and_png(draw: Callable[[], Any]) -> None:
    figure = draw()
    for kind, start in (("svg", b"<?xml"), ("png", b"\x89PNG")):
        file = io.BytesIO()
        figure.savefig(file, format=kind, dpi=40)
        assert file.getvalue().startswith(start)


def test_the_last_panel_is_the_matrix() -> None:
    line = pictures.unit_circle("2 1; 0 1").axes[3].lines[0]
    angle = np.linspace(0, 2 * np.pi, 200)
    wanted = np.array([[2, 1], [0, 1]]) @ np.array([np.cos(angle), np.sin(angle)])
    assert np.allclose(np.array(line.get_data()), wanted)


def test_the_vectors_of_the_picture_are_those_of_the_solution() -> None:
    """NumPy may choose the opposite signs."""
    found = worked.svd("3 0; 4 5")
    axes = found.figures[0]().axes
    for panel, expected in ((0, found["V"]), (3, found["U"] * found["S"])):
        tips = [note.xy for note in axes[panel].texts if note.get_text() == ""]
        assert np.allclose(tips, np.array(expected.T.tolist(), dtype=float))


def test_drops_are_orthogonal_to_the_first_axis() -> None:
    axes = pictures.drops("1 2; 2 1; 3 4; 4 3").axes[0]
    lines = [np.array(line.get_data()).T for line in axes.lines]
    along = lines[0][1] - lines[0][0]
    assert all(abs((drop[1] - drop[0]) @ along) < 1e-9 for drop in lines[2:])
    assert "squared distances: 2" in axes.get_title()


def test_kernel_pca_parts_what_pca_cannot() -> None:
    rng = np.random.default_rng(0)
    angle, inner = rng.uniform(0, 2 * np.pi, 100), np.arange(100) < 50
    x = np.where(inner, 0.35, 1.0)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    first = pictures.rbf_scores(x, 4.0)[:, 0]
    assert first[inner].max() < first[~inner].min() or first[inner].min() > first[~inner].max()


def test_refusals() -> None:
    with pytest.raises(InputError, match="2 x 2 or 3 x 3"):
        pictures.unit_circle("1 2 3; 4 5 6")
    with pytest.raises(InputError, match="needs two"):
        pictures.drops("1 2 3; 4 5 6")
    with pytest.raises(InputError, match="All rows are equal"):
        pictures.scree("1 1; 1 1")


def test_decimal_comma_in_pictures() -> None:
    with worked.language("it"):
        figures = [pictures.scree("1 2; 2 1; 3 4; 4 5"), pictures.drops("0.1 0.2; 0.2 0.1; 0.3 0.4")]
    for figure in figures:
        figure.savefig(io.BytesIO(), format="svg")
        axes = figure.axes[0]
        labels = [text.get_text() for text in (*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels())]
        assert any("," in label for label in labels)
        assert not any("." in label for label in labels)


def test_a_table_without_variance_has_a_page() -> None:
    assert "<h1>" in worked.pca("2 2; 2 2; 2 2").html()
