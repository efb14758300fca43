"""Constants of CUR, by the module that uses them: sizes that affect only time and memory, and tolerances."""

from __future__ import annotations

# bounds.py

FAILURE_PROBABILITY = 0.05
"""Failure probability of the additive bound."""
TAUGHT_SHARE = 0.98
"""Probability of the bound that courses teach."""

# fit.py

DEFAULT_K = 2
MOST_TRIED = 32
"""Up to this many candidates for k are tried one by one; a wider range is bisected first."""

# rank_k.py

CANCELLED = 1e-6
"""Errors below this share of ||A||^2 lose too many digits in a difference and are computed entry by entry."""
DENSE_WORK = 4e11
"""Up to this many multiplications, the same applies to sparse data."""
SMALL_VALUE = 1e-3
"""Singular values below this share of the largest count as small."""

# select.py

CANDIDATES = 2048
"""Minimum number of candidates compared at a time."""
SELECTED_ROWS = 8192
"""Number of rows whose lengths are computed together."""
NEARLY = 1.0 - 1e-6
TIED = 1e-9
DEPENDENT = 1e-12
"""Squared lengths below this share of the largest are rounding errors."""

# slices.py

SLICE_SEGMENTS = 8
SPARSE_ROWS = 8192
DENSE_BYTES = 2**25
"""Size of the dense blocks in which the residual of sparse rows is formed."""
DEVICE_BYTES = 2**27
"""Size of the dense parts of a slice of sparse rows on a GPU, large enough to keep it busy."""
