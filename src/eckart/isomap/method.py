"""Isomap as a method of `decompose`."""

from eckart.registry import Method, ReportSection, functions_in

METHODS = (
    Method(
        name="isomap",
        options="eckart.isomap.options:IsomapOptions",
        details="eckart.isomap.details:IsomapDetails",
        title="Isomap",
        **functions_in("eckart.isomap.fit"),
        default_k=2,
        label="component ",
        additive=True,
        certifies_explained_variance=False,
        rank="decomposition",
        section=ReportSection(
            title="The neighbourhoods",
            figures={
                "n_neighbors": "Neighbours",
                "radius": "Radius",
                "components": "Connected components",
                "reconstruction_error": "Reconstruction error",
                "negative_share": "Share of negative eigenvalues",
            },
            treatment=(
                "Distances are measured along the graph of nearest neighbours. The squared distances are "
                "then double-centred."
            ),
            shares_of="centred distances",
        ),
    ),
)
