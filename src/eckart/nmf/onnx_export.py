"""The non-negative coordinates of rows, as an ONNX graph: coordinate descent to convergence.

min_W 1/2 ||X - W H||^2 + l1 sum W + l2/2 ||W||^2, W >= 0. With G = H H^T and P = X H^T, one step on column j is
w_j <- max(0, w_j + (P_j - W G_j - l1 - l2 w_j) / (G_jj + l2)) (Hsieh and Dhillon, 2011).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eckart.errors import ParameterError
from eckart.estimators.to_onnx import ROWS, Graph
from eckart.nmf.constants import ONNX_SWEEPS, ONNX_TOLERANCE


def parts_onnx(H: np.ndarray, lasso: float, ridge: float, dtype: str) -> Any:
    """The coordinates for parts H (k x columns) as an onnx.ModelProto."""
    graph = Graph()
    H = np.asarray(H, np.float64)
    k = len(H)
    if not k:
        raise ParameterError("The model has no components, so there are no coordinates to export.")
    products = graph.add("Sub", graph.add("MatMul", ROWS, graph.constant(H.T)), graph.constant(lasso))
    gram = H @ H.T + ridge * np.eye(k)
    diagonal = np.where(np.diag(gram) > 0, np.diag(gram), 1.0)
    start = graph.add("Mul", products, graph.constant(0.0))
    shared = {"products": products, "gram": graph.constant(gram), "diagonal": graph.constant(diagonal[None]),
              "unit": graph.constant(np.eye(k))}  # fmt: skip
    found = graph.add("Loop", graph.constant(ONNX_SWEEPS, np.int64), graph.constant(True, bool), start,
                      body=_sweep(shared, k))  # fmt: skip
    return graph.model(found, H.shape[1], k, "nmf", dtype == "float32")


def _sweep(shared: dict[str, str], k: int) -> Any:
    """One pass over all columns; continues while some coordinate changes."""
    inner = Graph("sweep_")
    after = inner.add("Loop", inner.constant(k, np.int64), "again", "before", body=_step(shared))
    moved = inner.add("ReduceMax", inner.add("Abs", inner.add("Sub", after, "before")), keepdims=0)
    largest = inner.add("ReduceMax", inner.add("Abs", after), keepdims=0)
    goes_on = inner.add("Greater", moved, inner.add("Mul", largest, inner.constant(ONNX_TOLERANCE)))
    return inner.body("sweep", "number", "again", "before", goes_on, after)


def _step(shared: dict[str, str]) -> Any:
    """Coordinate descent on column j."""
    inner = Graph("step_")
    place = inner.add("Unsqueeze", "j", inner.constant([0], np.int64))
    column = inner.add("Gather", shared["gram"], place, axis=1)
    wanted = inner.add("Gather", shared["products"], place, axis=1)
    size = inner.add("Gather", shared["diagonal"], place, axis=1)
    old = inner.add("Gather", "current", place, axis=1)
    step = inner.add("Div", inner.add("Sub", wanted, inner.add("MatMul", "current", column)), size)
    new = inner.add("Max", inner.add("Add", old, step), inner.constant(0.0))
    change = inner.add("Mul", inner.add("Sub", new, old), inner.add("Gather", shared["unit"], place, axis=0))
    return inner.body(
        "step", "j", "same", "current", inner.add("Identity", "same"), inner.add("Add", "current", change)
    )
