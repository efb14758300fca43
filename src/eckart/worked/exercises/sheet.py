"""Sheets for a class: several exercises on one page, and the key on another. Markdown, LaTeX or HTML by the name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eckart.errors import ParameterError
from eckart.worked.exercises.exercise import Exercise, exercise
from eckart.worked.messages import current, language, tr, trn
from eckart.worked.notation import markdown_words
from eckart.worked.solution import Solution, Step

FORMS = {".md": "markdown", ".tex": "latex", ".pdf": "pdf", ".html": "html", ".txt": "text"}
_MOST = 200
_TRIES = 2000
_STRIDE = 1_000_003
"""Distance between the seeds of different students."""


@dataclass(frozen=True)
class Sheet:
    """Exercises for one reader: `questions` to hand out, `key` to keep.

    Without `seeds` the questions do not show the seeds that reproduce them; the key always does.
    """

    exercises: tuple[Exercise, ...]
    student: str = ""
    language: str = "en"
    seeds: bool = True
    detail: str = "normal"

    def questions(self, form: str) -> str:
        """The sheet without solutions: "markdown", "latex", "html" or "text"."""
        with language(self.language):
            parts = [made.question() for made in self.exercises]
            if not self.seeds:
                parts = [replace(part, steps=(replace(part.steps[0], remark=""),)) for part in parts]
            return self._written(parts, form, self._title(tr("Exercises")))

    def key(self, form: str) -> str:
        """The solutions."""
        with language(self.language):
            return self._written([one.at(self.detail) for one in self.exercises], form, self._title(tr("Key")))

    def files(self, form: str) -> tuple[bytes, bytes]:
        """Questions and key as the contents of files; "pdf" needs a LaTeX engine."""
        if form == "pdf":
            from eckart.worked.as_pdf import pdf

            return pdf(self.questions("latex")), pdf(self.key("latex"))
        return self.questions(form).encode(), self.key(form).encode()

    def _title(self, name: str) -> str:
        return f"{name}: {self.student}" if self.student else name

    def _written(self, parts: Sequence[Solution], form: str, title: str) -> str:
        if form == "latex":
            from eckart.worked.as_latex import body, heading, opening

            lines = [line for part in parts for line in body(part)]
            return "\n".join([opening(title), heading(title), *lines, r"\end{document}", ""])
        if form == "html":
            from eckart.worked.as_html import page

            return page(parts, title, titled=True)
        if form == "markdown":
            return "\n".join([f"# {markdown_words(title)}\n", *[part.markdown() for part in parts]])
        return "\n".join([title, "=" * len(title), "", *[part.text() for part in parts]])


def sheet(
    kinds: Sequence[str], count: int = 1, *, seed: int = 0, difficulty: int = 1, size: tuple[int, int] | None = None,
    student: str = "", seeds: bool = True,
) -> Sheet:  # fmt: skip
    """`count` different exercises of each kind.

    >>> made = sheet(["rank", "eigen"], 2, seed=5)
    >>> [part.kind for part in made.exercises]
    ['rank', 'rank', 'eigen', 'eigen']
    """
    return _sheet(kinds, count, seed, difficulty, size, student, seeds, {kind: set() for kind in kinds})


def _sheet(
    kinds: Sequence[str], count: int, seed: int, difficulty: int, size: tuple[int, int] | None, student: str,
    seeds: bool, taken: dict[str, set[object]],
) -> Sheet:  # fmt: skip
    """A sheet whose exercises are not in `taken`, to which they are added."""
    if not 1 <= count * len(kinds) <= _MOST:
        raise ParameterError(
            trn("A sheet cannot have {n} exercise. Choose a number from 1 to {most}.",
                "A sheet cannot have {n} exercises. Choose a number from 1 to {most}.", count * len(kinds), most=_MOST)
        )  # fmt: skip
    made: list[Exercise] = []
    for kind in kinds:
        place, needed = seed, len(made) + count
        while len(made) < needed:
            if place - seed > _TRIES:
                raise ParameterError(
                    tr(
                        "There are not enough different exercises of kind {kind} for everybody on the list. Choose "
                        "another size or difficulty, or fewer exercises.",
                        kind=kind.replace("_", "-"),
                    )
                )
            one = exercise(kind, seed=place, difficulty=difficulty, size=size)
            place += 1
            if (content := str(one.steps[0].numbers)) not in taken[kind]:
                taken[kind].add(content)
                made.append(one)
    return Sheet(tuple(_numbered(made, size)), student, current(), seeds)


def series(
    students: Sequence[str], kinds: Sequence[str], count: int = 1, *, seed: int = 0, difficulty: int = 1,
    size: tuple[int, int] | None = None, seeds: bool = True,
) -> list[Sheet]:  # fmt: skip
    """A separate sheet for every name of a class list; no two students get the same exercise."""
    names = [name.strip() for name in students if name.strip()]
    if not names:
        raise ParameterError(tr("The class list has no names. Write one name per line."))
    taken: dict[str, set[object]] = {kind: set() for kind in kinds}
    return [
        _sheet(kinds, count, seed + _STRIDE * place, difficulty, size, name, seeds, taken)
        for place, name in enumerate(names, 1)
    ]


def _numbered(made: list[Exercise], size: tuple[int, int] | None) -> list[Exercise]:
    """Numbered titles, with the seed that reproduces each exercise."""

    return [
        replace(
            one,
            title=tr("Exercise {number}", number=place),
            steps=(_with_seed(one, size), *one.steps[1:]),
        )
        for place, one in enumerate(made, 1)
    ]


def _with_seed(one: Exercise, size: tuple[int, int] | None) -> Step:
    values = {"kind": one.kind.replace("_", "-"), "difficulty": one.difficulty, "seed": one.seed}
    if size is None:
        return replace(one.steps[0], remark=tr("{kind}, difficulty {difficulty}, seed {seed}", **values))
    # The size is part of the seed: without it, the generator makes another exercise.
    words = tr("{kind}, difficulty {difficulty}, size {size}, seed {seed}", **values, size=f"{size[0]}x{size[1]}")
    return replace(one.steps[0], remark=words)
