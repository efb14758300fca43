"""Matrix Market files whose header and entries disagree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import eckart as ek
from eckart.errors import FileError, MemoryBudgetError
from eckart.io.open_rows import open_table


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("value", ["1.5", "2e1", "3.", "nan"])
def test_what_is_no_integer_is_refused_where_integers_are_promised(tmp_path: Path, value: str, stream: bool) -> None:
    """Other readers take 1.5 for 1, and 2e1 for 2."""
    path = tmp_path / "a.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 4\n2 1 {value}\n")
    with pytest.raises(FileError, match=r"line 4: .* is not of the form 'row column integer'"):
        open_table(path, stream=stream)


@pytest.mark.parametrize("stream", [False, True])
def test_integers(tmp_path: Path, stream: bool) -> None:
    path = tmp_path / "a.mtx"
    path.write_text("%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 -4\n2 1 +7\n")
    source = open_table(path, stream=stream)
    block = source.read(0, 2) if hasattr(source, "read") else next(iter(source.blocks()))
    np.testing.assert_array_equal(block.toarray(), [[-4.0, 0.0], [7.0, 0.0]])


@pytest.mark.parametrize("stream", [False, True])
def test_a_skew_symmetric_matrix_has_no_diagonal(tmp_path: Path, stream: bool) -> None:
    path = tmp_path / "x.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n1 1 4\n2 1 3\n")
    with pytest.raises(FileError, match="declared skew-symmetric, but its diagonal is not zero"):
        open_table(path, stream=stream)


def test_too_many_rows_are_refused_in_the_same_words_whole_and_in_blocks(tmp_path: Path) -> None:
    path, messages = tmp_path / "x.mtx", []
    path.write_text("%%MatrixMarket matrix coordinate real general\n1099511627776 5 1\n1 1 2.5\n")
    for stream in (False, True):
        with pytest.raises(MemoryBudgetError, match=r"row pointers of 1,099,511,627,776 rows takes 17\.6 TB") as caught:
            ek.decompose(path, "svd", k=1, stream=stream)
        messages.append(str(caught.value).partition("the memory limit is")[0])
    assert messages[0] == messages[1]


@pytest.mark.parametrize("stream", [False, True])
def test_the_number_of_entries_is_checked_before_their_triangle(tmp_path: Path, stream: bool) -> None:
    """Only the whole file shows how many there are, so both ways of reading name the same defect."""
    path = tmp_path / "x.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 4\n2 1 3\n")
    with pytest.raises(FileError, match="declares 1 entry but contains 2"):
        open_table(path, stream=stream)


@pytest.mark.parametrize("stream", [False, True])
def test_long_comments_are_refused_in_the_same_words_whole_and_in_blocks(tmp_path: Path, stream: bool) -> None:
    comments = ("%" + "c" * 60 + "\n") * 280_000
    path = tmp_path / "m.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n" + comments + "3 3 2\n1 1 2.0\n2 3 1.0\n")
    with pytest.raises(FileError, match="more than 16 MB of comments precede the size line"):
        ek.decompose(path, "svd", k=1, stream=stream)
