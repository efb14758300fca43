"""Several things asked of every row: answers thing by thing, row by row, or as one list without names."""

from __future__ import annotations

import pytest

from eckart import worked

TWO = [  # one component: the scores are 12/√13, 33/√13 and the squared distances 64/13, 289/13
    ("12/√13, 33/√13, 64/13, 289/13", "right"),
    ("3.328, 9.153, 4.923, 22.23", "right"),
    ("3.328, 4.923; 9.153, 22.23", "right"),
    ("-3.328, 4.923; -9.153, 22.23", "right"),
    ("row 1: 3.328, 4.923; row 2: 9.153, 22.23", "right"),
    ("x'_1: 3.328, 4.923; x'_2: 9.153, 22.23", "right"),
    ("riga 1: punteggio 3,328, distanza² 4,923; seconda riga: punteggio 9,153, distanza² 22,23", "right"),
    ("The scores are 3.33 and 9.15, the squared distances 4.92 and 22.23.", "right"),
    ("row 2: 3.328, 4.923; row 1: 9.153, 22.23", "wrong"),
    ("3.328, 4.923; -9.153, 22.23", "wrong"),
    ("3.328, 22.23; 9.153, 4.923", "wrong"),
    ("3.328, 22.23, 9.153, 4.923", "wrong"),
    ("3.328, 2.219; 9.153, 4.715", "wrong"),
]  # fmt: skip
THREE = [  # two components: the scores are (-2√3/3, 11√2/2), (-13√3/3, -5√2/2), the distances 289/6, 961/6
    ("-1.155, 7.778, -7.506, -3.536, 48.17, 160.2", "right"),
    ("-1.155, 7.778, 48.17; -7.506, -3.536, 160.2", "right"),
    ("(-1.155, 7.778), 48.17; (-7.506, -3.536), 160.2", "right"),
    ("z1 = (1.155, -7.778), z2 = (7.506, 3.536); d = 48.17, 160.2", "right"),
    ("[-1.155 -7.506; 7.778 -3.536]; 48.17, 160.2", "almost"),
    ("-1.155, -7.506; 7.778, -3.536; 48.17, 160.2", "almost"),
    ("(-1.155, -7.506), (7.778, -3.536), 48.17, 160.2", "almost"),
    ("-1.155, -7.506, 7.778, -3.536, 48.17, 160.2", "almost"),
]


@pytest.mark.parametrize(("text", "status"), TWO)
def test_one_component(text: str, status: str) -> None:
    verdict = worked.exercise("project", seed=5, difficulty=2).check(text)
    assert verdict.status == status or (status == "wrong" and not verdict), verdict.message


@pytest.mark.parametrize(("text", "status"), THREE)
def test_two_components(text: str, status: str) -> None:
    verdict = worked.exercise("project", seed=8, difficulty=3).check(text)
    assert verdict.status == status, verdict.message


def test_transposed_scores_are_named() -> None:
    verdict = worked.exercise("project", seed=8, difficulty=3).check("[-1.155 -7.506; 7.778 -3.536]; 48.17, 160.2")
    assert str(verdict) == "Right: d. Z': This is the transpose of the right matrix."
