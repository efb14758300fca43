"""PCA and SVD of every kind of matrix: find_components, plan_components.

B = diag(sqrt(w)) (A - 1 mean^T) diag(1/scale) ~ left diag(values) right^T.
"""

from __future__ import annotations

import warnings
from contextlib import nullcontext, suppress
from dataclasses import asdict, fields, replace
from itertools import compress
from typing import Any, Literal, Unpack

import numpy as np

from eckart.aliases import JsonObject
from eckart.arrays import Array, is_sparse, namespace, to_numpy, unmasked
from eckart.components.pairs import note_on_pairs
from eckart.engine.backends.select import backend_of
from eckart.engine.blocks.checkpoint import Journal, key_of
from eckart.engine.blocks.cluster import find_cluster
from eckart.engine.blocks.dask_rows import DaskRows
from eckart.engine.certify import as_plan, assemble
from eckart.engine.choose import Choice, Shape, choose_for, choose_resident
from eckart.engine.direct import solve_direct
from eckart.engine.finite import refuse_not_finite
from eckart.engine.gram import is_measurable, solve_gram, worth_measuring
from eckart.engine.lanczos.solve import solve_lanczos
from eckart.engine.lanczos.terms import HiddenByRoundingError, NotWorthError
from eckart.engine.matrix import Opened, bytes_read_at_once, stored, unprepared
from eckart.engine.settings import (
    Settings,
    check_settings,
    check_weights,
    generator,
    notes_on_weights,
    probe_seed,
    without_zero_weights,
)
from eckart.engine.solution import Request, Solution
from eckart.engine.standardize.problem import Problem, standardize
from eckart.engine.standardize.tall import OutOfRangeError, ResidentTall, Tall, is_resident
from eckart.engine.svd_options import SVDKeywords, SVDOptions
from eckart.engine.threads import one_blas_thread
from eckart.errors import AccuracyWarning, DataWarning, InputError
from eckart.formatting import counted
from eckart.io.open_matrix import open_matrix, open_on_device
from eckart.io.read_options import NAMES
from eckart.log import logger
from eckart.missing.fill import WAYS, fill, with_imputation, with_matrix
from eckart.options import check_choice, check_names, memory_bytes
from eckart.result import Decomposition, Plan, SVDDetails
from eckart.wording import K, either

Method = Literal["pca", "svd"]


def find_components(data: object, method: Method = "pca", **given: Unpack[SVDKeywords]) -> Decomposition[SVDDetails]:
    """The leading components, with a certificate; `eckart.decompose` describes the options."""
    options = SVDOptions(**given)
    check_choice("missing", options.missing, WAYS)
    plain = options.plain and options.solver in ("auto", "gram")
    data = data if options.missing == "error" else unmasked(data)
    unchecked = unprepared(data) if plain else None
    opened = unchecked or _open(data, options)
    settings = check_settings(min(opened.matrix.shape), method, options)
    found = _find_resident(opened, settings, options.rng) if plain and is_resident(opened) else None
    if found is None:
        opened = opened if unchecked is None else _open(data, options)
        found = _find_prepared(opened, settings, options)
    notes = note_on_pairs(opened.matrix.matrix, method) if opened.matrix.resident else ()
    return replace(found, notes=(*notes, *found.notes)) if notes else found


