"""`to_onnx`, the same for every estimator that can be exported."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from sklearn.utils.validation import check_is_fitted

from eckart.options import check_choice


class ToOnnx:
    """Export of `transform`."""

    def to_onnx(self, dtype: str = "float32") -> Any:
        """`transform` as an ONNX model, for runtimes without Python.

        Parameters
        ----------
        dtype : "float32" or "float64"
            Of the input "X" and the output "scores". The arithmetic is done in double precision.

        Returns
        -------
        onnx.ModelProto
            Needs the package onnx: pip install 'eckart[onnx]'.
        """
        check_is_fitted(self)
        check_choice("dtype", dtype, ("float32", "float64"))
        return self._onnx(dtype)

    @abstractmethod
    def _onnx(self, dtype: str) -> Any:
        """The model, of a fitted estimator."""
