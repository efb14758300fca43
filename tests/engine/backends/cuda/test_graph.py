"""Recorded work: when it is recorded, what goes in and comes out. The recording itself is a GPU's (test_gpu_nmf)."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from eckart.engine.backends.cuda import graph as cuda_graph
from eckart.engine.backends.cuda.graph import Recorded


@pytest.fixture
def recordings(monkeypatch: pytest.MonkeyPatch) -> list[tuple[np.ndarray, ...]]:
    """As a graph does: every launch writes its results over the same arrays."""
    made: list[tuple[np.ndarray, ...]] = []

    def record(work: Callable[[], tuple[np.ndarray, ...]], _like: np.ndarray) -> tuple[Any, Any, None]:
        indices = work()
        made.append(indices)

        def launch() -> None:
            for place, result in zip(indices, work(), strict=True):
                place[...] = result

        return launch, indices, None

    monkeypatch.setattr(cuda_graph, "_record_cupy", record)
    return made


def work(first: np.ndarray, second: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, ...]:
    return first + number[0, 0] * second, first @ second.T


def test_results_are_those_of_the_work_and_stay(recordings: list[tuple[np.ndarray, ...]]) -> None:
    rng = np.random.default_rng(0)
    recorded = Recorded(work, worth=True)
    kept = []
    for i in range(6):
        first, second = rng.standard_normal((2, 4, 3))
        kept.append((recorded(first, second, number=float(i)), work(first, second, np.full((1, 1), float(i)))))
        assert len(recordings) == (i >= 2)
    for found, expected in kept:  # after all calls: none was written over
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_other_shapes_are_done_as_they_come(recordings: list[tuple[np.ndarray, ...]]) -> None:
    recorded = Recorded(work, worth=True)
    for _ in range(4):
        recorded(np.ones((4, 3)), np.ones((4, 3)), number=1.0)
    found = recorded(np.ones((5, 3)), np.ones((5, 3)), number=2.0)
    np.testing.assert_array_equal(found[0], np.full((5, 3), 3.0))
    assert len(recordings) == 1


def test_not_worth_it_is_not_recorded(recordings: list[tuple[np.ndarray, ...]]) -> None:
    recorded = Recorded(work, worth=False)
    for _ in range(5):
        recorded(np.ones((4, 3)), np.ones((4, 3)), number=1.0)
    assert not recordings


def test_what_cannot_be_recorded_is_done_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def refuse(*_: object) -> None:
        tries.append(1)
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(cuda_graph, "_record_cupy", refuse)
    recorded = Recorded(work, worth=True)
    for _ in range(5):
        found = recorded(np.ones((4, 3)), np.ones((4, 3)), number=1.0)
        np.testing.assert_array_equal(found[0], np.full((4, 3), 2.0))
    assert len(tries) == 1
