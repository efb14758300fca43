"""open_source: any readable file, by its suffix. No suffix leads to a reader that could run code."""

from __future__ import annotations

import dataclasses
import os
from pathlib import PurePath
from typing import BinaryIO

from eckart.engine.blocks.source import MemorySource
from eckart.environment import MAX_EXPANSION
from eckart.errors import FileError, ParameterError
from eckart.io.arrays.npy import ConvertingSource
from eckart.io.bytes import GZIP_MAGIC, OpenedFile, open_path, open_stream, shown
from eckart.io.guard import reading
from eckart.io.read_options import DEFAULT, ReadOptions
from eckart.io.text.layout import TextOptions
from eckart.wording import FORMAT, assigned

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "txt",
    ".dat": "txt",
    ".data": "txt",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".npy": "npy",
    ".npz": "npz",
    ".mtx": "mtx",
}
STORED = {"h5": "hdf5", "hdf5": "hdf5", "h5ad": "hdf5", "he5": "hdf5", "zarr": "zarr"}
"""Formats of files that contain several arrays, which `open_rows` reads by rows."""
_OTHER_READERS = (".h5", ".h5ad", ".zarr", ".duckdb", ".sqlite")
_NAMES = sorted({*FORMATS.values(), "feather", "pq"})
_READ = "Read the file with pandas.{} and pass the data frame, or save the data frame as CSV."
_REMEDIES = {
    **dict.fromkeys(
        (".zip", ".bz2", ".xz", ".zst", ".7z", ".tar"),
        "Unpack the file first: gzip is the only compression that Eckart reads.",
    ),
    ".json": _READ.format("read_json"),
    ".jsonl": _READ.format("read_json(..., lines=True)"),
    ".ndjson": _READ.format("read_json(..., lines=True)"),
    ".dta": _READ.format("read_stata"),
    ".sav": _READ.format("read_spss"),
    ".sas7bdat": _READ.format("read_sas"),
    ".xpt": _READ.format("read_sas"),
    ".orc": _READ.format("read_orc"),
    ".xml": _READ.format("read_xml"),
    ".avro": "Read the file with polars.read_avro and pass the data frame, or save the data frame as CSV.",
    ".arff": "Load the file with scipy.io.arff.loadarff and pass the records.",
    **dict.fromkeys(
        (".svm", ".svmlight", ".libsvm"),
        "Load the file with sklearn.datasets.load_svmlight_file and pass the sparse matrix.",
    ),
    **dict.fromkeys(
        (".nc", ".nc4", ".cdf", ".grib"), "Open the file with xarray.open_dataset and pass one of its variables."
    ),
    ".loom": "Read the file with anndata.io.read_loom and pass the AnnData object.",
    **dict.fromkeys((".pt", ".pth"), "Load the file with torch.load(path, weights_only=True) and pass the tensor."),
    **dict.fromkeys(
        (".png", ".jpg", ".jpeg", ".tif", ".tiff"), "Load the picture as an array and pass its grey values as a matrix."
    ),
    ".html": _READ.format("read_html"),
    ".mat": "Load the file with scipy.io.loadmat and pass the array, or save the array with numpy.save.",
    ".rds": "In R, save the table with write.csv.",
    ".rdata": "In R, save the table with write.csv.",
    ".xlsx": "Save the sheet as CSV.",
    ".xls": "Save the sheet as CSV.",
    ".ods": "Save the sheet as CSV.",
    ".pkl": (
        "A pickle can run code when it is loaded, so Eckart never reads pickles. Save the numbers with numpy.save."
    ),
    ".pickle": (
        "A pickle can run code when it is loaded, so Eckart never reads pickles. Save the numbers with numpy.save."
    ),
    ".joblib": (
        "A pickle can run code when it is loaded, so Eckart never reads pickles. Save the numbers with numpy.save."
    ),
}
_MAGIC = {
    b"\x93NUMPY": "npy",
    b"PK\x03\x04": "npz",
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"FEA1": "arrow",
    b"\xff" * 4: "arrow",
}