def _find_prepared(opened: Opened, settings: Settings, options: SVDOptions) -> Decomposition[SVDDetails]:
    """The same with weights, imputed values, and rows of any storage."""
    opened, settings, weights = _weighted(opened, settings, options)
    request, choice = _prepare(opened, settings)
    seed, random = generator(options.rng)
    request = replace(request, seed=probe_seed(seed, random))
    filled = None if options.missing == "error" else fill(opened, options.missing, weights=weights, rng=random)
    opened = opened if filled is None else with_matrix(opened, filled.table)
    run = None if options.checkpoint is None else _describe_run(opened, settings, choice, weights, random)
    journal = _start_reading(opened, choice, options, run)
    with journal or nullcontext(), np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        _find_workers(opened, options.executor)
        with one_blas_thread():  # products are shared by threads of ours, which give the same bits for any number
            problem = _problem(opened, settings, weights)
            problem, solution = _solve(problem, request, choice, random, opened)
            weight = None if weights is None else float(np.sum(weights))
            result = assemble(
                opened, problem, solution, settings, choice, seed=seed, keep_left=options.left, weight=weight
            )
    _warn_if_unconverged(result, solution, stacklevel=4)
    result = replace(result, notes=(*result.notes, *notes_on_weights(weights, settings)))
    result = result if filled is None else with_imputation(result, filled, weights)
    result = result if weights is None else _of_counted_rows(result, weights > 0.0)
    return result if options.device is None else result.on_host()


def _weighted(opened: Opened, settings: Settings, options: SVDOptions) -> tuple[Opened, Settings, np.ndarray | None]:
    """The data without rows of weight zero, at most as many components as other rows, and the weights."""
    weights = check_weights(options.sample_weight, opened.matrix.shape[0])
    if weights is None:
        return opened, settings, None
    opened, weights = without_zero_weights(opened, weights, number=options.left)
    counted, columns = int(np.count_nonzero(weights)), opened.matrix.shape[1]
    if settings.which == "smallest" and counted < min(columns, len(weights)):
        raise InputError(
            f"The data are read in blocks, and only {counted:,} rows have a weight above 0, which is fewer than "
            f"the {columns:,} columns. The smallest values would be those of rows without weight. Remove these rows."
        )
    return opened, settings.at_most(min(counted, columns)), weights


def _of_counted_rows(d: Decomposition[SVDDetails], counted: np.ndarray) -> Decomposition[SVDDetails]:
    """The result without the rows of weight zero, which are read with the others if rows are read in blocks."""
    if counted.all():
        return d
    details, names, left = d.details, d.row_names, d.left
    if left is not None:
        names = names or tuple(map(str, range(1, len(counted) + 1)))
        left = backend_of(left).take_rows(left, np.flatnonzero(counted))
        rows = {name: getattr(details, name) for name in ("row_norms", "row_weights")}
        details = replace(details, **{name: part[counted] for name, part in rows.items() if part is not None})
    names = None if names is None else tuple(compress(names, counted))
    return replace(d, rows=int(counted.sum()), left=left, row_names=names, details=details)


def _find_resident(opened: Opened, settings: Settings, rng: object) -> Decomposition[SVDDetails] | None:
    """The same for dense NumPy rows whose Gram matrix is formed in float64; None if that does not apply."""
    matrix = opened.matrix
    request, choice = choose_resident(matrix.shape, matrix.precision, settings)
    if choice.solver != "gram" or (matrix.precision == "float32" and worth_measuring(matrix.shape, request)):
        return None
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        problem = ResidentTall(matrix, center=settings.center)
        try:
            solution = solve_gram(problem, request, or_direct=True)
            seed = generator(rng)[0] if rng is not None else 0
            result = assemble(opened, problem, solution, settings, choice, seed=seed, keep_left=False)
        except (OutOfRangeError, np.linalg.LinAlgError):
            return None
    _warn_if_unconverged(result, solution)
    return result


def plan_components(data: object, method: Method = "pca", **given: Unpack[SVDKeywords]) -> Plan:
    """What `find_components` would do with the same arguments; reads only the shape."""
    check_names("plan", given, (*(field.name for field in fields(SVDOptions)), *NAMES))
    options = SVDOptions(**given)
    opened = _open(data, replace(options, device=None))
    settings = check_settings(min(opened.matrix.shape), method, options)
    _, choice = _prepare(opened, settings, resident=options.plain and is_resident(opened))
    return as_plan(opened, settings, choice)


# The steps of find_components, in order


