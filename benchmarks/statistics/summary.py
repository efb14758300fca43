"""Tables of docs/how-many.md from saved outcomes: python -m benchmarks.statistics.summary FILE ..."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks.statistics import robust
from benchmarks.statistics.rank import PART, TESTS

ROWS = (
    ("null", "null", 5, 100), ("strong", "strong", 5, 100), ("weak", "weak", 5, 100),
    ("null, unequal noise", "null unequal", 5, 100),
    ("strong, unequal noise, 12 columns or more", "strong unequal", 12, 100),
    ("strong, unequal noise, 5 columns", "strong unequal", 5, 5),
    ("strong, heavy-tailed noise", "strong heavy-tailed", 5, 100), ("strong, counts", "strong counts", 5, 100),
    ("null, correlated noise", "null correlated", 5, 100),
    ("strong, correlated noise, 12 columns or more", "strong correlated", 12, 100),
    ("strong, correlated noise, 5 columns", "strong correlated", 5, 5),
    ("very strong, correlated noise", "very strong correlated", 5, 100),
)  # fmt: skip
"""Label, family, fewest and most columns."""
FEW = ("strong", "strong unequal", "strong correlated", "null unequal", "null correlated")


ROBUST = ("verdict", "certain", "right or in doubt")


def main() -> None:
    cells: dict[tuple[str, int], list[list[float]]] = defaultdict(list)
    others: dict[tuple[str, str, bool], list[list[float]]] = defaultdict(list)
    for path in sys.argv[1:]:
        with Path(path).open() as file:
            for line in map(json.loads, file):
                cell = line["cell"]
                if line["part"] == "rank":
                    cells[cell[0], cell[2]] += line["outcomes"]
                elif line["part"] == "robust":
                    others[cell[0], cell[1], min(cell[2:]) < 12] += line["outcomes"]
    if cells:
        print_rank(cells)
    if others:
        print_robust(others)


def print_robust(others: dict[tuple[str, str, bool], list[list[float]]]) -> None:
    """By kind of noise and components, of tables with 12 or more rows and columns and of smaller ones."""
    place = [robust.PART.columns.index(column) for column in ROBUST]
    sizes = ("12 or more", "fewer")
    titles = [f"{column}, {size}" for size in sizes for column in ROBUST]
    print("\n| noise | components | " + " | ".join(titles) + " |\n" + "|---" * (2 + len(titles)) + "|")
    for noise, signal in dict.fromkeys(key[:2] for key in others):
        rates = []
        for small in (False, True):
            found = np.array(others.get((noise, signal, small), [[np.nan] * len(robust.PART.columns)]), dtype=float)
            rates += [f"{100 * rate:.0f} %" for rate in found.mean(axis=0)[place]]
        print(f"| {noise} | {signal} | " + " | ".join(rates) + " |")


def print_rank(cells: dict[tuple[str, int], list[list[float]]]) -> None:
    place = {column: PART.columns.index(column) for column in PART.columns}

    def means(family: str, fewest: int, most: int) -> tuple[np.ndarray, int]:
        found = [row for (name, columns), rows in cells.items() for row in rows
                 if name == family and fewest <= columns <= most]  # fmt: skip
        return np.nanmean(np.array(found, dtype=float), axis=0), len(found)

    shown = ("verdict", *TESTS, "quick")
    print("| tables | number | " + " | ".join(shown) + " |\n" + "|---" * (2 + len(shown)) + "|")
    for label, *chosen in ROWS:
        rates, count = means(*chosen)
        print(f"| {label} | {count} | " + " | ".join(f"{100 * rates[place[c]]:.1f} %" for c in shown) + " |")
    few = ("verdict", "certain", "right or in doubt")
    print("\n| tables | number | " + " | ".join(few) + " |\n" + "|---" * (2 + len(few)) + "|")
    for columns in (5, 12):
        for family in FEW:
            rates, count = means(family, columns, columns)
            print(f"| {family}, {columns} columns | {count} | "
                  + " | ".join(f"{100 * rates[place[c]]:.0f} %" for c in few) + " |")  # fmt: skip
    same = [row[place["CSR = dense"]] for rows in cells.values() for row in rows]
    print(f"\nCSR = dense: {np.nanmean(np.array(same, dtype=float)):.1%} of {np.isfinite(np.array(same, float)).sum()}")


if __name__ == "__main__":
    main()
