"""What holds for every test: no windows, repeatable examples, a word about what was not run."""

import gc
import importlib.metadata
import importlib.util
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("MPLBACKEND", "Agg")

# No time is asserted, that of drawing an example included: on a busy machine one pause fails the check.
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")


_MARKED = {
    "gpu": ("/gpu/",),
    "browser": ("browser", "worked/test_as_html"),
    "cluster": ("cluster",),
    "slow": ("/anomalies/", "test_adversary"),
}
"""Marker -> parts of paths whose tests get it."""


def pytest_configure(config: pytest.Config) -> None:
    """One BLAS thread for each process of `pytest -n`, which inherits this: two that compete take three times as long.

    Tests on threads set their number themselves.
    """
    if config.getoption("dist", "no") != "no":
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            os.environ.setdefault(name, "1")


def _accept_rng() -> None:
    """The oldest supported SciPy calls the argument `rng` of `random_array` random_state."""
    import numpy as np
    from scipy import sparse

    made = sparse.random_array

    def random_array(*args: object, rng: object = None, **more: object) -> object:
        return made(*args, random_state=np.random.default_rng(rng), **more)  # type: ignore[arg-type]

    sparse.random_array = random_array  # type: ignore[assignment]


if tuple(map(int, importlib.metadata.version("scipy").split(".")[:2])) < (1, 15):
    _accept_rng()


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solutions in English, whatever the locale of the machine; tests of languages choose their own."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their path, and run the slow ones first: at the end, other processes would wait for them."""
    for item in items:
        path = Path(item.path).as_posix().partition("/tests/")[2]
        for name, parts in _MARKED.items():
            if any(part in f"/{path}" for part in parts):
                item.add_marker(name)
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_collection_finish() -> None:
    """Leave the tests and imported modules, about a million objects, out of every later garbage collection."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if importlib.util.find_spec("torch") is None:
        word = "PyTorch is not installed; its tests were skipped (to run them: make test WITH_TORCH=1)"
        terminalreporter.write_line(word)
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        word = "Chromium is not installed; the report was not looked at in a browser (apt-get install chromium)"
        terminalreporter.write_line(word)
