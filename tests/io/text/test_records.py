"""Records of delimited text: ends outside quotes, found in linear time."""

from __future__ import annotations

import numpy as np

from eckart.io.text.records import record_end


def test_the_end_of_a_record_is_the_first_newline_after_an_even_number_of_quotes() -> None:
    rng = np.random.default_rng(0)
    for _ in range(2000):
        text = bytes(rng.choice(list(b'a,"\n'), int(rng.integers(1, 30))).astype(np.uint8))
        ends = [i for i, byte in enumerate(text) if byte == 10 and text[:i].count(b'"') % 2 == 0]
        assert record_end(text, 0) == (ends[0] if ends else len(text))


def test_a_cell_of_millions_of_quotes() -> None:
    """Two megabytes, which took minutes when the newline was searched again for every quote."""
    cell = b'"' + b'""' * 1_000_000 + b'"'
    assert record_end(cell + b",1\n2,3\n", 0) == len(cell) + 2
