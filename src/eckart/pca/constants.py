"""Constants of PCA, by the module that uses them: sizes that affect only time and memory, and tolerances."""

from __future__ import annotations

# null_space.py

TIED_LENGTHS = 1e-9
"""Lengths closer than this count as equal, and the first coordinate is taken."""

# probabilistic.py

LIKELIHOOD_ROWS = 4096

# running.py

SQUARED_TOLERANCE = 1e-9
"""Relative accuracy of the squared values."""

# scatter.py

EXACT_COLUMNS = 4096
"""Up to this many columns S is exact: at most 128 MiB."""
FACTOR_BYTES = 2**28

# spread.py

CANCELLED_SHARE = 1e-5
"""A variance below this share of the mean square has lost too many digits."""
SAFE_SQUARES = (1e-200, 1e200)
"""Mean squares of columns that neither overflowed nor lost digits."""
