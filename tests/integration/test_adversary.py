"""No certificate is false on tables built to break it: the short form of `python -m benchmarks.certificates`."""

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import mpmath
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import eckart as ek
from benchmarks.certificates import __main__ as sweep
from benchmarks.certificates import planted, reference
from benchmarks.certificates.breaks import SMALL
from benchmarks.certificates.checks import ALLOWED, axes_statements, judge, judge_within, sine_excess
from benchmarks.certificates.families import FAMILIES
from benchmarks.certificates.methods import missing_share
from benchmarks.certificates.options import OTHERS, Options, draw, parse, table_of
from eckart.engine.lanczos import block_lanczos, finish

FIRST = 770_000
"""Seeds from here on; the sweeps of the command start at 0."""


@pytest.fixture(autouse=True)
def one_thread():
    """Many small problems: threads would only wait for each other."""
    with threadpool_limits(1):
        yield


def complaints(cases):
    """What is false, crashes, or is not proved without a warning, one line per case that `--replay` repeats."""
    outcomes = [judge(options) for options in cases]
    return [str(outcome) for outcome in outcomes if outcome.false or outcome.crash or outcome.silent]


@pytest.mark.parametrize("name", SMALL)
def test_named_breaks_are_closed(name):
    assert complaints(SMALL[name]) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_no_statement_is_false(family):
    assert complaints(draw(family, FIRST + i) for i in range(3)) == []


