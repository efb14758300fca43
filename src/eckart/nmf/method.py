"""NMF as a method of `decompose`."""

from eckart.registry import Method, ReportSection, parts_of

METHODS = (
    Method(
        name="nmf",
        title="Non-negative matrix factorisation",
        **parts_of("eckart.nmf", "NMF", functions="result"),
        takes=frozenset({"memory", "missing"}),
        streams=frozenset({"stream", "callback", "checkpoint", "executor"}),
        missing=("mask",),
        missing_reason="NMF ignores missing values in the loss",
        label="component ",
        device="whole",
        rank="parts",
        rank_rule="eckart.nmf.choose_k:by_parts",
        section=ReportSection(
            title="The factorisation",
            figures={
                "error": "Remaining error",
                "iterations": "Iterations",
                "converged": "Converged",
                "why": "Reason for stopping",
            },
            treatment="The data are non-negative and were neither centred nor scaled.",
        ),
    ),
)
