"""Open h5py objects that contain nothing, are views, or are closed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eckart as ek
from eckart.errors import InputError

h5py = pytest.importorskip("h5py")
VALUES = np.random.default_rng(2).normal(size=(12, 3))


@pytest.fixture
def file(tmp_path: Path) -> Any:
    with h5py.File(tmp_path / "a.h5", "w") as opened:
        opened["table"], opened["nothing"], opened["rows"] = VALUES, h5py.Empty("f8"), np.zeros(5)
        yield opened


@pytest.mark.parametrize("stream", [None, False, True])
def test_arrays_without_numbers_are_refused(file: Any, stream: bool | None) -> None:
    file["none"] = np.zeros((0, 4))
    with pytest.raises(InputError, match=r"none has the shape \(0, 4\), so it contains no numbers"):
        ek.decompose(file["none"], stream=stream)
    with pytest.raises(InputError, match="nothing of shape"):
        ek.decompose(file["nothing"], stream=stream)


def test_the_only_table_beside_arrays_without_numbers(file: Any) -> None:
    assert ek.decompose(file, "svd", k=1).values[0] == pytest.approx(np.linalg.norm(VALUES, 2))


def test_a_view_of_another_type(file: Any) -> None:
    found = ek.decompose(file["table"].astype("f4"), "svd", k=1)
    assert found.values[0] == pytest.approx(np.linalg.norm(VALUES, 2), rel=1e-5)


@pytest.mark.parametrize("key", [None, "table"])
def test_a_closed_file_is_refused(file: Any, key: str | None) -> None:
    file.close()
    with pytest.raises(InputError, match="its file was closed"):
        ek.decompose(file, key=key)
