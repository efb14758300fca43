"""python -m tests.anomalies.fuzz --count 20000 --seed 1: mutations in processes of their own, and their faults."""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import io
import itertools
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from eckart.spool import Spool

SECONDS, MEMORY = 10, 6 * 2**30
_SHARE = 0.15
"""Of the mutations that also go through a decomposition, and through the command line."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="files whose name contains this")
    parser.add_argument("--keep", default="", help="folder for the files that were read wrongly")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--from", dest="first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        _work(given)
    else:
        if given.keep:
            Path(given.keep).mkdir(parents=True, exist_ok=True)
        found = run(given.count, given.seed, only=given.only, keep=given.keep, jobs=given.jobs)
        tally = sum((Counter(fault["tally"]) for fault in found if "tally" in fault), Counter())
        faults = [fault for fault in found if "fault" in fault]
        for fault in faults:
            print(json.dumps(fault))  # noqa: T201
        kinds = Counter(f"{fault['file']}: {fault['fault'].strip().splitlines()[-1][:100]}" for fault in faults)
        for kind, count in kinds.most_common():
            print(count, kind)  # noqa: T201
        said = ", ".join(f"{number} {what}" for what, number in sorted(tally.items()))
        print(f"{given.count} mutations with seed {given.seed}: {said}; {len(faults)} faults")  # noqa: T201
        sys.exit(bool(faults))


def run(count: int, seed: int, *, only: str = "", keep: str = "", jobs: int = 1) -> list[dict[str, Any]]:
    """The faults of `count` mutations, and tallies; a process that dies is one, and the next goes on after it."""
    edges = [count * job // jobs for job in range(jobs + 1)]
    with Spool() as folder, ThreadPoolExecutor(jobs) as pool:  # also for what a killed process leaves behind
        parts = [
            pool.submit(lambda a, b: list(_faults(a, b, seed, only, keep, str(folder))), first, last)
            for first, last in itertools.pairwise(edges)
        ]
        return [fault for part in parts for fault in part.result()]


def _faults(first: int, last: int, seed: int, only: str, keep: str, folder: str) -> Iterator[dict[str, Any]]:
    while first < last:
        command = [sys.executable, "-m", "tests.anomalies.fuzz", "--worker", "--from", str(first)]
        command += ["--count", str(last), "--seed", str(seed), "--only", only, "--keep", keep]
        place = {**os.environ, "TMPDIR": folder}
        ended = subprocess.run(command, capture_output=True, check=False, cwd=Path(__file__).parents[3], env=place)
        lines = [json.loads(line) for line in ended.stdout.decode().splitlines() if line.startswith('{"')]
        yield from (line for line in lines if "fault" in line or "tally" in line)
        done = lines[-1] if lines else {"index": first, "file": "none"}
        if ended.returncode == 0:
            return
        trace = ended.stderr.decode("utf-8", "replace").partition("Extension modules:")[0][-3000:]
        yield {**done, "fault": f"{trace}\nthe process ended with {ended.returncode}"}
        first = int(done["index"]) + 1


def _work(given: argparse.Namespace) -> None:
    import numpy as np

    from tests.anomalies.fuzz.mutations import mutate
    from tests.anomalies.fuzz.valid_files import FILES
    from tests.anomalies.fuzz.variants import VARIANTS

    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    files = {**FILES, **VARIANTS}
    names = [name for name in files if given.only in name]
    parent = os.getppid()
    tally: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        valid = Path(folder) / "valid"
        valid.mkdir()
        for name in names:
            files[name](valid / name)
        for index in range(given.first, given.count):
            if os.getppid() != parent:  # it was ended, and nobody reads the results
                return
            rng = np.random.default_rng((given.seed, index))
            plain = [name for name in names if name in FILES]
            # Every other one of the plain files, of which there are fewer.
            name = plain[index // 2 % len(plain)] if plain and index % 2 else names[index // 2 % len(names)]
            place = Path(folder) / "now"
            place.mkdir()
            path = place / name
            (shutil.copytree if (valid / name).is_dir() else shutil.copy)(valid / name, path)
            mutate(path, rng, valid)
            _print(index=index, file=name)
            _watch(SECONDS)
            fault, refused = _judged(path, rng)
            _watch(0)
            tally["refused" if refused else "read"] += 1
            if fault:
                _print(index=index, file=name, fault=fault)
                if given.keep:
                    kept = Path(given.keep) / f"{given.seed}-{index}-{name}"
                    (shutil.copytree if path.is_dir() else shutil.copy)(path, kept)
            shutil.rmtree(place)
    _print(tally=tally)


def _watch(seconds: int) -> None:
    """Processor time, and more of the clock's for a machine with other work; the default action ends the process."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 30 * seconds)


def _judged(path: Path, rng: Any) -> tuple[str, bool]:
    """(what is wrong, whether the file is refused)"""
    from tests.anomalies.fuzz.outcomes import decomposed, judge

    fault, refused = judge(path)
    fault = fault or (decomposed(path) if rng.random() < _SHARE else "")
    return fault or (_commanded(path) if rng.random() < _SHARE else ""), refused


def _commanded(path: Path) -> str:
    """The command line: exit 0, 2, or 1 for want of memory, and never a word on the unforeseen."""
    from eckart.cli import main as command

    target = path.parent / ("out.npy" if path.suffix not in (".mtx", ".npz") else "out.npz")
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            command(["convert", str(path), str(target)])
            code: Any = 0
        except SystemExit as stopped:
            code = stopped.code
    words = said.getvalue()
    wrong = "unforeseen" in words or "Traceback" in words or "standard output" in words
    if wrong or code not in (0, 1, 2, None) or (code == 1 and "memory" not in words):
        return f"the command line ended with {code}: {words}"
    return ""


def _print(**line: Any) -> None:
    print(json.dumps(line), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
