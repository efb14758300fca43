"""Numbers that no decomposition has are refused by name; whatever is loaded can be shown, projected and reported."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eckart as ek
from eckart.errors import EckartError, ModelFileError

_TABLE = np.abs(np.random.default_rng(0).standard_normal((20, 5))) + 0.1
_MODELS = {
    "pca": {"k": 2, "scale": True, "left": True, "sample_weight": np.arange(1.0, 21.0)},
    "svd": {"k": 2},
    "nmf": {"k": 2},
    "cur": {"k": 2},
    "kernel_pca": {"k": 2, "kernel": "rbf", "gamma": 0.3},
    "isomap": {"k": 2, "n_neighbors": 6},
}
_NUMBERS = (np.nan, np.inf, -1.0, 0.0, 1e300)


@cache
def _model(method: str) -> ek.Decomposition:
    options: dict[str, Any] = _MODELS[method]
    return ek.decompose(_TABLE, method, **options)


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """(place, number or array) of every number in a result."""
    if isinstance(value, bool | str) or value is None:
        return
    if isinstance(value, int | float | np.ndarray):
        yield place, value
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _places(getattr(value, field.name), (*place, field.name))
    elif isinstance(value, tuple | dict):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(item, (*place, key))


def _with(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    """A copy of the value with another number in one place."""
    if not place:
        return new
    first, *rest = place
    if dataclasses.is_dataclass(value):
        return dataclasses.replace(value, **{first: _with(getattr(value, first), tuple(rest), new)})  # type: ignore[type-var]
    item = _with(value[first], tuple(rest), new)
    return value | {first: item} if isinstance(value, dict) else (*value[:first], item, *value[first + 1 :])


def _changed(number: Any) -> Iterator[Any]:
    """The number replaced by each of `_NUMBERS`; arrays with one such entry, only such entries, or another length."""
    for new in _NUMBERS:
        if isinstance(number, np.ndarray) and number.size and (number.dtype.kind == "f" or new in (-1.0, 0.0)):
            last = number.copy()
            last.flat[-1] = new
            yield last
            yield np.full_like(number, new)
        elif not isinstance(number, np.ndarray):
            yield int(new) if isinstance(number, int) and new in (-1.0, 0.0) else new
    if isinstance(number, np.ndarray) and number.ndim:
        yield from (number[:-1], np.concatenate([number, number[:1]]), number[None])


def _use(d: ek.Decomposition) -> None:
    """Every view of a result; only errors of Eckart are expected."""
    for view in (
        lambda: str(d),
        lambda: repr(d) + d._repr_html_() + str(d.certificate) + str(d.plan),
        lambda: (d.explained_variance_ratio, d.explained_variance, d.total_variance),
        lambda: ek.reconstruct(d, ek.project(d, _TABLE)),
        d.summary,
        *(
            lambda table=table: str(table(d))
            for table in (ek.tables.eigenvalues, ek.tables.loadings, ek.tables.outliers)
        ),
    ):
        with contextlib.suppress(EckartError):
            view()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("field", ["values", "norm", "weight", "scale", "certificate", "details"])
@pytest.mark.parametrize("method", _MODELS)
def test_impossible_numbers_are_refused_or_do_no_harm(tmp_path: Path, method: str, field: str) -> None:
    d = _model(method)
    for place, number in _places(getattr(d, field), (field,)):
        for new in _changed(number):
            with np.errstate(all="ignore"):
                try:
                    _with(d, place, new).save(tmp_path / "m", overwrite=True)
                    found = ek.load(tmp_path / "m")
                except EckartError:
                    continue
                _use(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": np.array([-1.0, 1.0])}, "values contains -1, but it must be zero or positive"),
        ({"norm": np.nan}, "norm is nan, but it must be zero or positive, and finite"),
        ({"norm": 1e-3}, "the norm .* is smaller than that of the singular values alone"),
        ({"weight": 0.0}, "weight is 0, but it must be positive"),
        ({"rank": -1}, "rank is -1, but it must be zero or positive"),
    ],
)
def test_the_refusal_names_the_field(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        dataclasses.replace(_model("svd"), **change).save(tmp_path / "m")


@pytest.mark.parametrize("method", ["cur", "nmf", "kernel_pca", "isomap"])
def test_values_far_above_the_norm_are_refused(tmp_path: Path, method: str) -> None:
    d = _model(method)
    with pytest.raises(ModelFileError, match=r"values|norm"):
        dataclasses.replace(d, values=d.values * 1e300).save(tmp_path / "m")


@pytest.mark.parametrize(
    ("name", "new", "message"),
    [
        ("upper", np.array([1e300, 1e300]), "certificate.upper contains 1e.300, but no singular value"),
        ("explained", (0.5, 1.5), "certificate.explained is 1.5, but it must be between 0 and 1"),
        ("explained", (0.6, 0.5), "a lower bound of the certificate is larger than the upper bound"),
        ("failure_probability", -0.5, "certificate.failure_probability is -0.5"),
    ],
)
def test_impossible_certificates_are_refused(tmp_path: Path, name: str, new: object, message: str) -> None:
    d = _model("svd")
    assert d.certificate is not None
    certificate = dataclasses.replace(d.certificate, **{name: new})  # type: ignore[arg-type]
    with pytest.raises(ModelFileError, match=message):
        dataclasses.replace(d, certificate=certificate).save(tmp_path / "m")


def test_norms_near_overflow_are_saved(tmp_path: Path) -> None:
    d = ek.decompose(_TABLE * 1e300, k=2)
    d.save(tmp_path / "m")
    assert ek.load(tmp_path / "m").norm == d.norm
    with np.errstate(over="ignore", invalid="ignore"):  # variances overflow
        _use(ek.load(tmp_path / "m"))
