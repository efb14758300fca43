"""Heartbeats of Dask workers: a worker whose process is stopped keeps its connections, so Dask waits for it.

Dask removes such a worker after `distributed.scheduler.worker-ttl`, by default five minutes. Nothing else would end a
pass that needs one of its blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def heartbeat_probe() -> Callable[..., Any]:
    """A function of the scheduler: seconds since the last heartbeat of any worker, or None without workers.

    It also removes the workers that have not answered for `patience` seconds and that hold tasks of `client`, if other
    workers answer; they then repeat these tasks. It is sent by value, so that a scheduler without Eckart can run it.
    """

    async def probe(client: str, patience: float, dask_scheduler: Any = None) -> float | None:
        from distributed.metrics import time

        now = time()
        silent = {worker: float(now - worker.last_seen) for worker in dask_scheduler.workers.values()}
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