FOUND = {
    "products that overflow": '{"family": "noise of all sizes", "seed": 57721560007780, "rows": 35, "columns": 142, '
    '"storage": "dask csr", "solver": "lanczos", "k": 8, "scale": true, "tol": 1e-12}',
    "a bound just above a Ritz value": '{"family": "few valued", "seed": 20261120310012018, "rows": 89, "columns": 43, '
    '"dtype": "float32", "solver": "lanczos", "ask": "boundary", "k": 4, "scale": true, "tol": 0.001, "ddof": 0, '
    '"passes": 7}',
    "squares of weighted sums underflow": '{"family": "mixed column scales", "seed": 20261120440019059, "rows": 29, '
    '"columns": 12, "storage": "blocks", "k": 3, "which": "smallest", "weights": "remote", "scale": true, '
    '"tol": 1e-12, "rng": 118462678, "ddof": 0}',
    "eigenvalues that MRRR passes over": '{"family": "needle", "seed": 1414213560008389, "rows": 525, "columns": 200, '
    '"method": "svd", "storage": "blocks", "solver": "gram", "k": 10, "weights": "integers"}',
    "the same among the smallest": '{"family": "needle", "seed": 1414213560059089, "rows": 299, "columns": 128, '
    '"dtype": "int64", "method": "svd", "solver": "gram", "k": 6, "which": "smallest"}',
    "a share that fills the basis": '{"family": "jordan", "seed": 1414213560014628, "rows": 527, "columns": 221, '
    '"storage": "blocks", "solver": "lanczos", "ask": "explain", "k": 9, "level": 0.7606927938663087, "scale": true, '
    '"tol": 0.001}',
    "a share beyond the basis": '{"family": "signs", "seed": 2718281820061283, "rows": 562, "columns": 233, '
    '"method": "svd", "storage": "blocks", "ask": "error", "level": 0.005473931702337217, "rng": 211671889}',
    "a sum of squares that rounding cancels": '{"family": "nothing", "seed": 47110000177, "rows": 16, "columns": 13, '
    '"storage": "csr blocks", "solver": "lanczos", "k": 11, "weights": "dominated"}',
    "values beyond the largest one": '{"family": "bernoulli", "seed": 5773502690012682, "rows": 91, "columns": 55, '
    '"storage": "csr blocks", "k": 4, "weights": "dominated", "rng": 427167175}',
    "small columns underflow": '{"family": "mixed column scales", "seed": 7770010003679, "rows": 13, "columns": 7, '
    '"solver": "lanczos", "ask": "error", "k": 5, "level": 0.006734241252839438, "weights": "uniform", "scale": true}',
    "last bits of huge columns": '{"family": "noise of all sizes", "seed": 2000528, "rows": 51, "columns": 144, '
    '"storage": "blocks", "solver": "lanczos", "k": 9, "weights": "uniform", "scale": true, "rng": 58078724}',
    "an entry that no sample meets": '{"family": "hidden entry", "seed": 2000178, "rows": 3521, "columns": 13, '
    '"dtype": "float32", "solver": "lanczos", "k": 7, "rng": 1077766375}',
    "the same in blocks": '{"family": "hidden entry", "seed": 2000420, "rows": 262, "columns": 193, "method": "svd", '
    '"storage": "blocks", "k": 2, "rng": 1421624651}',
    "residuals lost in a Gram matrix": '{"family": "flat", "seed": 42420026334, "rows": 8, "columns": 59, '
    '"solver": "lanczos", "k": 6, "rng": 1235187751}',
    "a share on the boundary": '{"family": "power law", "seed": 42420098270, "rows": 49, "columns": 147, '
    '"solver": "lanczos", "ask": "boundary", "k": 8, "rng": 738313765}',
    "more parts than rank": '{"family": "low rank counts", "seed": 202611160037934, "rows": 52, "columns": 24, '
    '"dtype": "float32", "method": "nmf", "k": 8, "rng": 1407242734}',
    "points close together": '{"family": "nearly constant columns", "seed": 7770010002526, "rows": 43, "columns": 16, '
    '"method": "kernel_pca", "solver": "lanczos", "rng": 1836051264, "extra": "rbf"}',
    "sparse rows scaled and then read in blocks": '{"family": "denormal entries", "seed": 51500062336, "rows": 2, '
    '"columns": 8, "method": "svd", "storage": "csr blocks", "solver": "lanczos", "k": 2}',
    "rows of weight zero overflow": '{"family": "denormal entries", "seed": 902100084116, "rows": 3, "columns": 10, '
    '"method": "svd", "storage": "blocks", "weights": "integers"}',
    "samples of rows without weight": '{"family": "noise of all sizes", "seed": 81006425, "rows": 18, "columns": 44, '
    '"storage": "csr blocks", "solver": "lanczos", "k": 18, "weights": "integers", "scale": true}',
    "large constant columns": '{"family": "noise of all sizes", "seed": 902100050920, "rows": 2, "columns": 3, '
    '"storage": "memmap", "solver": "gram", "k": 2}',
    "singular values of a scaled table": '{"family": "offsets of rows", "seed": 51500012294, "rows": 41, '
    '"columns": 18, "dtype": "float32", "method": "nmf", "k": 6, "rng": 435122778}',
    "values apart in one group": '{"family": "huge column", "seed": 42420080414, "rows": 7, "columns": 45, "k": 5, '
    '"extra": "incremental"}',
    "residuals of values that are zero": '{"family": "empty rows and columns", "seed": 2997924580028952, "rows": 2, '
    '"columns": 131, "dtype": "int32", "storage": "csr blocks", "solver": "lanczos", "weights": "dominated", '
    '"rng": 1692411089}',
    "long vectors of the reference": '{"family": "empty rows and columns", "seed": 51500072812, "rows": 66, '
    '"columns": 51, "ask": "boundary", "k": 2, "weights": "extreme", "rng": 1515044998}',
}
"""Cases that sweeps have found, by their cause."""


@pytest.mark.parametrize("cause", FOUND)
def test_what_sweeps_have_found_stays_fixed(cause):
    assert complaints([parse(FOUND[cause])]) == []


@pytest.mark.parametrize("family", planted.PLANTED)
def test_no_vector_can_be_hidden_from_the_random_start(family):
    assert complaints(planted.draw(family, FIRST + i) for i in range(5)) == []


@pytest.mark.parametrize("method", OTHERS)
def test_other_methods_state_nothing_false(method):
    drawn = (draw(family, FIRST + 100 + i) for i in range(120) for family in ("noise", "few valued", "graded"))
    cases = [options for options in drawn if options.method == method][:8]
    assert len(cases) >= 2
    assert complaints(cases) == []


