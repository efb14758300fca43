"""progress=True: a bar in addition to the callback, for blocks, iterations and passes, with tqdm and with rich."""

import builtins
import logging
from typing import Any

import dask.array as da
import numpy as np
import pytest

import eckart as ek

ROWS = np.random.default_rng(0).normal(size=(2000, 20))


def run(**options: Any) -> ek.Decomposition:
    return ek.decompose(ROWS, k=3, stream=True, memory="1MB", progress=True, **options)


def test_the_bar_counts_blocks_and_the_callback_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[Any] = []
    d = run(callback=seen.append)
    shown = capsys.readouterr().err
    last = seen[-1]
    assert f"pass {d.info.passes} of about" in shown  # type: ignore[union-attr]
    assert f"{last.passes * last.blocks}/{last.passes * last.blocks}" in shown


def test_rich_replaces_tqdm(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_tqdm(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("tqdm"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_tqdm)
    run()
    assert "pass 1 of about 1" in capsys.readouterr().err


def test_data_in_memory_show_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    ek.PCA(3, progress=True).fit(ROWS)
    ek.TruncatedSVD(3, progress=True).fit(ROWS)
    assert capsys.readouterr().err == ""


def test_estimators_count_iterations_passes_and_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    nmf = ek.NMF(2, max_iter=50, random_state=0, progress=True).fit(abs(ROWS))
    assert f"pass {nmf.n_iter_} of about 50" in capsys.readouterr().err
    ek.NMF(2, solver="mu", max_iter=10, tol=0, random_state=0, progress=True).fit(abs(ROWS))
    assert "10/10" in capsys.readouterr().err
    kernel = ek.KernelPCA(2, kernel="rbf", eigen_solver="lanczos", progress=True).fit(ROWS[:600])
    assert f"pass {kernel.decomposition_.info.passes} of about" in capsys.readouterr().err  # type: ignore[union-attr]
    ek.IncrementalPCA(2, progress=True).fit(da.from_array(ROWS, chunks=(500, 20)))
    assert "pass 1 of about 1" in capsys.readouterr().err


def test_the_callback_sees_every_iteration_in_memory() -> None:
    seen: list[Any] = []
    d = ek.decompose(abs(ROWS), "nmf", k=2, max_iter=50, callback=seen.append)
    passes = [one.current_pass for one in seen]
    assert passes == sorted(set(passes))  # an iteration that raised the objective is undone and not reported
    assert 0 < passes[-1] <= d.details.iterations <= 50
    assert seen[0].seconds_left > 0


def test_methods_without_passes_refuse_it() -> None:
    with pytest.raises(ek.errors.ParameterError, match="Leave out progress="):
        ek.decompose(ROWS, "isomap", progress=True)


def test_the_logger_reports_solver_passes_and_result(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="eckart"):
        ek.decompose(ROWS, k=3, stream=True, memory="1MB")
    levels = {record.levelname for record in caplog.records}
    text = " ".join(record.getMessage() for record in caplog.records)
    assert levels == {"DEBUG", "INFO"}
    assert "Solver 'gram'" in text
    assert "pca of 2,000 x 20: 3 components, solver 'gram'" in text
