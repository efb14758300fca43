"""CUR as a method of `decompose`."""

from eckart.registry import Method, ReportSection, parts_of

METHODS = (
    Method(
        name="cur",
        title="CUR decomposition",
        **parts_of("eckart.cur", "CUR"),
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
                "error": "Remaining error",
                "relative_error": "Relative error",
                "best_error": "Error of the best approximation of this rank",
                "ratio": "Ratio to the best error",
            },
            treatment=(
                "The data were neither centred nor scaled, because the factors are actual columns and "
                "rows of the table."
            ),
            tables="eckart.cur.report:chosen",
        ),
    ),
)
