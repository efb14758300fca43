"""Ways to damage a file: bytes, cut ends, headers and indices that lie, archives in archives, pickles, hostile text."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import pickle
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import feather, parquet

from tests.anomalies.fuzz import optional

h5py = optional("h5py")

Rng = np.random.Generator
NUMBERS = (0, 1, -1, 2, 7, 39, 41, 255, 10**7, 2**31 - 1, 2**31, 2**32 + 1, 2**40, 2**62, 2**63 - 1, -(2**31))
WORDS = (
    "nan", "inf", "-inf", "1e400", "1e-400", "0x1F", "1,5", "1.234.567", "1'000", "+5", "5D3", "true", "NA", "",
    " ", '"', '""', '"a', "a\"b", "\0", "\r", "\r\n", "\n\n", "\x1a", "\ufeff", "é", "\u22123", "１２", "=1+1", "#",
    "%", "2020-01-01", "12:30", "9" * 400, "a" * 5000, "0" * 30 + "1", "1e5e5", "False", ",", ";", "\t", "  ", "|", "-",
    "5 %",
    "€5", "12345678901234567890", "9007199254740993",
)  # fmt: skip


_HDF5 = (".h5", ".h5ad")
"""The HDF5 library may never return from a damaged heap, so it changes only files that are still whole."""


def mutate(path: Path, rng: Rng, others: Path | None = None) -> None:
    """Damage a file, or a folder that is a store, in one to three ways; `others` holds files to confuse it with."""
    for turn in range(int(rng.choice([1, 1, 1, 2, 3]))):
        special = SPECIAL.get(path.suffix if path.suffix != ".gz" else "", [])
        if turn and path.suffix in _HDF5:
            special = []
        if path.is_dir():
            with contextlib.suppress(ValueError):  # metadata that an earlier mutation has made no JSON any more
                _folder(path, rng)
        elif others is not None and rng.random() < 0.03:
            _confused(path, rng, others)
        elif special and rng.random() < 0.45:
            before = path.read_bytes()
            try:
                special[int(rng.integers(len(special)))](path, rng)
            except Exception:  # noqa: BLE001 - an earlier mutation has made the file unreadable for the library
                path.write_bytes(before)
                _bytes(path, rng)
        else:
            _bytes(path, rng)


def _confused(path: Path, rng: Rng, others: Path) -> None:
    """The content of another file, all of it, before or after its own, or packed."""
    files = sorted(file for file in others.iterdir() if file.is_file())
    own, other = path.read_bytes(), files[int(rng.integers(len(files)))].read_bytes()
    packed = (gzip.compress, bz2.compress, lzma.compress, zlib.compress)[int(rng.integers(4))]
    contents = (other, own + other, other + own, own + own, packed(own), b"")
    path.write_bytes(contents[int(rng.integers(len(contents)))])


def _bytes(path: Path, rng: Rng) -> None:
    data = bytearray(path.read_bytes())
    if not data:
        return
    place = int(rng.integers(len(data)))
    if rng.random() < 0.4:  # headers and footers are where lengths and offsets are
        near = int(min(len(data), 200))
        place = int(rng.integers(near)) if rng.random() < 0.5 else len(data) - 1 - int(rng.integers(near))
    kind = int(rng.integers(10))
    length = int(rng.integers(1, 33))
    if kind <= 1:
        data[place] ^= 1 << int(rng.integers(8))
    elif kind == 2:
        data[place] = int(rng.integers(256))
    elif kind == 3:
        data[place : place + length] = rng.bytes(len(data[place : place + length]))
    elif kind == 4:
        del data[place:]
    elif kind == 5:
        del data[place : place + length]
    elif kind == 6:
        data[place:place] = data[place : place + length] * int(rng.choice([1, 1, 100]))
    elif kind == 7:
        data[place : place + 512] = bytes(len(data[place : place + 512]))  # a hole, as after a crash of the system
    elif kind == 8:
        start = int(rng.integers(len(data)))  # a block of the file in the place of another
        data[place : place + length] = data[start : start + length]
    else:
        number = int(rng.choice(NUMBERS)) % 2**64
        data[place : place + 8] = number.to_bytes(8, "little")[: len(data[place : place + 8])]
    path.write_bytes(bytes(data))


def _word(path: Path, rng: Rng) -> None:
    """A hostile word in place of, before or after a word of a text."""
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    word = str(rng.choice(np.array(WORDS, dtype=object)))
    place = int(rng.integers(len(text) + 1))
    end = place + int(rng.choice([0, 0, 1, 4, 12]))
    path.write_bytes((text[:place] + word + text[end:]).encode("utf-8", "surrogateescape"))


def _number_in_text(path: Path, rng: Rng) -> None:
    """A hostile number in place of one that the text holds, in its first lines as a rule."""
    words = path.read_bytes().split(b" ")
    indices = [i for i, word in enumerate(words) if word.strip(b"\n,()").isdigit()]
    if indices:
        words[indices[int(rng.integers(min(len(indices), 8)))]] = str(int(rng.choice(NUMBERS))).encode()
        path.write_bytes(b" ".join(words))


def _recoded(path: Path, rng: Rng) -> None:
    text = path.read_bytes().decode("utf-8", "replace").replace("town", "tôwn")
    path.write_bytes(text.encode(str(rng.choice(["utf-16", "utf-16-le", "cp1252", "utf-8-sig", "utf-8"])), "replace"))


def _line_ends(path: Path, rng: Rng) -> None:
    path.write_bytes(path.read_bytes().replace(b"\n", bytes(rng.choice(np.array([b"\r\n", b"\r", b"\n \n"], object)))))


def _fields(path: Path, rng: Rng) -> None:
    """Lines or fields of a delimited text: left out, doubled, swapped or quoted."""
    data = path.read_bytes()
    delimiter = max((b",", b";", b"\t", b"|", b" "), key=data.count)
    lines = data.split(b"\n")
    row = int(rng.integers(len(lines))) if rng.random() < 0.6 else 0
    fields = lines[row].split(delimiter)
    place, kind = int(rng.integers(len(fields))), int(rng.integers(7))
    if kind == 0:
        del fields[place]
    elif kind == 1:
        fields.insert(place, fields[place])
    elif kind == 2:
        fields[place] = fields[-1]
    elif kind == 3:
        fields[place] = b'"' + fields[place] + b'"'
    elif kind == 4:
        fields[place] = b'"' + fields[place].replace(b".", b'""') + b"\n" + fields[place] + b'"'
    lines[row] = delimiter.join(fields)
    if kind == 5:
        lines.insert(row, lines[row])
    elif kind == 6:
        del lines[row]
    path.write_bytes(b"\n".join(lines))


def _market_header(path: Path, rng: Rng) -> None:
    """Another kind of matrix over the same numbers."""
    _, _, rest = path.read_bytes().partition(b"\n")
    words = [
        str(rng.choice(choices))
        for choices in (["coordinate", "array"], ["real", "integer", "complex", "pattern"],
                        ["general", "symmetric", "skew-symmetric", "hermitian"])
    ]  # fmt: skip
    path.write_bytes(b"%%MatrixMarket matrix " + " ".join(words).encode() + b"\n" + rest)


def _npy_header(path: Path, rng: Rng) -> None:
    header: dict[str, Any] = {"descr": "<f8", "fortran_order": False, "shape": (40, 5)}
    kind = int(rng.integers(4))
    if kind == 0:
        header["shape"] = tuple(int(rng.choice(NUMBERS)) for _ in range(int(rng.integers(4))))
    elif kind == 1:
        header["descr"] = str(rng.choice(["|O", "<c16", "<f16", "|b1", "<U4", "<M8[s]", "|V8", ">f8", "<i8", "<f2"]))
    elif kind == 2:
        header["fortran_order"] = not header["fortran_order"]
    else:
        header["shape"] = (5, 40)
    body = path.read_bytes()[-1600:]
    stream = io.BytesIO()
    text = (repr(header) + "\n").encode()
    stream.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body)
    path.write_bytes(stream.getvalue())


def _pickled(path: Path, rng: Rng) -> None:
    if path.suffix == ".npy":
        with path.open("wb") as file:
            np.save(file, np.array([[1, {}], [2, 3]], object), allow_pickle=True)
    else:
        path.write_bytes(pickle.dumps([[1.0, 2.0]] * int(rng.integers(1, 9))))


def _archive(path: Path, rng: Rng) -> None:
    """The members of an .npz written again: one changed, renamed, doubled, nested or blown up."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = str(rng.choice(sorted(members)))
    kind = int(rng.integers(6))
    extra: list[tuple[str, bytes]] = []
    if kind == 0:
        extra = [(name, members[name])]
    elif kind == 1:
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w") as nested:
            nested.writestr(name, members[name])
        members[name] = inner.getvalue()
    elif kind == 2:
        members["../" + name] = members.pop(name)
    elif kind == 3:
        members[name] += b"\0" * 80_000_000
    elif kind == 4:
        members.pop(name)
    else:
        array = np.load(io.BytesIO(members[name]), allow_pickle=False)
        members[name] = _saved(_lying(array, rng))
    _write_archive(path, [*members.items(), *extra])


