"""Open h5py and Zarr objects: an array, or the member `key` of a group."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from eckart.engine.blocks.source import RowSource
from eckart.errors import EckartError, InputError
from eckart.io.arrays.containers import Hdf5, check_inside
from eckart.io.arrays.stored import matrices_of, stored_rows, unread_notes
from eckart.io.guard import reason
from eckart.io.objects.sliced import ShapedView, is_hdf5, lacks_shape, sliced_rows
from eckart.wording import KEY


def is_stored(data: object) -> bool:
    """An h5py Dataset, Group or File, or a Zarr array or group."""
    module = type(data).__module__.partition(".")[0]
    known = hasattr(type(data), "shape") or hasattr(data, "keys") or lacks_shape(data)
    return module in ("h5py", "zarr") and known


def _only_table(data: Any, names: list[str]) -> str | None:
    """The X of AnnData, or the only member of two dimensions."""
    tables = matrices_of(names, lambda name: len(getattr(_member(data, name), "shape", ()) or ()) == 2)
    return tables[0] if len(tables) == 1 else None


def stored_object(data: Any, key: str | None, memory: int | None) -> RowSource:
    """The rows of an array, or of the member `key` of a group, or of its only matrix."""
    try:
        return _opened(ShapedView(data) if lacks_shape(data) else data, key, memory)
    except EckartError:
        raise
    except Exception as error:  # of h5py and Zarr, for example for objects whose file was closed
        kind = "array" if hasattr(type(data), "shape") else "group"
        raise InputError(
            f"The {kind} cannot be read: {reason(error)}. Keep its file open, or pass its path."
        ) from error


def _opened(data: Any, key: str | None, memory: int | None) -> RowSource:
    if (own := _array_rows(data, memory)) is not None:
        return own
    names = _members(data)
    chosen = _only_key(data, names) if key is None else key
    found = None if chosen is None else _member(data, chosen) if chosen else data
    if found is None:
        _refuse_group(names)
    rows: Any = _rows(found, memory)
    if rows is None:
        _refuse_group(_members(found))
    unread = unread_notes(_members, _member, data, chosen or "") if key is None else ()
    known = rows.metadata
    noted: RowSource = replace(rows, metadata=replace(known, notes=(*known.notes, *unread))) if unread else rows
    return noted


def _only_key(data: Any, names: list[str]) -> str | None:
    """The key of the only matrix; empty if the group itself is one, and None if there are none or several."""
    return "" if "indptr" in names else _only_table(data, names)


def _refuse_group(names: list[str]) -> NoReturn:
    members = ", ".join(map(repr, names[:20])) or "nothing"
    raise InputError(f"The group contains {members}. Choose an array with {KEY}.")


def _rows(data: Any, memory: int | None) -> RowSource | None:
    """The rows of an array or of a CSR group; None for other groups."""
    rows = _array_rows(data, memory)
    return stored_rows(*_place(data), memory) if rows is None and "indptr" in _members(data) else rows


def _member(group: Any, key: str) -> Any:
    """The array or group `key`, or None; links to other HDF5 files are refused, as in a file given by its path."""
    if is_hdf5(group):
        return Hdf5.of(group).get(group, key)
    parts = [part for part in key.split("/") if part]
    check_inside(parts, f"The key {key!r}")
    return group.get("/".join(parts)) if parts else None


def _members(group: Any) -> list[str]:
    try:
        return [str(name) for name in group]
    except (KeyError, RuntimeError, ValueError) as error:  # of h5py
        raise InputError(
            "The group cannot be read, because its file was closed. Keep the file open, or pass its path."
        ) from error


def _array_rows(data: Any, memory: int | None) -> RowSource | None:
    """The rows of an array; None for a group. A Zarr array in a local folder is read as if given by its path."""
    if not hasattr(data, "shape"):
        return None
    if hasattr(data, "store") and _folder(data).is_dir():
        return stored_rows(*_place(data), memory)
    return sliced_rows(data, str(getattr(data, "name", "") or "").lstrip("/") or "array")


def _folder(member: Any) -> Path:
    """The folder of a local Zarr store; a path that does not exist for other stores."""
    return Path(getattr(member.store, "root", None) or "/nonexistent/")


def _place(group: Any) -> tuple[str, str, str]:
    """(file or folder, kind, path inside) of a CSR matrix on disk."""
    if is_hdf5(group):
        path, kind, inside = Path(str(group.file.filename)), "hdf5", str(group.name)
    else:
        path, kind, inside = _folder(group), "zarr", str(group.path)
    if not path.exists():
        raise InputError(
            "The sparse matrix is in a Zarr store in memory, which Eckart does not read. Pass it as a "
            "scipy.sparse matrix instead."
        )
    return str(path), kind, inside.strip("/")
