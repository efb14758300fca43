"""NMF as a method of `decompose`."""

from eckart.registry import Method, ReportSection, functions_in

METHODS = (
    Method(
        name="nmf",
        options="eckart.nmf.options:NMFOptions",
        details="eckart.nmf.details:NMFDetails",
        title="Non-negative matrix factorisation",
        **functions_in("eckart.nmf.result"),
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
                "iterations": "Rounds",
                "converged": "Converged",
                "why": "Reason for stopping",
            },
            treatment="The data are non-negative and were neither centred nor scaled.",
        ),
    ),
)
