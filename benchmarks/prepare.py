"""Data and reference of one workload, made once: `python -m benchmarks.prepare NAME SHRINK FOLDER`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.reference import reference
from benchmarks.workloads import WORKLOADS


def prepare(name: str, shrink: str, folder: str) -> None:
    workload = WORKLOADS[name]
    data = workload.make(int(shrink))
    sparse = sp.issparse(data)
    path = Path(folder) / (f"{name}.npz" if sparse else f"{name}.npy")
    if sparse:
        sp.save_npz(path, data, compressed=False)
    else:
        np.save(path, data)
    entries = int(data.nnz) if sparse else int(data.size)
    facts = {"path": str(path), "shape": data.shape, "entries": entries, "bytes": path.stat().st_size, "sparse": sparse}
    facts["reference"] = reference(data, workload)
    (Path(folder) / f"{name}.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    prepare(*sys.argv[1:])
