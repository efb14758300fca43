"""`to_onnx`, shared by all estimators that can be exported."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Literal

from sklearn.utils.validation import check_is_fitted

from eckart.options import check_choice

if TYPE_CHECKING:
    from onnx import ModelProto


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
