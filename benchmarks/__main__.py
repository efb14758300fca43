"""`python -m benchmarks [--only NAME ...] [--quick] [--repeats 5] [--limit 60]`"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.session import THREADS, prepared, run
from benchmarks.startup import measure
from benchmarks.tables import SUMMARY_HEAD, markdown, page, summary_row
from benchmarks.workloads import WORKLOADS

RESULTS = Path(__file__).parent / "results"
START = "start"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Workloads x peers: time, error, memory.")
    parser.add_argument("--only", action="append", choices=[*WORKLOADS, START], help="one workload (may be repeated)")
    parser.add_argument("--quick", action="store_true", help="small data: tries the harness, says nothing about speed")
    parser.add_argument("--repeats", type=int, default=5, help="calls after the first one (default 5)")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one call of a peer (default 60)")
    return parser.parse_args()


def machine(*, quick: bool) -> dict[str, str | int]:
    facts: dict[str, str | int] = {
        "processor": processor(),
        "threads": THREADS,
        "load": f"{os.getloadavg()[0]:.1f}",
        "Python": platform.python_version(),
    }
    for package in ("numpy", "scipy", "scikit-learn", "scikit-learn-intelex", "fbpca", "numba", "eckart"):
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "not installed"
    return facts | ({"sizes": "quick trial, not the real ones"} if quick else {})


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next((line.split(": ", 1)[1] for line in lines if line.startswith("model name")), platform.processor())


def cache_folder(sizes: str) -> Path:
    """Where data and references lie; another one, and the old one gone, when the code that makes them has changed."""
    sources = (Path(__file__).with_name(f"{name}.py").read_bytes() for name in ("data", "reference", "workloads"))
    folder = RESULTS / f"data-{sizes}-{hashlib.sha256(b''.join(sources)).hexdigest()[:8]}"
    for old in set(RESULTS.glob(f"data-{sizes}-*")) - {folder}:
        shutil.rmtree(old)
    return folder


def main() -> None:
    options = arguments()
    wanted = options.only or [*WORKLOADS, START]
    repeats = 2 if options.quick else options.repeats
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    cache = cache_folder("quick" if options.quick else "full")
    measured = []
    print(markdown(SUMMARY_HEAD, []), end="", flush=True)
    for workload in (WORKLOADS[name] for name in wanted if name != START):
        facts = prepared(workload, 20 if options.quick else 1, cache)
        measured.append((workload, run(workload, facts, repeats=repeats, limit=options.limit)))
        print(markdown(summary_row(*measured[-1]), []).splitlines()[0], flush=True)
    starts = measure(repeats) if START in wanted else []
    facts = machine(quick=options.quick)
    text = page(facts, measured, starts)
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{stamp}.md").write_text(text)
    record = {
        "machine": facts,
        "workloads": {w.name: [asdict(r) | {"median": r.median} for r in results] for w, results in measured},
        "start": [asdict(start) for start in starts],
    }
    (RESULTS / f"{stamp}.json").write_text(json.dumps(record, indent=1))
    print(f"\n{text}\nWritten: {RESULTS / stamp}.md and .json")


if __name__ == "__main__":
    main()