def _write_archive(path: Path, members: list[tuple[str, bytes]]) -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a name that is there twice
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members:
                archive.writestr(name, content)


def _saved(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _lying(array: np.ndarray, rng: Rng) -> np.ndarray:
    """An array of indices or sizes with a lie: one entry, its type, its length or its order."""
    if array.dtype.kind == "S":
        return np.array(rng.choice(np.array([b"csr", b"csc", b"coo", b"bsr", b"dia", b"xyz", b"\0\0\0"], object)))
    kind = int(rng.integers(6))
    if kind <= 1 and array.size:
        array = array.astype(np.int64) if array.dtype.kind in "iu" else array.copy()
        number = int(rng.choice(NUMBERS))
        array.flat[int(rng.integers(array.size))] = number
    elif kind == 2:
        array = array.astype(str(rng.choice(["bool", "f8", "u8", "i1", "f2", "c16"])))
    elif kind == 3:
        array = array[: int(rng.integers(array.size))] if array.ndim else array
    elif kind == 4:
        array = array[::-1].copy() if array.ndim else array
    else:
        array = array.reshape(1, *array.shape)
    return array


def _hdf5(path: Path, rng: Rng) -> None:
    with h5py.File(path, "r+") as file:
        found: list[str] = []
        file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
        name = str(rng.choice(sorted(found)))
        array = file[name][...]
        kind = int(rng.integers(9))
        if kind == 0 and "X" in file and isinstance(file["X"], h5py.Group):
            shape = [int(rng.choice(NUMBERS)) for _ in range(int(rng.choice([1, 2, 2, 2, 3])))]
            file["X"].attrs["shape"] = shape
            return
        parent, _, last = name.rpartition("/")
        group = file[parent] if parent else file
        del group[last]
        if kind == 1:
            group[last] = h5py.ExternalLink("other.h5", "/X")
        elif kind == 2:
            group[last] = h5py.SoftLink(str(rng.choice(["/" + name, "/obs/_index", "/nowhere"])))
        elif kind == 3:
            group.create_dataset(last, array.shape, array.dtype, external=[("raw.bin", 0, array.nbytes)])
        elif kind == 4 and array.dtype.kind != "O":
            layout = h5py.VirtualLayout(array.shape, array.dtype)
            layout[...] = h5py.VirtualSource("lost.h5", "X", array.shape)
            group.create_virtual_dataset(last, layout)
        elif kind == 5:
            group.create_dataset(last, (2**40, *array.shape[1:]), array.dtype, chunks=(16, *array.shape[1:]))
        elif kind == 6:
            pass
        else:
            group.create_dataset(last, data=_lying(array, rng) if array.dtype.kind in "iufb" else array)


def _folder(path: Path, rng: Rng) -> None:
    """A Zarr store: a chunk is damaged, lost or a link, or the metadata lie."""
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.is_symlink())
    meta = [file for file in files if file.name in ("zarr.json", ".zarray", ".zattrs", ".zgroup")]
    chunks = [file for file in files if file not in meta] or files
    kind = int(rng.integers(8))
    file = chunks[int(rng.integers(len(chunks)))]
    if kind == 0:
        file.unlink()
    elif kind == 1:
        target = path.parent / f"{path.name}.moved"
        file.replace(target)
        file.symlink_to(target)
    elif kind <= 3:
        _bytes(file, rng)
    elif kind == 4:
        _bytes(meta[int(rng.integers(len(meta)))], rng)
    else:
        _json(meta[int(rng.integers(len(meta)))], rng)


