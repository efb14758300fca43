"""All peers of one workload: started side by side, called in turn, one at a time."""

from __future__ import annotations

import contextlib
import json
import os
import select
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from benchmarks.peers import BARE, PEERS
from benchmarks.workloads import Workload

THREADS = 2
PAUSE = 0.25
"""Seconds before each call: idle threads of the peer before spin on for a while."""
LOADING = 120.0
ENVIRONMENT = {
    **os.environ,
    **{
        f"{library}_NUM_THREADS": str(THREADS)
        for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "BLIS", "TBB", "VECLIB", "NUMEXPR")
    },
    "PYTHONWARNINGS": "ignore",
}


@dataclass
class Result:
    """What one peer did with one workload."""

    peer: str
    first: float | None = None
    """Seconds of the first call in a fresh process."""
    seconds: list[float] = field(default_factory=list)
    """Seconds of the calls after it."""
    error: float | None = None
    peak: int = 0
    """Bytes above what the process held before the first call."""
    note: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) if self.seconds else (self.first or float("inf"))


class Worker:
    """A peer's process, its result, and whether it is still worth calling."""

    def __init__(self, peer: str, method: str, workload: Workload, path: str) -> None:
        command = [sys.executable, "-m", "benchmarks.worker", peer, method, str(workload.k), path]
        self.result = Result(peer)
        self.process = subprocess.Popen(
            command, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.questions, self.answers = cast("IO[bytes]", self.process.stdin), cast("IO[bytes]", self.process.stdout)
        self.alive = True

    def call(self, limit: float) -> dict[str, Any] | None:
        """One answer, or None when the limit passed or the process died; then it is called no more."""
        time.sleep(PAUSE)
        with contextlib.suppress(BrokenPipeError):
            self.questions.write(b"run\n")
            self.questions.flush()
        return self.answer(limit)

    def answer(self, limit: float) -> dict[str, Any] | None:
        ready, _, _ = select.select([self.answers], [], [], limit)
        line = self.answers.readline() if ready else None
        if line:
            return json.loads(line)
        self.result.note = f"stopped after {limit:.0f} s" if line is None else "its process died"
        self.stop()
        return None

    def stop(self) -> None:
        if not self.alive:
            return
        self.alive = False
        self.process.kill()
        self.process.communicate()


def run(workload: Workload, facts: dict[str, Any], *, repeats: int, limit: float) -> list[Result]:
    """Every peer that applies: a first call each, then the repeats in turn."""
    right = np.array(facts["reference"])
    share = isinstance(workload.k, float)
    method, sparse = workload.method, facts["sparse"]
    chosen: list[tuple[str, str]] = [
        (peer.name, method) for peer in PEERS if peer.applies(method, sparse=sparse, share=share)
    ]
    if workload.bare:
        chosen.append((BARE, "bare"))
    workers = [Worker(*pair, workload, facts["path"]) for pair in chosen if pair[0] not in workload.skip]
    try:
        loaded = [worker for worker in workers if worker.answer(LOADING)]
        for worker in loaded:
            first_call(worker, workload, right, limit)
        for _ in range(repeats):
            for worker in loaded:
                if worker.alive and sum(worker.result.seconds) < limit:
                    answer = worker.call(limit)
                    if answer is not None and "seconds" in answer:
                        worker.result.seconds.append(answer["seconds"])
    finally:
        for worker in workers:
            worker.stop()
    return [worker.result for worker in workers] + [Result(peer, note=why) for peer, why in workload.skip.items()]


def first_call(worker: Worker, workload: Workload, right: np.ndarray, limit: float) -> None:
    answer = worker.call(limit)
    if answer is None:
        return
    result = worker.result
    result.peak = answer["peak"]
    if "failure" in answer:
        result.note = answer["failure"]
        worker.stop()
        return
    result.first = answer["seconds"]
    if result.peer != BARE:
        result.error, result.note = error(np.array(answer["values"]), right, workload)


def error(values: np.ndarray, right: np.ndarray, workload: Workload) -> tuple[float, str]:
    """Largest relative error, and a word when the number of axes is not the right one."""
    power = 2 if workload.measure == "variances" else 1
    length = min(len(values), len(right))
    with np.errstate(all="ignore"):
        relative = float(np.max(np.abs((values[:length] / right[:length]) ** power - 1.0)))
    note = "" if len(values) == len(right) else f"k={len(values)}, right is {len(right)}"
    return (relative if np.isfinite(relative) else float("inf")), note


def prepared(workload: Workload, shrink: int, folder: Path) -> dict[str, Any]:
    """Facts about the data and the reference; made in a process of its own when not there yet."""
    facts = folder / f"{workload.name}.json"
    if not facts.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "benchmarks.prepare", workload.name, str(shrink), str(folder)]
        subprocess.run(command, check=True, env=ENVIRONMENT)
    return json.loads(facts.read_text())
