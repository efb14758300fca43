"""Files of the package that `eckart report table.csv` runs: all of them, and those that call other files.

A file counts if one of its functions runs. A file passes the call on if one of its functions calls a function of
another file, directly or through another library. Code that runs while modules are imported does not count.

    python -m benchmarks.report_files [SOURCE]

SOURCE is a folder that contains the package `eckart`; by default the installed package is measured. For version 0.1
(commit c8a4880) the counts were 87 files, of which 57 passed the call on.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from types import FrameType

import numpy as np

_IMPORTS = "importlib"


class _Recorder:
    """A profile function that records, for each file of a folder, the files that it calls."""

    def __init__(self, folder: Path) -> None:
        self._folder = f"{folder}{os.sep}"
        self._importing = 0
        self.calls: dict[str, set[str]] = defaultdict(set)

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event in ("call", "return") and (code.co_name == "<module>" or _IMPORTS in code.co_filename):
            self._importing += 1 if event == "call" else -1
        elif event == "call" and not self._importing and code.co_filename.startswith(self._folder):
            self._record(frame, code.co_filename)

    def _record(self, frame: FrameType, called: str) -> None:
        self.calls.setdefault(self._name(called), set())
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(self._folder):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_filename != called:
            self.calls[self._name(caller.f_code.co_filename)].add(self._name(called))

    def _name(self, path: str) -> str:
        return path.removeprefix(self._folder).removesuffix(".py")


def _table(path: Path) -> None:
    """40 rows, a column of names and five columns with one strong component."""
    rng = np.random.default_rng(1)
    values = rng.standard_normal((40, 1)) * np.arange(1, 6) + 0.5 * rng.standard_normal((40, 5))
    rows = [f"r{i}," + ",".join(f"{value:.3f}" for value in row) for i, row in enumerate(values)]
    path.write_text("name,a,b,c,d,e\n" + "\n".join(rows) + "\n", encoding="utf-8")


def called_files(folder: Path) -> dict[str, set[str]]:
    """File -> the files that its functions call, on the way of `eckart report table.csv`."""
    import eckart
    from eckart.cli import main

    _table(folder / "table.csv")
    sys.argv = ["eckart", "report", str(folder / "table.csv"), "-o", str(folder / "report.html")]
    recorder = _Recorder(Path(eckart.__file__).parent)
    sys.setprofile(recorder)
    try:
        main()
    except SystemExit:
        pass
    finally:
        sys.setprofile(None)
    return recorder.calls


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.path.insert(0, sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        calls = called_files(Path(name))
    for file in sorted(calls):
        print(f"{file}: {', '.join(sorted(calls[file])) or '-'}")
    print(f"{len(calls)} files, of which {sum(map(bool, calls.values()))} pass the call on.")
