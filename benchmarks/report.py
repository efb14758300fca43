"""The report on tables of 10 000 and 1 000 000 rows: time of the whole command, memory, size of the page, and how fluid
the page is in Chromium. Run with `python -m benchmarks.report [--quick]`; --quick leaves the large table out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COMMAND = [sys.executable, "-m", "eckart", "report"]


def table(rows: int, columns: int = 50, components: int = 6) -> np.ndarray:
    """A few axes and noise."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((rows, components)) @ rng.standard_normal((components, columns)) + rng.standard_normal(
        (rows, columns)
    )


def write_csv(path: Path, rows: int) -> Path:
    with path.open("w") as file:
        file.write(",".join(f"v{j}" for j in range(50)) + "\n")
        np.savetxt(file, table(rows), fmt="%.6g", delimiter=",")
    return path


def write_parquet(path: Path, rows: int) -> Path:
    import pyarrow as pa
    from pyarrow import parquet

    numbers = table(rows)
    words = np.array(["north", "south", "east", "west"])[np.arange(rows) % 4]
    parquet.write_table(pa.table({f"v{j}": numbers[:, j] for j in range(50)} | {"region": words}), path)
    return path


def measured(data: Path, *more: str) -> dict[str, float]:
    """Seconds, processor seconds and peak memory of one run in a new process, and the size of the page."""
    page = data.with_suffix(".html")
    started = time.perf_counter()
    process = subprocess.Popen([*COMMAND, str(data), "-o", str(page), "--force", *more], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)  # fmt: skip
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"eckart report {data} failed with code {process.returncode}")
    seconds = time.perf_counter() - started
    processor = used.ru_utime + used.ru_stime
    return {"seconds": seconds, "processor": processor, "memory": used.ru_maxrss * 1024, "page": page.stat().st_size}


def fluid(page: Path) -> dict[str, float]:
    """Seconds until the page is drawn; median milliseconds for another plane, and to name the row under the pointer."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    from browser import CHROMIUM, Browser

    if CHROMIUM is None:
        return {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(Path(folder))
        try:
            browser.open(page)
            first = float(browser.js("performance.now()"))
            planes = browser.js("""(async () => { const times = [];
                const up = document.querySelector('select[name=up]');
                for (let i = 0; i < 9; i++) { up.value = String(1 + i % 4); const start = performance.now();
                up.dispatchEvent(new Event('change', {bubbles: true}));
                await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
                times.push(performance.now() - start); } return times; })()""")
            box = browser.js("""(() => { const node = document.getElementById('plane'); node.scrollIntoView();
                const box = node.getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; })()""")
            moves = []
            for i in range(40):
                start = time.perf_counter()
                browser.mouse("mouseMoved", box[0] + box[2] * (0.2 + 0.015 * i), box[1] + box[3] * 0.5)
                moves.append(1000 * (time.perf_counter() - start))
            assert not browser.complaints, browser.complaints
        finally:
            browser.close()
    return {"drawn": first / 1000, "plane": float(np.median(planes)), "pointer": float(np.median(moves))}


def context(name: str, limits: str, run: dict[str, float], page: dict[str, float]) -> None:
    print(f"{name}: {run['seconds']:.2f} s ({run['processor']:.2f} s of processor), {run['memory'] / 1e9:.2f} GB, "
          f"page {run['page'] / 1e6:.2f} MB   [{limits}]")  # fmt: skip
    if page:
        print(f"  in Chromium: drawn after {page['drawn']:.2f} s, another plane in {page['plane']:.0f} ms, "
              f"pointer answered in {page['pointer']:.0f} ms")  # fmt: skip
    else:
        print("  Chromium is not installed; the page was not opened.")


def main() -> None:
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        small = write_csv(Path(folder) / "small.csv", 10_000)
        run = min((measured(small, "-k", "10") for _ in range(3)), key=lambda found: found["seconds"])
        results["10 000 x 50 CSV"] = {**run, **(page := fluid(small.with_suffix(".html")))}
        context("10 000 x 50 CSV, 10 axes", "under 6 s cold, under 3 MB", run, page)
        if "--quick" not in sys.argv:
            large = write_parquet(Path(folder) / "large.parquet", 1_000_000)
            run = measured(large)
            results["1 000 000 x 50 Parquet"] = {**run, **(page := fluid(large.with_suffix(".html")))}
            context("1 000 000 x 50 Parquet", "under 60 s, under 3 GB, page under 8 MB, fluid", run, page)
    place = Path(__file__).parent / "results"
    place.mkdir(exist_ok=True)
    (place / "report.json").write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