# The detector itself


def test_recorded_draws_repeat_without_the_data():
    """The attack rests on this: the recorder sees what a generator with a fixed seed draws."""
    with planted.recorded() as drawn:
        np.random.Generator(np.random.Philox(3)).standard_normal((20, 2))
        np.random.default_rng(3).bytes(5)
    assert [numbers.shape for numbers in drawn] == [(20, 2), (40,)]
    assert planted.as_columns(drawn, 20).shape == (20, 2 + 2 * 2)
    assert isinstance(np.random.default_rng(0), np.random.Generator)
    assert type(np.random.default_rng(0)) is np.random.Generator


@pytest.mark.parametrize(("rows", "columns"), [(9, 6), (6, 9)])
def test_extended_reference_agrees_with_sixty_digits(rows, columns):
    """Graded, nearly dependent and with an offset of 1e9: float64 keeps no digit of the small values."""
    rng = np.random.default_rng(4)
    table = 1e9 + rng.standard_normal((rows, columns)) * 10.0 ** -np.linspace(0, 7, columns)
    found = reference.extended(table, center=True)
    with mpmath.workdps(60):
        exact = mpmath.matrix(table.tolist())
        for j in range(columns):
            mean = mpmath.fsum(exact[:, j]) / rows
            for i in range(rows):
                exact[i, j] -= mean
        exact *= mpmath.mpf(2) ** -found.exponent
        values = sorted(mpmath.svd_r(exact, compute_uv=False), reverse=True)
        apart = [abs(mpmath.mpf(str(value)) - wanted) for value, wanted in zip(found.values, values, strict=True)]
    assert max(apart) < 1e-17 * values[0]


@pytest.mark.parametrize("seed", range(4))
def test_float64_reference_is_ten_times_better_than_what_is_allowed(seed):
    table = table_of(Options("graded", seed, 60, 40))
    double, extended = reference.double(table, center=True), reference.extended(table, center=True)
    assert np.max(np.abs(double.values - extended.values)) < 0.1 * ALLOWED * extended.largest
    assert abs(extended.right.T @ extended.right - np.eye(40)).max() < 1e-15
    assert double.unit < 0.1 * ALLOWED


