"""One case after the other: two processes, ours and the peers', asked in turn; medians of interleaved rounds."""

from __future__ import annotations

import contextlib
import json
import os
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO, Any, cast

from benchmarks.cases import Case
from benchmarks.peers import DEFAULT, OURS, Peer, peers

PAUSE = 0.1
"""Seconds before each call: idle threads of OpenBLAS spin for 2^26 cycles (20 to 35 ms) after a call, on the cores that
the next one needs, whichever library makes it."""
LEAST = 0.03
"""Seconds that short calls are repeated for in a round."""
EQUAL = 1e-6
"""Share of the attainable that a peer of equal error may lack."""
LOST = 0.01
"""Share of the attainable that scikit-learn's default may lack before its best of equal error takes its place."""


@dataclass
class Timing:
    """What one peer did with one case."""

    peer: str
    seconds: list[float] = field(default_factory=list)
    quality: float | None = None
    note: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) if self.seconds else float("nan")


@dataclass
class Row:
    """A row of the ratio map."""

    case: Case
    timings: list[Timing]
    note: str = ""

    def of(self, peer: str) -> Timing | None:
        return next((timing for timing in self.timings if timing.peer == peer and timing.seconds), None)

    def lost(self, timing: Timing) -> float:
        """Share of the attainable (the best that any peer found) that is missing."""
        found = [other.quality for other in self.timings if other.quality is not None]
        if timing.quality is None or not found or max(found) == 0.0:
            return 0.0
        return (max(found) - timing.quality) / abs(max(found))

    @property
    def best_equal(self) -> Timing | None:
        """The fastest other library or solver that lost no more than ours (or next to nothing)."""
        ours = self.of(OURS)
        least = max(EQUAL, self.lost(ours)) if ours else EQUAL
        equal = [t for t in self.timings if t.peer != OURS and t.seconds and self.lost(t) <= least]
        return min(equal, key=lambda timing: timing.median, default=None)

    @property
    def opponent(self) -> Timing | None:
        """scikit-learn's default; its best of equal error where the default lost more than `LOST`."""
        default = self.of(DEFAULT)
        if default is None or self.case.estimator == "NMF" or self.lost(default) <= LOST:
            return default
        least = max(EQUAL, self.lost(ours)) if (ours := self.of(OURS)) else EQUAL
        equal = [t for t in self.timings if t.peer.startswith(DEFAULT) and t.seconds and self.lost(t) <= least]
        return min(equal, key=lambda timing: timing.median, default=None)

    @property
    def ratio(self) -> float:
        ours, theirs = self.of(OURS), self.opponent
        return theirs.median / ours.median if ours and theirs else float("nan")


class Process:
    """A worker; started again after it was stopped."""

    def __init__(self, families: str, cores: Sequence[int] = ()) -> None:
        self.command = [sys.executable, "-m", "benchmarks.worker", families]
        self.cores = set(cores)
        self.running: subprocess.Popen[bytes] | None = None

    def ask(self, request: dict[str, Any], limit: float) -> dict[str, Any]:
        if self.running is None:
            environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
            self.running = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
            )
            if self.cores:  # before it loads a library that counts its cores
                os.sched_setaffinity(self.running.pid, self.cores)
        questions, answers = cast("IO[bytes]", self.running.stdin), cast("IO[bytes]", self.running.stdout)
        with contextlib.suppress(BrokenPipeError):
            questions.write(json.dumps(request).encode() + b"\n")
            questions.flush()
        ready, _, _ = select.select([answers], [], [], limit)
        line = answers.readline() if ready else b""
        if line:
            found: dict[str, Any] = json.loads(line)
            return found
        self.stop()
        return {"failure": "its process died" if ready else f"stopped after {limit:.0f} s", "stopped": True}

    def stop(self) -> None:
        if self.running is not None:
            self.running.kill()
            self.running.communicate()
            self.running = None


class Session:
    """The two processes, and the rules of timing."""

    def __init__(
        self, families: str, *, repeats: int, limit: float, clock: str = "wall", cores: Sequence[int] = ()
    ) -> None:
        self.processes = {True: Process(families, cores), False: Process(families, cores)}
        self.repeats, self.limit, self.clock = repeats, limit, clock

    def measure(self, number: int, case: Case) -> Row:
        known = peers(case)
        if case.call == "to_loss":
            return self._measure_to_loss(number, case)
        timings = {peer.name: Timing(peer.name) for peer in known}
        ready = dict.fromkeys(self.processes, False)
        for peer in known:
            self._first(number, peer, timings[peer.name], ready)
        live = [peer for peer in known if not timings[peer.name].note]
        for turn in range(self.repeats):
            for peer in live:
                timing = timings[peer.name]
                # Long calls are repeated less often; peers other than the default least.
                spent = sum(timing.seconds)
                if turn >= 3 and spent > (10.0 if peer.name in (OURS, DEFAULT) else 2.0):
                    continue
                time.sleep(PAUSE)
                answer = self.processes[peer.name == OURS].ask(
                    {"peer": peer.name, "least": LEAST, "clock": self.clock}, self.limit
                )
                if "seconds" in answer:
                    timing.seconds.append(answer["seconds"])
        return Row(case, list(timings.values()))

    def _first(self, number: int, peer: Peer, timing: Timing, ready: dict[bool, bool]) -> None:
        ours = peer.name == OURS
        process = self.processes[ours]
        if not ready[ours] or process.running is None:
            process.ask({"case": number}, 10 * self.limit)
            ready[ours] = True
        answer = process.ask({"peer": peer.name, "least": 0.0}, 4 * self.limit if ours else self.limit)
        timing.quality, timing.note = answer.get("quality"), answer.get("failure", "")
        if answer.get("stopped"):
            ready[ours] = False
            process.ask({"case": number}, 10 * self.limit)

    def _measure_to_loss(self, number: int, case: Case) -> Row:
        for process in self.processes.values():
            process.ask({"case": number}, 10 * self.limit)
        theirs = self.processes[False].ask({"peer": DEFAULT}, 4 * self.limit)
        if "seconds" not in theirs:
            return Row(case, [Timing(DEFAULT, note=theirs.get("failure", ""))])
        target = {"peer": OURS, "loss": -theirs["quality"], "within": theirs["seconds"]}
        ours = self.processes[True].ask(target, 20 * self.limit)
        note = "loss not reached" if ours.get("missed") else ours.get("failure", "")
        if ours.get("at_equal_time"):
            note += f" loss at equal time {ours['at_equal_time'] / theirs['quality']:.4f} of scikit-learn's"
        timings = [
            Timing(DEFAULT, [theirs["seconds"]], theirs["quality"]),
            Timing(OURS, [ours["seconds"]] if "seconds" in ours else [], ours.get("quality"), ours.get("failure", "")),
        ]
        return Row(case, timings, note.strip())

    def close(self) -> None:
        for process in self.processes.values():
            process.stop()
