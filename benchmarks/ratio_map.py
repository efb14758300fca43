"""What is printed: the ratio map, its geometric mean, and every row below 1."""

from __future__ import annotations

import math

from benchmarks.first_call import FirstCall
from benchmarks.peers import DEFAULT, OURS
from benchmarks.session import Row

COLUMNS = ("call", "Eckart (ms)", "scikit-learn (ms)", "ratio", "best of equal error", "its ratio", "note")
HEAD = "| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|"


def line(row: Row) -> str:
    """One row as Markdown."""
    ours, theirs, best = row.of(OURS), row.opponent, row.best_equal
    cells = [row.case.name, _ms(ours), _ms(theirs), _ratio(row.ratio)]
    if best is None or ours is None or best is theirs:
        cells += ["", ""]
    else:
        cells += [best.peer, _ratio(best.median / ours.median)]
    return "| " + " | ".join([*cells, _note(row)]) + " |"


def _note(row: Row) -> str:
    notes = [row.note] if row.note else []
    default, ours = row.of(DEFAULT), row.of(OURS)
    if default is not None and row.opponent is not default:
        lost = f"default loses {row.lost(default):.1%} of the attainable"
        notes.append(f"{lost}; compared with {row.opponent.peer if row.opponent else 'nothing'}")
    if ours is not None and row.lost(ours) > 1e-3:
        notes.append(f"ours loses {row.lost(ours):.2%}")
    elif row.case.estimator == "NMF" and default is not None and row.lost(default) > 1e-3 and not row.note:
        notes.append(f"loss of scikit-learn higher by {row.lost(default):.2%}")
    notes += [f"{t.peer}: {t.note}" for t in row.timings if t.note and t.peer in (OURS, DEFAULT)]
    return "; ".join(notes)


def summary(rows: list[Row]) -> str:
    """Geometric means by estimator and size, and every row below 1."""
    known = [row for row in rows if math.isfinite(row.ratio)]
    if not known:
        return "Nothing was measured."
    lines = [f"Geometric mean of {len(known)} rows: {_mean(known):.2f}", ""]
    for what in ("estimator", "size"):
        names = dict.fromkeys(getattr(row.case, what) for row in known)
        means = (f"{name} {_mean([row for row in known if getattr(row.case, what) == name]):.2f}" for name in names)
        lines.append(f"By {what}: {', '.join(means)}")
    below = sorted((row for row in known if row.ratio < 1.0), key=lambda row: row.ratio)
    lines += [
        "",
        f"Rows below 1: {len(below)} (a star: below the aim, 0.8 where scikit-learn takes under 1 ms, else 1)",
    ]
    for row in below:
        theirs = row.opponent
        assert theirs is not None
        aim = 0.8 if theirs.median < 1e-3 else 1.0
        lines.append(f"  {'*' if row.ratio < aim else ' '} {row.ratio:.2f}  {row.case.name}")
    return "\n".join(lines)


def first_calls(found: list[FirstCall]) -> str:
    """First calls over warm ones, as Markdown."""
    lines = ["| first call, empty compile cache | over the warm call (s) | aim |", "|---|---|---|"]
    lines += [f"| {call.name} | {call.seconds:.2f} | {call.aim:g} |" for call in found]
    return "\n".join(lines)


def _mean(rows: list[Row]) -> float:
    return math.exp(sum(math.log(row.ratio) for row in rows) / len(rows))


def _ms(timing: object) -> str:
    median = getattr(timing, "median", float("nan"))
    return f"{1000 * median:.3g}" if math.isfinite(median) else ""


def _ratio(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else ""
