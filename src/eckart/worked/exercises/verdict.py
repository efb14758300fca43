"""Whether an answer is right: its parts are assigned to the targets in the best way, compared, and summarised."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Context, localcontext

from eckart.errors import InputError
from eckart.worked.exercises.answers import Reading, readings, refusal
from eckart.worked.exercises.arithmetic import DIGITS, Entry, Grid
from eckart.worked.exercises.assignment import Assignment, Piece, assign
from eckart.worked.exercises.compare import ALMOST, ORDER, PARTIAL, RIGHT, WRONG, Part, Verdict, count, matrix, number
from eckart.worked.exercises.compare_columns import are_inverse, axes, common, directions, frame, inverse, scores
from eckart.worked.exercises.compare_lists import chosen, edges, numbers, ordered, probabilities
from eckart.worked.exercises.evidence import evident, is_weak
from eckart.worked.exercises.knowledge import Knowledge
from eckart.worked.exercises.mispaired import is_mispaired
from eckart.worked.exercises.rows import Row
from eckart.worked.exercises.surplus import contradiction
from eckart.worked.exercises.targets import Target
from eckart.worked.messages import tr

__all__ = ["Verdict", "judge"]
_MOST_ATOMS = 24
_COMPARE: dict[str, Callable[[Part, Target], Verdict]] = {
    "number": number, "count": count, "numbers": numbers, "list": ordered, "probabilities": probabilities,
    "set": chosen, "edges": edges, "matrix": matrix, "directions": directions, "axes": axes, "inverse": inverse,
    "frame": frame, "scores": scores,
}  # fmt: skip


def compare(part: Part, target: Target) -> Verdict:
    """Compare one part with the expected value, or with one of the equally right alternatives."""
    others = [other if isinstance(other, Target) else replace(target, value=other) for other in target.also]
    with localcontext(Context(prec=DIGITS)):
        found = [_COMPARE[one.form](part, one) for one in (target, *others)]
    plain = tr("This is not the right number.")  # an alternative that explains the error says more
    return min(found, key=lambda one: (ORDER.index(one.status), one.misfits, -one.hits, one.message == plain))


def judge(answer: str, targets: Sequence[Target], known: Knowledge | None = None) -> Verdict:
    """The verdict on an answer, by its most favourable reading."""
    verdicts: list[Verdict] = []
    whole: list[Verdict] = []
    """Those of readings that leave nothing out; an answer is not merely incomplete if one finds an error."""
    reasons: list[str] = []
    for reading in readings(answer, targets):
        reasons += reading.errors
        verdict = _judged_reading(reading, targets, known) if reading.rows else None
        if verdict and not any(reading.errors):
            return verdict
        verdicts += [verdict] if verdict is not None and not reading.errors else []
        whole += verdicts[-1:] if verdict is not None and not reading.errors and not reading.leaves else []
    if not verdicts:
        seen = tr("{sign} was not expected.", sign=repr(answer.strip()[:40])) if answer.strip() else ""
        raise InputError(refusal(next(filter(None, reasons), seen)))
    best = min(verdicts, key=_rank)
    return min(whole, key=_rank) if best.status == PARTIAL and whole else best


def _judged_reading(reading: Reading, targets: Sequence[Target], known: Knowledge | None) -> Verdict:
    """The verdict on a reading by its grammar; if that is not right, its values may show that the answer is."""
    if sum(len(row.atoms()) for row in reading.rows) > _MOST_ATOMS:
        found = Assignment(cost=100.0)
        verdict = Verdict(WRONG, tr("The answer has more parts than the question asks for."))
    else:
        found = assign(reading.rows, targets, compare)
        verdict = _consistent(_summary(found, targets), reading.rows)
    if not verdict and known is not None and not _is_unpaired(found, targets):
        pieces = evident(reading.said, found.pieces, targets, known, compare)
        evidence = _judged(_placed(pieces), targets) if pieces is not None else verdict
        verdict = min(evidence, verdict, key=lambda one: ORDER.index(one.status))
    return replace(_overruled(verdict, reading.said, targets, known), cost=found.cost)


def _overruled(verdict: Verdict, said: list[Row], targets: Sequence[Target], known: Knowledge | None) -> Verdict:
    """The verdict, unless a right answer numbers or pairs its values wrongly."""
    if verdict and is_mispaired(said, targets):
        return Verdict(ALMOST, tr("The vectors are right, but in another order."))
    wrong = contradiction(said, targets, known) if verdict else None
    return verdict if wrong is None else wrong


def _is_unpaired(found: Assignment, targets: Sequence[Target]) -> bool:
    """Whether all parts are right, but in different orders: another layout of the same values proves nothing."""
    given = _placed(found.pieces)
    complete = not _missing_parts(given, targets) and all(piece.right for piece, _ in given)
    return complete and bool(_apart(given, targets))


def _placed(pieces: Sequence[Piece]) -> list[tuple[Piece, int]]:
    """The pieces that have a target, with it."""
    return [(piece, piece.target) for piece in pieces if piece.target is not None]


def _rank(verdict: Verdict) -> tuple[int, float]:
    return ORDER.index(verdict.status), verdict.cost


def _consistent(verdict: Verdict, rows: list[Row]) -> Verdict:
    """The verdict, unless an equation has two different sides."""
    if verdict.status == RIGHT and any(row.differs for row in rows):
        return Verdict(
            ALMOST, tr("In one equation, the left-hand side is correct, but the right-hand side has a different value.")
        )
    return verdict


def _summary(found: Assignment, targets: Sequence[Target]) -> Verdict:
    """One verdict from those on the parts, and what is missing."""
    given = _placed(found.pieces)
    verdict = _judged(given, targets)
    stray = [piece for piece in found.pieces if piece.target is None and not piece.title]
    if stray:
        pieces = _right_parts(given, targets) if verdict.status == RIGHT else [verdict.message] if given else []
        shown = "; ".join(_typed(piece.part) for piece in stray)
        pieces.append(tr("The question does not ask for {parts}. If this is an intermediate result, give it a name.",
                         parts=shown))  # fmt: skip
        verdict = Verdict(WRONG, " ".join(pieces))
    return _with_notes(verdict, found.pieces)


def _with_notes(verdict: Verdict, pieces: Sequence[Piece]) -> Verdict:
    """The verdict with the names that were not checked."""
    unknown = list(dict.fromkeys(piece.title for piece in pieces if piece.target is None and piece.title))
    notes = [tr("Not asked for, so not checked: {names}.", names=", ".join(unknown))] if unknown else []
    return replace(verdict, message=" ".join([verdict.message, *notes]))


def _right_parts(given: Sequence[tuple[Piece, int]], targets: Sequence[Target]) -> list[str]:
    good = [targets[i].shown for piece, i in given if piece.right]
    return [tr("Right: {names}.", names=", ".join(good))] if good else []


def _judged(given: Sequence[tuple[Piece, int]], targets: Sequence[Target]) -> Verdict:
    """The verdict on the parts assigned to targets."""
    bad = [(_renamed(piece, i, targets), i) for piece, i in given if not piece.right]
    if bad:
        several = len(given) > 1 or sum(not target.optional for target in targets) > 1
        return _wrong_parts(bad, _right_parts(given, targets), targets if several else None)
    if slip := _apart(given, targets):
        return Verdict(ALMOST, slip)
    asked = _missing_parts(given, targets)
    return _incomplete(asked, begun=bool(given)) if asked else Verdict(RIGHT, tr("Right."))


def _may_be_renamed(piece: Piece) -> bool:
    """Whether a wrong part has a name that can be wrong: a nearly right value and a percentage have the right one."""
    return bool(piece.part.name) and piece.verdict.status != ALMOST and not any(x.percent for x in piece.part.flat)


def _renamed(piece: Piece, place: int, targets: Sequence[Target]) -> Verdict:
    """The verdict on a wrong part; one that is the right value of something else has the wrong name."""
    if not _may_be_renamed(piece):
        return piece.verdict
    others = [one for i, one in enumerate(targets) if i != place and not is_weak(one)]
    fitting = next((one for one in others if compare(piece.part, one)), None)
    if fitting is None:
        return piece.verdict
    return replace(piece.verdict, message=tr("This is the right value of {name}.", name=fitting.shown))


def _incomplete(asked: list[str], *, begun: bool) -> Verdict:
    """The verdict on an answer in which something is missing."""
    names = ", ".join(asked)
    if begun:
        return Verdict(PARTIAL, tr("Right so far. Still to be found: {names}.", names=names))
    return Verdict(WRONG, tr("Still to be found: {names}.", names=names))


def _wrong_parts(bad: Sequence[tuple[Verdict, int]], good: list[str], targets: Sequence[Target] | None) -> Verdict:
    """The verdict on wrong parts, behind what is right; with their names if there are several."""
    worst = max((verdict.status for verdict, _ in bad), key=ORDER.index)
    pieces = [f"{targets[i].shown}: {verdict.message}" if targets else verdict.message for verdict, i in bad]
    return Verdict(worst, " ".join([*good, *pieces]))


def _missing_parts(given: Sequence[tuple[Piece, int]], targets: Sequence[Target]) -> list[str]:
    done = {i for _, i in given}
    return [target.shown for i, target in enumerate(targets) if not target.optional and i not in done]


def _in_order(verdict: Verdict) -> bool:
    return any(order == tuple(range(len(order))) for order, _ in verdict.matches)


def _is_disordered(together: Sequence[tuple[Target, Verdict]]) -> bool:
    """Whether scores or ordered vectors are not in order, and no eigenvalues say which order is meant."""
    numbers = any(target.form == "numbers" for target, _ in together)
    placed = [verdict for target, verdict in together if target.form == "scores" or target.ordered]
    return not numbers and not all(map(_in_order, placed))


def _unpaired(together: Sequence[tuple[Target, Verdict]]) -> str:
    """The message on paired parts in different orders or with different signs, or ""."""
    slip = common(together) if len(together) > 1 else ""
    if slip == "order":
        names = ", ".join(target.shown for target, _ in together)
        return tr("Each part is right, but {names} are not in the same order.", names=names)
    if _is_disordered(together):
        return tr("The vectors are right, but in another order.")
    if slip == "signs":
        signed = ", ".join(target.shown for target, _ in together if target.signed)
        return tr("Each part is right, but the signs of {names} do not match each other.", names=signed)
    return ""


def _apart(given: Sequence[tuple[Piece, int]], targets: Sequence[Target]) -> str:
    """The inconsistency between parts that are right one by one, or ""."""
    together: dict[str, list[tuple[Target, Verdict]]] = {}
    for piece, i in given:
        together.setdefault(targets[i].pairing, []).append((targets[i], piece.verdict))
    slips = [_unpaired(together[pairing]) for pairing in sorted(together) if pairing]
    if any(slips):
        return next(filter(None, slips))
    forms = {targets[i].form: (piece.part, targets[i].shown) for piece, i in given}
    if "inverse" in forms and "axes" in forms and not are_inverse(forms["axes"][0], forms["inverse"][0]):
        return tr("{inverse} is not the inverse of the {matrix} that you give: their product is not the identity.",
                  inverse=forms["inverse"][1], matrix=forms["axes"][1])  # fmt: skip
    return ""


def _typed(part: Part) -> str:
    """A part as text, for messages."""
    return "; ".join(", ".join(map(_shown, row)) for row in part.rows)


def _shown(entry: Entry) -> str:
    if not isinstance(entry, Grid):
        return re.sub(r"(\.\d{6})\d+", r"\1", f"{entry.value:f}")
    return "[{}]".format("; ".join(" ".join(map(_shown, row)) for row in entry.rows))
