"""Whole calls: what several modules must get right together."""
