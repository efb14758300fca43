"""A LaTeX document as PDF, where a LaTeX engine is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from eckart.errors import InputError, MissingDependencyError

ENGINES = ("xelatex", "lualatex", "tectonic", "pdflatex")
_SECONDS = 120


def pdf(source: str) -> bytes:
    """Compile a LaTeX document."""
    engine = next((path for path in map(shutil.which, ENGINES) if path), None)
    if engine is None:
        raise MissingDependencyError(
            f"No LaTeX engine was found ({', '.join(ENGINES)}), so Eckart cannot write a PDF. Install "
            "a LaTeX engine, or write a .tex or .html file instead."
        )
    with TemporaryDirectory() as folder:
        file = Path(folder) / "solution.tex"
        file.write_text(source, encoding="utf-8")
        options = [] if "tectonic" in engine else ["-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape"]
        done = subprocess.run(
            [engine, *options, file.name], cwd=folder, capture_output=True, text=True, errors="replace", check=False,
            timeout=_SECONDS,
        )  # fmt: skip
        made = file.with_suffix(".pdf")
        if done.returncode or not made.exists():
            lines = [line for line in done.stdout.splitlines() if line.startswith("!")]
            said = f"failed: {' '.join(lines[:2]).rstrip('.')}" if lines else "failed without a message"
            raise InputError(
                f"{Path(engine).name} {said}. Write a .tex file instead and compile it to see the full error."
            )
        return made.read_bytes()
