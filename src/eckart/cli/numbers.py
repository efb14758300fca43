"""Numbers as people type them: `-k 1e2`, `--explain 90%`, `--explain 0,9`. Ambiguous numbers are refused."""

from __future__ import annotations

import re
from decimal import Decimal

import click

_WHOLE = re.compile(r"[0-9]+(\.0*)?([eE]\+?[0-9]{1,2})?")
_FRACTION = re.compile(r"([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE]-?[0-9]{1,3})?\s*(%?)")
_LARGEST = 10**12


def components(given: object) -> int:
    """A number of components: 5, 5.0 or 1e2, but not 50% (a share), 0.5 (a share) or 1,000 (one, or a thousand?)."""
    text = str(given).strip()
    if _WHOLE.fullmatch(text) and 1 <= Decimal(text) <= _LARGEST:
        return int(Decimal(text))
    match = _FRACTION.fullmatch(text)
    if match and _amount(match) > 0 and (match[3] or _amount(match) < 1):
        raise click.BadParameter(
            f"{text!r} is a share, but -k expects a number of components. For a share, use --explain {text}."
        )
    raise click.BadParameter(
        f"{text!r} is not a number of components. Use a positive whole number without thousands "
        "separators, such as 1000."
    )


def count(given: object) -> int:
    """A number of results, columns or rows."""
    text = str(given).strip()
    if _WHOLE.fullmatch(text) and 1 <= Decimal(text) <= _LARGEST:
        return int(Decimal(text))
    raise click.BadParameter(
        f"{text!r} is not a positive whole number. Write the number without thousands separators, such as 1000."
    )


def share(given: object) -> float:
    """A share between 0 and 1: 0.9, 0,9 or 90%."""
    text = str(given).strip()
    match = _FRACTION.fullmatch(text)
    amount = _amount(match) if match else Decimal(-1)
    if 0 < amount < 1:
        return float(amount)
    if match and not match[3] and 1 < amount < 100:
        raise click.BadParameter(f"{text!r} is not a share between 0 and 1. Did you mean {text}%?")
    if amount == 1:
        raise click.BadParameter(
            f"A share of {text!r} would keep all components. Use a share less than 1, or give a "
            "number of components with -k."
        )
    raise click.BadParameter(f"{text!r} is not a share. Use a number between 0 and 1, such as 0.9 or 90%.")


def memory(given: object) -> int:
    """An amount of memory: 2GB, 1.5GiB or a number of bytes."""
    from eckart.errors import ParameterError
    from eckart.options import memory_bytes

    try:
        amount = memory_bytes(str(given).replace(",", "."))
    except ParameterError:
        amount = 0
    if not amount:
        raise click.BadParameter(f"{given!r} is not an amount of memory. Use a value such as 2GB or 500MB.")
    return amount


def _amount(match: re.Match[str]) -> Decimal:
    number = Decimal(match[1].replace(",", ".") + (match[2] or ""))
    return number / 100 if match[3] else number
