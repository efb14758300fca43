"""Typed names of scikit-learn's base classes: those it has, and a client that a type checker must refuse."""

import inspect
import tomllib
from pathlib import Path

import sklearn.base
import sklearn.feature_selection

from eckart.estimators import sklearn_base

ROOT = Path(__file__).parents[2]


def test_declared_methods_exist() -> None:
    """At run time the classes are scikit-learn's own or inherit from them: what is declared must be theirs."""
    for name in sklearn_base.__all__:
        own = getattr(sklearn.base, name, None) or getattr(sklearn.feature_selection, name)
        assert issubclass(getattr(sklearn_base, name), own)
    declared = inspect.getsource(sklearn_base)
    assert "def set_params" in declared
    for method in ("get_params", "set_params", "_validate_params", "__sklearn_tags__"):
        assert callable(getattr(sklearn.base.BaseEstimator, method))
    for method in ("get_support", "get_feature_names_out", "transform", "inverse_transform", "fit_transform"):
        assert callable(getattr(sklearn.feature_selection.SelectorMixin, method))


def test_misspelled_options_are_refused_by_type_checkers() -> None:
    """`make lint` checks the client with mypy: an error that it expects and does not find is an error."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert "tests/estimators/typed_client.py" in settings["files"]
    assert settings["strict"]  # unused "type: ignore" comments are errors
    client = (ROOT / "tests" / "estimators" / "typed_client.py").read_text(encoding="utf-8")
    assert client.count("# type: ignore[call-arg]") + client.count("# type: ignore[call-overload]") >= 6
