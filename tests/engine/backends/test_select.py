"""One function decides where arrays live, and no other module of the engine mentions a device."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import eckart
from eckart.engine.backends.host import HostBackend
from eckart.engine.backends.select import backend_of, is_csr, stored_elsewhere, transfer_to
from eckart.errors import InputError
from tests.engine.backends.card import put_torch_in_place

ENGINE = Path(eckart.__file__).parent / "engine"


def test_no_solver_mentions_a_device() -> None:
    words = re.compile("is_host|cuda|cupy|torch|gpu", re.IGNORECASE)
    files = [path for path in ENGINE.rglob("*.py") if "backends" not in path.relative_to(ENGINE).parts]
    assert len(files) > 40
    found = [
        f"{path.relative_to(ENGINE)}:{number}: {line}"
        for path in files
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if words.search(line)
    ]
    assert not found


def test_arrays_in_host_memory_have_the_host_backend() -> None:
    strict = pytest.importorskip("array_api_strict")
    for data in (np.ones((3, 2)), np.ones(4), sparse.eye_array(3, format="csr"), strict.asarray(np.ones((2, 2)))):
        backend = backend_of(data)
        assert type(backend) is HostBackend
        assert backend.prototype.shape[0] == 0
    assert is_csr(sparse.eye_array(3, format="csr"))
    assert not is_csr(np.eye(3))
    assert stored_elsewhere(sparse.eye_array(3)) is None


def test_tensors_on_a_card_have_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    assert type(backend_of(torch.ones(2, 2))) is HostBackend
    put_torch_in_place(monkeypatch)
    assert type(backend_of(torch.ones(2, 2))).__name__ == "TorchBackend"
    assert type(backend_of(np.ones((2, 2)))) is HostBackend


def test_unknown_devices_are_refused() -> None:
    with pytest.raises(InputError, match=r"'tpu' is not valid. Use 'cuda'"):
        transfer_to("tpu", np.ones((2, 2)))
