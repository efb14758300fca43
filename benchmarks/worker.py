"""A process that makes data and calls: `python -m benchmarks.worker FAMILIES`.

Requests and answers are lines of JSON: {"case": number} makes the data, {"peer": name, "least": seconds} repeats the
call for at least so long.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import Case, cases
from benchmarks.peers import Peer, make, peers, routine


def data_of(case: Case, families: Any) -> Any:
    """The data of a case, the same in every process."""
    rng = np.random.default_rng([families.SEED, case.rows, case.columns])
    data = getattr(families, case.kind)(case.rows, case.columns, rng)
    if isinstance(data, np.ndarray):
        return np.ascontiguousarray(data.astype(case.dtype))
    return data.astype(case.dtype)


def call_of(case: Case, peer: Peer, data: Any) -> Callable[[], Any]:
    """The call to be timed; models that it needs are fitted here."""
    if peer.function:
        return routine(peer, case, data)
    fresh = make(peer, case)
    if case.call == "fit_file":
        return _fit_file(peer, fresh, data)
    if case.estimator == "BackwardElimination":
        labels = data[:, :3].sum(axis=1) > np.median(data[:, :3].sum(axis=1))
        return lambda: fresh().fit(data, labels)
    if case.call == "partial_fit":
        half = data.shape[0] // 2
        return lambda: fresh().partial_fit(data[:half]).partial_fit(data[half:])
    if case.call in ("fit", "fit_transform"):
        return lambda: _called(fresh(), case.call, data)
    model = fresh().fit(data)
    if case.call == "inverse_transform":
        return partial(model.inverse_transform, np.ascontiguousarray(model.transform(data)))
    return partial(getattr(model, case.call), data)


def _called(model: Any, name: str, data: Any) -> Any:
    getattr(model, name)(data)
    return model


def _fit_file(peer: Peer, fresh: Callable[[], Any], data: np.ndarray) -> Callable[[], Any]:
    """The same rows from a .npy file."""
    path = Path(tempfile.gettempdir()) / f"eckart-bench-{os.getpid()}.npy"
    np.save(path, data)
    if peer.package is None:
        return lambda: fresh().set_params(memory="1GB").fit(path)
    return lambda: fresh().fit(np.load(path, mmap_mode="r"))


def quality(case: Case, data: Any, result: Any) -> float | None:
    """What the call achieved, more is better: share of the variance or of the squares, minus the loss, eigenvalues."""
    if case.call == "fit_file" or case.call not in ("fit", "fit_transform", "partial_fit", "to_loss"):
        return None
    if case.estimator == "NMF":
        return -0.5 * float(result.reconstruction_err_) ** 2 if hasattr(result, "reconstruction_err_") else None
    if case.estimator == "KernelPCA":
        return float(np.sum(result.eigenvalues_[:5]))
    if case.estimator not in ("PCA", "IncrementalPCA", "TruncatedSVD"):
        return None
    components = result if isinstance(result, np.ndarray) else result.components_
    basis = np.linalg.qr(np.asarray(components, np.float64).T)[0]
    mean = 0.0 if case.estimator == "TruncatedSVD" else np.asarray(data.mean(axis=0, dtype=np.float64)) @ basis
    held = total = 0.0
    for start in range(0, data.shape[0], 20_000):
        block = data[start : start + 20_000].astype(np.float64)
        held += float(np.sum((block @ basis - mean) ** 2))
        total += float((block**2).sum())
    if case.estimator != "TruncatedSVD":
        total -= data.shape[0] * float(np.sum(np.asarray(data.mean(axis=0, dtype=np.float64)) ** 2))
    return held / total if total > 0.0 else None


class Worker:
    """The state of this process: one case, its data, and the calls made ready so far."""

    def __init__(self, families: str) -> None:
        self.families = importlib.import_module(f"benchmarks.families_{families}")
        self.case: Case | None = None
        self.data: Any = None
        self.calls: dict[str, Callable[[], Any]] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if "case" in request:
            self.case, self.calls, self.data = cases()[request["case"]], {}, None
            self.data = data_of(self.case, self.families)
            return {}
        assert self.case is not None
        peer = next(peer for peer in peers(self.case) if peer.name == request["peer"])
        if self.case.call == "to_loss":
            return self._to_loss(self.case, peer, request)
        if peer.name not in self.calls:
            self.calls[peer.name] = call_of(self.case, peer, self.data)
            result = self.calls[peer.name]()
            return {"quality": quality(self.case, self.data, result)}
        clock = time.process_time if request["clock"] == "processor" else time.perf_counter
        call, count, start = self.calls[peer.name], 0, clock()
        while count == 0 or clock() - start < request["least"]:
            call()
            count += 1
        return {"seconds": (clock() - start) / count}

    def _to_loss(self, case: Case, peer: Peer, request: dict[str, Any]) -> dict[str, Any]:
        """scikit-learn's default fit; ours with the fewest iterations that reach `loss`, and our loss in equal time."""
        fresh = make(peer, case)
        if "loss" not in request:
            return self._timed(fresh)
        iterations, best = 1, None
        while iterations <= 1024:
            found = self._timed(partial(fresh().set_params, max_iter=iterations, tol=0.0))
            if found["seconds"] <= request["within"]:
                best = found["quality"]
            if -found["quality"] <= request["loss"]:
                return {**found, "at_equal_time": best, "iterations": iterations}
            iterations = max(iterations + 1, int(iterations * 1.25))
        return {**found, "at_equal_time": best, "missed": True}

    def _timed(self, fresh: Callable[[], Any]) -> dict[str, Any]:
        fresh().fit(self.data)
        start = time.perf_counter()
        model = fresh().fit(self.data)
        return {"seconds": time.perf_counter() - start, "quality": -0.5 * float(model.reconstruction_err_) ** 2}


def main(families: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    worker = Worker(families)
    for line in sys.stdin:
        try:
            answer = worker.answer(json.loads(line))
        except Exception as error:  # noqa: BLE001 - a peer that fails is a result
            answer = {"failure": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
