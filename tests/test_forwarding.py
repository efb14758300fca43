"""Attributes that are read from another object."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from eckart.forwarding import forwarded


@dataclass
class Inner:
    count: int


@dataclass(frozen=True)
class Outer:
    inner: Inner

    count = forwarded[int]("inner.count")


def test_it_follows_the_other_object() -> None:
    outer = Outer(Inner(3))
    assert outer.count == 3
    outer.inner.count = 4
    assert outer.count == 4


def test_it_cannot_be_set_and_is_no_field() -> None:
    with pytest.raises(AttributeError):
        Outer(Inner(3)).count = 5  # type: ignore[misc]
    assert repr(Outer(Inner(3))) == "Outer(inner=Inner(count=3))"
