"""The process that looks at HDF5 metadata first: it serves many files, and its end refuses a file, not the program."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eckart.errors import FileError
from eckart.io.arrays import probe
from eckart.io.open_rows import open_rows
from tests.anomalies.fuzz.valid_files import DENSE, FILES

pytest.importorskip("h5py")


def whole(path: Path) -> Any:
    rows: Any = open_rows(path)
    return rows.read(0, 40)


def test_one_process_serves_many_files(tmp_path: Path) -> None:
    FILES["plain.h5"](tmp_path / "a.h5")
    np.testing.assert_array_equal(whole(tmp_path / "a.h5"), DENSE)
    first = probe._probes[0].process.pid
    np.testing.assert_array_equal(whole(tmp_path / "a.h5"), DENSE)
    assert probe._probes[0].process.pid == first


def test_a_file_that_ends_the_process_is_refused_and_the_next_is_read(tmp_path: Path) -> None:
    """The process is stopped by hand, as an endless loop in libhdf5 would be by its timer."""
    FILES["plain.h5"](tmp_path / "a.h5")
    whole(tmp_path / "a.h5")
    os.kill(probe._probes[0].process.pid, signal.SIGPROF)
    probe._probes[0].process.wait()
    with pytest.raises(FileError, match=r"a.h5 is a damaged HDF5 file: the HDF5 library crashes or hangs"):
        open_rows(tmp_path / "a.h5")
    np.testing.assert_array_equal(whole(tmp_path / "a.h5"), DENSE)


def test_an_endless_loop_of_the_library_ends(tmp_path: Path) -> None:
    """Metadata found by the fuzzer: the attribute of a group is in a heap whose objects have no size."""
    path = tmp_path / "csr.h5ad"
    FILES["csr.h5ad"](path)
    content = path.read_bytes()
    indices = [i for i in range(len(content) - 4) if content[i : i + 4] == b"GCOL"]
    assert indices
    for place in indices:  # objects of the global heap begin after 16 bytes: index, references, size
        content = content[: place + 16] + b"\x01\0\x01\0\0\0\0\0" + bytes(8) + content[place + 32 :]
    path.write_bytes(content)
    with pytest.raises(FileError):
        whole(path)
