"""Deflation: choices that a reader must be able to follow."""

from __future__ import annotations

import pytest

from eckart import worked

OTHER_START = "From the vector of ones, the iteration does not find this pair"


@pytest.mark.parametrize(("matrix", "explained"), [("2 1; 1 2", True), ("2 1; 1 3", False)])
def test_another_start_vector_is_explained(matrix: str, explained: bool) -> None:
    text = " ".join(worked.deflation(matrix).at("full").text().split())
    assert (OTHER_START in text) is explained


@pytest.mark.parametrize(("method", "explained"), [("wielandt", True), ("hotelling", False)])
def test_the_choice_of_x_is_explained(method: str, explained: bool) -> None:
    text = worked.deflation("2 1; 1 3", method=method).text()
    assert ("is valid. Here, it is a multiple of the row" in " ".join(text.split())) is explained
