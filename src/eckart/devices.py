"""Library and device of an array, in words, and copies to the host.

Data are never copied to the device of a model automatically: the copy would cost more than the computation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from eckart.arrays import Matrix, from_numpy, is_array, is_numpy, is_sparse, namespace, to_numpy
from eckart.errors import InputError


@dataclass(frozen=True)
class Device:
    """An array library and a device; lists, frames, files and SciPy matrices count as NumPy."""

    library: str = "numpy"
    device: str = "cpu"

    def __str__(self) -> str:
        return f"{self.library} ({self.device})"

    @property
    def way_there(self) -> str:
        """The expression that copies data X to this device."""
        if self.library == "torch":
            return f"torch.as_tensor(X, device={self.device!r})"
        if self.library == "cupy":
            return "cupy.asarray(X)" if self.device == "cuda:0" else f"cupy.asarray(X) on {self.device}"
        if self.library == "numpy":
            return "tensor.cpu().numpy() or cupy.asnumpy(array)"
        return f"{self.library}.asarray(X)"


HOST = Device()


def place_of(data: Matrix) -> Device:
    """The device of an array, dense or sparse."""
    library = type(data).__module__.partition(".")[0]
    if library == "cupyx":
        return Device("cupy", f"cuda:{data.data.device.id}")
    if not is_array(data) or is_numpy(data):
        return HOST
    if library == "cupy":
        return Device("cupy", f"cuda:{data.device.id}")
    # A tensor may belong to a subclass, such as torch.nn.Parameter.
    return Device("torch" if hasattr(data, "detach") else library, str(data.device))


def is_off_host(data: object) -> bool:
    """Whether `data` is an array, dense or sparse, of a library other than NumPy."""
    if isinstance(data, np.generic):
        return False
    return type(data).__module__.startswith("cupyx.") or (is_array(data) and not is_numpy(data))


def refuse_other_device(seen: Device, now: Device, what: str) -> None:
    """Refuse data on another device than the one `what` was fitted on."""
    if seen != now:
        _refuse(seen, now, what)


def _refuse(seen: Device, now: Device, what: str) -> NoReturn:
    raise InputError(
        f"{what} was fitted on {seen}, but these data are on {now}. Eckart never copies data between "
        f"devices automatically. Copy the data first, for example with {seen.way_there}, or fit again "
        f"on {now}."
    )


def to_host(data: Matrix) -> Matrix:
    """The same numbers on the host: a NumPy array if dense, SciPy CSR if sparse."""
    if is_sparse(data):
        return data
    if type(data).__module__.startswith("cupyx."):
        return data.get()
    if "sparse_csr" in str(getattr(data, "layout", "")):
        from scipy import sparse

        parts = (to_numpy(part) for part in (data.values(), data.col_indices(), data.crow_indices()))
        return sparse.csr_array(tuple(parts), shape=tuple(data.shape))
    return to_numpy(data)


def sparse_to_host(data: object) -> Matrix:
    """Copy sparse matrices from a GPU to the host; leave everything else unchanged."""
    sparse = is_off_host(data) and (hasattr(data, "toarray") or "sparse" in str(getattr(data, "layout", "")))
    return to_host(data) if sparse else data


def part_on_host(data: Matrix, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
    """data[rows][:, columns], dense and in float64; the other rows stay on their device."""
    if is_off_host(data):
        xp = namespace(data)
        part = xp.take(data, from_numpy(np.asarray(rows), data), axis=0)
        part = to_numpy(part if columns is None else xp.take(part, from_numpy(np.asarray(columns), data), axis=1))
    else:
        part = data[rows] if columns is None else data[rows][:, columns]
    part = part.toarray() if hasattr(part, "toarray") else part
    return np.asarray(part, dtype=np.float64)
