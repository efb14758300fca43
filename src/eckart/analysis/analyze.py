"""analyze: everything the report, the command line and notebooks show, computed once from one decomposition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eckart.aliases import Keywords
from eckart.analysis import square_tables
from eckart.analysis.analysis import Analysis
from eckart.analysis.clusters import Clusters, clusters
from eckart.analysis.column_roles import column_roles
from eckart.analysis.data_notes import data_notes, note_on_lines, value_lines
from eckart.analysis.labels import column_labels
from eckart.analysis.measures import svd_details
from eckart.analysis.recommendation import (
    SHOWN,
    Recommendation,
    default_number,
    has_one_direction,
    recommend,
    why_these,
)
from eckart.analysis.unusual import Outliers, dominant_rows, unusual
from eckart.analysis.with_rows import with_rows
from eckart.api import decompose
from eckart.arrays import Array, Matrix, is_array, is_sparse, sparse_to_host, to_numpy
from eckart.cleanup import RemovedOnError
from eckart.components.pairs import OF_PAIRS
from eckart.engine.blocks.source import DataSource, MemorySource, Metadata, RowSource, Source
from eckart.engine.leading import leading
from eckart.engine.matrix import from_objects
from eckart.errors import EckartError, InputError, ParameterError
from eckart.fitted import decomposition_of, is_model
from eckart.io.arrays.sparse import canonical
from eckart.io.columns import compare_names
from eckart.io.identifiers import without_identifiers
from eckart.io.open_data import open_with
from eckart.io.read_options import split_options
from eckart.notes import Note, code_of
from eckart.options import check_choice, memory_bytes
from eckart.rank.choose import choose_rank
from eckart.rank.evidence import WHOLE, Options, needed
from eckart.rank.verdict import RankChoice
from eckart.registry import Method, get_method, method_of
from eckart.result import Decomposition

_EVERY_RULE = 100_000
"""Up to this many cells, all rank rules are applied. Above it, only rules that need no random tables."""
_MOST_SCORES = 20_000_000
"""Scores are kept if they are at most this many numbers."""
_MOST_COLUMNS = 1_000_000
_READ_FIRST = ("answers", "unknown_encoding", "numbers_as_text", "amounts_set_aside")
"""Codes of notes on reading that a report shows first, because most users will want to change what was read."""
_NO_COMPONENTS = "Each line contains only one value of a table, so Eckart does not recommend a number of components."


def analyze(
    source: object,
    method: str | Method | None = None,
    *,
    data: object = None,
    labels: Mapping[str, Sequence[str]] | None = None,
    ranks: RankChoice | str | None = "auto",
    **options: object,
) -> Analysis:
    """Decompose data and collect everything that a report shows.

    The result contains the recommended number of components, the roles of the columns, unusual rows and groups of
    rows.

    Parameters
    ----------
    source : anything `decompose` takes, a Decomposition, or a fitted estimator
        Data, or a fitted model. Columns that only identify or number the rows are not analysed, unless you name them in
        `columns`. If the data are a matrix of distances, their principal coordinates are analysed, unless `method` is
        given.
    method : str, optional
        Method, as in `decompose`. The default is "pca".
    data : anything `decompose` takes, optional
        If `source` is a model: the table that it was fitted to. With it, the report compares rows with their
        reconstructions.
    labels : mapping of str to sequence of str, optional
        Additional row labels, besides the text columns of the source. Each key is the name of a label, and each value
        contains one string per row.
    ranks : "auto", RankChoice or None
        Result of `choose_rank`. "auto" applies the rules for the number of components (all of them if the table is
        small). None applies no rule.
    **options
        Options of `decompose`, including reading options. If you give none of `k`, `explain` and `error`, the number of
        components depends on the smaller dimension of the table. If this is at most 20, the analysis has all
        components. Otherwise it has the recommended number, but at least 5.

    Returns
    -------
    Analysis
        The decomposition, the recommended number of components and everything that the report shows.

    See Also
    --------
    report : Write the analysis as a report.
    choose_rank : Rules for the number of components.

    Examples
    --------
    >>> import eckart as ek
    >>> found = ek.analyze(ek.datasets.path("usarrests"), scale=True)
    >>> found.k, found.decomposition.k
    (1, 4)
    >>> [role.name for role in found.roles if role.role == "measure"]
    ['Murder', 'Assault', 'UrbanPop', 'Rape']
    >>> print(found.recommendation.sentence)
    Keep 1 component. It explains 62.01 % of the variance. The deciding rule was Parallel analysis (sign flips). The
    number of components is uncertain: it could be anywhere from 0 to 2.
    """
    if is_model(source):
        if options:
            name = next(iter(options))
            raise TypeError(
                f"analyze() got an unexpected keyword argument {name!r}. The model is already fitted, so "
                "options for fitting do not apply."
            )
        return _of_model(decomposition_of(source), data, dict(labels or {}), ranks)
    if data is not None:
        raise ParameterError(
            "The first argument already contains the data. Leave out data=, which is needed only if "
            "the first argument is a model."
        )
    given, others = split_options(options)
    memory = memory_bytes(others.get("memory"))
    with RemovedOnError():
        opened = open_with(source, given, memory=memory, stream=others.get("stream"))
        table = opened if isinstance(opened, Source | RowSource) else _plain(opened)
        chosen = isinstance(source, Source | RowSource) or (given is not None and given.columns is not None)
        if not chosen:
            table = without_identifiers(table)
        return _of_table(table, method, dict(labels or {}), ranks, others)


def _plain(array: Array) -> DataSource:
    """An array of any library, or a sparse matrix, as a source on the host."""
    if hasattr(array, "tocsr"):
        return MemorySource(canonical(array))
    if array.ndim != 2:
        return array
    host = to_numpy(array)
    return MemorySource(from_objects(host) if host.dtype.kind == "O" else host)


def _of_model(
    model: Decomposition, data: object, labels: dict[str, Sequence[str]], ranks: RankChoice | str | None
) -> Analysis:
    matrix, metadata, found = None, Metadata(), None
    if data is not None:
        found = open_with(data)
        metadata = getattr(found, "metadata", metadata)
        compare_names(metadata.column_names, model.column_names)
        matrix = _matrix_of(found)
        if model.left is None:
            model = with_rows(model, found)
    d = model.on_host()  # copy data from a device to the host once, not for every table
    d, choice = _apply_rules(d, found, ranks, {})
    return _assemble(d, choice, metadata, sparse_to_host(matrix), labels | dict(metadata.labels), {}, requested=False)


def _of_table(
    table: DataSource,
    method: str | Method | None,
    labels: dict[str, Sequence[str]],
    ranks: RankChoice | str | None,
    options: Keywords,
) -> Analysis:
    _refuse_too_wide(table)
    requested = any(options.get(name) is not None for name in ("k", "explain", "error"))
    problem = _problem(table, method, ranks, options)
    with square_tables.negative_eigenvalues_noted(problem.notes):
        d, choice = _decompose_and_choose(
            problem.table, problem.method, problem.options, problem.ranks, requested=requested
        )
    metadata = getattr(problem.table, "metadata", Metadata())
    matrix, lines = _matrix_of(problem.table), None
    if problem.method.name == "pca" and isinstance(matrix, np.ndarray):
        lines = value_lines(matrix, metadata)
    # Such lines consist of identifiers, so advice to leave these out would be wrong. The notes of the problem replace
    # those of the decomposition, because they also state whether a triangle was filled in.
    known = {"numbering_column"} if lines is not None else set()
    known |= {code_of(note) for note in problem.notes}
    of_pairs = (*problem.notes, *square_tables.not_euclidean(d, problem.notes))
    found = [note for note in d.notes if code_of(note) not in known]
    d = replace(d.on_host(), notes=(*note_on_lines(lines, metadata), *of_pairs, *found))
    kept = {**problem.options, "method": problem.method.name}
    return _assemble(
        d, choice, metadata, sparse_to_host(matrix), labels | dict(metadata.labels), kept, requested=requested
    )


@dataclass(frozen=True)
class _Problem:
    """What to decompose, and how."""

    table: DataSource
    method: Method
    options: Keywords
    ranks: RankChoice | str | None
    notes: tuple[Note, ...] = ()


def _problem(
    table: DataSource, method: str | Method | None, ranks: RankChoice | str | None, options: Keywords
) -> _Problem:
    """The table as it is; if it has distances, and the user chose no method, the inner products behind them."""
    chosen = method if isinstance(method, Method) else get_method(method or "pca")
    square = square_tables.recognise_for(chosen.name, table)
    if square is None:
        square_tables.refuse_triangle(table, chosen.name, options)
        return _Problem(table, chosen, options, ranks)
    if square.kind in OF_PAIRS and ranks == "auto":
        ranks = None  # rules about noise need rows that are observations
    if method is not None or square.kind != "distances":
        return _Problem(square.source, chosen, options, ranks, (square.note(chosen.name),))
    note = f"{square.what} The report shows its principal coordinates (classical multidimensional scaling)."
    chosen, options = get_method("kernel_pca"), _scaling_options(table, options)
    return _Problem(square_tables.inner_products(square.source), chosen, options, ranks, (Note(square.kind, note),))


def _refuse_too_wide(table: DataSource) -> None:
    if table.shape[1] > _MOST_COLUMNS:
        raise InputError(
            f"The table has {table.shape[1]:,} columns. An analysis describes every column, which takes "
            f"minutes and gigabytes of memory for more than {_MOST_COLUMNS:,} columns. Keep fewer columns, or "
            "decompose the table without a report."
        )


def _matrix_of(table: DataSource) -> Matrix | None:
    """The numbers, if they are in memory."""
    return table if is_array(table) or is_sparse(table) else getattr(table, "matrix", None)


def _decompose_and_choose(
    table: DataSource, method: Method, options: Keywords, ranks: RankChoice | str | None, *, requested: bool
) -> tuple[Decomposition, RankChoice | None]:
    """The components to show, and the answers of the rules on their number; `requested` if the user chose it."""
    d, shown = _decompose_for_rules(table, method, options, ranks)
    d, choice = _apply_rules(d, table, ranks, options)
    if shown is not None:
        shown = shown if requested else max(shown, min(_recommended(choice), d.k))
        d = _shown(d, table, shown, left=options.get("left", True))
    return d, choice


def _recommended(choice: RankChoice | None) -> int:
    return 0 if choice is None else choice.k or 0


def _scaling_options(table: DataSource, options: Keywords) -> Keywords:
    """Options of kernel PCA for a table of distances. Options about columns do not apply to it."""
    kept = {name: value for name, value in options.items() if name not in ("scale", "which", "missing")}
    return {"k": min(table.shape[0] - 1, SHOWN), **kept, "kernel": "precomputed"}


def _shown(d: Decomposition, table: DataSource, k: int, *, left: bool) -> Decomposition:
    """The k leading components, with the scores of the rows unless there are too many."""
    d = leading(d, k)
    return with_rows(d, table) if d.left is None and left and d.rows * d.k <= _MOST_SCORES else d


def _decompose_for_rules(
    table: DataSource, method: Method, options: Keywords, ranks: object
) -> tuple[Decomposition, int | None]:
    """The decomposition with as many components as the rules need, and the number to show (None: as computed)."""
    rows, columns = table.shape
    arguments = dict(options)
    if arguments.get("explain") is not None or arguments.get("error") is not None:
        return decompose(table, method, **{"left": True, **arguments}), None
    counts = (arguments.get("n_columns"), arguments.get("n_rows"))
    shown = arguments.pop("k", None)
    shown = default_number(table, method, counts) if shown is None else int(shown)
    if not (ranks == "auto" and min(rows, columns) <= WHOLE and _nested(table, method, arguments)):
        left = arguments.pop("left", True) and rows * shown <= _MOST_SCORES
        return decompose(table, method, **{**arguments, "k": shown, "left": left}), None
    center = arguments.get("center", method.name == "pca")
    wanted = max(shown, needed(rows, columns, Options(), center=bool(center)))
    left = arguments.pop("left", True) and rows * wanted <= _MOST_SCORES
    return decompose(table, method, **{**arguments, "k": wanted, "left": left}), shown


def _nested(table: DataSource, method: Method, options: Keywords) -> bool:
    """Whether fewer components are a part of more, and all are in memory."""
    spectrum = method.rank == "spectrum" and method.orthogonal
    return spectrum and options.get("which", "largest") == "largest" and not hasattr(table, "read")


def _apply_rules(
    d: Decomposition, table: object, ranks: RankChoice | str | None, options: Keywords
) -> tuple[Decomposition, RankChoice | None]:
    """The answers of the rules on the number of components, or a note with the reason why they were not applied."""
    if isinstance(ranks, RankChoice) or ranks is None:
        return d, ranks
    check_choice("ranks", ranks, ("auto",))
    try:
        return d, _choose_rank(d, table, options)
    except EckartError as error:
        note = Note("no_recommendation", f"No rule could recommend a number of components: {error}")
        return replace(d, notes=(*d.notes, note)), None


def _has_spectrum(d: Decomposition) -> bool:
    """Whether the rules apply: they judge leading orthogonal components by their values."""
    method = method_of(d)
    return method.orthogonal and method.rank == "spectrum" and d.which != "smallest"


def _choose_rank(d: Decomposition, table: object, options: Keywords) -> RankChoice | None:
    """All rules, or for a large table only those that draw no random tables."""
    if not _has_spectrum(d) or has_one_direction(d):
        return None
    small = d.rows * d.columns <= _EVERY_RULE
    seed, memory = options.get("rng"), options.get("memory")
    if table is None or _unusual(d, options) or min(d.rows, d.columns) > WHOLE:
        return choose_rank(d, "quick", rng=seed)
    imputed = svd_details(d).missing
    missing: Any = options.get("missing") or ("error" if imputed is None else imputed.how)
    return choose_rank(
        table, "all" if small else "quick", method=d.method, scale=d.scale is not None, missing=missing, rng=seed,
        memory=memory, decomposition=d,
    )  # fmt: skip


def _unusual(d: Decomposition, options: Keywords) -> bool:
    """Whether there are weights, no centring or another divisor, which rules that draw tables do not support."""
    weighted = options.get("sample_weight") is not None or svd_details(d).row_weights is not None
    return weighted or (d.mean is not None) != (d.method == "pca") or options.get("ddof", 1) != 1


def _clusters(d: Decomposition, advice: Recommendation, matrix: Matrix | None) -> Clusters | None:
    """Clusters on the components that the section on unusual rows uses."""
    found = clusters(d, advice.model, matrix)
    if found is None or advice.k != 0:
        return found
    even = ("Rows can form clusters even if no component stands out.",) * (found.count > 1)
    return replace(found, lines=(why_these(d, found.k), *found.lines, *even))


def _outliers(d: Decomposition, advice: Recommendation, matrix: object) -> Outliers:
    found = unusual(d, matrix, advice.model)
    return replace(found, lines=(why_these(d, advice.model), *found.lines)) if advice.k == 0 and found.lines else found


def _why_none(d: Decomposition, matrix: object, *, meaningless: bool) -> str | None:
    """Why no number of components is recommended for this kind of table; None if one may be."""
    of_pairs = square_tables.answer_for_pairs(map(code_of, d.notes), matrix) if d.method == "pca" else None
    return of_pairs or (_NO_COMPONENTS if meaningless else None)


def _assemble(
    d: Decomposition,
    choice: RankChoice | None,
    metadata: Metadata,
    matrix: object,
    labels: dict[str, Sequence[str]],
    options: Keywords,
    *,
    requested: bool,
) -> Analysis:
    meaningless = any(code_of(note) in ("long_table", "rating_lines") for note in d.notes)
    choice = None if meaningless else choice
    advice = recommend(d, choice)
    if sentence := _why_none(d, matrix, meaningless=meaningless):
        advice = replace(advice, k=None, explained=None, rule="", sentence=sentence)
    noticed = () if meaningless else data_notes(d, matrix, metadata)
    of_pairs = any(code_of(note) in OF_PAIRS for note in d.notes)
    d = replace(d, notes=(*d.notes, *noticed, *_dominant(d, advice, of_pairs=of_pairs)))
    groups = None if meaningless or of_pairs else _clusters(d, advice, matrix)
    outliers = Outliers() if of_pairs else _outliers(d, advice, matrix)
    return Analysis(
        d, advice, column_roles(metadata, column_labels(d)), choice, outliers, groups, labels, matrix,
        _read_later(metadata), metadata.name, options, requested,
    )  # fmt: skip


def _dominant(d: Decomposition, advice: Recommendation, *, of_pairs: bool) -> tuple[Note, ...]:
    """Notes on components that describe a single observation."""
    return () if of_pairs else tuple(dominant_rows(d, advice.k or 1))


def _read_later(metadata: Metadata) -> tuple[Note, ...]:
    """The notes on reading that a report does not show first."""
    return tuple(note for note in metadata.parsing_notes if code_of(note) not in _READ_FIRST)
