"""python -m tests.anomalies.fuzz --count 20000 --seed 1: mutations in processes of their own, and their faults.

The last line is a summary: which mutations ran, how they ended and how many faults there were. It is also printed after
SIGTERM, Ctrl-C and a time limit (--seconds). The exit code is 1 if there were faults, otherwise 0. --from and --to
select mutations of a seed, so that several machines can share them.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import io
import itertools
import json
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eckart.spool import Spool

SECONDS, WAITING, MEMORY = 10, 900, 6 * 2**30
"""Limits of one file: processor time, time by the clock (for files that make the process wait), memory."""
_FIRST = ("rows.npy", "csr.npz", "lzf.h5")
"""Read before the clock runs: their first decomposition imports modules and compiles loops."""
_SHARE = 0.15
"""Of the mutations that also go through a decomposition, and through the command line."""


def main() -> None:
    given = _arguments().parse_args()
    given.last = given.first + given.count if given.last is None else given.last
    if given.worker:
        _work(given)
        return
    if given.keep:
        Path(given.keep).mkdir(parents=True, exist_ok=True)
    control = Control(given.seconds)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, control.stop)
    found = run(given, show=_show, control=control)
    kinds = Counter(f"{one['file']}: {one['fault'].strip().splitlines()[-1][:100]}" for one in found.faults)
    for kind, count in kinds.most_common():
        _show(f"{count} {kind}")
    _show(found.summary(given))
    sys.exit(bool(found.faults))


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after this time, whatever the count")
    parser.add_argument("--progress", type=float, default=60.0, help="seconds between two lines on the progress")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="files whose name contains this")
    parser.add_argument("--keep", default="", help="folder for the files that were read wrongly")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--from", dest="first", type=int, default=0, help="first mutation, counted from 0")
    parser.add_argument("--to", dest="last", type=int, help="one after the last mutation, instead of --count")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser


def _show(line: str) -> None:
    print(line, flush=True)  # noqa: T201


class Control:
    """Ends a run early: after `seconds` (0 for no limit), or when `stop` is called."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.end = time.monotonic() + seconds if seconds else math.inf
        self.processes: set[subprocess.Popen[bytes]] = set()

    @property
    def stopped(self) -> bool:
        return time.monotonic() >= self.end

    def stop(self, *_: object) -> None:
        self.end = -math.inf
        for process in list(self.processes):
            process.kill()


@dataclass
class Found:
    """Faults, and how many files were read, refused, or ended the process."""

    faults: list[dict[str, Any]] = field(default_factory=list)
    tally: Counter[str] = field(default_factory=Counter)
    skipped: dict[str, str] = field(default_factory=dict)
    """Valid files that could not be written here, and why."""
    ran: set[int] = field(default_factory=set)

    def counts(self) -> str:
        ended = ", ".join(f"{number:,} {what}" for what, number in sorted(self.tally.items()))
        return f"{len(self.ran):,} ran ({ended}), {len(self.faults)} faults"

    def summary(self, given: argparse.Namespace) -> str:
        left_out = f"; {len(self.skipped)} kinds of files skipped" if self.skipped else ""
        wanted = given.last - given.first
        early = (
            f"; stopped early, {wanted - len(self.ran):,} of {wanted:,} did not run" if len(self.ran) < wanted else ""
        )
        return f"seed {given.seed}, mutations {_ranges(self.ran)}: {self.counts()}{left_out}{early}"


def _ranges(numbers: set[int]) -> str:
    """0-99, 200-249."""
    edges = sorted([n for n in numbers if n - 1 not in numbers] + [n for n in numbers if n + 1 not in numbers])
    return ", ".join(f"{first}-{last}" for first, last in zip(edges[::2], edges[1::2], strict=True)) or "none"


