"""Tables, prompts and rows between bars: the values are read, whatever surrounds them."""

from __future__ import annotations

import pytest

from eckart import worked

_SELECT = "| column | r |\n|---|---|\n| 1 | {} |\n| 2 | -0.5508 |\n| 3 | 0.5955 |\n\nSelected: 2, 3"
_ISOMAP = (
    "edges 1-4, 1-5, 2-4, 3-5, D: 0 11 4 5 3 / 11 0 15 6 14 / 4 15 0 9 {} / 5 6 9 0 8 / 3 14 1 8 0, "
    "y: -1.8, 9.2, -5.8, 3.2, -4.8"
)
_EIGEN = """eigenvalue | vector
4 | (0.5774, -0.5774, -0.5774)
-4 | (-0.3333, 0.6667, 0.6667)
2 | (-0.2673, 0.5345, 0.8018)"""


@pytest.mark.parametrize(("kind", "difficulty", "answer", "right"), [
    ("select", 2, _SELECT.format("0.2242"), True),
    ("select", 2, _SELECT.format("-0.2242"), False),
    ("isomap", 2, _ISOMAP.format(1), True),
    ("isomap", 2, _ISOMAP.format(2), False),
    ("cur", 1, "CUR = (2 1 1 | -3 -1 0 | 1 0 -1), error² = 1", True),
    ("cur", 1, "CUR = (2 1 1 | -3 -1 0 | 1 0 1), error² = 1", False),
    ("power_iteration", 2, ">>> 8.0\n>>> array([-0.83205029, -0.5547002 ])", True),
    ("power_iteration", 3, "Rayleigh quotients 3, 6.15, 7.4, ... -> 8, x = (1,1,-1)/√3", True),
    ("eigen", 3, _EIGEN, True),
    ("power_iteration", 2, "julia> λ = 8.0\n8.0\njulia> v\n2-element Vector{Float64}:\n -0.8321\n -0.5547", True),
    ("power_iteration", 2, "julia> λ = 8.0\n8.0\njulia> v\n2-element Vector{Float64}:\n -0.8321\n 0.5547", False),
    ("power_iteration", 2, "**8**, **(-0.8321, -0.5547)**", True),
    ("power_iteration", 2, "**-8**, **(-0.8321, -0.5547)**", False),
])  # fmt: skip
def test_layouts(kind: str, difficulty: int, answer: str, right: bool) -> None:
    verdict = worked.exercise(kind, seed=7100 + difficulty, difficulty=difficulty).check(answer)
    assert bool(verdict) is right, verdict.message
