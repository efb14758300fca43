"""Dask workers that are connected but compute nothing: Dask waits for them.

A worker whose process is stopped sends no heartbeats. Dask removes it after `distributed.scheduler.worker-ttl`, by
default five minutes. A worker that uses too much of its memory is paused: it sends heartbeats, but starts no tasks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def heartbeat_probe() -> Callable[..., Any]:
    """A function of the scheduler: seconds since the last heartbeat of any worker; None if none accepts tasks.

    It also removes the workers that have not answered for `patience` seconds and that hold tasks of `client`, if other
    workers answer; they then repeat these tasks. It is sent by value, so that a scheduler without Eckart can run it.
    """

    async def probe(client: str, patience: float, dask_scheduler: Any = None) -> float | None:
        from distributed.metrics import time

        now = time()
        accepting = [w for w in dask_scheduler.workers.values() if w.status.name == "running" or w.executing]
        silent = {worker: float(now - worker.last_seen) for worker in accepting}
        least: float | None = min(silent.values(), default=None)
        lost = [worker for worker, seconds in silent.items() if seconds > patience]
        if least is None or least > patience or not lost or not dask_scheduler.worker_ttl:
            return least
        tasks, pending = set(), list(dask_scheduler.clients[client].wants_what)
        while pending:
            task = pending.pop()
            if task not in tasks:
                tasks.add(task)
                pending.extend(task.dependencies)
        for worker in lost:
            if any(task.processing_on is worker or worker in (task.who_has or ()) for task in tasks):
                await dask_scheduler.remove_worker(worker.address, stimulus_id=f"eckart-no-heartbeat-{now}")
        return least

    return probe
