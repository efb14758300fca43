"""CUR as a method of `decompose`."""

from eckart.registry import Method, ReportSection

METHODS = (
    Method(
        name="cur",
        details="eckart.cur.details:CURDetails",
        title="CUR decomposition",
        fit="eckart.cur.fit:decompose",
        project="eckart.cur.fit:project",
        reconstruct="eckart.cur.fit:reconstruct",
        takes=frozenset({"explain", "error", "memory"}),
        streams=frozenset({"stream"}),
        label="component ",
        device="blocks",
        rank="spectrum",
        section=ReportSection(
            title="The chosen columns and rows",
            figures={
                "select": "Choice of columns and rows",
                "core_kind": "Core",
                "error": "Error left",
                "relative_error": "Error as a part of the norm",
                "best_error": "Error of the best of this rank",
                "ratio": "Times the best",
            },
            treatment="The numbers were taken as they are: the factors are real columns and real rows of the table.",
            tables="eckart.cur.report:chosen",
        ),
    ),
)
