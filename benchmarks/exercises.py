"""python -m benchmarks.exercises [COUNT] [KIND ...]: make exercises and recompute every key by LAPACK and SciPy.

COUNT exercises per kind (500 unless said otherwise), spread over the three difficulties. An exercise counts as right if
the criteria of its kind hold and the key agrees with the independent route of tests/worked/independent.py.
"""

from __future__ import annotations

import sys
import time

from eckart.worked.exercises import KINDS, exercise
from tests.worked.independent import CHECKS


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    kinds = sys.argv[2:] or list(KINDS)
    for kind in kinds:
        start, wrong, seen = time.perf_counter(), [], set()
        for seed in range(count):
            difficulty = seed % 3 + 1
            made = exercise(kind, seed=seed, difficulty=difficulty)
            seen.add((difficulty, tuple(made.given), str(sorted(made.arguments.items()))))
            if not CHECKS[kind](made):
                wrong.append(seed)
        seconds = time.perf_counter() - start
        figures = f"{count - len(wrong)}/{count} right, {len(seen)} different, {1000 * seconds / count:.0f} ms each"
        print(f"{kind:18} {figures}", *(["wrong:", *map(str, wrong[:10])] if wrong else []), flush=True)


if __name__ == "__main__":
    main()
