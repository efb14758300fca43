"""Isomap as a method of `decompose`."""

from eckart.registry import Method, ReportSection

METHODS = (
    Method(
        name="isomap",
        details="eckart.isomap.details:IsomapDetails",
        title="Isomap",
        fit="eckart.isomap.fit:decompose",
        project="eckart.isomap.fit:project",
        reconstruct="eckart.isomap.fit:reconstruct",
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
                "components": "Connected pieces found",
                "reconstruction_error": "Reconstruction error",
                "negative_share": "Share of negative eigenvalues",
            },
            treatment="Distances are measured along the graph of nearest neighbours, then double-centred.",
            shares_of="centred distances",
        ),
    ),
)
