"""python -m benchmarks.answers [--seed 0] [--count 2] [--half 0|1] [--show]: verdicts on ordinary answers.

The key of generated exercises is written as students write it, in four languages and some thirty notations: bare,
named, in sentences, lists, LaTeX, Unicode, pasted output of NumPy, MATLAB and R, decimal commas, steps. Wrong answers
have one slip each. The notations are split into two halves: one for development (0), one for measurement (1).
"""

from __future__ import annotations

import argparse
import zlib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.answer_styles import STYLES, Style
from benchmarks.answer_values import Value, slips, values_of

if TYPE_CHECKING:
    from eckart.worked.exercises import Exercise

LANGUAGES = ("en", "it", "es", "ru")


@dataclass(frozen=True)
class Answer:
    """One answer, the exercise that it belongs to, and whether it is right."""

    kind: str
    difficulty: int
    seed: int
    language: str
    right: bool
    text: str
    label: str


def half_of(label: str) -> int:
    """The half of the corpus that a notation belongs to: to develop with (0) or held out (1)."""
    return zlib.crc32(label.encode()) % 2


def answers(kind: str, difficulty: int, seed: int, language: str, half: int | None) -> list[Answer]:
    """All answers to one exercise in one language."""
    found = []
    made = _made(kind, difficulty, seed, language)
    rng = np.random.default_rng([zlib.crc32(f"{kind}{language}".encode()), seed, difficulty])
    key = values_of(made)
    for style in STYLES:
        label = f"{kind}/{language}/{style.name}"
        if (half is not None and half_of(label) != half) or not style.fits(kind, language, key):
            continue
        found.append(Answer(kind, difficulty, seed, language, True, style.write(kind, language, key, rng), label))
    for slip, spoilt in slips(kind, language, key, rng):
        chosen = _style(kind, language, spoilt, half, rng)
        if chosen is not None:
            text = chosen.write(kind, language, spoilt, rng)
            label = f"{kind}/{language}/{chosen.name}/{slip}"
            found.append(Answer(kind, difficulty, seed, language, False, text, label))
    return found


@cache
def _made(kind: str, difficulty: int, seed: int, language: str) -> Exercise:
    from eckart import worked

    with worked.language(language):
        return worked.exercise(kind, seed=seed, difficulty=difficulty)


def _style(kind: str, language: str, key: list[Value], half: int | None, rng: np.random.Generator) -> Style | None:
    """A random notation of a half that can write these values."""
    usable = [
        style
        for style in STYLES
        if style.fits(kind, language, key)
        and (half is None or half_of(f"{kind}/{language}/{style.name}") == half)
        and style.plain
    ]
    return usable[int(rng.integers(len(usable)))] if usable else None


def verdict(answer: Answer) -> tuple[str, str]:
    """The status and the message of an answer."""
    from eckart.errors import InputError

    made = _made(answer.kind, answer.difficulty, answer.seed, answer.language)
    try:
        found = made.check(answer.text)
    except InputError as error:
        return "refused", str(error)
    return found.status, found.message


def main() -> None:
    from eckart.worked.exercises import KINDS

    parser = argparse.ArgumentParser(prog="python -m benchmarks.answers", description=__doc__)
    parser.add_argument("kinds", nargs="*", type=lambda kind: kind.replace("-", "_"), help="all by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1, help="exercises for each kind and difficulty")
    parser.add_argument("--half", type=int, choices=(0, 1))
    parser.add_argument("--show", action="store_true", help="print the answers with a false verdict")
    given = parser.parse_args()
    total: Counter[tuple[str, bool, bool]] = Counter()
    for kind in given.kinds or KINDS:
        for place in range(given.count * 3):
            for language in LANGUAGES:
                for answer in answers(kind, place % 3 + 1, given.seed + place, language, given.half):
                    status, message = verdict(answer)
                    total[kind, answer.right, (status == "right") == answer.right] += 1
                    if given.show and (status == "right") != answer.right:
                        print(
                            f"{answer.label} {answer.difficulty} {answer.seed}\n{answer.text}\n"
                            f"  -> {status}: {message}\n"
                        )
        print(kind, *_counts(total, kind), flush=True)
    print("all", *_counts(total, None))


def _counts(total: Counter[tuple[str, bool, bool]], kind: str | None) -> list[str]:
    """Right answers accepted and wrong ones refused, of how many."""
    shown = []
    for right, name in ((True, "right accepted"), (False, "wrong refused")):
        good, bad = (sum(n for (k, r, v), n in total.items() if kind in (None, k) and r == right and v == true)
                     for true in (True, False))  # fmt: skip
        shown.append(f"{name} {good}/{good + bad}")
    return shown


if __name__ == "__main__":
    main()