def _json(file: Path, rng: Rng) -> None:
    """One value of a JSON document replaced by a hostile one."""
    document = json.loads(file.read_text())
    indices: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            indices.append((node, key))
            if isinstance(value, dict | list):
                walk(value)

    walk(document)
    if not indices:
        return
    node, key = indices[int(rng.integers(len(indices)))]
    hostile: list[Any] = [
        int(rng.choice(NUMBERS)),
        None,
        "x",
        [],
        {},
        "../../etc",
        -1,
        1e308,
        [2**40, 5],
        "<f4",
        "gzip",
    ]
    node[key] = hostile[int(rng.integers(len(hostile)))]
    file.write_text(json.dumps(document))


def _table(path: Path, rng: Rng) -> None:
    """A Parquet or Arrow table of the same numbers with columns that are harder to read."""
    packed = path.suffix == ".parquet"
    if path.read_bytes()[:4] == b"FEA1":
        raise ValueError("pyarrow does not survive a damaged file of Feather's first version")
    table = parquet.read_table(path) if packed else feather.read_table(path, memory_map=False)
    table.validate(full=True)  # pyarrow reads damaged tables, and writing them can end the process
    changed = _changed(table, rng)
    if packed:
        codec = str(rng.choice(["none", "snappy", "zstd", "gzip"]))
        parquet.write_table(changed, path, row_group_size=int(rng.choice([1, 7, 100])), compression=codec)
    else:
        codec = str(rng.choice(["uncompressed", "lz4", "zstd"]))
        feather.write_feather(changed, path, codec, chunksize=int(rng.choice([1, 7, 100])))


