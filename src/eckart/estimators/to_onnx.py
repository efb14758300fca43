"""`to_onnx`, shared by all estimators that can be exported, and a small writer of ONNX graphs.

A graph has rows as its input and scores as its output. All arithmetic is in double precision.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eckart.errors import require
from eckart.options import check_choice

if TYPE_CHECKING:
    from onnx import ModelProto

OPSET = 17


class Graph:
    """Nodes in the order in which they are added; every method returns the name of its result."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.onnx = require("onnx", extra="onnx", purpose="ONNX export")
        self.nodes: list[object] = []
        self.constants: list[object] = []
        self._count = 0

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        self._count += 1
        name = f"{self.prefix}c{self._count}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.array(value, dtype=dtype), name))
        return name

    def add(self, kind: str, *inputs: str, **attributes: object) -> str:
        """A node with one output."""
        self._count += 1
        name = f"{self.prefix}t{self._count}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def squared_lengths(self, rows: str) -> str:
        return self.add("ReduceSum", self.add("Mul", rows, rows), self.constant([1], np.int64), keepdims=1)

    def body(self, name: str, counter: str, condition: str, state: str, goes_on: str, result: str) -> Any:
        """The body of a Loop: (counter, condition, state) -> (whether to continue, state)."""
        helper, proto = self.onnx.helper, self.onnx.TensorProto
        inputs: list[tuple[object, ...]] = [
            (counter, proto.INT64, []),
            (condition, proto.BOOL, []),
            (state, proto.DOUBLE, None),
        ]
        outputs: list[tuple[object, ...]] = [(goes_on, proto.BOOL, []), (result, proto.DOUBLE, None)]
        known, given = ([helper.make_tensor_value_info(*one) for one in side] for side in (inputs, outputs))
        return helper.make_graph(self.nodes, name, known, given, self.constants)

    def model(self, scores: str, columns: int, k: int, name: str, single: bool) -> Any:
        """The model: input "X" (rows, columns) and output "scores" (rows, k), float32 or float64."""
        helper, proto = self.onnx.helper, self.onnx.TensorProto
        kind = proto.FLOAT if single else proto.DOUBLE
        self.nodes.insert(0, helper.make_node("Cast", ["X"], ["rows"], to=proto.DOUBLE))
        self.nodes.append(helper.make_node("Cast", [scores], ["scores"], to=kind))
        inputs = [helper.make_tensor_value_info("X", kind, ["rows", columns])]
        outputs = [helper.make_tensor_value_info("scores", kind, ["rows", k])]
        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="eckart")
        made.ir_version = 8
        self.onnx.checker.check_model(made)
        return made


ROWS = "rows"
"""Name of the rows, in double precision, in every graph."""


class ToOnnx:
    """Export of `transform`."""

    def to_onnx(self, dtype: Literal["float32", "float64"] = "float32") -> ModelProto:
        """Export `transform` as an ONNX model, for runtimes without Python.

        Parameters
        ----------
        dtype : {'float32', 'float64'}, default 'float32'
            Type of the input "X" and of the output "scores". The computation itself uses double precision.

        Returns
        -------
        onnx.ModelProto
            The model.

        Raises
        ------
        MissingDependencyError
            If the package onnx is not installed: ``pip install 'eckart[onnx]'``.
        """
        check_is_fitted(self)
        check_choice("dtype", dtype, ("float32", "float64"))
        return self._onnx(dtype)

    @abstractmethod
    def _onnx(self, dtype: str) -> ModelProto:
        """The model of a fitted estimator."""
