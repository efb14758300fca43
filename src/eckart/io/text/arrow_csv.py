"""PyArrow's CSV parser for bytes in memory.

`csv.read_csv` returns before its threads have released the bytes: in a third of the calls, by up to 10 ms. A thread
that releases an object of Python while the interpreter shuts down aborts the process ("terminate called without an
active exception").
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import csv

_PATIENCE = 1.0
"""Maximum number of seconds to wait for the threads: another thread of the caller may hold the bytes too."""


def read_csv(
    data: bytes, read: csv.ReadOptions, parse: csv.ParseOptions, convert: csv.ConvertOptions, start: int = 0
) -> pa.Table:
    """The table in `data` from byte `start` on, once no thread of PyArrow refers to `data`."""
    import pyarrow as pa
    from pyarrow import csv

    references = sys.getrefcount(data)
    try:
        stream = pa.BufferReader(pa.py_buffer(data).slice(start))
        table = csv.read_csv(stream, read_options=read, parse_options=parse, convert_options=convert)
    finally:
        stream = None
        deadline = time.monotonic() + _PATIENCE
        while sys.getrefcount(data) > references and time.monotonic() < deadline:
            time.sleep(1e-4)
    return table
