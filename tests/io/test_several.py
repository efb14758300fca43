"""Several files as one table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import eckart as ek
from eckart.errors import FileError


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file outside the folder `data`, which has one file of its own."""
    (tmp_path / "data").mkdir()
    table = pa.table({"a": [1.0, 2.0, 4.0], "b": [0.5, 1.0, 3.0]})
    parquet.write_table(table, tmp_path / "data" / "own.parquet")
    (tmp_path / "elsewhere").mkdir()
    parquet.write_table(table, tmp_path / "elsewhere" / "secret.parquet")
    return tmp_path / "elsewhere" / "secret.parquet"


@pytest.mark.parametrize("place", ["more.parquet", "inner/more.parquet", "folder"])
def test_links_inside_a_folder_are_refused(tmp_path: Path, secret: Path, place: str) -> None:
    link = tmp_path / "data" / place
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(secret.parent if place == "folder" else secret)
    with pytest.raises(FileError, match=f"{place} is a symbolic link"):
        ek.open_data(tmp_path / "data")


def test_links_given_by_the_user_are_followed(tmp_path: Path, secret: Path) -> None:
    (tmp_path / "file.parquet").symlink_to(secret)
    (tmp_path / "folder").symlink_to(tmp_path / "data")
    (tmp_path / "data" / "readme.txt").symlink_to(secret)  # not read
    for place in ("file.parquet", "folder"):
        assert ek.open_data(tmp_path / place).shape == (3, 2)


def test_a_folder_with_many_other_files_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search of all folders of a computer would take minutes."""
    from eckart.io import several

    monkeypatch.setattr(several, "_MOST_OTHERS", 5)
    for number in range(8):
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number}" / "readme.txt").write_text("text")
    (tmp_path / "7" / "link").symlink_to(tmp_path)
    with pytest.raises(FileError, match=r"neither a Zarr store nor a folder of Parquet files"):
        ek.open_data(tmp_path)