def _open(data: object, options: SVDOptions) -> Opened:
    in_blocks = options.checkpoint is not None or options.executor is not None
    stream = True if options.stream is None and in_blocks else options.stream
    if options.device is None:
        return open_matrix(data, memory=memory_bytes(options.memory), stream=stream)
    return open_on_device(data, options.device, memory_bytes(options.memory), stream=bool(stream))


def _describe_run(
    opened: Opened, settings: Settings, choice: Choice, weights: np.ndarray | None, rng: np.random.Generator
) -> JsonObject:
    """Everything that the result depends on."""
    return {
        "settings": asdict(settings),
        "solver": asdict(replace(choice, why="", peak_bytes=0)),
        "blocks": key_of("edges", np.asarray(opened.matrix.edges)),
        "weights": None if weights is None else key_of("weights", weights),
        "seed": str(rng.bit_generator.state),
    }


def _start_reading(opened: Opened, choice: Choice, options: SVDOptions, run: JsonObject | None) -> Journal | None:
    if opened.matrix.resident:
        return None
    reading = opened.matrix.reading
    reading.callback, reading.expected = options.callback, choice.passes
    if run is not None and options.checkpoint is not None:
        reading.journal = Journal.open(options.checkpoint, run, opened.matrix)
    journal: Journal | None = reading.journal
    return journal


def _find_workers(opened: Opened, executor: object) -> None:
    """The cluster for the blocks: the one named, or the active client's if the data are Dask's."""
    matrix = opened.matrix
    if not matrix.resident and (executor is not None or isinstance(matrix.source, DaskRows)):
        matrix.reading.cluster = find_cluster(executor, wanted=True)


def _prepare(opened: Opened, settings: Settings, *, resident: bool = False) -> tuple[Request, Choice]:
    matrix = opened.matrix
    rows, columns = matrix.shape
    costs = backend_of(matrix.prototype).costs
    size = bytes_read_at_once(matrix)
    request, choice = choose_for(
        Shape(rows, columns, matrix.entries, matrix.sparse, matrix.precision, size, costs, resident), settings
    )
    logger.debug("Solver %r. %s", choice.solver, choice.why)
    return request, choice


def _problem(opened: Opened, settings: Settings, weights: np.ndarray | None) -> Problem:
    matrix = opened.matrix if weights is None else opened.matrix.weighted(weights)
    shift = None
    if settings.center and not matrix.sparse:
        shift = _near_mean(opened, scale=settings.scale)
    return standardize(
        matrix, center=settings.center, scale=settings.scale, shift=shift, exponent=opened.exponent, ddof=settings.ddof
    )


