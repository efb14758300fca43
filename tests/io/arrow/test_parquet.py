"""Footers of Parquet files that contradict themselves and truncated Arrow streams, read whole and in blocks."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import eckart as ek
from eckart.errors import FileError


def with_footer_changed(path: Path, before: bytes, after: bytes) -> Path:
    """20 rows of a, b, c in two row groups; the first place in the footer that reads `before` reads `after`."""
    parquet.write_table(pa.table({c: np.arange(20.0) + i for i, c in enumerate("abc")}), path, row_group_size=10)
    content = bytearray(path.read_bytes())
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    place = content.index(before, footer)
    content[place : place + len(after)] = after
    path.write_bytes(content)
    return path


# Thrift's compact protocol: a field is a byte (distance to the last field, type), numbers are zigzag varints.
OPTIONAL, REQUIRED = b"\x25\x02", b"\x25\x00"
ROWS_20, ROWS_12 = b"\x16\x28", b"\x16\x18"
HISTOGRAM = "histogram" if int(pa.__version__.partition(".")[0]) >= 20 else "Unexpected end of stream"
"""Older versions of PyArrow write no histograms of levels, and see that the levels are missing."""


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (OPTIONAL, REQUIRED, HISTOGRAM),  # PyArrow ends the process when it is asked for the metadata of the column
        (ROWS_20, ROWS_12, "the row groups have 20 rows, but the file declares 12"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_footer_that_contradicts_itself_is_refused(
    tmp_path: Path, before: bytes, after: bytes, words: str, stream: bool
) -> None:
    path = with_footer_changed(tmp_path / "x.parquet", before, after)
    with pytest.raises(FileError, match=words):
        ek.decompose(path, k=1, stream=stream)


def test_batches_are_read_as_pyarrow_reads_the_whole(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    columns = {name: rng.standard_normal(300_000) for name in "abc"} | {"kind": rng.integers(0, 3, 300_000).astype(str)}
    parquet.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=70_000)
    opened = ek.open_data(tmp_path / "x.parquet")
    expected = parquet.read_table(tmp_path / "x.parquet", columns=list("abc")).to_pandas().to_numpy()
    assert np.array_equal(np.asarray(opened.matrix), expected)


def test_a_page_that_contradicts_its_checksum_is_refused(tmp_path: Path) -> None:
    path, values = tmp_path / "a.parquet", np.random.default_rng(0).standard_normal(50)
    options = {"write_page_checksum": True, "compression": "none", "use_dictionary": False}
    parquet.write_table(pa.table({"a": values, "b": values}), path, **options)
    assert ek.open_data(path).shape == (50, 2)
    content = bytearray(path.read_bytes())
    content[content.index(values.tobytes()) + 3] ^= 1
    path.write_bytes(content)
    for stream in (False, True):
        with pytest.raises(FileError, match=r"(?i)crc|checksum"):
            ek.decompose(path, k=1, stream=stream)


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
def test_texts_of_any_encoding_name_and_label_the_rows(tmp_path: Path, encoding: str) -> None:
    path, names = tmp_path / "a.parquet", [f"row {i}" for i in range(40)]
    table = pa.table({"name": names, "kind": ["u", "v"] * 20, "a": np.arange(40.0)})
    encodings = {"name": encoding, "kind": encoding, "a": "PLAIN"}
    parquet.write_table(table, path, row_group_size=7, use_dictionary=False, column_encoding=encodings)
    for stream in (False, True):
        source = ek.open_data(path, stream=stream)
        assert source.metadata.row_names == tuple(names)
        assert source.metadata.labels == {"kind": ("u", "v") * 20}


def encrypted(path: Path, values: Any, **options: Any) -> Path:
    encryption = pytest.importorskip("pyarrow.parquet.encryption")

    class Keys(encryption.KmsClient):  # type: ignore[name-defined, misc]
        def __init__(self, _connection: object) -> None:
            super().__init__()

        def wrap_key(self, key: bytes, _name: str) -> bytes:
            return base64.b64encode(key)

    configuration = encryption.EncryptionConfiguration(footer_key="footer", **options)
    factory = encryption.CryptoFactory(Keys)
    properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), configuration)
    with parquet.ParquetWriter(path, values.schema, encryption_properties=properties) as writer:
        writer.write_table(values)
    return path


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("column", ["x", "name"])
@pytest.mark.parametrize("plaintext_footer", [False, True])
def test_encrypted_files_are_refused_with_the_remedy(
    tmp_path: Path, plaintext_footer: bool, column: str, stream: bool
) -> None:
    values = pa.table({"name": list("abcd"), "x": [1.0, 2.0, 3.0, 5.0], "y": [2.0, 1.0, 0.0, 1.0]})
    options = {"column_keys": {"key": [column]}, "plaintext_footer": plaintext_footer}
    path = encrypted(tmp_path / "a.parquet", values, **options)
    with pytest.raises(FileError, match=r"is encrypted, and Eckart has no key. .*save it without encryption"):
        ek.decompose(path, k=1, stream=stream)


@pytest.mark.parametrize("stream", [False, True])
def test_encrypted_entries_are_refused_with_the_remedy(tmp_path: Path, stream: bool) -> None:
    values = pa.table({"row": [0, 1, 2], "column": [0, 1, 1], "value": [1.0, 2.0, 3.0]})
    options = {"column_keys": {"key": ["value"]}, "plaintext_footer": True}
    path = encrypted(tmp_path / "a.parquet", values, **options)
    with pytest.raises(FileError, match="is encrypted"):
        ek.decompose(path, "svd", k=1, stream=stream)


@pytest.mark.parametrize("group", [1, 30])
def test_texts_in_two_encodings_name_the_rows(tmp_path: Path, group: int) -> None:
    """Row groups with dictionaries before those that PyArrow reads only as strings."""
    path, names = tmp_path / "a.parquet", [f"row {i}" for i in range(60)]
    columns = {"name": names, "kind": ["u", "v"] * 30, "a": np.arange(60.0)}
    encodings = {"name": "DELTA_BYTE_ARRAY", "a": "PLAIN"}
    parquet.write_table(
        pa.table(columns), path, row_group_size=group, use_dictionary=["kind"], column_encoding=encodings
    )
    for stream in (False, True):
        source = ek.open_data(path, stream=stream)
        assert source.metadata.row_names == tuple(names)
        assert source.metadata.labels == {"kind": ("u", "v") * 30}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_types_that_pyarrow_does_not_support_are_refused_with_a_remedy(
    tmp_path: Path, suffix: str, stream: bool
) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1.0, 2.0], "i": polars.Series([1, 2], dtype=polars.Int128)})
    path = tmp_path / f"a.{suffix}"
    try:
        (frame.write_parquet if suffix == "parquet" else frame.write_ipc)(path)
    except polars.exceptions.ComputeError as error:
        pytest.skip(f"this version of polars: {error}")
    with pytest.raises(FileError, match="more than 64 bits") as caught:
        ek.decompose(path, k=1, stream=stream)
    assert "columns of type int64 or float64" in str(caught.value)
    assert "broken" not in str(caught.value)


def arrow_stream(*, legacy: bool = False) -> bytes:
    """30 rows in three batches, with a dictionary."""
    table = pa.table({"a": np.arange(30.0), "b": np.arange(30.0) ** 2, "kind": pa.array(["x", "y", "z"] * 10)})
    table = table.set_column(2, "kind", table.column("kind").dictionary_encode())
    out, options = io.BytesIO(), ipc.IpcWriteOptions(use_legacy_format=legacy)
    with ipc.new_stream(out, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=10)
    return out.getvalue()


def message_ends(content: bytes) -> list[int]:
    """Bytes up to the end of every message: schema, dictionary and batches."""
    source = pa.BufferReader(content)
    reader, ends = ipc.MessageReader.open_stream(source), []
    try:
        while True:
            reader.read_next_message()
            ends.append(source.tell())
    except StopIteration:
        return ends


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("legacy", [False, True])
def test_an_arrow_stream_cut_between_two_batches_is_refused(tmp_path: Path, legacy: bool, stream: bool) -> None:
    """PyArrow reads it as a shorter table."""
    content, path = arrow_stream(legacy=legacy), tmp_path / "x.arrow"
    path.write_bytes(content)
    assert ek.decompose(path, k=1, stream=stream).rows == 30
    ends = message_ends(content)
    assert len(ends) == 5
    for end in ends:
        path.write_bytes(content[:end])
        ipc.open_stream(pa.BufferReader(content[:end])).read_all()
        with pytest.raises(FileError, match="no end marker"):
            ek.decompose(path, k=1, stream=stream)
        with pytest.raises(FileError, match="no end marker"):
            ek.decompose(io.BytesIO(content[:end]), k=1, format="arrow")


def test_two_arrow_streams_in_one_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.arrow").write_bytes(arrow_stream() * 2)
    with pytest.raises(FileError, match=r"extra bytes after the end of its Arrow stream"):
        ek.decompose(tmp_path / "x.arrow", k=1)


def test_a_stream_cannot_claim_more_memory_than_its_file_has(tmp_path: Path) -> None:
    """PyArrow allocates the metadata of a message before it reads them."""
    (tmp_path / "x.arrow").write_bytes(b"FEAD" + arrow_stream()[4:])  # a message of 1.1 GB
    before = pa.default_memory_pool().max_memory()
    with pytest.raises(FileError, match="broken Arrow file"):
        ek.decompose(tmp_path / "x.arrow", k=1)
    assert pa.default_memory_pool().max_memory() < before + 2**26
