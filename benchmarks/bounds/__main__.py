"""python -m benchmarks.bounds METHOD [cases] [first seed]: look for statements of accuracy that are false."""

from __future__ import annotations

import collections
import importlib
import sys


def main(method: str, count: int, first: int) -> None:
    module = importlib.import_module(f"benchmarks.bounds.{method}")
    refused, wrong, kinds = 0, 0, collections.Counter[str]()
    for seed in range(first, first + count):
        given = module.case(seed)
        found = module.false_statements(given)
        refused += found is None
        if found:
            wrong += 1
            kinds.update(name.rpartition(" by ")[0] for name in found)
            print(f"seed {seed}: {given.metadata}: {'; '.join(found)}")
    print(f"{method}: {wrong} of {count - refused} false ({refused} refused); {dict(kinds)}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200, int(sys.argv[3]) if len(sys.argv) > 3 else 0)
