"""Constants of kernel PCA, by the module that uses them: sizes that affect only time and memory, and tolerances."""

from __future__ import annotations

# approximate.py

MOST_RANK = 4000
"""Maximum rank of an approximation, unless another one is given."""
TRACE_SHARE = 0.95
"""Share of the requested error that the trace may use; the rest is for rounding."""
SINGLE_FACTOR_ERROR = 1e-3
"""Smallest requested error for which float32 is usually accurate enough for F."""
LARGEST_SINGLE = 1e30
"""Entries of the kernel beyond which sums and squares do not fit in float32."""

# centered.py

ALL_VECTORS_FROM = 512
"""From this size on, a GPU computes all eigenvectors faster than the host."""

# cholesky.py

STRIP_COLUMNS = 4096
STRIP_BYTES = 2**30
"""Maximum width and size of a strip of columns on a GPU."""
SUMMED_VALUES = 64
"""Number of values summed before the sum becomes float64."""
PROPOSALS = 128
"""Number of proposals, and of acceptances, at a time: a product of 128 rows uses a GPU fully."""
MANY_PROPOSALS_FROM = 2**17
DEVICE_PROPOSALS = 160
"""From this many points on a GPU, discarded proposals cost little compared with the products."""

# cholesky_streamed.py

STREAMED_PROPOSALS = 512
FEWEST_PROPOSALS = 32

# elementwise.py

SUMMED_SQUARES = 32
"""Squares of float32 numbers are summed in float32 up to this many, and in float64 beyond."""

# exact.py

DIRECT_SIZE = {True: 512, False: 2048}
"""Up to this size all eigenvalues are computed; larger for kernels that may have negative ones."""
INDEFINITE_SIZE = 4096
"""Up to this size all eigenvalues are computed if the kernel turns out to be indefinite."""
HOST_WORK = 5e11
"""Number of operations beyond which tiles are not recomputed at every pass."""
DEVICE_WORK = 5e13
EXPECTED_PASSES = 12
EIGENVALUE_TOLERANCE = {"float32": 1e-7, "float64": 1e-9}
USELESS_WIDTH = 0.1
"""Intervals wider than this, relative to the largest eigenvalue, are of no use."""
FEW_COMPONENTS = 6
"""Components for which blocks of eight columns take the least time, if the tiles are kept."""
DOUBLE_SIZE = 4000
"""Up to this size tiles in float64 cost little."""

# factor_bounds.py

BOUND_STRIP = 512
"""Number of points at a time: their sums are short, with small rounding."""
DEVICE_BOUND_STRIP = 4096
BLOCK_NORM = 0.5 * (1.0 + 5.0**0.5)
"""||[[A, B], [B^T, 0]]|| is at most this times the norm of (A, B)."""

# fit.py

SCORE_TILE = 512
DEVICE_SCORE_TILE = 8192
SCORE_ENTRIES = 2**27
"""Entries of a tile of scores on a GPU."""

# groups.py

SMALLEST_GROUP = 0.05
"""Connected parts with a smaller share of the rows are not groups."""
GROUP_RIDGE = 1e-9
"""Added to the covariance within groups, as a share of its trace."""
SEPARATING_COMPONENTS = 6
"""Number of components within which groups should be separated."""
SEPARATED_SHARE = 0.99
"""Share of rows in the right group that counts as separated."""

# kernel_functions.py

WIDE_KERNEL = 0.5
"""Up to this mean of gamma |x - y|^2 a kernel is mostly near 1."""
SINGLE_EXPONENT = 16.0
"""Up to this gamma |x|^2, an exponent formed in float32 is accurate to a float32 rounding of the kernel."""

# kernel_matrix.py

DEVICE_TILE_SIDE = 8192
"""Size of a tile that keeps a GPU busy; in float64 it takes half a gigabyte."""

# leading.py

ROUNDING_SHARE = 1e-3
"""Tiles whose rounding exceeds this share of the last wanted value are recomputed in float64."""
SHARPENED_SHARE = 1e-6
"""K v / l replaces v if its value is at least this share of the first."""
INDEFINITE_SHARE = 1e-7
"""Negative eigenvalues beyond this share of ||K||_F exceed rounding."""
LOWEST_PASSES = 40
"""Number of passes spent on the smallest eigenvalue of a kernel that may be indefinite."""
CHOLESKY_SIZE = 6000
"""Up to this size, Cholesky shows whether a kernel without a sign is positive semi-definite."""
FIRST_COMPONENTS = 16
"""Components of the first attempt to reach a share of a kernel that may be indefinite."""
SINGLE_UP_TO = 1448
"""Up to this size a kernel in float64 takes 16 MiB and stays in cache. A product with one vector then takes a sixth of
the time of one with eight, so Lanczos begins with single vectors.
"""
SINGLE_RESIDUAL = 1e-9
"""Residuals at which these end, relative to the largest eigenvalue: vectors are as accurate as those of blocks."""

# options.py

TILE_MEMORY = 2_000_000_000
"""Default memory for tiles on the host, in bytes."""

# positive_part.py

RANDOM_VECTORS, LANCZOS_STEPS = 32, 24
"""Random vectors and Lanczos steps of the estimate of N, whose relative standard error is 5 to 7 % for sigmoid kernels
of normal data; 8 vectors gave 11 to 14 %."""

# preimage.py

PREIMAGE_ROWS = 256
PREIMAGE_ENTRIES = 2**26
"""Size of a tile of rows and support on a GPU, which determines the rows per piece."""

# preimage_fixed_point.py

FIXED_POINT_STEPS, FIXED_POINT_STARTS = 100, 3
"""Maximum number of steps, and number of starting points, for each row."""
SHORTEST_STEP = 1.0 / 64.0
STILL_SHARE = 1e-7

# preimage_neighbors.py

NEIGHBOURS = 10
NEGLIGIBLE_SPREAD = 1e-2
"""Directions in which the neighbours spread less than this share of the widest are ignored."""

# preimage_ridge.py

LANDMARKS = 1500
FEW_LANDMARKS = 400
RIDGE_EXAMPLES = 12_000
RIDGE_WIDTHS = (0.02, 0.125, 0.5, 2.0, 8.0)

# result.py

LARGEST_KERNEL_VALUE = 1e140
"""Range of kernel values whose squares and sums stay within float64, and likewise their inverses."""

# rounding.py

MEASURED_SUMS = 16
"""Number of random combinations used to measure an error."""
FAILURE_PROBABILITY = 1e-9
"""Probability that a measured error exceeds its bound."""

# scan_kernels.py

SCANNED_FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0)
SCANNED_COMPONENTS = 2
"""Number of components if the rows form no groups."""

# streamed.py

EXPECTED_ROUNDS = 12
"""Typical number of passes for the pivots, to estimate the time left."""

# widths.py

TRIED_QUANTILES = (0.5, 0.25, 0.1, 0.05)
"""Quantiles that "auto" compares, the widest kernel first."""
WIDTH_SAMPLE = 500
