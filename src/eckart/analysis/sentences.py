"""A decomposition in sentences: what was done, how certain it is, and which columns dominate each component."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eckart.analysis.labels import (
    column_labels,
    component_labels,
    explained,
    led_by,
    method_name,
    top_loadings,
    total_name,
    treatment,
)
from eckart.analysis.measures import floats, nonzero_components, svd_details
from eckart.analysis.tables.eigenvalues import total_ratio
from eckart.formatting import certified_share, clean, interval, joined, percent, short_names
from eckart.notes import code_of, for_door
from eckart.registry import method_of

if TYPE_CHECKING:
    from eckart.result import Certificate, Decomposition
    from eckart.wording import Door


_MOST_NAMED = 4


def what(d: Decomposition) -> str:
    """What was decomposed."""
    rows, columns = f"{d.rows:,} row{'s' * (d.rows != 1)}", f"{d.columns:,} column{'s' * (d.columns != 1)}"
    weighted = "" if svd_details(d).row_weights is None else ", rows weighted"
    return f"{method_name(d)} of {rows} x {columns}, {treatment(d)}{weighted}."


def how(d: Decomposition) -> str:
    """The solver, why it was chosen, and how many passes over the data it made."""
    if d.info is None and d.plan is None:
        return ""
    solver = d.info.solver if d.info is not None else d.plan.solver if d.plan is not None else ""
    why = f" {clean(d.plan.why)}" if d.plan is not None and d.plan.why else ""
    if d.info is None:
        return f"Solver {solver!r}.{why}"
    return f"Solver {solver!r}, {d.info.passes} pass{'es' * (d.info.passes != 1)} over the data.{why}"


def treated(d: Decomposition) -> str:
    """How the columns were treated, and what that means for the components."""
    if own := method_of(d).treatment(d):
        return own
    if d.mean is None:
        centred = (
            "The columns were not centred, so distances are measured from zero and columns with large values dominate."
        )
    else:
        centred = "The mean of each column was subtracted."
    if d.scale is not None:
        scaled = "Each column was divided by its standard deviation, so the units of the columns do not matter."
        return f"{centred} {scaled}"
    return f"{centred} The columns were not scaled, so those with the largest variance dominate."


def _angle(c: Certificate) -> str:
    if c.angle < 1:
        return f"The angle between the computed and the true subspace is {_degrees(c.angle)}."
    return "There is no useful bound on the angle between the computed and the true subspace."


def sure(d: Decomposition) -> list[str]:
    """The certificate in plain words: the bounds on shares and directions, and the probability that they fail."""
    c = d.certificate
    if c is None:
        return ["This result has no certificate, so its numbers have no proved error bounds."]
    proved = d.which == "largest" and method_of(d).certifies_explained_variance
    repeated = proved and c.summary.startswith(certified_share(d.k, *c.explained)[:-1])
    lines = [clean(c.summary)] if c.summary and not repeated else []
    if proved:
        lines.append(_proved(d))
    if not method_of(d).orthogonal:
        return [*lines, *_chance(c)]
    lines.append(
        "The explained variance of each component lies between 'lower' and 'upper' in the table of components."
    )
    lines.append(_angle(c))
    lines += _undetermined(d, c)
    lines += _chance(c)
    reached = "was reached" if c.proved else "was not reached"
    reads = f"{c.passes} pass{'es' * (c.passes != 1)}"
    return [
        *lines,
        f"The requested accuracy ({c.tolerance:.0e} of the {total_name(d)}) {reached} after {reads} over the data.",
    ]


def _proved(d: Decomposition) -> str:
    lower, upper = explained(d)
    axes = "this component explains" if d.k == 1 else f"these {d.k} components explain"
    best = f"no {d.k} components" if d.k > 1 else "no single component"
    proved = f"It is proved that {axes} at least {percent(lower, 3)} of the {total_name(d)}"
    return f"{proved}, and that {best} can explain more than {interval(upper, upper, 3)}."


def _chance(c: Certificate) -> list[str]:
    if c.failure_probability > 0:
        chance = f"{c.failure_probability:.0e}"
        return [f"The bounds use random probes and fail with a probability of at most {chance}."]
    return ["The bounds hold with certainty, and they include rounding errors."]


def carried(d: Decomposition) -> str:
    """How much the components explain, and whether that is proved."""
    components = "The component explains" if d.k == 1 else f"The {d.k} components together explain"
    lower, upper = explained(d)
    if shares_of := method_of(d).section.shares_of:
        return f"{components} {total_ratio(d)} of the {total_name(d)} of the {shares_of}."
    if d.certificate is None:
        return f"{components} {percent(lower)} of the {total_name(d)} (not certified)."
    chance = d.certificate.failure_probability
    within = f" to within {upper - lower:.0e}" if 0 < upper - lower < 1e-4 else ""
    sure = f", with probability at least 1 - {chance:.0e}" if chance > 0 else ""
    return f"{components} {interval(lower, upper)} of the {total_name(d)} (certified{within}{sure})."


def doubts(d: Decomposition, said: Sequence[str] = (), door: Door = "python") -> list[str]:
    """Warnings for the reader: no proof, undetermined components, and the notes that are not in `said`."""
    found = [] if d.certificate is None else _not_proved(d, d.certificate)
    notes = [line for line in d.notes if line not in said]
    if any(code_of(line) == "imputed" for line in notes):  # this note counts the missing values too
        notes = [line for line in notes if code_of(line) != "missing_values"]
    return found + [clean(for_door(line, door)) for line in notes]


def _not_proved(d: Decomposition, c: Certificate) -> list[str]:
    """Sentences on accuracy that was not reached and on components that the data do not determine."""
    lines = _undetermined(d, c)
    if c.proved:
        return lines
    asked = percent(c.tolerance, 3)
    return [
        (
            f"The requested accuracy of the explained variance ({asked}) was not reached, but the "
            "stated bounds are proved."
        ),
        *lines,
    ]


def has_weights(d: Decomposition) -> bool:
    """Whether columns have loadings on the components; with a kernel they do not."""
    return int(d.right.shape[1]) == d.k


def makes(d: Decomposition, axis: int) -> str:
    """The columns with the largest loadings: 'Assault +0.58, Rape +0.54, Murder +0.54'."""
    if not has_weights(d):
        return "no loadings"
    if not nonzero_components(d)[axis]:
        return "no variance"
    found, short = top_loadings(d, axis), short_names(column_labels(d), 24)
    return ", ".join(f"{short[name]} {value:+.2f}" for name, value in found) or "no column dominates"


def scree_finding(d: Decomposition) -> str:
    """What the scree plot shows, in words."""
    if d.k == 0:
        return "The data have no components."
    shares, names = floats(d.explained_variance_ratio), component_labels(d)
    if not method_of(d).additive:
        strongest = int(shares.argmax())
        return f"The largest component is {names[strongest]}; the smallest is {names[int(shares.argmin())]}."
    sentence = f"{names[0][0].upper()}{names[0][1:]} explains {percent(float(shares[0]))} of the {total_name(d)}"
    if d.k > 1:
        sentence += f", and {names[0]} and {names[1]} together explain {percent(float(shares[:2].sum()))}"
    return sentence + "."


def loadings_finding(d: Decomposition) -> str:
    """What the loadings of the first two components show, in words."""
    parts: list[str] = []
    if not has_weights(d) or d.norm == 0.0:
        return ""
    nonzero = nonzero_components(d)
    for component, name in list(enumerate(component_labels(d)))[:2]:
        if nonzero[component]:
            parts.append(f"{name} {_led_by(d, component)}")
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}{'' if sentence.endswith('.') else '.'}" if parts else ""


def _led_by(d: Decomposition, component: int) -> str:
    """The columns of one sign and those of the other, or all of them."""
    found, short = top_loadings(d, component, most=_MOST_NAMED), short_names(column_labels(d), 24)
    sides = [[short[column] for column, value in found if (value > 0) == positive] for positive in (True, False)]
    if all(sides):
        return f"contrasts {joined(sides[0])} with {joined(sides[1])}"
    return led_by(d, component, found).format(joined(sides[0] or sides[1]))


def _degrees(sine: float) -> str:
    angle = math.degrees(math.asin(min(sine, 1.0)))
    if angle == 0:
        return "0 degrees"
    return f"at most {angle:.2g} degrees" if angle >= 1e-3 else f"at most {angle:.0e} degrees"


def _undetermined(d: Decomposition, c: Certificate) -> list[str]:
    """Components that the data do not determine. Those without variance are left out unless all are."""
    names, nonzero = component_labels(d), nonzero_components(d)
    groups = [(first, min(last, d.k - 1)) for first, last in c.undetermined]
    return [
        _as_subspace(names[first], names[last])
        for first, last in groups
        if nonzero[first : last + 1].any() or not nonzero.any()
    ]


def _as_subspace(first: str, last: str) -> str:
    if first == last:
        return f"{first} is not unique: other directions explain the same share."
    return f"{first} to {last} are determined only as a subspace: within the subspace, their directions are arbitrary."
