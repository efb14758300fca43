"""Bounds of Eckart and Young, written out."""

from __future__ import annotations

from eckart import worked


def test_full_detail_has_every_step_once() -> None:
    steps = [step for _, step in worked.bounds("3 0; 4 5").at("full").outline()]
    shown = [(step.statement, repr(step.numbers)) for step in steps if step.numbers]
    assert len(shown) == len(set(shown))
    assert any("λ = 45" in step.statement for step in steps)  # the singular vectors are still derived
