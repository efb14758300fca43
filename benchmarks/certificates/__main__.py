"""`python -m benchmarks.certificates [--tables N] [--seed S] [--jobs J] [--seconds T]`: search for a false certificate.

Every table is decomposed with options drawn from its seed, and every statement of its certificate is compared with a
reference. A table per family, per method and per statement is printed, then one line with all counts, also when the
time is up or the process is interrupted or terminated; the exit status is 1 if anything was false. Each case that is
false, crashes, takes longer than --limit, or is not proved without a warning is printed, and written to --out, as one
line that `--replay LINE` repeats.

    python -m benchmarks.certificates --tables 5000 --jobs 2        # a sweep
    python -m benchmarks.certificates --only R1 --only R4           # cases that were once false
    python -m benchmarks.certificates --only "huge offset"          # one family
    python -m benchmarks.certificates --replay '{"family": ...}'    # one case again
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # inherited by the workers, one core each

from benchmarks.certificates import planted  # noqa: E402
from benchmarks.certificates.breaks import BREAKS  # noqa: E402
from benchmarks.certificates.checks import Outcome, judge_within  # noqa: E402
from benchmarks.certificates.families import FAMILIES  # noqa: E402
from benchmarks.certificates.options import Options, draw, parse  # noqa: E402

_PLANTED_EVERY = 50
"""A planted table costs as much as a dozen others: one in so many is drawn."""

_SEEDS = 10_000_000
"""Tables of one --seed; those of another are all different."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.certificates", description="Search for false bounds.")
    parser.add_argument("--tables", type=int, default=2000, help="number of tables (default 2000)")
    parser.add_argument("--seed", type=int, default=0, help="other seeds give other tables")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2), help="processes")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds for one table (default 900)")
    parser.add_argument("--only", action="append", default=[], help="a family or a named case (may be repeated)")
    parser.add_argument("--replay", action="append", default=[], metavar="LINE", help="repeat a case (may be repeated)")
    parser.add_argument("--out", type=Path, help="append false cases to this file, one JSON line each")
    return parser.parse_args()


def cases(tables: int, seed: int, only: Iterable[str]) -> Iterator[Options]:
    """Named cases first, then families in turn, each table with a seed of its own."""
    names = list(only)
    for name in names:
        yield from BREAKS.get(name, ())
    families = [name for name in [*FAMILIES, *planted.PLANTED] if not names or name in names]
    if not families:
        return
    first = seed * _SEEDS
    common = [name for name in families if name not in planted.PLANTED]
    rare = [name for name in families if name in planted.PLANTED]
    for i in range(tables):
        if rare and (not common or i % _PLANTED_EVERY == 0):
            yield planted.draw(rare[i // _PLANTED_EVERY % len(rare)], first + i)
        else:
            yield draw(common[i % len(common)], first + i)


def run(asked: Iterable[Options], jobs: int, seconds: float, limit: float) -> Iterator[Outcome]:
    """Outcomes in any order, until all tables are checked, the time is up, or the process is interrupted."""
    end = time.monotonic() + seconds
    check = partial(judge_within, limit=limit)
    try:
        if jobs <= 1:
            for options in asked:
                yield check(options)
                if time.monotonic() > end:
                    return
            return
        with multiprocessing.get_context("spawn").Pool(jobs) as pool:
            found = pool.imap_unordered(check, asked)
            while True:
                yield found.next(None if seconds == float("inf") else max(end - time.monotonic(), 0.0))
    except (StopIteration, multiprocessing.TimeoutError, KeyboardInterrupt):
        return


class Tally:
    """Counts of a family, a method or a statement."""

    def __init__(self) -> None:
        self.tables = self.false = self.crashed = self.unproved = self.silent = self.refused = 0
        self.worst = 0.0
        self.widths: list[float] = []

    def add(self, outcome: Outcome) -> None:
        self.tables += 1
        self.refused += bool(outcome.refused)
        self.false += bool(outcome.false or outcome.crash)
        self.crashed += bool(outcome.crash)
        self.unproved += not outcome.proved
        self.silent += outcome.silent
        self.worst = max(self.worst, outcome.worst)
        if not outcome.refused and not outcome.crash:
            self.widths.append(outcome.width)

    def __str__(self) -> str:
        width = float(np.median(self.widths)) if self.widths else 0.0
        return (
            f"{self.tables:>7} {self.false:>7} {self.unproved:>9} {self.silent:>7} {self.refused:>8} "
            f"{max(self.worst, 0.0):>9.1e} {width:>9.1e}"
        )


HEAD = f"{'tables':>7} {'false':>7} {'unproved':>9} {'silent':>7} {'refused':>8} {'worst':>9} {'width':>9}"


def report(by_family: dict[str, Tally], by_method: dict[str, Tally], statements: dict[str, list[float]]) -> None:
    for title, tallies in (("family", by_family), ("method", by_method)):
        print(f"\n{title:<30}{HEAD}")
        for name, tally in sorted(tallies.items()):
            print(f"{name:<30}{tally}")
    print(
        "\nworst: largest excess over a bound, in units of the largest singular value; width: median of upper - lower;"
    )
    print("silent: not proved, and no warning;")
    print("refused: MemoryBudgetError, overflow, no standard deviation, neighbours that tie, or too few passes.")
    for name, sizes in sorted(statements.items(), key=lambda item: -len(item[1])):
        print(f"false: {name:<30} {len(sizes):>7} times, worst {max(sizes):.1e}, median {float(np.median(sizes)):.1e}")


def main() -> int:
    given = arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # stop as Ctrl-C does, with the counts so far
    replayed = [parse(line) for line in given.replay]
    asked = iter(replayed) if replayed else cases(given.tables, given.seed, given.only)
    by_family: dict[str, Tally] = defaultdict(Tally)
    by_method: dict[str, Tally] = defaultdict(Tally)
    statements: dict[str, list[float]] = defaultdict(list)
    verbose = bool(replayed or set(given.only) & set(BREAKS))
    total, started = Tally(), time.monotonic()
    for outcome in run(asked, 1 if replayed else given.jobs, given.seconds, given.limit):
        for tally in (
            total,
            by_family[outcome.options.family],
            by_method[f"{outcome.options.method}, {outcome.options.solver}"],
        ):
            tally.add(outcome)
        for name, size in outcome.false.items():
            statements[name].append(float(np.nan_to_num(size, nan=np.inf)))
        bad = bool(outcome.false or outcome.crash or outcome.silent)
        if bad or verbose:
            print("FALSE" if bad else "true ", outcome, flush=True)
        if bad and given.out:
            with given.out.open("a") as file:
                print(outcome.options.line, file=file)
    report(by_family, by_method, statements)
    print(
        f"\n{total.tables} tables in {time.monotonic() - started:.0f} s (seed {given.seed}): "
        f"{total.false - total.crashed} false, {total.crashed} crashed, {total.silent} not proved without a warning, "
        f"{total.unproved} not proved, {total.refused} refused"
    )
    return 1 if total.false or total.silent else 0


if __name__ == "__main__":
    sys.exit(main())
