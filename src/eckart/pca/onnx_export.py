"""scores = (X - mean) / scale right, as an ONNX graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from eckart.arrays import to_numpy
from eckart.components.scores import whitening
from eckart.errors import ParameterError
from eckart.estimators.to_onnx import ROWS, Graph
from eckart.missing.fill import imputation_of
from eckart.result import Decomposition


def linear_onnx(d: Decomposition, *, whiten: bool, dtype: str) -> Any:
    """The projection of `d` as an onnx.ModelProto."""
    if imputation_of(d) is not None:
        raise ParameterError(
            "ONNX cannot represent a model that imputes missing values. Fit the model on complete data."
        )
    graph, rows = Graph(), ROWS
    right = np.asarray(to_numpy(d.right), np.float64)
    if d.mean is not None:
        rows = graph.add("Sub", rows, graph.constant(to_numpy(d.mean)))
    if d.scale is not None:
        right = right / np.asarray(to_numpy(d.scale), np.float64)[:, None]
    if whiten:
        right = right / to_numpy(whitening(d))
    scores = graph.add("MatMul", rows, graph.constant(right))
    return graph.model(scores, d.columns, d.k, d.method, dtype == "float32")
