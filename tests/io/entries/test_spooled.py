"""Sorted copies of entries: the fingerprint is that of the file, and the copy goes away with its source."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

from eckart.io.open_rows import open_rows


def test_two_openings_have_one_fingerprint(tmp_path, monkeypatch):
    matrix = sp.random_array((50, 20), density=0.3, rng=np.random.default_rng(7))
    scipy.io.mmwrite(tmp_path / "a.mtx", matrix)
    (tmp_path / "spool").mkdir()
    monkeypatch.setenv("ECKART_SPOOL", str(tmp_path / "spool"))
    first, second = open_rows(tmp_path / "a.mtx"), open_rows(tmp_path / "a.mtx")
    assert first.fingerprint() == second.fingerprint()
    np.testing.assert_allclose(first.read(10, 30).toarray(), matrix.toarray()[10:30])
    assert len(list((tmp_path / "spool").iterdir())) == 2
    there = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(there.read(0, 5).toarray(), first.read(0, 5).toarray())
    del there
    gc.collect()
    assert Path(first.source.state.path).exists()
    del first, second
    gc.collect()
    assert not list((tmp_path / "spool").iterdir())
