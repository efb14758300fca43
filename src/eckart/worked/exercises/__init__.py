"""New exercises with clean answers, each with its solution, and answers checked. Every seed gives another one."""

from __future__ import annotations

from eckart.worked.exercises.exercise import KINDS, Exercise, exercise
from eckart.worked.exercises.verdict import Verdict

__all__ = ["KINDS", "Exercise", "Verdict", "exercise"]