def open_source(
    path: str | os.PathLike[str] | BinaryIO,
    options: ReadOptions = DEFAULT,
    *,
    max_expansion: float = MAX_EXPANSION,
    memory: int | None = None,
) -> MemorySource | ConvertingSource:
    """Open a file, or a binary stream, as row blocks with names.

    A compressed file may grow by the factor `max_expansion`. Reading may take `memory` bytes.
    """
    if not max_expansion > 0:
        raise ParameterError(f"max_expansion={max_expansion!r} is not valid: use a positive number.")
    if isinstance(path, str | os.PathLike):
        opened = open_path(path, max_expansion)
        kind = kind_of(options.format, opened.path or "")
    else:
        opened = open_stream(path, max_expansion)
        kind = _kind_of_bytes(opened) if options.format is None else kind_of(options.format, "")
    opened = dataclasses.replace(opened, memory=memory)
    with reading(opened.name):
        source = _read(kind, opened, options)
    title = "data" if opened.path is None else PurePath(opened.path).name
    return dataclasses.replace(source, metadata=dataclasses.replace(source.metadata, name=title))


def _read(kind: str, opened: OpenedFile, options: ReadOptions) -> MemorySource | ConvertingSource:
    if kind == "npy":
        from eckart.io.arrays.npy import read_npy

        return read_npy(opened)
    if kind == "npz":
        from eckart.io.arrays.npz import read_npz

        return read_npz(opened, options.key)
    if kind == "mtx":
        from eckart.io.entries.matrix_market import read_matrix_market

        return read_matrix_market(opened)
    if kind in ("parquet", "arrow"):
        from eckart.io.arrow.parquet import read_arrow, read_parquet

        if kind == "arrow":
            return read_arrow(opened, options.row_names)
        return read_parquet(opened, options.row_names, entries=options.format is None)
    return _read_text(kind, opened, options.text)


def _read_text(kind: str, opened: OpenedFile, options: TextOptions) -> MemorySource:
    from eckart.io.text.delimited import read_delimited

    data = opened.read()
    return read_delimited(data, opened.name, options.with_tabs(data) if kind == "tsv" else options)


def kind_of(format: str | None, path: str) -> str:
    """The given format, or the one of the suffix."""
    if format is not None:
        word = str(format).lower().removeprefix(".").removesuffix(".gz")
        if word not in _NAMES and not (path and word in STORED):
            names = ", ".join(sorted({*_NAMES, *STORED} if path else _NAMES))
            raise ParameterError(f"{assigned('format', format)} is not a supported format. Use one of {names}.")
        return FORMATS.get(f".{word}", word)
    suffix = PurePath(path.lower().removesuffix(".gz")).suffix
    if suffix in FORMATS:
        if path.lower().endswith(".gz") and FORMATS[suffix] not in ("csv", "tsv", "txt", "mtx"):
            raise FileError(
                f"{shown(path)} is compressed, but Eckart reads only uncompressed {suffix} files. "
                "Decompress the file with gunzip first."
            )
        return FORMATS[suffix]
    remedy = _REMEDIES.get(suffix, f"Convert the file, or use {FORMAT} if only its name is unusual.")
    known = " ".join([*FORMATS, *_OTHER_READERS])
    named = f"has the suffix {shown(suffix)}" if suffix else "has no suffix"
    raise FileError(f"{shown(path)} {named}, but Eckart reads only {known}. {remedy}")


def _kind_of_bytes(opened: OpenedFile) -> str:
    """The kind of a stream, from its first bytes, because it has no suffix."""
    head = (opened.content or b"")[:20]
    if head.startswith(GZIP_MAGIC):
        head = opened.read()[:20]
    for magic, kind in _MAGIC.items():
        if head.startswith(magic):
            return kind
    return "mtx" if head.lower().startswith(b"%%matrixmarket") else "csv"
