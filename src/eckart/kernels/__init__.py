"""Loops that no library has, compiled by Numba where they run. Imported only when sparse data are multiplied."""
