"""Constants of NMF, by the module that uses them: sizes that affect only time and memory, iterations, tolerances."""

from __future__ import annotations

# candidates.py

CANDIDATE_ROWS = 1024
"""Number of rows in the sample on which candidates are compared."""
TRIAL_ITERATIONS, FURTHER_ITERATIONS = 10, 60
"""Iterations of each candidate, and further ones of the best on the sample."""
LOWER_LOSS = 0.998
"""A candidate replaces the default start if its loss is below this share of the other's."""
CANDIDATE_SWEEPS = 8
"""Sweeps for W of all rows, given H of the sample."""

# choose_k.py

MOST_TRIED = 12
"""Maximum number of parts, unless another one is given."""
WORSE_IN_A_ROW = 3
"""The search ends after this many consecutive numbers of parts without a smaller error."""
SPLITS = 3
"""Number of random splits into quarters; the result of a single split depends on the rows and columns drawn."""
HELD_OUT_RATIO = 1.0 / 3.0
"""Number of entries of one quarter divided by that of the other three."""

# curvature.py

MOST_PARTS_OF_COLUMNS = 32
"""Beyond this size, the Hessians of all columns would cost more room and time than the steps save."""
CURVATURE_SWEEPS = 12
MOST_SHRINKING = 1e-3
"""A step shrinks an entry at most to this share of itself, because it could not grow again from zero."""

# device.py

DEVICE_PIECE = 2**26
"""Number of entries converted to float64 at a time."""
RECORDED_VALUES = 2**24
"""Maximum number of values in both factors for which a step is recorded; copying larger ones costs more than launching.
"""
SUMMED_ROWS = 2**16
"""Maximum number of rows of a factor for which the library sums its columns."""

# divergence.py

MOST_NEWTON_PARTS = 64
"""With more parts, the Hessians cost more time than the steps save."""
TILE = {"host": 2**17, "device": 2**25}
"""Entries of a tile."""
HESSIANS = {"host": 2**23, "device": 2**30}
"""Maximum size of the Hessians of a tile, in bytes."""
POOL_FROM_PRODUCTS = 2**18
"""From this many entries on, several threads are worthwhile."""
KEPT_ENTRIES = 2**22
"""Number of entries of W H kept between the two passes of a step of H."""
NEWTON_SWEEPS = 4
"""Sweeps over the coordinates of one quadratic program: a fixed number, so that every backend takes the same step."""
UPDATES_FIRST, UPDATES_FIRST_SMALL = 3, 6
"""Multiplicative updates before the Newton steps of rows solved to their tolerance: more on small tables, where a
Newton step takes many more calls.
"""
EXACT_FROM_STEP = 5
"""Number of Newton steps of such a row after which its quadratic programs are solved exactly."""
MOST_FINAL_STEPS = 50
"""Maximum number of Newton steps of a row: from the floor of W H, an entry doubles with each."""
LEAST_DENOMINATOR = 1e-37
"""Replaces zeros in denominators, in either precision."""

# driver.py

WINDOW, WINDOW_SHARE = 5, 0.15
"""The iteration ends when this many iterations lower |A - W H| by less than this share of the tolerance times |W H|."""
NEWTON_WINDOW, NEWTON_SHARE = 3, 3.0
"""The same for Newton steps, each of which is worth 20 to 40 multiplicative updates."""
LEAST_EXPLAINED = 1e-3
"""The explained part counts as at least this share of the unexplained one."""
SWEEPS_TO_CONVERGENCE = 2000
"""Maximum number of sweeps over a row solved to convergence."""

# entries.py

ENTRIES_SHARE = 0.05
FLOOR = 1e-12
"""W H is kept above this share of the mean entry, because the logarithm of zero is not finite."""
PIECES, LEAST_PIECE = 16, 2**14
"""Number of pieces shared by threads, and minimum number of entries per piece."""
MOST_NEWTON_STEPS = 50
"""Maximum number of Newton steps of a row solved to convergence."""
ENTRY_BLOCK_BYTES = 2_000_000

# entries_of.py

GATHERED_PIECE = 2**26
"""Number of entries searched for stored ones at a time."""

# export.py

EXPORT_TOLERANCE = {"cd": 1e-8, "mu": 1e-11}
ITERATIONS = {"cd": 1000, "mu": 20_000}

# fit.py

LANES = 16
"""Numbers that compiled loops process at once: four vectors of four."""
FIRST_EXTRAPOLATION = {"squares": 0.3, "entries": 0.3}
"""First extrapolation, as a share of the last move."""
ROWS_SHARE = {"float64": 0.01, "float32": 0.1}
"""Share of the tolerance to which rows for given parts are solved, by the precision of the products.

Newton steps, which square errors, use all of it."""
UNFINISHED_SWEEPS = 8
PLAIN_STEPS = 2
"""The first Newton steps say little about the next direction, so they are not extrapolated."""
FIRST_TOLERANCE = 1e-4
"""Tolerance of the first iterations, which only provide a good start."""
SQUARES_FIRST = 20
"""Number of iterations for the squared error before those for Kullback-Leibler."""
FILL_AFTER_SQUARES = 0.01
"""Replaces zeros after those iterations, as a share of the mean of the column."""
SUMMED_EXACTLY_BELOW = {"float64": 1e-6, "float32": 1e-3}
"""Below this relative squared error, the short form has lost digits, and the loss is summed entry by entry."""
EXTREME_ENTRY = 1e12
"""Squares of entries beyond this, or below its inverse, approach the range of float32."""

# formulate.py

