"""python -m benchmarks.exercises [KIND ...] [--count 500] [--jobs 16] [--seed 0]: generate exercises and check them.

Exercises of every kind, over the three difficulties and all sizes that the kind allows. Four things are counted:

- right: LAPACK and SciPy compute the same answers from the question alone (tests/worked/independent.py).
- worth solving: the criteria of the kind hold, computed from the question alone (tests/worked/worth.py).
- accepted: `check` accepts the key in exact, decimal and decimal-comma notation.
- refused: `check` refuses the key with one number changed.
"""

from __future__ import annotations

import argparse
import itertools
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from eckart.worked.exercises import Exercise

CHUNK = 10


@dataclass
class Count:
    """What was found among some exercises; every list has (seed, difficulty, size) of those that failed."""

    made: int = 0
    wrong: list[object] = field(default_factory=list)
    trivial: list[object] = field(default_factory=list)
    not_accepted: list[object] = field(default_factory=list)
    not_refused: list[object] = field(default_factory=list)
    no_exercise: list[object] = field(default_factory=list)
    contents: set[object] = field(default_factory=set)
    seconds: float = 0.0

    def add(self, other: Count) -> None:
        self.made += other.made
        self.seconds += other.seconds
        self.contents |= other.contents
        for name in ("wrong", "trivial", "not_accepted", "not_refused", "no_exercise"):
            getattr(self, name).extend(getattr(other, name))


def sizes(kind: str) -> list[tuple[int, int] | None]:
    """None, for the usual size of a difficulty, as often as all other sizes together."""
    from eckart.worked.exercises import KINDS

    own = KINDS[kind]
    ranges = [range(low, high + 1) for low, high in zip(own.least, own.most, strict=True)]
    allowed = [(r, c) for r, c in itertools.product(*ranges) if (r == c or not own.square) and own.allows(r, c)]
    return [one for size in allowed for one in (None, size)]


def examine(kind: str, seed: int, start: int, stop: int) -> Count:
    from eckart.errors import ParameterError
    from eckart.worked.exercises import exercise
    from tests.worked import independent, notations, worth

    found, choices = Count(), sizes(kind)
    for place in range(start, stop):
        # Differences by 3 and by the number of sizes: every size meets every difficulty.
        difficulty, size = place % 3 + 1, choices[place // 3 % len(choices)]
        own = (seed + place, difficulty, size)
        begin = time.process_time()
        try:
            made = exercise(kind, seed=seed + place, difficulty=difficulty, size=size)
        except ParameterError:
            found.no_exercise.append(own)
            continue
        found.seconds += time.process_time() - begin
        found.made += 1
        found.contents.add((difficulty, size, str(made.steps[0].numbers)))
        if not independent.CHECKS[kind](made):
            found.wrong.append(own)
        if not worth.WORTH[kind](made):
            found.trivial.append(own)
        rng = np.random.default_rng([seed, place])
        if not all(is_right(made, text) for text in notations.right(made, rng)):
            found.not_accepted.append(own)
        if any(is_right(made, text) for text in notations.wrong(made, rng)):
            found.not_refused.append(own)
    return found


def is_right(made: Exercise, text: str) -> bool:
    """Whether `check` accepts an answer; one that cannot be read is not accepted."""
    from eckart.errors import InputError

    try:
        return bool(made.check(text))
    except InputError:
        return False


def main() -> None:
    from eckart.worked.exercises import KINDS

    parser = argparse.ArgumentParser(prog="python -m benchmarks.exercises", description=__doc__)
    parser.add_argument("kinds", nargs="*", type=lambda kind: kind.replace("-", "_"), help="all by default")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        chunks = {
            kind: [
                pool.submit(examine, kind, given.seed, a, min(a + CHUNK, given.count))
                for a in range(0, given.count, CHUNK)
            ]
            for kind in given.kinds or KINDS
        }
        for kind, parts in chunks.items():
            whole = Count()
            for part in parts:
                whole.add(part.result())
            bad = {name: getattr(whole, name) for name in
                   ("wrong", "trivial", "not_accepted", "not_refused", "no_exercise")}  # fmt: skip
            figures = (
                f"{whole.made - len(whole.wrong)}/{whole.made} right, {whole.made - len(whole.trivial)} worth solving, "
                f"{whole.made - len(whole.not_accepted)} accepted, {whole.made - len(whole.not_refused)} refused, "
                f"{len(whole.contents)} different, {1000 * whole.seconds / max(whole.made, 1):.0f} ms each"
            )
            print(f"{kind:18} {figures}", flush=True)
            for name, items in bad.items():
                if items:
                    print(f"  {name}: {len(items)}: {items[:6]}", flush=True)


if __name__ == "__main__":
    main()
