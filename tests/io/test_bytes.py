"""Files opened by name: what a pipe is refused with, and that the remedy works."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

import eckart as ek
from eckart.errors import FileError


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_by_name_and_read_as_a_stream(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FileError) as refused:
        ek.open_data(pipe)
    assert "open(path, 'rb')" in refused.value.worded("python")
    assert "'-'" in refused.value.worded("cli")
    writer = threading.Thread(target=pipe.write_text, args=("a,b\n1,2\n3,4\n5,7\n",))
    writer.start()
    with pipe.open("rb") as stream:
        found = ek.decompose(stream, k=1)
    writer.join()
    assert found.columns == 2
