"""Exercises, their sheets and their checks."""
