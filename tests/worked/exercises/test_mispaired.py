"""Eigenvalues that are not asked for, next to the vectors of others."""

from __future__ import annotations

import pytest

from eckart import worked

V, W, R = "(1,3)/√10", "(1,1)/√2", "R = [1 .6247; .6247 1]"


@pytest.mark.parametrize(("answer", "right"), [
    (f"λ1 = 600: {V}; λ2 = 200/3: (3,-1)/√10; {R}; μ1 = 1.6247: {W}; μ2 = 0.3753: (1,-1)/√2", True),
    (f"λ = 450, 50; v1 = {V}, v2 = (3,-1)/√10; {R}; μ = 1.62, 0.375, w1 = {W}, w2 = (1,-1)/√2", True),
    (f"λ1 = 200/3: {V}; λ2 = 600: (3,-1)/√10; {R}; w1 = {W}; w2 = (1,-1)/√2", False),
    (f"λ = 66.7, 600; v1 = {V}, v2 = (3,-1)/√10; {R}; w1 = {W}; w2 = (1,-1)/√2", False),
    (f"v1 = {V}, v2 = (3,-1)/√10; {R}; μ1 = 1.6247: (1,-1)/√2; μ2 = 0.3753: {W}", False),
])  # fmt: skip
def test_vectors_belong_to_their_eigenvalues(answer: str, right: bool) -> None:
    verdict = worked.exercise("correlation", seed=14).check(answer)
    assert verdict.message.startswith("Right." if right else "The vectors are right, but in another order.")
