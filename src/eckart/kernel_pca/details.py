"""Details of kernel PCA beyond its scores: the kernel, and the expansion for new rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eckart.arrays import Array, Matrix
from eckart.kernel_pca.kernel_functions import Kernel
from eckart.result import Details


@dataclass(frozen=True)
class KernelPCADetails(Details):
    """The kernel and the expansion of its components: scores of x are k(x, support) dual - offset.

    The linear kernel needs no expansion (`dual` is None); the cosine kernel keeps only its rows and their scores.
    """

    shapes: ClassVar = {
        "correlations": ("columns", "k"), "support": ("support", "columns"), "shift": ("columns",),
        "support_scores": ("support", "k"), "dual": ("support", "k"), "means": ("support",), "base": ("support",),
        "offset": ("k",),
    }  # fmt: skip
    kernel: str
    gamma: float | None = None
    degree: float = 3.0
    coef0: float = 1.0
    function: Callable[..., float] | None = None
    kernel_params: Mapping[str, object] | None = None
    correlations: Array | None = None
    """Correlation of every column of the data with every component."""
    support: Matrix | None = None
    """Rows that new rows are compared with."""
    shift: Array | None = None
    """Offset subtracted from rows before they are compared."""
    support_scores: Array | None = None
    dual: Array | None = None
    """Coefficients of the components as combinations of the support."""
    means: Array | None = None
    """<phi(x_i), mean> of the support."""
    grand: float | None = None
    """<mean, mean>."""
    base: Array | None = None
    """The mean as a combination of the support."""
    offset: Array | None = None
    lowered: bool = False
    """Whether 1 was subtracted from the kernel before it was centred, for accuracy."""
    negative_share: float = 0.0
    smallest: float | None = None
    pivots: np.ndarray | None = None
    """Rows of the support, for an approximation of the kernel."""
    approximation_error: float = 0.0
    """Part of the trace of the kernel that is missing from its approximation."""

    def fault(self, rows: int) -> str | None:
        if self.dual is not None and self.kernel != "precomputed" and self.support is None:
            return "the rows that new rows are compared with are missing"
        return None

    @property
    def is_linear(self) -> bool:
        """Whether scores are products of unscaled rows with `Decomposition.right`."""
        return self.kernel == "linear" and self.dual is None


def kernel_details(kernel: Kernel, support: Matrix | None, **known: Any) -> KernelPCADetails:
    """Details with the kernel's name and parameters; the support is not kept for a precomputed kernel."""
    shift = None if support is None else kernel.shift(support)
    kept = {"support": None if kernel.name == "precomputed" else support, "shift": shift, **known}
    if kernel.name == "function":
        return KernelPCADetails("function", function=kernel.function, kernel_params=kernel.params, **kept)
    return KernelPCADetails(kernel.name, kernel.gamma, kernel.degree, kernel.coef0, **kept)
