"""decompose, plan, project, reconstruct: the four verbs, for every kind of matrix.

B = diag(sqrt(w)) (A - 1 mean^T) diag(1/scale) ~ left diag(values) right^T.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from eckart.array_api import Array, astype, from_numpy, is_sparse, namespace, to_numpy
from eckart.decomposition import Certificate, Decomposition, Plan, SolveInfo, Which
from eckart.errors import AccuracyWarning, DataWarning, InputError, ParameterError
from eckart.operators.executors import threads
from eckart.operators.finite import refuse_not_finite
from eckart.operators.open_matrix import Opened, open_matrix
from eckart.operators.standardized import Standardized
from eckart.parameters import check_choice, check_count, check_share, memory_bytes, near_match
from eckart.solvers.certificate import undetermined_groups
from eckart.solvers.choose import Choice, Shape, choose
from eckart.solvers.direct import solve_direct
from eckart.solvers.gram import solve_gram
from eckart.solvers.lanczos import solve_lanczos
from eckart.solvers.orthogonal import flip_signs
from eckart.solvers.solution import Request, Solution

Method = Literal["pca", "svd"]
METHODS = ("pca", "svd")
SOLVERS = ("auto", "direct", "gram", "lanczos")
_TOLERANCE = {"float32": 1e-5, "float64": 1e-9}


@dataclass(frozen=True)
class Settings:
    """Checked arguments of `decompose`."""

    method: str
    k: int | None
    share: float | None
    center: bool
    scale: bool
    which: Which
    solver: str
    tolerance: float | None
    memory: int | None
    max_reads: int


def decompose(
    data: Any,
    method: Method = "pca",
    *,
    k: int | None = None,
    explain: float | None = None,
    error: float | None = None,
    center: bool | None = None,
    scale: bool = False,
    which: Which = "largest",
    sample_weight: Any = None,
    solver: str = "auto",
    tol: float | None = None,
    left: bool = False,
    rng: Any = None,
    memory: str | int | None = None,
    max_reads: int = 200,
) -> Decomposition:
    """The few axes of a table or matrix, with a certificate.

    Parameters
    ----------
    data : array, sparse matrix, data frame, or path
        Rows are observations. Arrays of PyTorch, CuPy and other array-API libraries are computed where they live.
    method : "pca" or "svd"
        "pca" subtracts the column means, "svd" takes the matrix as it is.
    k, explain, error : int, float, float
        How many axes: a number; the smallest number that explains a share such as 0.95 of the variance; or the smallest
        with a relative Frobenius error ||A - A_k|| / ||A|| of at most `error`. Give one; all axes if none is given.
    center, scale : bool
        Subtract means (default: for "pca" only); divide each column by its standard deviation.
    which : "largest" or "smallest"
        Leading axes, or the axes of least variance, smallest first.
    sample_weight : array of shape (rows,), optional
        How often each row counts.
    solver : "auto", "direct", "gram" or "lanczos"
        How to compute; `plan` says what "auto" chooses and why.
    tol : float, optional
        Accuracy of the squared singular values relative to the last wanted one; 1e-9, or 1e-5 for float32 data.
    left : bool
        Keep the left vectors (rows x k) as well.
    rng : int or numpy.random.Generator, optional
        Seed of the random start; the default is a fixed one.
    memory : str or int, optional
        Working memory allowed beside the data, such as "2GB".

    Examples
    --------
    >>> import eckart as ek
    >>> d = ek.decompose([[1, 2], [2, 1], [3, 4], [4, 3]], "svd", k=1)
    >>> round(float(d.values[0] ** 2), 6)
    58.0
    >>> low, high = d.certificate.explained
    >>> bool(low <= 58 / 60 <= high)
    True
    """
    opened = open_matrix(data)
    settings = _settings(
        opened, method, k, explain, error, center=center, scale=scale, which=which, solver=solver, tol=tol, memory=memory,
        max_reads=max_reads,
    )  # fmt: skip
    weights = _weights(sample_weight, opened.matrix.shape[0])
    if weights is not None:
        opened, weights = _without_zero_weights(opened, weights)
        settings = replace(settings, k=None if settings.k is None else min(settings.k, min(opened.matrix.shape)))
    request, choice = _prepare(opened, settings)
    problem = _problem(opened, settings, weights)
    seed, generator = _generator(rng)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        solution = _solve(problem, request, choice, generator, opened)
        return _finish(opened, problem, solution, settings, choice, seed=seed, keep_left=left)


def plan(data: Any, method: Method = "pca", **options: Any) -> Plan:
    """What `decompose` would do with the same arguments: solver, reads, bytes, why. Reads nothing but the shape.

    Examples
    --------
    >>> import numpy as np, eckart as ek
    >>> ek.plan(np.ones((1000, 20)), "pca", k=3).solver
    'direct'
    """
    opened = open_matrix(data)
    names = ("k", "explain", "error", "center", "scale", "which", "solver", "tol", "memory", "max_reads")
    ignored = ("left", "rng", "sample_weight")
    for name in options:
        if name not in (*names, *ignored):
            raise TypeError(f"plan() got an unexpected keyword argument {name!r}{near_match(name, names)}")
    given: dict[str, Any] = {name: options.get(name) for name in ("center", "tol", "memory")}
    settings = _settings(
        opened, method, options.get("k"), options.get("explain"), options.get("error"), scale=options.get("scale", False),
        which=options.get("which", "largest"), solver=options.get("solver", "auto"), max_reads=options.get("max_reads", 200), **given,
    )  # fmt: skip
    _, choice = _prepare(opened, settings)
    return _plan(opened, settings, choice)


def project(decomposition: Decomposition, data: Any, *, whiten: bool = False) -> Array:
    """Scores of rows on the axes: (A - mean) / scale right, in one read."""
    opened = open_matrix(data)
    d = decomposition
    if opened.matrix.shape[1] != d.columns:
        raise InputError(
            f"The data have {opened.matrix.shape[1]} columns, and the decomposition was made of {d.columns}. "
            "Give the same columns in the same order."
        )
    right = astype(d.right, namespace(d.right).float64)
    if d.scale is not None:
        right = right / astype(d.scale, right.dtype)[:, None]
    if whiten:
        right = right / whitening(d)
    matrix = opened.matrix
    # Centre before the product, block by block, where the data are dense; afterwards, where they are sparse.
    shifted = d.mean is not None and not matrix.sparse and not opened.exponent
    if shifted:
        matrix = matrix.shifted(_beside(d.mean, matrix.like))
    with np.errstate(over="ignore", invalid="ignore"):
        scores = matrix.matmat(_beside(right, matrix.like))
        if opened.exponent:
            scores = namespace(scores).astype(_power(astype(scores, namespace(scores).float64), -opened.exponent), scores.dtype)
        if d.mean is not None and not shifted:
            offset = _beside(d.mean, scores) @ astype(_beside(right, scores), _beside(d.mean, scores).dtype)
            scores = scores - astype(offset, scores.dtype)
    if not bool(namespace(scores).all(namespace(scores).isfinite(scores))):
        refuse_not_finite(opened.matrix.matrix, opened.about.column_names)
    return scores


def reconstruct(decomposition: Decomposition, scores: Array, *, whiten: bool = False) -> Array:
    """Rows from scores: (scores right^T) scale + mean."""
    d = decomposition
    scores = np.asarray(scores) if not hasattr(scores, "shape") else scores
    if scores.ndim != 2 or scores.shape[1] != d.k:
        raise InputError(f"Scores of shape {tuple(scores.shape)} do not belong to {d.k} axes: expected (rows, {d.k}).")
    right = _beside(d.right, scores)
    if whiten:
        right = right * astype(_beside(whitening(d), scores), right.dtype)
    result = scores @ right.T
    if d.scale is not None:
        result = result * astype(_beside(d.scale, result), result.dtype)
    if d.mean is not None:
        result = result + astype(_beside(d.mean, result), result.dtype)
    return result


def whitening(d: Decomposition) -> Array:
    """Standard deviation of the scores on each axis; 1 on axes without variance, which then stay at zero."""
    xp = namespace(d.values)
    deviation = astype(d.values, xp.float64) / max(d.weight - 1.0, 1.0) ** 0.5
    return xp.where(deviation > null_level(d), deviation, xp.ones_like(deviation))


def null_level(d: Decomposition) -> float:
    """Deviations at or below this are rounding, not variance."""
    eps = float(np.finfo(np.float32 if str(d.values.dtype).endswith("float32") else np.float64).eps)
    return float(d.norm) * eps * max(d.rows, d.columns) ** 0.5 / max(d.weight - 1.0, 1.0) ** 0.5


# The steps of decompose, in order


def _settings(
    opened: Opened,
    method: str,
    k: int | None,
    explain: float | None,
    error: float | None,
    *,
    center: bool | None,
    scale: bool,
    which: str,
    solver: str,
    tol: float | None,
    memory: str | int | None,
    max_reads: int,
) -> Settings:
    check_choice("method", method, METHODS)
    check_choice("which", which, ("largest", "smallest"))
    check_choice("solver", solver, (*SOLVERS, "exact"))
    if sum(option is not None for option in (k, explain, error)) > 1:
        raise ParameterError("Give one of k, explain and error, not several: each of them decides the number of axes.")
    rows, columns = opened.matrix.shape
    share = None
    if explain is not None:
        share = check_share("explain", explain)
    elif error is not None:
        share = 1.0 - check_share("error", error) ** 2
    if share is not None and which == "smallest":
        raise ParameterError("A share of variance is reached from the largest axes; give k together with which='smallest'.")
    number = check_count("k", k, min(rows, columns)) if k is not None else (None if share is not None else min(rows, columns))
    if tol is not None and not (isinstance(tol, float | int) and 0.0 <= tol < 1.0):
        raise ParameterError(f"tol={tol!r} is not an accuracy: give a number from 0 to below 1.")
    return Settings(
        method=method,
        k=number,
        share=share,
        center=method == "pca" if center is None else bool(center),
        scale=bool(scale),
        which="smallest" if which == "smallest" else "largest",
        solver=solver,
        tolerance=None if not tol else float(tol),
        memory=memory_bytes(memory),
        max_reads=max_reads,
    )


def _weights(sample_weight: Any, rows: int) -> np.ndarray | None:
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.shape != (rows,):
        raise InputError(f"sample_weight has shape {weights.shape}; one weight per row, ({rows},), is needed.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError("sample_weight holds negative, missing or infinite weights; each must be zero or a positive number.")
    if weights.sum() == 0.0:
        raise InputError("Sample weights are all zero: at least one row must count.")
    return weights


def _without_zero_weights(opened: Opened, weights: np.ndarray) -> tuple[Opened, np.ndarray]:
    """Rows of weight zero do not count, not even in the shape."""
    kept = weights > 0
    if kept.all():
        return opened, weights
    matrix = replace(opened.matrix, matrix=opened.matrix.matrix[np.flatnonzero(kept)])
    return replace(opened, matrix=matrix), weights[kept]


def _prepare(opened: Opened, settings: Settings) -> tuple[Request, Choice]:
    matrix = opened.matrix
    rows, columns = matrix.shape
    entries = int(matrix.matrix.nnz) if matrix.sparse else rows * columns
    shape = Shape(rows, columns, entries, matrix.sparse, matrix.precision)
    tolerance = settings.tolerance or _TOLERANCE[matrix.precision]
    request = Request(
        settings.k, settings.share, settings.which == "smallest", tolerance, max_reads=settings.max_reads
    )
    solver = settings.solver
    if solver == "exact":
        solver = "direct" if choose(shape, request).solver == "direct" else "gram"
    return request, choose(shape, request, solver=solver, memory=settings.memory)


def _problem(opened: Opened, settings: Settings, weights: np.ndarray | None) -> Standardized:
    matrix = opened.matrix if weights is None else opened.matrix.weighted(weights)
    shift = None
    if settings.center and not matrix.sparse and matrix.shape[0] >= matrix.shape[1]:
        shift = _near_mean(opened)
    return Standardized(matrix, center=settings.center, scale=settings.scale, shift=shift)


def _near_mean(opened: Opened) -> Array | None:
    """A row close to the column means, from a sample, where the means are large beside the spread; else None."""
    sample = opened.matrix.sample()
    xp = namespace(sample)
    mean = xp.mean(sample, axis=0)
    spread = float(xp.sum(xp.var(sample, axis=0)))
    offset = float(xp.sum(mean * mean))
    limit = 1.0 if opened.matrix.precision == "float32" else 100.0
    if not np.isfinite(offset) or offset <= limit * spread:
        return None
    return mean


def _solve(
    problem: Standardized, request: Request, choice: Choice, rng: np.random.Generator, opened: Opened
) -> Solution:
    try:
        if choice.solver == "direct":
            solution = solve_direct(problem, request)
        elif choice.solver == "gram":
            solution = solve_gram(problem, request)
        else:
            solution = solve_lanczos(problem, request, block=choice.block, capacity=choice.capacity, rng=rng)
        finite = np.isfinite(problem.moments.total) and np.isfinite(solution.values).all()
    except (np.linalg.LinAlgError, ValueError):
        # LAPACK and SciPy give up on NaN and infinity in their own words; say ours if that was the cause.
        if np.isfinite(_total(opened)):
            raise
        finite = False
    if not finite:
        refuse_not_finite(opened.matrix.matrix, opened.about.column_names)
    return solution


def _total(opened: Opened) -> float:
    matrix = opened.matrix.matrix
    values = matrix.data if is_sparse(matrix) else to_numpy(matrix)
    return float(np.sum(values, dtype=np.float64))


def _finish(
    opened: Opened,
    problem: Standardized,
    solution: Solution,
    settings: Settings,
    choice: Choice,
    *,
    seed: int | None,
    keep_left: bool,
) -> Decomposition:
    values = np.sqrt(solution.values)
    right, left = _vectors(problem, solution, values, keep_left=keep_left)
    signs = from_numpy(flip_signs(right), right)
    dtype = opened.matrix.dtype
    right = astype(right * signs, dtype)
    left = None if left is None else astype(left * signs, dtype)
    moments = problem.moments
    factor = 2.0**-opened.exponent if abs(opened.exponent) < 1000 else None
    restore = (lambda x: x * factor) if factor is not None else (lambda x: np.ldexp(x, -opened.exponent))
    unscale = restore if moments.scale is None else (lambda x: x)
    like = problem.like
    certificate = _certificate(solution, moments.total, problem.reads, settings, unscale, opened)
    result = Decomposition(
        method=settings.method,
        values=astype(from_numpy(np.asarray(unscale(values)), like), dtype),
        right=right,
        rows=opened.matrix.shape[0],
        columns=opened.matrix.shape[1],
        norm=float(unscale(np.float64(moments.total) ** 0.5)),
        weight=moments.weight,
        left=left,
        mean=None if moments.mean is None else astype(from_numpy(np.asarray(restore(moments.mean)), like), dtype),
        scale=None if moments.scale is None else astype(from_numpy(np.asarray(restore(moments.scale)), like), dtype),
        which=settings.which,
        row_names=opened.about.row_names,
        column_names=opened.about.column_names,
        rank=_rank(solution, problem),
        certificate=certificate,
        plan=_plan(opened, settings, choice),
        info=_info(solution, problem, seed),
        notes=(*opened.about.notes, *_notes(problem, settings, opened)),
    )
    _speak_up(result, solution)
    return result


def _vectors(
    problem: Standardized, solution: Solution, values: np.ndarray, *, keep_left: bool
) -> tuple[Array, Array | None]:
    """Right and left vectors from those of the short side: the long ones are B v / s, in one more read."""
    short, long = solution.vectors, solution.long_vectors
    if problem.turned:
        if long is None:
            long = _long_vectors(problem, short, values)
        return long, short if keep_left else None
    if keep_left and long is None:
        long = _long_vectors(problem, short, values)
    return short, long if keep_left else None


def _long_vectors(problem: Standardized, short: Array, values: np.ndarray) -> Array:
    xp = namespace(short)
    image = astype(problem.operator.matmat(short), xp.float64)
    lengths = xp.sqrt(xp.sum(image * image, axis=0))
    floor = float(values.max(initial=0.0)) * 1e-14
    image = image / xp.where(lengths > floor, lengths, xp.ones_like(lengths))
    return _complete(image, to_numpy(lengths) > floor)


def _complete(vectors: Array, good: np.ndarray) -> Array:
    """Replace the directions of zero singular values by any that are orthonormal to the rest."""
    if good.all():
        return vectors
    host = to_numpy(vectors).copy()
    host[:, ~good] = np.random.default_rng(0).standard_normal((host.shape[0], int((~good).sum())))
    order = np.argsort(~good, kind="stable")
    basis, triangle = np.linalg.qr(host[:, order])
    basis = basis * np.where(np.diagonal(triangle) < 0, -1.0, 1.0)
    result = np.empty_like(host)
    result[:, order] = basis
    result[:, good] = to_numpy(vectors)[:, good]
    return from_numpy(result, vectors)


def _certificate(
    solution: Solution, total: float, reads: int, settings: Settings, unscale: Any, opened: Opened
) -> Certificate:
    k = len(solution.values)
    largest = float(solution.values.max(initial=0.0))
    if total > 0.0:
        captured = float(np.sum(solution.values))
        slack = solution.rounding * k**0.5
        low = max(0.0, min(1.0, (captured - slack) / total))
        high = min(1.0, max(float(np.sum(solution.upper[:k])) / total, low))
    else:
        low = high = 0.0
    resolution = float(np.finfo(opened.matrix.precision).eps) * largest
    ordered = solution.which_falling if False else solution
    del ordered
    groups = undetermined_groups(*_falling(solution, settings), max(solution.rounding, 4 * resolution)) if largest else ((0, k - 1),)
    groups = tuple((first, min(last, k - 1)) for first, last in groups if first < k)
    upper_next = float(solution.upper[k]) if len(solution.upper) > k else (0.0 if solution.spectrum is not None and k >= len(solution.spectrum) else None)
    if upper_next is None and solution.spectrum is not None and settings.which == "largest":
        upper_next = float(solution.spectrum[k]) + solution.rounding
    residual = float(np.sqrt(np.sum(solution.residuals**2)))
    gap = (float(solution.values[-1]) - upper_next) if upper_next is not None and settings.which == "largest" else -1.0
    angle = min(1.0, residual / gap) if gap > 0 else 1.0
    if upper_next == 0.0 and solution.spectrum is not None and k >= len(solution.spectrum):
        angle = 0.0
    return Certificate(
        explained=(low, high),
        lower=np.asarray(unscale(np.sqrt(solution.lower[:k]))),
        upper=np.asarray(unscale(np.sqrt(solution.upper[:k]))),
        residuals=solution.residuals / largest if largest else np.zeros(k),
        angle=float(angle),
        undetermined=groups,
        failure_probability=solution.failure_probability,
        rounding=solution.rounding / total if total else 0.0,
        tolerance=settings.tolerance or _TOLERANCE[opened.matrix.precision],
        proved=solution.proved,
        reads=reads,
        word=_word(solution, low, high, k),
    )


def _falling(solution: Solution, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    k = len(solution.values)
    if settings.which == "smallest":
        return solution.lower[:k][::-1], solution.upper[:k][::-1]
    lower, upper = solution.lower, solution.upper
    if len(lower) < len(upper):
        lower = np.concatenate([lower, np.zeros(len(upper) - len(lower))])
    return lower, upper


def _word(solution: Solution, low: float, high: float, k: int) -> str:
    axes = f"{k} ax{'is' if k == 1 else 'es'}"
    if not solution.proved:
        reason = (
            "the spectrum is too flat at the cut for a sharp proof" if solution.settled else "the reads allowed were not enough"
        )
        return f"{axes} capture {low:.2%}; no {axes} can capture more than {high:.2%} ({reason})."
    chance = f", with probability {1 - solution.failure_probability:.6f}" if solution.failure_probability else ""
    return f"{axes} capture {low:.4%} of the total; no {axes} can capture more than {high:.4%}{chance}."


def _rank(solution: Solution, problem: Standardized) -> int | None:
    """Number of singular values above (rows + columns) units of rounding times the largest."""
    if solution.spectrum is None:
        return None
    values = np.sqrt(solution.spectrum)
    largest = float(values.max(initial=0.0))
    tolerance = largest * sum(problem.shape) * float(np.finfo(np.float64).eps)
    return int(np.sum(values > tolerance)) if largest > 0 else 0


def _notes(problem: Standardized, settings: Settings, opened: Opened) -> tuple[str, ...]:
    moments = problem.moments
    notes = []
    constant = moments.constant
    if settings.center and len(constant) == opened.matrix.shape[1]:
        notes.append("No column varies: there is no variance to explain.")
    elif settings.center and len(constant):
        names = opened.about.column_names
        listed = ", ".join(str(names[i]) if names else str(i) for i in constant[:5])
        treated = " They were left unscaled." if settings.scale else ""
        notes.append(f"{len(constant)} column(s) without variance: {listed}{', ...' if len(constant) > 5 else ''}.{treated}")
    if settings.method == "pca" and settings.center and not settings.scale:
        positive = moments.squares[moments.squares > 0]
        if len(positive) > 1 and positive.max() > 100 * positive.min():
            ratio = float(positive.max() / positive.min())
            notes.append(
                f"Column variances differ by a factor of {ratio:.3g} and nothing was scaled: columns with large numbers lead "
                "the axes. If the columns have different units, scale them."
            )
    return tuple(notes)


def _plan(opened: Opened, settings: Settings, choice: Choice) -> Plan:
    rows, columns = opened.matrix.shape
    chosen = {"center": settings.center, "scale": settings.scale, "which": settings.which}
    if settings.share is not None:
        chosen["share"] = settings.share
    if choice.block:
        chosen["block"] = choice.block
    return Plan(
        settings.method, choice.solver, rows, columns, settings.k, choice.reads, choice.peak_bytes, choice.why, chosen
    )


def _info(solution: Solution, problem: Standardized, seed: int | None) -> SolveInfo:
    return SolveInfo(
        solver=solution.solver,
        reads=problem.reads,
        steps=solution.steps,
        block=solution.block,
        basis=solution.basis,
        restarts=solution.restarts,
        precision=solution.precision,
        seed=seed,
        threads=threads(),
        history=solution.history,
    )


def _speak_up(result: Decomposition, solution: Solution) -> None:
    if not solution.proved and not solution.settled:
        assert result.certificate is not None
        warnings.warn(
            f"The asked accuracy was not reached in {result.certificate.reads} reads: {result.certificate.word} "
            "Allow more reads with max_reads, or ask for less with tol.",
            AccuracyWarning,
            stacklevel=3,
        )
    if result.norm == 0.0 and result.method == "pca":
        warnings.warn("There is no variance in the data: every column is constant.", DataWarning, stacklevel=3)


def _generator(rng: Any) -> tuple[int | None, np.random.Generator]:
    """A counter-based generator: the same numbers on every machine, whatever the number of workers."""
    if rng is None or isinstance(rng, int | np.integer):
        seed = 0 if rng is None else int(rng)
        if seed < 0:
            raise ParameterError(f"rng={rng!r} is not a seed: give an integer from 0 on, or a numpy.random.Generator.")
        return seed, np.random.Generator(np.random.Philox(seed))
    if isinstance(rng, np.random.Generator):
        return None, rng
    if isinstance(rng, np.random.RandomState):
        return None, np.random.Generator(np.random.Philox(rng.randint(2**31 - 1)))
    raise ParameterError(f"rng={rng!r} is not a seed: give an integer from 0 on, or a numpy.random.Generator.")


def _power(array: Array, exponent: int) -> Array:
    return from_numpy(np.ldexp(to_numpy(array), exponent), array)


def _beside(array: Array, like: Array) -> Array:
    """`array` in the library of `like`; a mix of libraries is refused."""
    if type(array) is type(like) or (isinstance(array, np.ndarray) and isinstance(like, np.ndarray)):
        return array
    if isinstance(array, np.ndarray):
        return from_numpy(array, like)
    raise InputError(
        f"The decomposition holds arrays of {type(array).__module__.partition('.')[0]} and the data are of "
        f"{type(like).__module__.partition('.')[0]}: use data of the library and device that it was fitted on."
    )
