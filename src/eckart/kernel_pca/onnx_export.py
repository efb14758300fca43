"""scores = k(X, support) dual - offset, as an ONNX graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from eckart.arrays import Matrix, is_sparse, to_numpy
from eckart.errors import ParameterError
from eckart.estimators.to_onnx import ROWS, Graph
from eckart.kernel_pca.details import KernelPCADetails
from eckart.result import Decomposition, details_of


def kernel_onnx(d: Decomposition, dtype: str) -> Any:
    """The projection of `d` as an onnx.ModelProto."""
    details = details_of(d, KernelPCADetails)
    graph, name = Graph(), details.kernel
    if details.dual is None:
        rows = graph.add("Div", ROWS, _length(graph, ROWS)) if name == "cosine" else ROWS
        rows = rows if d.mean is None else graph.add("Sub", rows, graph.constant(to_numpy(d.mean)))
        scores = graph.add("MatMul", rows, graph.constant(to_numpy(d.right)))
    else:
        values = ROWS if name == "precomputed" else _kernel(graph, d, name)
        if name == "precomputed" and details.pivots is not None:
            values = graph.add("Gather", values, graph.constant(details.pivots, np.int64), axis=1)
        product = graph.add("MatMul", values, graph.constant(to_numpy(details.dual)))
        scores = graph.add("Sub", product, graph.constant(to_numpy(details.offset)))
    return graph.model(scores, d.columns, d.k, "kernel_pca", dtype == "float32")


def _length(graph: Graph, rows: str) -> str:
    """||x||, and 1 for rows of zeros."""
    length = graph.add("Sqrt", graph.squared_lengths(rows))
    empty = graph.add("Cast", graph.add("Equal", length, graph.constant(0.0)), to=graph.onnx.TensorProto.DOUBLE)
    return graph.add("Add", length, empty)


def _kernel(graph: Graph, d: Decomposition, name: str) -> str:
    """k(x, y) for the rows x and the support y."""
    details = details_of(d, KernelPCADetails)
    support: Matrix = details.support
    support = np.asarray(support.toarray() if is_sparse(support) else to_numpy(support), np.float64)
    gamma, degree, coef0 = (float(value or 0.0) for value in (details.gamma, details.degree, details.coef0))
    if name == "rbf":
        return _rbf(graph, details, support, gamma)
    if name == "laplacian":
        components = graph.constant([1], np.int64)
        apart = graph.add(
            "Abs", graph.add("Sub", graph.add("Unsqueeze", ROWS, components), graph.constant(support[None]))
        )
        total = graph.add("ReduceSum", apart, graph.constant([2], np.int64), keepdims=0)
        return graph.add("Exp", graph.add("Mul", total, graph.constant(-gamma)))
    if name == "cosine":
        lengths = np.linalg.norm(support, axis=1, keepdims=True)
        support = support / np.where(lengths > 0, lengths, 1.0)
        return graph.add("MatMul", graph.add("Div", ROWS, _length(graph, ROWS)), graph.constant(support.T))
    if name not in ("linear", "poly", "sigmoid"):
        raise ParameterError(f"The kernel {name!r} has no ONNX form. Use rbf, laplacian, poly, sigmoid or cosine.")
    if name == "linear":
        return graph.add("MatMul", ROWS, graph.constant(support.T))
    # gamma is part of the matrix: runtimes would fuse a separate factor in single precision.
    argument = graph.add("Add", graph.add("MatMul", ROWS, graph.constant(gamma * support.T)), graph.constant(coef0))
    return graph.add("Pow", argument, graph.constant(degree)) if name == "poly" else _tanh(graph, argument)


def _tanh(graph: Graph, argument: str) -> str:
    """1 - 2 / (exp(2 x) + 1), because runtimes have Tanh only in single precision."""
    grown = graph.add("Exp", graph.add("Mul", argument, graph.constant(2.0)))
    part = graph.add("Div", graph.constant(2.0), graph.add("Add", grown, graph.constant(1.0)))
    return graph.add("Sub", graph.constant(1.0), part)


def _rbf(graph: Graph, details: KernelPCADetails, support: np.ndarray, gamma: float) -> str:
    """exp(-gamma ||x - y||^2), with a shift so that an offset costs no digits."""
    rows = ROWS
    if details.shift is not None:
        shift = np.asarray(to_numpy(details.shift), np.float64)
        rows, support = graph.add("Sub", rows, graph.constant(shift)), support - shift
    product = graph.add("MatMul", rows, graph.constant(-2.0 * support.T))
    apart = graph.add("Add", product, graph.squared_lengths(rows))
    apart = graph.add("Add", apart, graph.constant((support**2).sum(axis=1)[None]))
    apart = graph.add("Max", apart, graph.constant(0.0))
    values = graph.add("Exp", graph.add("Mul", apart, graph.constant(-gamma)))
    return graph.add("Sub", values, graph.constant(1.0)) if details.lowered else values
