"""Isomap as a method of `decompose`."""

from eckart.registry import Method, ReportSection, parts_of

METHODS = (
    Method(
        name="isomap",
        title="Isomap",
        **parts_of("eckart.isomap", "Isomap"),
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