def _near_mean(opened: Opened, *, scale: bool) -> Array | None:
    """A row close to the column means, from a sample, if the means are large relative to the spread; otherwise None.

    Subtracting it block by block adds a little to every pass. Without it, a column whose mean is r times its spread
    loses 2 log10(r) digits of its variance. Columns that will be scaled cannot lose any.
    """
    sample = opened.matrix.sample(min(64, max(8, 400_000 // opened.matrix.shape[1])))
    xp = namespace(sample)
    mean = xp.mean(sample, axis=0)
    squares, spread = to_numpy(xp.stack([mean * mean, xp.var(sample, axis=0)]))  # in one copy
    together, alone = (4.0, 100.0) if opened.matrix.precision == "float32" else (100.0, 1e4)
    if scale:
        alone = together
    needed = np.sum(squares) > together * np.sum(spread) or np.any(squares > alone * spread)
    return mean if needed and np.isfinite(np.sum(squares)) else None


def _solve(
    problem: Problem, request: Request, choice: Choice, rng: np.random.Generator, opened: Opened
) -> tuple[Problem, Solution]:
    """The solution and its problem."""
    try:
        if choice.solver == "direct":
            solution = solve_direct(problem, request)
        elif choice.solver == "gram":
            solution = solve_gram(problem, request)
        else:
            problem, solution = _lanczos_or_gram(problem, request, choice, rng, opened)
        finite = np.isfinite(problem.total) and np.isfinite(solution.values).all()
    except (np.linalg.LinAlgError, ValueError):
        # LAPACK and SciPy raise their own errors on NaN and infinity; raise ours if that was the cause.
        if np.isfinite(_total(opened)):
            raise
        finite = False
    if not finite:
        refuse_not_finite(stored(opened), opened.metadata)
    return problem, solution


def _lanczos_or_gram(
    problem: Problem, request: Request, choice: Choice, rng: np.random.Generator, opened: Opened
) -> tuple[Problem, Solution]:
    """Block Lanczos, or the Gram matrix if a trial shows that Lanczos costs more."""
    worth = None if choice.trial is None else choice.trial.worth
    try:
        return problem, solve_lanczos(
            problem, request, block=choice.block, capacity=choice.capacity, probes=choice.probes, most=choice.most,
            rng=rng, worth=worth, single=choice.single,
        )  # fmt: skip
    except HiddenByRoundingError as error:
        single = is_measurable(error.value, problem.raw_trace(problem.total))
        return _gram_after_trial(problem, request, opened, single=single)
    except NotWorthError:
        return _gram_after_trial(problem, request, opened)


def _gram_after_trial(
    problem: Problem, request: Request, opened: Opened, *, single: bool = True
) -> tuple[Problem, Solution]:
    """The solution by the Gram matrix; dense NumPy rows without scaling and weights need no preparation.

    Without `single`, float32 products are known to be too inaccurate.
    """
    rows = opened.matrix
    if isinstance(problem, Tall) and not problem.scale and problem.weights is None and is_resident(opened):
        measured = single and rows.precision == "float32" and worth_measuring(rows.shape, request)
        if not measured and rows.matrix.dtype.char in "fd":
            resident = ResidentTall(rows, center=problem.center)
            with suppress(OutOfRangeError):
                return resident, solve_gram(resident, request)
    if not single:
        problem.sharpen()
    return problem, solve_gram(problem, request)


def _total(opened: Opened) -> float:
    if not opened.matrix.resident:
        return sum(_sum(block) for _, block in opened.matrix.read_all())
    return _sum(opened.matrix.matrix)


def _sum(matrix: Any) -> float:
    values = matrix.data if is_sparse(matrix) or hasattr(matrix, "to_host") else to_numpy(matrix)
    return float(np.sum(values, dtype=np.float64))


def _warn_if_unconverged(result: Decomposition, solution: Solution, *, stacklevel: int = 3) -> None:
    if not solution.proved:
        assert result.certificate is not None
        if solution.undecided:
            remedy = (
                "The requested share is so close to a boundary that the number of components may be off "
                f"by one. Specify the number of components with {K}, or request a slightly different "
                "share."
            )
        elif solution.converged:
            better = f"Convert the data to float64{either(', or request less accuracy with a larger tol', '')}."
            if solution.precision == "float64":
                direct = either("Use solver='direct'.", "Use --solver direct.")
                better = (
                    direct if result.which == "smallest" else either("Request less accuracy with a larger tol.", "")
                )
            remedy = (
                f"More passes over the data would not help, because rounding errors limit the bounds. {better}"
            ).rstrip()
        else:
            remedy = either(
                "Allow more passes with a larger max_passes, request less accuracy with a larger tol, or "
                "use solver='gram'.",
                "Use --solver gram.",
            )
        passes = counted(result.certificate.passes, "pass", "passes")
        warnings.warn(
            f"The requested accuracy could not be proved after {passes} over the data. "
            f"{result.certificate.summary} {remedy}",
            AccuracyWarning,
            stacklevel=stacklevel,
        )
    if result.norm == 0.0 and result.method == "pca":
        warnings.warn(
            "The data have no variance: every column is constant, so there are no components to find.",
            DataWarning,
            stacklevel=stacklevel,
        )
