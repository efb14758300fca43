"""Exercises with clean answers and solutions, and checking of answers. Every seed gives a different one."""

from __future__ import annotations

from eckart.worked.exercises.exercise import KINDS, Exercise, exercise
from eckart.worked.exercises.verdict import Verdict

__all__ = ["KINDS", "Exercise", "Verdict", "exercise"]
