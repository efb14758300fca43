"""Constants of Isomap, by the module that uses them: sizes that affect only time and memory, except `LONGEST`."""

from __future__ import annotations

# embedding.py

KEPT_BYTES = 2**27

# fit.py

LONGEST = 1e70
"""Distances whose squares, products of squares and sums of these are within the range of float64."""
PLACED_TOGETHER = 64
"""Number of points placed at a time."""

# geodesic.py

SEGMENT = 64
"""Number of sources per task: four groups of 16."""
SEGMENT_APART = 8
SMALL_SEGMENT = 256
"""The same for SciPy, where each call converts the graph again."""
COMPILE_PATHS_FROM = 1000
"""From this many rows on, compiled loops are worth their compilation time."""
SCARCE_SOURCES = 8
"""With fewer than one source in this many rows, sources are too far apart to be grouped."""

# neighbors.py

TREE_COLUMNS = 12
"""Up to this many columns a tree search saves more comparisons than it costs."""
TILE_ROWS = 128
TILE_COLUMNS = 4096
COMPILE_PRODUCTS_FROM = 2**20
"""From this many row products on, compiled loops are worth their compilation time."""
EXTRA_CANDIDATES = 6
"""Additional candidates, so that rounding in the tiles cannot exclude a neighbour."""

# scaling.py

DENSE_ROWS = 512
"""Up to this many rows all eigenvalues are computed by LAPACK."""
DOUBLE_ROWS = 4096
"""Up to this many rows S is kept in float64."""
RESIDUAL_SAMPLE, SPECTRUM_SAMPLE = 640, 400
"""Sample sizes (rows) for the residual variance and the share of negative eigenvalues. The second computes all
eigenvalues, which takes the cube of the size.
"""
SCALED_ROWS = 64