COMPILE_FROM_ENTRIES = 4_000_000
"""Minimum number of stored entries times k^2 for which compiling pays, if Newton steps need a Hessian for every row."""
DENSE_COPY_ENTRIES, DENSE_COPY_RATIO = 2**20, 20
"""Maximum size of a sparse matrix, in total and per stored entry, for which a dense copy multiplies faster."""
SWEEPS_PER_PRODUCT = {"dense": 4, "small": 2, "sparse": 1, "entries": 2}
"""Number of sweeps over the coordinates per product: more if a product costs more than a sweep."""
NEWTON_TOLERANCES = 1e-4, 1e-7
"""Largest and smallest tolerance of rows that Newton steps solve to convergence."""

# loss.py

LOSS_TILE_BYTES = 4_000_000
DEVICE_TILE_BYTES = 2**28
POOL_FROM_LOSS = 2**17
"""From this many numbers on, several threads are worthwhile."""

# multiplicative.py

UPDATE_TILE_BYTES = 4_000_000
DIVERGENCE_TILE_BYTES = 1_000_000
"""Tiles of W H, and of its ratio to the data, that stay in cache between products."""
LEAST_PAIRS = 200
"""Minimum limit of pairs of updates for rows with given parts."""
STILL_SHARE = 1e-3
"""A row has converged when an update moves it by this share of the tolerance."""
KEPT_SHARE = 0.1
"""Share of the plain update below which an extrapolation lowers no entry."""

# one_pass.py

POOL_FROM = 2**18
"""From this many entries on, threads are worthwhile."""
BLOCK_ENTRIES, LEAST_BLOCK_ROWS = 2**16, 64
"""Entries of a block, which should stay in the cache of a core, and its minimum number of rows."""
ONE_PASS_SEGMENTS = 8

# onnx_export.py

ONNX_SWEEPS = 20_000
ONNX_TOLERANCE = 1e-12
"""The iteration ends when a sweep moves no coordinate by more than this share of the largest."""

# options.py

LARGEST_POWER = 400.0
"""A penalty of 2^400 on data of size 1 leaves only zeros, and products with it stay in range."""

# problem.py

SEGMENTS = 16

# quadratic.py

COMPILE_QUADRATIC_FROM = 300_000
"""Minimum number of rows of both factors times k^2 for which compiled loops are worth their compilation time."""
LEAST_CURVATURE = 1e-14
MOST_FACES = 4
"""Maximum number of steps of the active set method."""

# singular.py

EXTRA_VECTORS = 20
"""Number of singular vectors beyond k to which a dense matrix is compressed for the first iterations."""
COMPRESSED_GAIN = 8
"""How much less a product must cost for the compressed matrix to pay for its singular vectors."""
SINGULAR_TOLERANCE = 1e-4
SINGULAR_PASSES = 8
GRAM_UP_TO, LANCZOS_FROM = 256, 600
"""Length of the short side up to which the start comes from the Gram matrix; above it, from Lanczos."""

# squares.py

SQUARES_SHARE = 0.0
"""While both factors move, the number of sweeps is fixed, so that every backend takes the same steps."""
END_SHARE = 1e-14
"""A row has converged when a sweep gains this share of the first."""
COMPILE_SQUARES_FROM = 500_000
"""Minimum number of rows of both factors times k^2 (the work of a sweep) for which compiling a loop pays."""
ROWS_TOGETHER = 512
"""Number of rows solved to convergence together."""
SWEEPS_BETWEEN_ELIMINATIONS = 8
"""Number of sweeps over the coordinates between two eliminations."""
SOLVED_SHARE = 0.1
"""A row counts as solved at this share of its part of the projected gradients at which all rows are."""

# exact_rows.py
EXACT_SHARE = 1e-6
"""Largest possible error of the coefficients of a row, relative to the largest, that needs no exact solution."""
SWEEPS_CONVERGE_UP_TO = 100.0
"""Condition number of H H^T up to which sweeps converge fast, so that their rows are not examined."""
SWEEPS_BEFORE_PIVOTING = 100
"""Sweeps that find most of the zero coefficients before systems are solved."""
BLOCK_EXCHANGES = 3
"""Exchanges of all coefficients of the wrong sign that may fail to lower their number, as in the reference."""
ROWS_OF_SYSTEMS = 2**18
"""Entries of the linear systems that are solved at once: two megabytes."""

# start.py

NEGLIGIBLE = 1e-6
START_FILL = 0.1
"""Replaces zeros of the default start, as a share of the typical size sqrt(mean / k) of the factors."""

# statistics.py

STATISTICS_SWEEPS = 10
LEAST_SQUARES = 1e-250
"""Range of sums of squares whose products with a few more numbers do not overflow."""

# streamed.py

STREAMED_SWEEPS = 20
STREAMED_EXTRAPOLATION = 0.5
STREAMED_EXACT_BELOW = 1e-6
SVD_TOLERANCE, SVD_PASSES = 1e-4, 8
LEAST_AFTER_EXTRAPOLATION = 1e-3
"""Extrapolation never reduces an entry of the parts to zero, from which it could not return."""

# streamed_result.py

EXPECTED_PASSES = 40
"""Typical number of passes of a factorisation, to estimate the time left."""

# table.py

SUMMED_ENTRIES = 2**25
"""Number of entries summed at once in libraries other than NumPy."""

# tiles.py

COMPUTED_ENTRIES, COMPUTED_RATIO = 2**20, 50
"""Maximum number of entries of W H computed for the stored ones among them, in total and per stored entry."""
