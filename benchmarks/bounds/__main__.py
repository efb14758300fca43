"""python -m benchmarks.bounds METHOD [cases] [first seed]: look for statements of accuracy that are false."""

from __future__ import annotations

import argparse
import collections
import importlib


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
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bounds", description="Search for false statements.")
    parser.add_argument("method", choices=["cur", "isomap", "kernel_pca", "nmf"])
    parser.add_argument("cases", nargs="?", type=int, default=200, help="number of tables (default 200)")
    parser.add_argument("first", nargs="?", type=int, default=0, help="first seed (default 0)")
    given = parser.parse_args()
    main(given.method, given.cases, given.first)
