"""Kernel PCA as a method of `decompose`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from eckart.registry import Method, ReportSection, parts_of

if TYPE_CHECKING:
    from eckart.result import Decomposition


def treatment(d: Decomposition) -> str:
    """A sentence on the kernel that compared the rows."""
    from eckart.formatting import clean

    return (
        f"Rows were compared by the kernel {clean(str(getattr(d.details, 'kernel', '')))!r}, and the kernel "
        "matrix was centred."
    )


METHODS = (
    Method(
        name="kernel_pca",
        title="Kernel principal component analysis",
        **parts_of("eckart.kernel_pca", "KernelPCA"),
        takes=frozenset({"explain", "memory"}),
        streams=frozenset({"stream", "callback"}),
        label="PC",
        additive=True,
        more_than_columns=True,
        device="whole",
        rank="decomposition",
        section=ReportSection(
            title="The kernel",
            figures={
                "kernel": "Kernel",
                "gamma": "gamma",
                "degree": "degree",
                "coef0": "coef0",
                "negative_share": "Negative eigenvalues relative to positive ones",
            },
            treatment="eckart.kernel_pca.method:treatment",
        ),
    ),
)
