"""Shared by all exports to scikit-learn."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from eckart.aliases import Keywords
from eckart.arrays import is_array, to_numpy

_INPUT = ("n_features_in_", "feature_names_in_")


def with_attributes(theirs: object, ours: object, names: tuple[str, ...]) -> Any:
    """`theirs` with copies of the fitted attributes of `ours`."""
    for name in (*names, *_INPUT):
        if hasattr(ours, name):
            value = getattr(ours, name)
            copied = is_array(value) and not isinstance(value, np.generic)
            setattr(theirs, name, to_numpy(value).copy() if copied else value)
    return theirs


def shared_parameters(ours: Any, kind: type) -> Keywords:
    """The parameters of `ours` that scikit-learn's class also has, with the chosen number of components."""
    names = set(inspect.signature(kind).parameters) & set(ours.get_params(deep=False))
    found = {name: getattr(ours, name) for name in names} | {"n_components": ours.n_components_}
    if "random_state" in found:
        found["random_state"] = seed(ours.random_state)
    return found


def seed(random_state: object) -> Any:
    """scikit-learn refuses a Generator."""
    return None if hasattr(random_state, "bit_generator") else random_state
