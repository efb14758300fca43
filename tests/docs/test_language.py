"""Pages and code use plain field words: no archaic or private expression occurs in prose, comments or messages."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from eckart.cli import main

ROOT = Path(__file__).parents[2]
GENERATED = {"_build", "api", "auto_gallery", "auto_tutorials"}


def files(folder: str, suffix: str) -> list[Path]:
    found = sorted((ROOT / folder).rglob(f"*{suffix}"))
    return [file for file in found if not GENERATED & set(file.relative_to(ROOT).parts)]


PAGES = [*sorted(ROOT.glob("*.md")), *files("docs", ".md"), *files("docs", ".rst")]

# Each pattern with the words to use instead.
REPLACED = {
    r"foret(?:ell|ells|elling|old)": "predict, impute",
    r"mend(?:s|ed|ing)?": "fix, correct, recompute, refine",
    r"goes on|gone on": "continues, resumes",
    r"at hand": "available, stored",
    r"(?:by|for) (?:itself|themselves)": "separately, independently, automatically",
    r"beside": "in addition to, next to, compared with",
    r"with(?:out)? a word|(?:is|are) said|sa(?:y|ys|id) so|told": "with a message, reports, by default",
    r"in vain|no wish": "wasted, discarded; not an explicit choice",
    r"(?<!there )is no (?!longer|more|less|better|worse|larger|smaller|nearer|closer)": "is not a",
    r"(?:is|are|exactly|equally|more|most) alike": "similar, equal",
    r"carries|(?:axis|axes|components?) (?:carry|holds?)": "explains, contains",
    r"(?:row|column) rules": "dominates",
    r"host looks": "checks",
    r"(?:a|one|each|every|another|per|first|last|single|more) read(?= of| over|[.,;:)]| \|)|\d reads|reads of": "pass",
    r"same text serves": "the same code serves",
    r"(?:is|are) let": "until stopped",
    r"what alike": "similarity measure",
    r"worth while|in one go": "worthwhile; at a time",
    r"from which on": "from this many on",
    r"where nobody \w+": "if not computed",
    r"too execution": "too large",
}
ANY_REPLACED = re.compile(rf"\b(?:{'|'.join(REPLACED)})\b", re.IGNORECASE)
# 'axis' is for plots and geometry; elsewhere it is explained once, as "component (axis)".
AXIS = r"(?<!\()(?<![xy][ -])(?<!half-)(?<!matplotlib )(?:axis|axes)"
GEOMETRY = ("docs/course", "docs/worked")


MODULES = [*files("src", ".py"), *files("docs", ".py"), *files("benchmarks", ".py")]
SCRIPTS = [*files("src", ".js"), *files("src", ".jinja"), *files("src", ".cu")]
VENDORED = "vendor"


def written_in(module: Path) -> Iterator[str]:
    """Comments, docstrings and other strings of a module, each whole, without code spans and examples."""
    source = module.read_text(encoding="utf-8")
    for token in tokenize.generate_tokens(io.StringIO(source).readline) if "#" in source else ():
        if token.type == tokenize.COMMENT:
            yield plain(token.string)
    inner: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            inner |= {id(part) for part in node.values}
            yield plain("".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
            yield plain(node.value)


def plain(text: str) -> str:
    """On one line, without examples, code spans and braces."""
    text = re.sub(r"^\s*(?:>>>|\.\.\.) .*$", "", text, flags=re.MULTILINE)
    return " ".join(re.sub(r"`[^`]*`|\{[^{}]*\}", "", text).split())


def prose(text: str) -> list[str]:
    """Paragraphs on one line each, without code blocks, code spans, formulas and link targets."""
    text = re.sub(r"^(`{3,})[^\n]*\n.*?^\1[ ]*$", "\n\n", text, flags=re.MULTILINE | re.DOTALL)
    for pattern in (r"\$\$.*?\$\$", r"`[^`]*`", r"\$[^$\n]*(?:\n[^$\n]*)?\$"):
        text = re.sub(pattern, "", text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text)]


def findings(text: str, patterns: dict[str, str]) -> list[str]:
    """Each expression to be replaced, what to use instead, and the words around it."""
    return [
        f"{match.group(0)!r}, use {better}: ...{paragraph[max(match.start() - 40, 0) : match.end() + 40]}..."
        for paragraph in prose(text)
        for pattern, better in patterns.items()
        for match in re.finditer(rf"\b(?:{pattern})\b", paragraph, re.IGNORECASE)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_use_the_words_of_the_field(page: Path) -> None:
    geometry = page.relative_to(ROOT).as_posix().startswith(GEOMETRY)
    patterns = REPLACED if geometry else {**REPLACED, AXIS: "component"}
    assert not findings(page.read_text(encoding="utf-8"), patterns)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.relative_to(ROOT).as_posix())
def test_code_uses_the_words_of_the_field(module: Path) -> None:
    found = [
        f"{match.group(0)!r}, use {better}: {text[:100]}"
        for text in filter(ANY_REPLACED.search, written_in(module))
        for pattern, better in REPLACED.items()
        for match in re.finditer(rf"\b(?:{pattern})\b", text, re.IGNORECASE)
    ]
    assert not found


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.relative_to(ROOT).as_posix())
def test_scripts_use_the_words_of_the_field(script: Path) -> None:
    """Comments and strings of JavaScript, templates and CUDA: any line without a name of that spelling."""
    lines = script.read_text(encoding="utf-8").splitlines() if VENDORED not in script.parts else []
    text = " ".join(" ".join(re.findall(r"//.*|/\*.*|\"[^\"]*\"|>[^<>]*<|^[^=({;]*$", line)) for line in lines)
    assert not [
        f"{match.group(0)!r}, use {better}: {text[max(match.start() - 40, 0) : match.end() + 40]}"
        for pattern, better in REPLACED.items()
        for match in re.finditer(rf"\b(?:{pattern})\b", text, re.IGNORECASE)
    ]


def commands(group: click.Group) -> Iterator[click.Command]:
    context = click.Context(group)
    for command in filter(None, (group.get_command(context, name) for name in group.list_commands(context))):
        yield command
        if isinstance(command, click.Group):
            yield from commands(command)


def test_help_says_component() -> None:
    for command in commands(main):
        texts = [command.help or "", *(getattr(option, "help", None) or "" for option in command.params)]
        assert not [text for text in texts if re.search(rf"\b{AXIS}\b", text)], command.name


def test_code_formulas_and_links_are_not_prose() -> None:
    page = "Beside `mended`, $told$ and [text](in/vain.md) at\nhand\n```\nforetold\n```\n"
    assert {finding.split(",")[0] for finding in findings(page, REPLACED)} == {"'Beside'", "'at hand'"}