def _changed(table: Any, rng: Rng) -> Any:
    kind, first, rows = int(rng.integers(12)), table.column(0), len(table)
    if kind == 0:
        return table.rename_columns(["same"] * table.num_columns)
    if kind == 1:
        return table.append_column("nested", pa.array([{"a": i} for i in range(rows)]))
    if kind == 2:
        values = [None if i == 3 else value for i, value in enumerate(first.to_pylist())]
        return table.set_column(0, table.column_names[0], pa.array(values, first.type))
    if kind == 3:
        values = [int(rng.choice(NUMBERS))] + [1] * (rows - 1)
        return table.set_column(1, table.column_names[1], pa.array(values, pa.int64()))
    if kind == 4:
        return table.rename_columns([f"a.{i}" if i else "a" for i in range(table.num_columns)])
    if kind == 5:
        return table.slice(0, 0)
    if kind == 6:
        return table.append_column("none", pa.nulls(rows))
    if kind == 7:
        values = [float(rng.choice([np.nan, np.inf, -np.inf, 1e308, 5e-324])) for _ in range(rows)]
        return table.set_column(0, table.column_names[0], pa.array(values, pa.float64()))
    if kind == 8:
        names = ["row", "column", "value", *(f"c{j}" for j in range(table.num_columns))]
        return table.select(range(min(3, table.num_columns))).rename_columns(names[: min(3, table.num_columns)])
    if kind == 9:
        return table.slice(int(rng.integers(rows)))
    if kind == 10:
        return pa.concat_tables([table, table.slice(0, 0), table])
    return table.append_column("code", first.combine_chunks().dictionary_encode())


Mutation = Callable[[Path, Rng], None]
_TEXT: list[Mutation] = [_word, _word, _fields, _fields, _recoded, _line_ends, _pickled]
SPECIAL: dict[str, list[Mutation]] = {
    ".csv": _TEXT,
    ".tsv": _TEXT,
    ".txt": _TEXT,
    ".mtx": [_word, _number_in_text, _number_in_text, _market_header, _line_ends, _pickled],
    ".npy": [_npy_header, _npy_header, _pickled],
    ".npz": [_archive, _archive, _archive, _pickled],
    ".parquet": [_table],
    ".arrow": [_table],
    ".feather": [_table],
    ".h5": [_hdf5],
    ".h5ad": [_hdf5],
}
