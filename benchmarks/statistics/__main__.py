"""Error rates by simulation: python -m benchmarks.statistics [PART ...] [--jobs 16] [--seed 0] [--tables SHARE]
[--split 1/3] [--save FILE]

Parts: limits (false alarms of T2 and Q), scaled (the same with scaled columns), rank (the verdict of choose_rank on
planted ranks), small (the same with 3 to 8 columns), rules (each rule), robust (the verdict on other noise and
components), oracle (the tests with known noise), bootstrap (coverage of intervals), em (coverage of imputed values),
selection (scores on pure noise), weights (against repeated rows), columns (why component_columns has no p-values), nmf
(planted parts).

Every cell is printed with the Monte-Carlo standard error of its mean. A star marks means outside what is
wanted by more than two standard errors, or for `weights`, where any table counts, at all. A number that is outside, but
by less, has a question mark.

--split 1/3 runs the first, fourth, ... cell of each part, 2/3 the second, fifth, ...: three commands are the study.
--save adds the outcomes of all tables to a file. `python -m benchmarks.statistics.summary FILE ...` turns them into the
tables of docs/how-many.md. A part that needs a library that is not installed is left out.
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

CHUNK = 5


def report(part: Part, cell: Cell, outcomes: list[Outcome]) -> list[str]:
    """One line of the table: labels, number of tables, means with their standard errors."""
    values = np.array(outcomes, dtype=float)
    factor = 100.0 if part.percent else 1.0
    shown = []
    for column, drawn in zip(part.columns, values.T, strict=True):
        known = drawn[np.isfinite(drawn)]
        if not known.size:
            shown.append("-")
            continue
        mean = known.mean()
        error = known.std(ddof=1) / len(known) ** 0.5 if len(known) > 1 else 0.0
        low, high = part.wanted(cell).get(column, (-np.inf, np.inf))
        if not part.percent:
            mean, error = (known.max() if high < 1.0 else known.min()), 0.0
        sign = "" if low <= mean <= high else "?" if low - 2 * error <= mean <= high + 2 * error else "*"
        number = f"{factor * mean:.1f}+-{factor * error:.1f}" if part.percent else f"{mean:.2g}"
        shown.append(number + sign)
    return [*map(str, cell), str(len(values)), *shown]


def widths(part: Part) -> list[int]:
    """Of the labels, the number of tables and the columns."""
    labels = [max(len(str(entry)) for entry in entries) for entries in zip(part.labels, *part.cells, strict=True)]
    return [width + 2 for width in (*labels, len("tables"), *(max(len(c), 10) for c in part.columns))]


def run(name: str, given: argparse.Namespace, pool: ProcessPoolExecutor) -> None:
    """Simulate a part and print its table."""
    part, (first, step) = PARTS[name], map(int, given.split.split("/"))
    wide = widths(part)

    def line(entries: list[str]) -> str:
        return "".join(f"{entry:>{width}}" for entry, width in zip(entries, wide, strict=True))

    print(f"\n--- {name}\n{line([*part.labels, 'tables', *part.columns])}", flush=True)
    work = {}
    for place in range(first - 1, len(part.cells), step):
        count = max(2, round(given.tables * part.tables(part.cells[place])))
        starts = range(0, count, CHUNK)
        work[place] = [pool.submit(simulate, name, place, given.seed, a, min(a + CHUNK, count)) for a in starts]
    for place, chunks in work.items():
        cell, outcomes = part.cells[place], [outcome for chunk in chunks for outcome in chunk.result()]
        print(line(report(part, cell, outcomes)), flush=True)
        if given.save:
            with Path(given.save).open("a") as file:
                file.write(json.dumps({"part": name, "cell": cell, "outcomes": outcomes}) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.statistics", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="all by default")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tables", type=float, default=1.0, help="share of the usual number of tables")
    parser.add_argument("--split", default="1/1", help="I/N: every N-th cell, beginning with cell I")
    parser.add_argument("--save", help="file to which outcomes are added")
    given = parser.parse_args()
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        for name in given.parts or PARTS:
            try:
                run(name, given, pool)
            except ImportError as error:
                print(f"{name} is left out: {error}", flush=True)


if __name__ == "__main__":
    main()
