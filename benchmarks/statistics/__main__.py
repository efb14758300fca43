"""Error rates by simulation: python -m benchmarks.statistics [PART ...] [--jobs 16] [--seed 0] [--tables SHARE]
[--save FILE]

Parts: limits (false alarms of T2 and Q), rank (the verdict of choose_rank on planted ranks), rules (each rule on the
same), robust (the verdict on other noise and components), oracle (the tests with known noise), bootstrap (coverage of
intervals), em (coverage of imputed values), selection (scores on pure noise), weights (against repeated rows), columns
(why component_columns has no p-values), nmf (planted parts).

Every cell is printed with the Monte-Carlo standard error of its mean. A star marks means outside what is
wanted by more than two standard errors, or for `weights`, where any table counts, at all.

--save adds the outcomes of all tables to a file. `python -m benchmarks.statistics.summary FILE ...` turns them into the
tables of docs/how-many.md.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.statistics.part import Cell, Outcome, Part
from benchmarks.statistics.study import PARTS, simulate

CHUNK = 10


def report(part: Part, cell: Cell, outcomes: list[Outcome]) -> str:
    values = np.array(outcomes, dtype=float)
    factor = 100.0 if part.percent else 1.0
    shown = []
    for column, drawn in zip(part.columns, values.T, strict=True):
        known = drawn[np.isfinite(drawn)]
        if not known.size:
            shown.append(f"{'-':>20}")
            continue
        mean = known.mean()
        error = known.std(ddof=1) / len(known) ** 0.5 if len(known) > 1 else 0.0
        low, high = part.wanted(cell).get(column, (-np.inf, np.inf))
        if not part.percent:
            mean, error = (known.max() if high < 1.0 else known.min()), 0.0
        star = "*" if not low - 2 * error <= mean <= high + 2 * error else " "
        number = f"{factor * mean:.1f} +- {factor * error:.1f}" if part.percent else f"{mean:.2g}"
        shown.append(f"{number + star:>20}")
    return "".join(f"{label!s:>24}" for label in cell) + f"{len(values):>8}" + "".join(shown)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.statistics", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="all by default")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tables", type=float, default=1.0, help="share of the usual number of tables")
    parser.add_argument("--save", help="file to which outcomes are added")
    given = parser.parse_args()
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        for name in given.parts or PARTS:
            part = PARTS[name]
            print(f"\n--- {name}\n" + "".join(f"{label:>24}" for label in part.labels) + f"{'tables':>8}"
                  + "".join(f"{column:>20}" for column in part.columns), flush=True)  # fmt: skip
            work = []
            for place, cell in enumerate(part.cells):
                count = max(2, round(given.tables * part.tables(cell)))
                starts = range(0, count, CHUNK)
                work.append([pool.submit(simulate, name, place, given.seed, a, min(a + CHUNK, count)) for a in starts])
            for cell, chunks in zip(part.cells, work, strict=True):
                outcomes = [outcome for chunk in chunks for outcome in chunk.result()]
                print(report(part, cell, outcomes), flush=True)
                if given.save:
                    with Path(given.save).open("a") as file:
                        file.write(json.dumps({"part": name, "cell": cell, "outcomes": outcomes}) + "\n")


if __name__ == "__main__":
    main()
