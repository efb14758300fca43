"""`python -m benchmarks [--quick] [--only TEXT ...] [--families test|tuning] [--clock processor] [--limit 60]`

`--pairs 8 --minutes 9` measures eight rows at a time, on two cores each, large ones first, and starts no row after nine
minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from queue import Empty, SimpleQueue

from benchmarks import first_call
from benchmarks.cases import Case, cases
from benchmarks.ratio_map import HEAD, first_calls, line, summary
from benchmarks.session import Row, Session

RESULTS = Path(__file__).parent / "results"
FIRST = "first"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", action="append", help=f"rows whose name contains this, or '{FIRST}' for first calls")
    parser.add_argument("--quick", action="store_true", help="tiny and small sizes, three rounds")
    parser.add_argument("--families", choices=["test", "tuning"], default="test")
    parser.add_argument("--clock", choices=["wall", "processor"], default="wall", help="processor: for busy machines")
    parser.add_argument("--repeats", type=int, default=7, help="interleaved rounds (default 7)")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one call (default 60)")
    parser.add_argument("--pairs", type=int, default=0, help="rows measured at a time, on two cores each")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start no row later than this")
    parser.add_argument("--without", action="append", default=[], help=f"leave out such rows, or '{FIRST}'")
    return parser.parse_args()


def machine() -> dict[str, str]:
    """What the figures depend on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    processor = next((line.split(": ", 1)[1] for line in lines if line.startswith("model name")), platform.processor())
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    facts = {"processor": processor, "cores": str(cores), "load": f"{os.getloadavg()[0]:.1f}"}
    for package in ("numpy", "scipy", "scikit-learn", "scikit-learn-intelex", "primme", "numba", "eckart"):
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "not installed"
    return facts


def wanted(case: Case, options: argparse.Namespace) -> bool:
    if options.quick and case.size not in ("tiny", "small"):
        return False
    if any(text.lower() in case.name.lower() for text in options.without):
        return False
    return not options.only or any(text.lower() in case.name.lower() for text in options.only)


def measured(options: argparse.Namespace) -> list[Row]:
    """The rows, one at a time, or several on two cores each."""
    chosen = [(number, case) for number, case in enumerate(cases()) if wanted(case, options)]
    cores = sorted(os.sched_getaffinity(0)) if options.pairs else []
    pairs = [tuple(cores[2 * i : 2 * i + 2]) for i in range(options.pairs)] or [()]
    waiting: SimpleQueue[tuple[int, Case]] = SimpleQueue()
    for job in reversed(chosen) if options.pairs else chosen:
        waiting.put(job)
    end, found = time.monotonic() + 60.0 * options.minutes, dict[int, Row]()

    def work(pair: tuple[int, ...]) -> None:
        repeats = 3 if options.quick else options.repeats
        session = Session(options.families, repeats=repeats, limit=options.limit, clock=options.clock, cores=pair)
        try:
            while time.monotonic() < end:
                number, case = waiting.get_nowait()
                found[number] = session.measure(number, case)
                print(line(found[number]), flush=True)
        except Empty:
            return
        finally:
            session.close()

    with ThreadPoolExecutor(len(pairs)) as pool:
        list(pool.map(work, pairs))
    if not waiting.empty():
        print(f"\nNot started: {waiting.qsize()} rows")
    return [found[number] for number in sorted(found)]


def main() -> None:
    options = arguments()
    facts = {**machine(), "families": options.families, "clock": options.clock}
    print(", ".join(f"{name} {value}" for name, value in facts.items()), flush=True)
    print(HEAD, flush=True)
    rows = measured(options)
    print("\n" + summary(rows))
    first = FIRST in options.only if options.only else FIRST not in options.without
    calls = first_call.measure(quick=options.quick) if first else []
    if calls:
        print("\n" + first_calls(calls))
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{datetime.now(UTC).strftime('%Y%m%d-%H%M%S')}.json"
    record = {"machine": facts, "rows": [asdict(row) | {"name": row.case.name, "ratio": row.ratio} for row in rows]}
    path.write_text(json.dumps(record | {"first": [asdict(call) for call in calls]}, indent=1))
    print(f"\nWritten: {path}")


if __name__ == "__main__":
    main()
