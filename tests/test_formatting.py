"""Numbers in messages."""

from __future__ import annotations

from eckart.environment import say_bytes
from eckart.formatting import allowed


def test_the_allowed_memory_agrees_in_number() -> None:
    assert allowed(1) == "1 byte is allowed"
    assert allowed(1_000) == "1,000 bytes are allowed"
    assert say_bytes(1) == "1 byte"
    assert say_bytes(2) == "2 bytes"
