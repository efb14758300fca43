"""Sizes for GPUs, by the module that uses them, and two thresholds. Thread counts stay with the kernels."""

from __future__ import annotations

# device_dense.py

LEAST_ENTRIES = 2**20
MOST_COLUMNS = 128
"""Up to this many columns of the factor, our kernels are faster than the library's products."""
SUMMED_ROWS = 512
"""Number of rows summed together in float64. The bounds count one rounding for each, while libraries sum all rows."""
PIECE_BYTES = 2**28
"""Float64 bytes summed per launch: with 2^26, launching took longer than summing (20000 x 20000, H200)."""
BATCHED_COLUMNS = 1024
"""Columns up to which the cross-products of all parts of a block take less memory than the block."""

# device_rows.py

SEGMENTS = 32
"""Number of segments whose sums are added in float64."""
WIDEST_FACTOR = 256
"""Number of columns of a factor per launch; each row then has at most 64 threads."""
DENSE_BYTES = 2**28

# orthogonal.py

WELL_CONDITIONED = 1e-3
"""Smallest singular value, estimated from the norm of the inverse, at which a Cholesky factor is trusted."""
NEARLY_ORTHOGONAL = 0.5
"""Below this, one round leaves Q orthonormal to a few units of rounding."""

# transfer.py

COPYING_THREADS = 12
COPIED_PIECE = 2**22
"""Bytes per piece: smaller ones waste time on calls, and larger ones leave the cache before the bus reads them."""
BUFFERS = 2
BLOCK_BYTES = 2**29
LEAST_BLOCKS = 16
"""A GPU has room for at least this many blocks: four in flight, and copies of the current one."""
