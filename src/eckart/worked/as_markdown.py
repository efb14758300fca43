"""A solution as Markdown, with formulas in LaTeX between dollar signs."""

from __future__ import annotations

from eckart.worked.as_latex import cell, equation_latex
from eckart.worked.messages import tr
from eckart.worked.notation import latex_formula, markdown_name, markdown_prose
from eckart.worked.solution import Equation, Solution, SolutionTable


def markdown(solution: Solution) -> str:
    """The whole solution."""
    blocks = [f"## {markdown_prose(solution.title)}"]
    for label, step in solution.outline():
        blocks.append((f"**{label}.** " if label else "") + markdown_prose(step.statement))
        if step.formula:
            blocks.append(f"$$ {latex_formula(step.formula)} $$")
        blocks += [_table(item) if isinstance(item, SolutionTable) else _block(item) for item in step.numbers]
        if step.remark:
            blocks.append(f"*{markdown_prose(step.remark)}*")
    blocks += [f"**{tr('Answer')}**"] if solution.answer else []
    blocks += [_block(equation) for equation in solution.answer]
    return "\n\n".join(blocks) + "\n"


def _block(equation: Equation) -> str:
    if isinstance(equation.value, str):
        name = f"{markdown_name(equation.name)}: " if equation.name else ""
        return name + markdown_prose(equation.value)
    return "\n\n".join(f"$$ {shown} $$" for shown in equation_latex(equation))


def _table(table: SolutionTable) -> str:
    head = "| " + " | ".join(markdown_name(heading) for heading in table.headings) + " |"
    rule = "|" + "---:|" * len(table.headings)
    rows = ["| " + " | ".join(cell(value).replace("|", r"\|") for value in row) + " |" for row in table.rows]
    return "\n".join([head, rule, *rows])
