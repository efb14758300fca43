"""The only module that checks where arrays live: `backend_of` returns the Backend of an array or of CSR rows."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import Array, Matrix, is_array, is_host, is_sparse
from eckart.engine.backends.base import Backend
from eckart.engine.backends.cuda.device_rows import DeviceCsr, as_device_csr
from eckart.engine.backends.host import HostBackend
from eckart.engine.backends.written import library
from eckart.errors import InputError

if TYPE_CHECKING:
    from eckart.engine.backends.cuda.transfer import DeviceTransfer


def backend_of(data: Matrix) -> Backend:
    """The backend of a dense array, a SciPy sparse matrix, or CSR rows on a GPU."""
    if type(data) is np.ndarray:
        return _made(HostBackend, data.dtype)
    prototype = _prototype(data)
    if is_host(prototype):
        return HostBackend(prototype)
    from eckart.engine.backends.device import CupyBackend, TorchBackend

    return (CupyBackend if library(prototype) == "cupy" else TorchBackend)(prototype)


@lru_cache(maxsize=16)
def _made(kind: type[Backend], dtype: np.dtype) -> Backend:
    """The cached backend of NumPy arrays, which every fit requests several times; it depends only on the dtype."""
    return kind(np.empty((0, 0), dtype))


def _prototype(data: Matrix) -> Array:
    if is_sparse(data):
        return np.empty(0)
    if isinstance(data, DeviceCsr):
        return data.prototype
    return data[:0, :0] if len(data.shape) == 2 else data[:0]


def is_csr(rows: Matrix) -> bool:
    """Whether rows in memory are CSR, on any device."""
    return is_sparse(rows) or isinstance(rows, DeviceCsr)


def stored_elsewhere(data: Matrix) -> Matrix | None:
    """CuPy and PyTorch sparse matrices on a GPU as CSR rows; None for everything else."""
    return as_device_csr(data)


def transfer_to(device: str, data: Matrix) -> DeviceTransfer:
    """The transfer of host data to `device`; refused if the data are already on a device."""
    if not device.startswith("cuda"):
        raise InputError(f"device={device!r} is not valid. Use 'cuda' or 'cuda:1', or leave it out.")
    if (is_array(data) and not is_host(data)) or as_device_csr(data) is not None:
        raise InputError("The data are already on a device. Leave out device=.")
    from eckart.engine.backends.cuda.transfer import transfer_for

    return transfer_for(device)
