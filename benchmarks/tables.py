"""What is printed: one line per workload against the best equal peer, then every peer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.peers import BARE, OURS
from benchmarks.session import Result
from benchmarks.startup import Start
from benchmarks.workloads import Workload


def best_equal(results: list[Result], workload: Workload) -> Result | None:
    """The fastest peer whose error is no worse than ours, or within the tolerance of the row."""
    ours = find(results, OURS)
    bound = max(workload.tolerance, ours.error or 0.0) if ours else workload.tolerance
    equal = [r for r in results if r.peer not in (OURS, BARE) and r.error is not None and r.error <= bound]
    return min(equal, key=lambda result: result.median, default=None)


def find(results: list[Result], peer: str) -> Result | None:
    return next((result for result in results if result.peer == peer), None)


def verdict(results: list[Result], workload: Workload) -> str:
    """Whether the target of the row was reached: accuracy, speed-up, distance from the bare product."""
    ours, peer, bare = find(results, OURS), best_equal(results, workload), find(results, BARE)
    if ours is None or ours.error is None:
        return "failed"
    short = []
    if ours.error > workload.tolerance:
        short.append("error")
    if workload.speedup and peer and peer.median < workload.speedup * ours.median:
        short.append("speed")
    if bare and ours.median > 1.15 * bare.median + 0.010:
        short.append(f"{ours.median / bare.median:.2f} x bare Gram")
    if ours.note:
        short.append(ours.note)
    return "short: " + ", ".join(short) if short else "reached"


def summary_row(workload: Workload, results: list[Result]) -> list[str]:
    ours, peer = find(results, OURS) or Result(OURS), best_equal(results, workload)
    against = ["none of equal error", "", "", "", ""]
    if peer is not None:
        ratio = f"{peer.median / ours.median:.2f}" if ours.error is not None else ""
        against = [peer.peer, seconds(peer.median), small(peer.error), megabytes(peer.peak), ratio]
    own = [seconds(ours.median), small(ours.error), megabytes(ours.peak)]
    return [workload.title, *own, *against, workload.target, verdict(results, workload)]


SUMMARY_HEAD = [
    "work",
    "eckart s",
    "error",
    "peak",
    "best equal peer",
    "s",
    "error",
    "peak",
    "ratio",
    "to reach",
    "verdict",
]


def detail_rows(workload: Workload, results: list[Result]) -> Iterable[list[str]]:
    for r in sorted(results, key=lambda result: result.median):
        first = "" if r.first is None else seconds(r.first)
        yield [
            workload.title,
            r.peer,
            seconds(r.median),
            first,
            small(r.error),
            megabytes(r.peak) if r.first else "",
            r.note,
        ]


DETAIL_HEAD = ["work", "peer", "s", "first call s", "error", "peak", "remark"]


LEGEND = """\
Medians of interleaved calls after the first; peak is memory above the data; ratio is the peer's time over ours; the
best equal peer is the fastest one whose error is no worse than ours or within the row's tolerance.
"""


def markdown(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in line) + " |" for line in lines) + "\n"


def page(machine: dict[str, Any], measured: list[tuple[Workload, list[Result]]], starts: list[Start]) -> str:
    parts = ["# Benchmarks\n", ", ".join(f"{key}: {value}" for key, value in machine.items()) + ".\n"]
    if measured:
        parts += [
            LEGEND,
            markdown(SUMMARY_HEAD, (summary_row(*pair) for pair in measured)),
            "## Every peer\n",
            markdown(DETAIL_HEAD, (row for pair in measured for row in detail_rows(*pair))),
        ]
    if starts:
        rows = ([start.what, seconds(start.seconds), start.note] for start in starts)
        parts += ["## Start\n", markdown(["what", "s", "remark"], rows)]
    return "\n".join(parts)


def seconds(value: float) -> str:
    return "" if value == float("inf") else f"{value:.3g}"


def small(value: float | None) -> str:
    return "" if value is None else f"{value:.1e}"


def megabytes(value: int) -> str:
    return f"{value / 1e6:.0f} MB"
