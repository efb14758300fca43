"""fold: every segment once, sums in their order, errors of any thread."""

import threading
import time

import pytest

from eckart.engine.parallel import each, fold


def joined(first, second):
    return first + second


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_results_are_added_in_the_order_of_the_segments(workers):
    def step(place):
        time.sleep(0.002 * (place % 3))  # later segments finish before earlier ones
        return [place]

    assert fold(step, range(23), joined, workers=workers) == list(range(23))


def test_the_caller_does_not_wait_for_threads_that_are_late():
    """All threads of the pool are busy, so the caller does everything itself and the call returns."""
    release, begun = threading.Event(), threading.Barrier(5)

    def hold(_place):
        begun.wait(timeout=10)
        release.wait(timeout=10)

    def occupy():
        each(hold, [0, 1], workers=2)

    others = [threading.Thread(target=occupy) for _ in range(2)]
    for other in others:
        other.start()
    begun.wait(timeout=10)  # two callers and both threads of the pool are busy
    caller = threading.get_ident()
    seen = fold(lambda _place: [threading.get_ident()], range(6), joined, workers=2)
    release.set()
    for other in others:
        other.join(timeout=10)
    assert seen == [caller] * 6


@pytest.mark.parametrize("failing", ["caller", "helper"])
def test_an_error_of_any_thread_is_raised(failing):
    caller, met = threading.get_ident(), threading.Barrier(2)

    def step(place):
        if place < 2:
            met.wait(timeout=10)  # both threads have taken a segment
        here = "caller" if threading.get_ident() == caller else "helper"
        if here == failing:
            raise ArithmeticError(f"segment {place}")
        return [place]

    with pytest.raises(ArithmeticError, match=r"segment [01]"):
        fold(step, range(50), joined, workers=2)


def test_each_runs_the_step_on_every_segment():
    result = [0] * 40

    def step(place):
        result[place] += place

    each(step, range(40), workers=4)
    assert result == list(range(40))
