"""One peer in its own process: `python -m benchmarks.worker PEER METHOD K DATA`.

It says when the data are loaded; then each line on standard input asks for one call. Answers are lines of JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.peers import find


def memory(field: str) -> int:
    """Bytes of this process: VmRSS now, VmHWM at its highest."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def load(path: str) -> Any:
    return sp.csr_array(sp.load_npz(path)) if path.endswith(".npz") else np.load(path)


def main(name: str, method: str, k: str, path: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    number = float(k) if "." in k else int(k)
    peer = find(name, method)
    package, data = peer.load(), load(path)
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for _ in sys.stdin:
        np.random.seed(0)  # noqa: NPY002 - fbpca draws from the global generator
        forget_peak()
        before, start = memory("VmRSS"), time.perf_counter()
        answer: dict[str, Any]
        try:
            values = peer.fit(package, data, number)
            seconds = time.perf_counter() - start
            answer = {"seconds": seconds, "values": np.asarray(values, np.float64).tolist()}
        except Exception as error:  # noqa: BLE001 - a peer that fails is a result
            answer = {"failure": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
        answer["peak"] = max(memory("VmHWM") - before, 0)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