TAMPERED = {
    "lower value": lambda c: replace(c, lower=c.lower + 1e-13 * c.upper[0] + (c.upper - c.lower)),
    "upper value": lambda c: replace(c, upper=c.lower - 1e-13 * c.upper[0]),
    "lower share": lambda c: replace(c, explained=(c.explained[1] + 1e-13, 1.0)),
    "upper share": lambda c: replace(c, explained=(0.0, c.explained[0] - 1e-13)),
    "captured share": lambda c: replace(c, explained=(c.explained[1] + 1e-13, 1.0)),
    "residual": lambda c: replace(c, residuals=c.residuals - 1e-12),
    "angle": lambda c: replace(c, angle=-1e-12),
    "different values in a group": lambda c: replace(c, undetermined=((0, 1),)),
    "group out of range": lambda c: replace(c, undetermined=((3, 9),)),
    "vacuous although proved": lambda c: replace(c, upper=1.1 * c.upper, proved=True),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_a_false_statement_is_found(name):
    """Each bound, moved by little more than is allowed, is reported; as it is, none is."""
    options = Options("power law", 3, 50, 20, method="svd", k=4)
    table = table_of(options)
    truth = reference.extended(table)
    d = ek.decompose(table, "svd", k=4)
    honest = axes_statements(d, truth, options)
    assert max(honest.values()) <= ALLOWED
    found = axes_statements(replace(d, certificate=TAMPERED[name](d.certificate)), truth, options)
    assert found[name] > ALLOWED


def test_a_false_angle_of_long_vectors_is_found():
    """More columns than rows, and values down to 1e-9 of the first: the angle of 1e-10 is found, no other is seen."""
    rng = np.random.default_rng(8)
    left, right = (np.linalg.qr(rng.standard_normal((size, 12)))[0] for size in (12, 30))
    table = left * 10.0 ** -np.linspace(0, 9, 12) @ right.T
    truth, d = reference.extended(table), ek.decompose(table, "svd", k=3)
    assert sine_excess(d.right, 0.0, truth, smallest=False) < 1e-14
    beyond = truth.right[:, 5].astype(float)
    transposed = np.column_stack([d.right[:, :2], d.right[:, 2] + 1e-10 * beyond])
    assert sine_excess(transposed, 0.0, truth, smallest=False) == pytest.approx(1e-10, rel=1e-3)


def test_equal_values_must_share_a_group():
    options = Options("ties", 0, 6, 4, method="svd", k=3)
    table = np.zeros((6, 4))
    table[[0, 1, 2, 3], [0, 1, 2, 3]] = [3.0, 2.0, 2.0, 1.0]
    d = ek.decompose(table, "svd", k=3)
    assert axes_statements(d, reference.extended(table), options)["equal values in no group"] == 0.0
    ungrouped = replace(d, certificate=replace(d.certificate, undetermined=()))
    assert axes_statements(ungrouped, reference.extended(table), options)["equal values in no group"] == 1.0


@pytest.mark.parametrize(("asked", "name"), [(0.5, "k too large"), (0.999999, "k too small")])
def test_a_wrong_number_of_components_is_found(asked, name):
    options = Options("power law", 3, 50, 20, method="svd", ask="explain", level=asked)
    table = table_of(options)
    found = axes_statements(ek.decompose(table, "svd", k=12), reference.extended(table), options)
    assert found[name] > 1e-9


def test_a_bound_that_forgets_half_of_the_residual_is_found(monkeypatch):
    """The sweep sees an error in the engine, not only one in a certificate."""
    exact = finish.upper_bounds
    monkeypatch.setattr(
        finish, "upper_bounds", lambda values, coupled, *more: exact(values, 0.5 * np.asarray(coupled), *more)
    )
    monkeypatch.setattr(block_lanczos, "upper_bounds", finish.upper_bounds)
    cases = [replace(draw("power law", FIRST + i), solver="lanczos", tol=1e-3, ask="k") for i in range(12)]
    assert any("upper value" in judge(options).false for options in cases)


def test_a_sweep_ends_when_its_time_is_up():
    assert len(list(sweep.run(sweep.cases(10**6, 1, ["constant"]), 1, 0.0, 60.0))) == 1


def test_processes_check_every_table():
    """As a command: what it sends to other processes must not be defined in the module that is run."""
    command = [sys.executable, "-m", "benchmarks.certificates", "--tables", "3", "--jobs", "2", "--only", "constant"]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert "3 tables in" in found.stdout, found.stderr


def test_a_table_that_takes_too_long_is_a_crash(monkeypatch):
    monkeypatch.setattr("benchmarks.certificates.checks._judge_axes", lambda *_: time.sleep(60))
    assert "no result after" in judge_within(Options("constant", 1, 4, 3), 0.05).crash


def test_missing_share_of_a_kernel():
    """Two of three orthogonal points leave a third of the trace; all leave nothing."""
    kernel = np.eye(3, dtype=np.longdouble)
    assert missing_share(kernel, np.array([0, 2])) == pytest.approx(1 / 3)
    assert missing_share(kernel, np.array([0, 1, 2])) == 0.0


@pytest.mark.parametrize("family", ["noise", "counts", "huge offset"])
def test_a_line_repeats_its_case(family):
    for seed in range(20):
        options = draw(family, seed)
        again = parse(options.line)
        assert again == options
        np.testing.assert_array_equal(table_of(again), table_of(options))


def test_families_fill_any_shape():
    assert len(FAMILIES) + len(planted.PLANTED) >= 27
    for name in FAMILIES:
        for rows, columns in ((1, 1), (2, 7), (7, 2)):
            for dtype in ("float32", "float64"):
                table = table_of(Options(name, 1, rows, columns, dtype))
                assert table.shape == (rows, columns)
                assert table.dtype == dtype
                assert np.all(np.isfinite(table))
