"""choose_rank: apply every rule, and give one table of answers and a verdict with known error rates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Literal

import numpy as np

from eckart.arrays import from_numpy, is_sparse, to_numpy, unmasked
from eckart.documentation import document
from eckart.engine.matrix import Opened
from eckart.engine.threads import one_blas_thread
from eckart.errors import ParameterError
from eckart.fitted import decomposition_of, is_model
from eckart.io.open_matrix import open_matrix
from eckart.missing.fill import WAYS, How, fill, imputation_of, with_matrix
from eckart.notes import Note
from eckart.options import check_choice, check_count, check_fraction, hint_keywords, is_number, memory_bytes
from eckart.rank.answer import Verdict
from eckart.rank.assumptions import SMALL, with_assumptions
from eckart.rank.certainty import certainty, with_single_rows
from eckart.rank.derived import with_derived
from eckart.rank.drop import largest_drop, with_later_falls
from eckart.rank.evidence import Evidence, Options, of_data, of_decomposition, of_kernel
from eckart.rank.redundant import without_redundant
from eckart.rank.rules import QUICK, RULES, SPECTRAL, Rule
from eckart.rank.verdict import RankChoice
from eckart.registry import Method, get_method, method_of
from eckart.result import Decomposition
from eckart.wording import assigned

_SHOWN = 40
_CUR = Note(
    "cur_by_svd",
    "A CUR decomposition of rank k is at best as accurate as the SVD of rank k, so the rules use the singular values.",
)


@document
@hint_keywords
def choose_rank(
    data: object,
    rules: Literal["all", "quick"] | str | Sequence[str] = "all",
    *,
    method: str = "pca",
    scale: bool = False,
    explain: float = 0.9,
    noise: float | None = None,
    level: float = 0.99,
    repeats: int | None = None,
    most: int | None = None,
    missing: How = "error",
    rng: int | None = None,
    memory: str | int | None = None,
    decomposition: Decomposition | None = None,
) -> RankChoice:
    """Apply many rules for the number of components and recommend one number.

    Parameters
    ----------
    data : array-like, sparse matrix, data frame, path, Decomposition or fitted estimator
        The data, or a model. A model does not contain the data, so rules that need them abstain.
    rules : {'all', 'quick'}, str or sequence of str, default 'all'
        'all' applies all rules. 'quick' leaves out rules that resample the data or hold out parts of them. You can also
        give the names of individual rules.
    method : {'pca', 'svd', 'nmf', 'cur'}, default 'pca'
        'pca' subtracts the column means; 'svd' and 'cur' do not. For 'nmf', the number of components is chosen by
        bi-cross-validation. For 'kernel_pca' and 'isomap', pass the decomposition as `data`.
    scale : bool, default False
        Divide each column by its standard deviation first.
    explain : float, default 0.9
        Share of the variance that the rules 'variance', 'energy' and 'linear_energy' must reach.
    noise : float, default None
        Standard deviation of the noise. Required by the rule 'known_noise'.
    level : float, default 0.99
        Confidence level of the sequential tests. With a level of 0.99, a test finds too many components in about 1 %
        of tables.
    repeats : int, default None
        Number of random tables for each test. None uses more for small tables.
    most : int, default None
        Maximum number of components to consider. None considers up to 40.
    missing : {'error', 'mean', 'em'}, default 'error'
        How to treat missing values, as in `decompose`.
    rng : int, default None
        Seed. None uses a fixed seed, so results are reproducible.
    memory : str or int, default None
        Memory limit, such as "2GB". A larger table is read in blocks, and rules that need it in memory abstain.
    decomposition : Decomposition, default None
        A decomposition of the same data. If you pass one, its components are not computed again.

    Returns
    -------
    RankChoice
        The answer of every rule, the recommended number `k` and a summary.

    Raises
    ------
    ParameterError
        If no rule applies to the method.

    {See Also: decompose, bootstrap, plots.scree}

    Notes
    -----
    The recommended number comes from sequential permutation and sign-flip tests, whose error rates are known. These
    tests assume independent noise, so `choose_rank` checks this assumption:

    - If the noise of neighbouring columns is correlated, that correlation is estimated and removed before the tests.
    - If columns (or rows, if there are fewer) differ in the variance of their noise, the variances are estimated and
      made equal before the tests.
    - If neighbouring columns remain correlated, the rule 'gap' determines the number. If the columns remain correlated
      in another way, Horn's parallel analysis determines it.

    The order of the rows does not change the number. If neighbouring rows are correlated after the components are
    removed, the rows depend on each other, and the number is uncertain.

    References
    ----------
    .. [1] A. Buja and N. Eyuboglu, "Remarks on parallel analysis", Multivariate Behavioral Research 27, 1992.
    .. [2] M. Gavish and D. L. Donoho, "The optimal hard threshold for singular values is 4/sqrt(3)", IEEE Trans. Inf.
           Theory 60, 2014.
    .. [3] D. Donoho, M. Gavish and E. Romanov, "ScreeNOT", Annals of Statistics 51, 2023.
    .. [4] A. B. Owen and P. O. Perry, "Bi-cross-validation of the SVD and the nonnegative matrix factorization", Annals
           of Applied Statistics 3, 2009.

    Examples
    --------
    >>> import numpy as np, eckart as ek
    >>> rng = np.random.default_rng(0)
    >>> table = 3 * rng.standard_normal((200, 2)) @ rng.standard_normal((2, 20)) + rng.standard_normal((200, 20))
    >>> choice = ek.choose_rank(table, ["deterministic", "unknown_noise", "minka"])
    >>> choice.k
    2
    >>> choice.summary
    'Parallel analysis (deterministic) finds 2 components. 2 of 2 rules that separate signal from noise agree.'
    """
    names = _names(rules, noise)
    options = _options(explain, noise, level, repeats, most, rng)
    if is_model(data):
        return _of_decomposition(names, decomposition_of(data), options)
    chosen = _method_with_rules(method)
    if chosen.rank == "parts":
        return _of_parts(chosen, open_matrix(data, memory=memory_bytes(memory)), options)
    check_choice("missing", missing, WAYS)
    opened = open_matrix(data if missing == "error" else unmasked(data), memory=memory_bytes(memory))
    rows, columns = opened.matrix.shape
    with one_blas_thread() if rows * columns <= SMALL else nullcontext():
        opened, notes = _without_gaps(opened, missing, decomposition, options.seed)
        center = method == "pca"
        described, tested, redundant = without_redundant(opened, center=center)
        known, given = (decomposition, data) if described is opened else (None, described.matrix.matrix)
        evidence = of_data(given, described, options, center=center, scale=scale, known=known)
        noise_evidence = evidence
        if tested is not described:
            noise_evidence = of_data(tested.matrix.matrix, tested, options, center=center, scale=scale)
        notes = (*notes, *redundant)
        if method == "cur":
            notes = (*notes, _CUR)
        return _answers(names, evidence, method, notes, noise_evidence)


def _as_imputed(opened: Opened, d: Decomposition) -> Opened:
    """The table with the values that the decomposition imputed."""
    known, matrix = imputation_of(d), opened.matrix.matrix
    assert known is not None
    table = to_numpy(matrix).astype(np.float64)
    table[known.rows, known.columns] = known.values
    return with_matrix(opened, from_numpy(table, matrix))


def _method_with_rules(name: str) -> Method:
    """The method of this name, if rules on data apply to it."""
    method = get_method(name)
    if method.rank == "decomposition":
        raise ParameterError(
            f"The components of {name!r} depend on the kernel or the neighbours, so this function "
            "cannot compute them from the data. Decompose the data first, then pass the "
            "decomposition."
        )
    if method.rank == "none":
        raise ParameterError(f"No rule applies to {name!r}. Choose the number of components yourself.")
    return method


def _without_gaps(
    opened: Opened, missing: How, known: Decomposition | None, seed: int
) -> tuple[Opened, tuple[str, ...]]:
    """The table with imputed values, as in the given decomposition if that was imputed, and notes."""
    if missing == "error":
        return opened, ()
    if known is not None and imputation_of(known) is not None and not opened.matrix.sparse:
        return _as_imputed(opened, known), ()
    filled = fill(opened, missing, weights=None, rng=np.random.Generator(np.random.Philox(seed)))
    return with_matrix(opened, filled.table), filled.notes


def _of_decomposition(names: Sequence[str], d: Decomposition, options: Options) -> RankChoice:
    method = method_of(d)
    if method.rank == "parts" or (method.rank == "spectrum" and not method.orthogonal):
        raise ParameterError(
            f"A decomposition by {d.method!r} contains only its own components, but the rules need "
            f"more. Pass the data instead, with method={d.method!r}."
        )
    if method.rank != "spectrum":
        names = [name for name in names if name in SPECTRAL]
        note = Note(
            "noise_rules_left_out",
            "Rules about noise are left out, because they apply to tables of data, not to kernels or distances.",
        )
        return _answers(names or SPECTRAL, of_kernel(d, options), d.method, (note,))
    return _answers(names, of_decomposition(d, options), d.method)


def _of_parts(method: Method, opened: Opened, options: Options) -> RankChoice:
    """The rule that applies to parts: they are not nested, and their strengths are not a spectrum."""
    rows, columns = opened.matrix.shape
    rule = RULES["bicross"]
    if not opened.matrix.resident:
        k, reason = None, "This rule needs the whole table in memory, but the table is read in blocks."
    else:
        matrix = opened.matrix.matrix
        with one_blas_thread() if rows * columns <= SMALL else nullcontext():
            table = matrix if is_sparse(matrix) else to_numpy(matrix)
            k, reason = method.function("rank_rule")(table, options.most, options.seed)
    verdict = Verdict("bicross", rule.title, k, reason, rule.assumes)
    note = Note(
        "parts_not_nested",
        "In a non-negative factorisation, each component depends on how many there are, so only bi-cross-validation "
        "applies.",
    )
    return RankChoice((verdict,), rows, columns, method.name, False, (), (note,))


def _any_votes(verdicts: Iterable[Verdict]) -> bool:
    return any(verdict.counts and verdict.votes for verdict in verdicts)


def _answers(
    names: Sequence[str], described: Evidence, method: str, notes: tuple[str, ...] = (), tested: Evidence | None = None
) -> RankChoice:
    """The choice from the table that descriptive rules see and, if it differs, that of the rules about noise."""
    given = evidence = tested or described
    verdicts = tuple(_verdict(name, evidence if RULES[name].counts else described) for name in names)
    ratios = tuple(float(ratio) for ratio in described.ratios[:_SHOWN])
    choice = RankChoice(verdicts, evidence.rows, evidence.columns, method, evidence.scale, ratios, notes)
    if evidence.has_table:
        choice, evidence = with_assumptions(choice, evidence)
    if not _any_votes(verdicts) or not float(evidence.ratios.sum()):
        return with_derived(choice)  # descriptive rules alone say nothing about noise
    found = certainty(choice, evidence)
    choice = replace(choice, lowest=found.lowest, highest=found.highest, reason=found.reason)
    choice = with_later_falls(choice, given)
    choice = replace(choice, drop=largest_drop(choice, given))
    return with_derived(with_single_rows(choice, evidence))


def _asked(rule: Rule, e: Evidence) -> tuple[int | None, str]:
    """The number and reason of a rule; a rule without the data it needs abstains."""
    if not float(e.ratios.sum()):
        return 0, "The data have no variance."
    if rule.data and e.opened is None:
        return None, "This rule needs the rows of the data, but only a decomposition was passed."
    if rule.data and e.opened is not None and not e.opened.matrix.resident:
        return None, "This rule needs the whole table in memory, but the table is read in blocks."
    k, reason = rule.ask(e)
    if e.known is not None and rule.spectrum and k is not None:
        reason += f" (Eigenvalues after the first {e.known} are estimated.)"
    return k, reason


def _verdict(name: str, e: Evidence) -> Verdict:
    rule = RULES[name]
    k, reason = _asked(rule, e)
    if rule.no_vote:
        reason = f"{reason} {rule.no_vote}"
    return Verdict(name, rule.title, k, reason, rule.assumes, rule.counts, not rule.no_vote)


def _names(rules: str | Sequence[str], noise: float | None) -> tuple[str, ...]:
    if rules in ("all", "quick"):
        chosen = tuple(RULES) if rules == "all" else QUICK
        return tuple(name for name in chosen if name != "known_noise" or noise is not None)
    names = (rules,) if isinstance(rules, str) else tuple(rules)
    if not names:
        raise ParameterError(f"rules is empty. The available rules are {', '.join(RULES)}.")
    for name in names:
        check_choice("rules", name, tuple(RULES))
    return names


def _options(
    explain: float, noise: float | None, level: float, repeats: int | None, most: int | None, rng: int | None
) -> Options:
    if noise is not None and not (is_number(noise) and 0.0 < float(noise) < float("inf")):
        raise ParameterError(f"{assigned('noise', noise)} is not a standard deviation. Use a positive number.")
    for name, count in (("repeats", repeats), ("most", most)):
        if count is not None:
            check_count(name, count, None)
    return Options(check_fraction("explain", explain), noise, check_fraction("level", level), repeats, most, _seed(rng))


def _seed(rng: int | None) -> int:
    if rng is None:
        return 0
    if not is_number(rng) or int(rng) != rng or rng < 0:
        raise ParameterError(f"rng={rng!r} is not a seed. Use a non-negative integer.")
    return int(rng)