def run(
    given: argparse.Namespace, *, show: Callable[[str], None] = lambda _: None, control: Control | None = None
) -> Found:
    """Mutations in `given.jobs` processes; one that dies is a fault, and the next continues after it."""
    count = given.last - given.first
    edges = [given.first + count * job // given.jobs for job in range(given.jobs + 1)]
    control = Control(given.seconds) if control is None else control
    found, told = Found(), time.monotonic()
    with Spool() as folder, ThreadPoolExecutor(given.jobs) as pool:  # also for what a killed process leaves behind

        def part(first: int, last: int) -> None:
            nonlocal told
            for line in _lines(first, last, control, given, str(folder)):
                if "skipped" in line and line["skipped"] not in found.skipped:
                    found.skipped[line["skipped"]] = line["why"]
                    show(json.dumps(line))
                if "fault" in line:
                    found.faults.append(line)
                    show(json.dumps(line))
                if "ended" in line:
                    found.tally[line["ended"]] += 1
                    found.ran.add(line["index"])
                if time.monotonic() - told > given.progress:
                    told = time.monotonic()
                    show(f"seed {given.seed}: {found.counts()} of {count:,}")

        for done in [pool.submit(part, first, last) for first, last in itertools.pairwise(edges)]:
            done.result()
    return found


def _lines(first: int, last: int, control: Control, given: argparse.Namespace, folder: str) -> Iterator[dict[str, Any]]:
    """What the processes print about the mutations from `first` to `last`."""
    # One thread in each process: the limit is processor time, and memory is counted by addresses.
    # Each arena of malloc reserves addresses, too, and there are eight for each core.
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    place = {**os.environ, **threads, "MALLOC_ARENA_MAX": "2", "TMPDIR": folder}
    while first < last and not control.stopped:
        command = [sys.executable, "-m", "tests.anomalies.fuzz", "--worker", "--from", str(first), "--to", str(last)]
        command += ["--seed", str(given.seed), "--only", given.only, "--keep", given.keep]
        if control.end < math.inf:
            command += ["--seconds", str(max(control.end - time.monotonic(), 1e-3))]
        done: dict[str, Any] = {"index": first, "file": "none"}
        with (
            tempfile.TemporaryFile() as errors,
            subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, cwd=Path(__file__).parents[3], env=place,
                start_new_session=True,  # Ctrl-C reaches only this process, which ends the others
            ) as process,
        ):  # fmt: skip
            control.processes.add(process)
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith(b'{"'):
                    told = json.loads(line)
                    done = told if "index" in told else done
                    yield told
            code = process.wait()
            control.processes.discard(process)
            if code == 0 or control.end < 0:
                return
            errors.seek(0)
            trace = errors.read().decode("utf-8", "replace").partition("Extension modules:")[0][-3000:]
        yield {**done, "ended": "died", "fault": f"{trace}\nthe process ended with {code}"}
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
    end = time.monotonic() + given.seconds if given.seconds else math.inf
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        valid = Path(folder) / "valid"
        valid.mkdir()
        names = [name for name in names if _written(files[name], valid / name)]
        for name in set(names) & set(_FIRST):
            _judged(valid / name, share=1.0)
        for index in range(given.first, given.last):
            if os.getppid() != parent:  # it was ended, and nobody reads the results
                return
            if time.monotonic() >= end:
                break
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
            _watch(SECONDS, WAITING)
            fault, refused = _judged(path, rng)
            _watch(0, 0)
            ended = {"ended": "refused" if refused else "read", **({"fault": fault} if fault else {})}
            _print(index=index, file=name, **ended)
            if fault and given.keep:
                kept = Path(given.keep) / f"{given.seed}-{index}-{name}"
                (shutil.copytree if path.is_dir() else shutil.copy)(path, kept)
            shutil.rmtree(place)


def _written(write: Callable[[Path], Any], path: Path) -> bool:
    """Whether a valid file could be written: a library or one of its codecs may be missing."""
    try:
        write(path)
    except Exception as error:  # noqa: BLE001 - whatever a library raises without a codec
        _print(skipped=path.name, why=f"{type(error).__name__}: {error}")
        return False
    return True


def _watch(seconds: int, waiting: int) -> None:
    """The default action of both signals ends the process."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, waiting)


def _judged(path: Path, rng: Any = None, share: float = _SHARE) -> tuple[str, bool]:
    """(what is wrong, whether the file is refused)"""
    from tests.anomalies.fuzz.outcomes import decomposed, judge

    draw = rng.random if rng is not None else float
    fault, refused = judge(path)
    fault = fault or (decomposed(path) if draw() < share else "")
    return fault or (_commanded(path) if draw() < share else ""), refused


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
