"""Model files: exact round trip, and every broken, foreign or hostile file refused with its reason."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import eckart as ek
from eckart import files as newfile
from eckart.details import WordModel
from eckart.errors import ModelFileError
from eckart.io import model_file as modelfile
from eckart.io.model_file import load, save
from eckart.notes import Note
from eckart.result import Certificate, Decomposition, Plan
from tests.samples import arrests, built, same

DTYPES = st.sampled_from([np.dtype(t) for t in ("<f4", "<f8", ">f8", "<f2", "<i8")])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.eckart"
    save(arrests(), path)
    return path


def forge(path: Path, change: Any = None, members: Any = None, **zip_options: Any) -> Path:
    """The same model with its JSON or its members changed, sealed anew as an attacker would."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(entries.pop("model.json"))
    if members:
        members(entries)
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in entries.items()}
        document["sha256"] = {name.removesuffix(".npy"): digest for name, digest in digests.items()}
    if change:
        change(document)
    with path.open("w+b") as file:
        with zipfile.ZipFile(file, "w", **zip_options) as archive:
            for name, data in (entries | {"model.json": json.dumps(document).encode()}).items():
                archive.writestr(name, data)
            archive.comment = modelfile._SEAL + b"0" * 64
        file.write(modelfile._seal(file, file.seek(0, os.SEEK_END) - modelfile._SEAL_LENGTH))
    return path


def npy(array: np.ndarray, **options: Any) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, **options)
    return stream.getvalue()


def test_round_trip_is_exact(model: Path) -> None:
    assert same(load(model), arrests())
    assert np.load(model)["right"].shape == (4, 4)


def test_same_model_gives_same_bytes(tmp_path: Path, model: Path) -> None:
    save(arrests(), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == model.read_bytes()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), rows=st.integers(0, 5), columns=st.integers(0, 5), k=st.integers(0, 4), dtype=DTYPES)
def test_any_decomposition_survives(
    tmp_path: Path, data: Any, rows: int, columns: int, k: int, dtype: np.dtype
) -> None:
    def array(*shape: int) -> np.ndarray:
        plain = hnp.from_dtype(dtype, allow_nan=False, allow_infinity=False) if dtype.kind == "f" else None
        return data.draw(hnp.arrays(dtype, shape, elements=plain))

    def positive(*shape: int) -> np.ndarray:
        return data.draw(hnp.arrays(dtype, shape, elements={"min_value": 0, "max_value": 100}))

    text = st.text(st.characters(exclude_categories=()), max_size=5)  # lone surrogates included
    norm = data.draw(st.floats(200.0, 1e300))
    low, high = (data.draw(hnp.arrays(float, (k,), elements={"min_value": 0.0, "max_value": 99.0})) for _ in range(2))
    share = data.draw(st.sampled_from([(0.0, 0.0), (0.25, 1.0)]))
    residuals = data.draw(hnp.arrays(float, (k,), elements=st.floats(0.0)))
    certificate = Certificate(share, np.minimum(low, high), np.maximum(low, high), residuals, angle=1.0)
    given = Decomposition(
        data.draw(text), positive(k), array(columns, k), rows, columns, norm, 1.5,
        left=data.draw(st.sampled_from([None, array(rows, k)])), mean=np.asfortranarray(array(columns)),
        row_names=tuple(data.draw(st.lists(text, min_size=rows, max_size=rows))),
        certificate=certificate, notes=tuple(Note("code", note) for note in data.draw(st.lists(text, max_size=3))),
        plan=Plan("pca", "gram", rows, columns, None, 1, 2**70, "", {"a": [1, (2.5, None)], "dict": {"tuple": True}}),
    )  # fmt: skip
    save(given, tmp_path / "m", overwrite=True)
    assert same(load(tmp_path / "m"), given)


def test_settings_for_people_become_text(tmp_path: Path) -> None:
    d = arrests()
    assert d.plan is not None
    save(replace(d, plan=replace(d.plan, settings={"dtype": np.dtype("f4"), "n": np.int64(3)})), tmp_path / "m")
    plan = load(tmp_path / "m").plan
    assert plan is not None
    assert plan.settings == {"dtype": "float32", "n": 3}


def test_torch_is_saved_as_numpy(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    d = arrests()
    save(replace(d, right=torch.from_numpy(d.right.copy()).requires_grad_()), tmp_path / "m")
    assert same(load(tmp_path / "m"), d)


def test_flipped_bytes_are_refused(model: Path) -> None:
    whole, random = model.read_bytes(), np.random.default_rng(0)
    for position in [0, 1, len(whole) - 1, len(whole) - 70, *random.integers(0, len(whole), 300)]:
        broken = bytearray(whole)
        broken[position] ^= 1 << int(random.integers(8))
        model.write_bytes(broken)
        with pytest.raises(ModelFileError):
            load(model)


def test_truncated_and_longer_files_are_refused(model: Path) -> None:
    whole = model.read_bytes()
    for length in [0, 1, 4, 30, 83, 84, len(whole) - 1, *np.random.default_rng(1).integers(0, len(whole), 100)]:
        model.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            load(model)
    model.write_bytes(whole + b"\0")
    with pytest.raises(ModelFileError, match="truncated, or was modified, or is not a model"):
        load(model)


@pytest.mark.parametrize("seed", range(60))
def test_garbage_under_a_valid_seal_is_refused(model: Path, seed: int) -> None:
    """Random bytes changed and the seal renewed: the parsers below the checksum stand alone."""
    random, data = np.random.default_rng(seed), bytearray(model.read_bytes()[: -modelfile._SEAL_LENGTH])
    before = bytes(data)
    for position in random.integers(4, len(data), 3):
        data[position] = random.integers(256)
    with model.open("w+b") as file:
        file.write(data)
        file.write(modelfile._seal(file, len(data)))
    try:
        loaded = load(model)
    except ModelFileError:
        return
    assert same(loaded, arrests()) or before == data  # only a byte that means nothing, such as a date


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (pickle.dumps({"a": 1}), "pickle"),
        (npy(np.zeros(3)), "single .npy"),
        (b"<html>", "begins with"),
    ],
)
def test_foreign_files_are_named(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "x.eckart").write_bytes(content)
    with pytest.raises(ModelFileError, match=reason):
        load(tmp_path / "x.eckart")


def test_plain_npz_is_no_model(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", right=np.zeros(3))
    with pytest.raises(ModelFileError, match="checksum"):
        load(tmp_path / "x.npz")


@pytest.mark.parametrize("path", ["missing.eckart", "."])
def test_what_cannot_be_opened_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(ModelFileError, match="cannot be opened"):
        load(tmp_path / path)


def body(document: dict[str, Any]) -> dict[str, Any]:
    return document["body"]["Decomposition"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda d: d.update(version=2), "Update Eckart"),
        (lambda d: d.update(version=True), "version"),
        (lambda d: d.update(format="other"), "format"),
        (lambda d: d.update({"class": "os.system"}), "unknown class"),
        (lambda d: d.update(body={"Certificate": {}}), "cannot be loaded"),
        (lambda d: d.update(body={"Popen": {"args": "ls"}}), "unknown or broken"),
        (lambda d: d.update(body={"tuple": []}), "not a Decomposition"),
        (lambda d: d.update(body={"a": 1, "b": 2}), "2 keys"),
        (lambda d: d.update(sha256=[]), "files in the archive differ"),
        (lambda d: d.pop("sha256"), "not a model"),
        (lambda d: body(d).update(rows=51), "left has shape"),
        (lambda d: body(d).update(columns=5), "right has shape"),
        (lambda d: body(d).update(rows="50"), r"rows has a value of the wrong type \(str\)"),
        (lambda d: body(d).update(rows=True), r"rows has a value of the wrong type \(bool\)"),
        (lambda d: body(d).update(which="middle"), "which has a value"),
        (lambda d: body(d).update(values={"array": "right"}), "one-dimensional"),
        (lambda d: body(d).update(values=None), "values has a value"),
        (lambda d: body(d).update(notes={"tuple": [1]}), "notes has a value"),
        (lambda d: body(d).update(row_names={"tuple": ["a"]}), "row_names"),
        (lambda d: body(d).update(power=1), "no field"),
        (lambda d: body(d).pop("right"), "no value for right"),
        (lambda d: body(d)["certificate"]["Certificate"].update(lower={"array": "right"}), "certificate.lower"),
    ],
)  # fmt: skip
def test_lies_in_the_json_are_refused(model: Path, change: Any, reason: str) -> None:
    with pytest.raises(ModelFileError, match=reason):
        load(forge(model, change))


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (npy(np.full((4, 4), np.nan)), "NaN"),
        (npy(np.full((4, 4), np.inf)), "infinite"),
        (npy(np.zeros((4, 3))), "right has shape"),
        (npy(np.array([[{}]], dtype=object), allow_pickle=True), "dtype object"),
        (npy(np.zeros((4, 4), complex)), "dtype complex"),
        (npy(np.zeros((4, 4)), version=(3, 0)), "version 1.0"),
        (npy(np.zeros((4, 4))).replace(b"(4, 4)", b"(9**9)"), "not a model"),
        (npy(np.zeros((4, 4))).replace(b"(4, 4), }      ", b"(4, 99999999), }"), "declares shape"),
        (npy(np.zeros((4, 4))).replace(b"(4, 4), } ", b"(-4, -4),}"), "declares shape"),
        (npy(np.zeros((4, 4)))[:8] + b"\xff\xff" + b" " * 70_000, "not a model"),
        (b"", "not a model"),
    ],
)
def test_hostile_arrays_are_refused(model: Path, array: bytes, reason: str) -> None:
    with pytest.raises(ModelFileError, match=reason):
        load(forge(model, members=lambda entries: entries.update({"right.npy": array})))


def test_strange_archives_are_refused(model: Path) -> None:
    whole = model.read_bytes()
    bomb = {"right.npy": npy(np.zeros((4, 100_000)))}
    with pytest.raises(ModelFileError, match="compressed"):
        load(forge(model, members=lambda entries: entries.update(bomb), compression=zipfile.ZIP_DEFLATED))
    model.write_bytes(whole)
    with pytest.raises(ModelFileError, match="files in the archive differ"):
        load(forge(model, change=lambda document: document["sha256"].pop("right")))
    model.write_bytes(whole)
    with pytest.raises(ModelFileError, match=r"differs from the one in model\.json"):
        load(forge(model, change=lambda document: document["sha256"].update(right="0" * 64)))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_duplicate_members_and_keys_are_refused(model: Path) -> None:
    def write(names: dict[int, tuple[str, bytes]]) -> None:
        with model.open("w+b") as file:
            with zipfile.ZipFile(file, "w") as archive:
                for name, data in names.values():
                    archive.writestr(name, data)
                archive.comment = modelfile._SEAL + b"0" * 64
            file.write(modelfile._seal(file, file.seek(0, os.SEEK_END) - modelfile._SEAL_LENGTH))

    write({0: ("model.json", b"{}"), 1: ("model.json", b"{}")})
    with pytest.raises(ModelFileError, match="two files"):
        load(model)
    write({0: ("model.json", b'{"format": 1, "format": 2}')})
    with pytest.raises(ModelFileError, match="same key twice"):
        load(model)
    write({0: ("model.json", b"[" * 100_000)})
    with pytest.raises(ModelFileError, match="not a model"):
        load(model)


def test_never_overwrites_unless_told(model: Path) -> None:
    before = model.read_bytes()
    with pytest.raises(ModelFileError, match="overwrite=True"):
        save(arrests(2), model)
    assert model.read_bytes() == before
    arrests(2).save(model, overwrite=True)
    assert load(model).k == 2
    assert [p.name for p in model.parent.iterdir()] == ["model.eckart"]


def test_failed_write_leaves_the_old_file(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = model.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(newfile.os, "fsync", full)
    with pytest.raises(
        ModelFileError, match=r"model.eckart cannot be written: No space left.* after [\d,]+ bytes\. Free"
    ):
        save(arrests(2), model, overwrite=True)
    assert model.read_bytes() == before
    assert [p.name for p in model.parent.iterdir()] == ["model.eckart"]


def test_name_taken_meanwhile_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "m"
    writing = newfile.new_file(path, overwrite=False, error=ModelFileError)
    with pytest.raises(ModelFileError, match="meanwhile"), writing:
        path.write_text("mine")
    assert path.read_text() == "mine"


def test_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot be written"):
        save(arrests(), tmp_path / "none" / "m")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"values": np.array([1.0, np.nan, 0.5, 0.1])}, "values contains NaN"),
        ({"right": np.zeros((4, 3))}, "right has shape"),
        ({"mean": np.zeros(4, dtype=complex)}, "dtype complex128"),
        ({"scale": np.array([1.0, 0.0, 1.0, 1.0])}, "scale contains 0, but it must be positive"),
        ({"mean": np.array(["a"] * 4)}, "dtype <U1"),
    ],
)
def test_unusable_decompositions_are_not_saved(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    with pytest.raises(ModelFileError, match=reason):
        save(replace(arrests(), **change), tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_float32_stays_float32(tmp_path: Path) -> None:
    d = built(np.random.default_rng(0).normal(size=(20, 6)), 3, "svd")
    d = replace(d, values=d.values.astype("f4"), right=d.right.astype("f4"), left=None)
    save(d, tmp_path / "m")
    assert load(tmp_path / "m").right.dtype == np.float32
    assert load(tmp_path / "m").right.flags.writeable


def _with_matrix(matrix: Any) -> ek.Decomposition:
    """A decomposition of texts whose weighted word counts are this matrix."""
    d = ek.decompose(np.diag([1.0, 2.0, 3.0]), "svd", k=2)
    words = WordModel("", np.ones(3), 1.0, (), (), np.ones((0, 2)), terms=matrix)
    return replace(d, details=replace(d.details, words=words))


@pytest.fixture
def sparse_model(tmp_path: Path) -> Path:
    path = tmp_path / "sparse.eckart"
    save(_with_matrix(sp.csr_array(np.diag([1.0, 2.0, 0.0]))), path)
    return path


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.integers(0, 6), columns=st.integers(0, 6), density=st.floats(0, 1), single=st.booleans())
def test_sparse_parts_survive(tmp_path: Path, rows: int, columns: int, density: float, single: bool) -> None:
    kept = sp.random_array((rows, columns), density=density, rng=0, format="csr", dtype=np.float32 if single else float)
    for given_ in (kept, kept.tocsc(), kept.tocoo()):
        save(_with_matrix(given_), tmp_path / "m", overwrite=True)
        found = load(tmp_path / "m").details.words.terms
        assert (found.shape, found.dtype, found.format) == (kept.shape, kept.dtype, "csr")
        assert np.array_equal(found.toarray(), kept.toarray())


def _into(name: str, array: np.ndarray) -> Any:
    return lambda entries: entries.update({f"parts.words.terms.{name}.npy": npy(array, version=(1, 0))})


@pytest.mark.parametrize(
    "members",
    [
        _into("indices", np.array([0, 3], np.int32)),
        _into("indices", np.array([0, -1], np.int32)),
        _into("indices", np.array([0], np.int32)),
        _into("indices", np.array([0.0, 1.0])),
        _into("indices", np.array([[0, 1]], np.int32)),
        _into("indptr", np.array([0, 2, 1, 2], np.int32)),
        _into("indptr", np.array([0, 1, 2, 900], np.int32)),
        _into("indptr", np.array([0, 1, 2], np.int32)),
        _into("indptr", np.array([1, 1, 2, 2], np.int32)),
        _into("data", np.array([1.0, np.nan])),
        _into("data", np.array([1.0, 2.0, 3.0])),
    ],
)
def test_sparse_parts_that_point_outside_are_refused(sparse_model: Path, members: Any) -> None:
    assert load(sparse_model).details.words.terms.nnz == 2
    with pytest.raises(ModelFileError, match="sparse array"):
        load(forge(sparse_model, members=members))


@pytest.mark.parametrize(
    "shape", [{"tuple": [3]}, {"tuple": [3, -3]}, {"tuple": [3, 2**70]}, [3, 3], None, {"tuple": [3, 1]}]
)
def test_sparse_parts_of_an_impossible_shape_are_refused(sparse_model: Path, shape: Any) -> None:
    def change(document: Any) -> None:
        document["body"]["Decomposition"]["parts"]["dict"]["words"]["dict"]["terms"]["csr"]["shape"] = shape

    with pytest.raises(ModelFileError, match="sparse array"):
        load(forge(sparse_model, change))


def test_sparse_parts_with_a_part_too_few_or_too_many_are_refused(sparse_model: Path) -> None:
    def fewer(document: Any) -> None:
        del document["body"]["Decomposition"]["parts"]["dict"]["words"]["dict"]["terms"]["csr"]["indptr"]

    def more(document: Any) -> None:
        document["body"]["Decomposition"]["parts"]["dict"]["words"]["dict"]["terms"]["csr"]["more"] = 1

    whole = sparse_model.read_bytes()
    for change in (fewer, more):
        sparse_model.write_bytes(whole)
        with pytest.raises(ModelFileError, match="broken sparse array"):
            load(forge(sparse_model, change))


@pytest.mark.parametrize("method", ["pca", "svd", "cur"])
def test_a_result_of_tensors_is_loaded_as_numpy(tmp_path: Path, method: str) -> None:
    torch = pytest.importorskip("torch")
    import eckart as ek

    A = np.random.default_rng(0).standard_normal((30, 8))
    d = ek.decompose(torch.asarray(A), method, k=3, left=True)
    d.save(tmp_path / "m")
    back = load(tmp_path / "m")
    home = d.on_host()
    assert all(isinstance(array, np.ndarray) for array in (back.values, back.right, back.left, home.right, home.left))
    assert isinstance(d.right, torch.Tensor)
    same(back, home)
    np.testing.assert_array_equal(ek.project(back, A), ek.project(home, A))


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
def test_a_sparse_tensor_is_saved_as_a_csr_array(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    stored = sp.csr_array(np.array([[1.0, 0.0], [0.0, 2.0]]))
    tensor = torch.asarray(stored.toarray()).to_sparse_csr()
    save(_with_matrix(tensor), tmp_path / "m")
    found = load(tmp_path / "m").details.words.terms
    assert sp.issparse(found)
    np.testing.assert_array_equal(found.toarray(), stored.toarray())


def test_names_given_as_lists_or_arrays_are_saved_and_loaded(tmp_path: Path) -> None:
    d = arrests()
    rows, columns = [f"r{i}" for i in range(d.rows)], np.array([f"c{j}" for j in range(d.columns)])
    save(d.named(rows, columns), tmp_path / "m.eckart")
    found = load(tmp_path / "m.eckart")
    assert found.row_names == tuple(rows)
    assert found.column_names == tuple(columns)


@pytest.mark.parametrize("change", [{"row_names": ["a"]}, {"column_names": (1, 2, 3, 4)}, {"method": 7}])
def test_what_load_would_refuse_is_not_saved(tmp_path: Path, change: dict[str, Any]) -> None:
    change = {"row_names": ["x"] * arrests().rows} if "row_names" in change else change
    with pytest.raises(ModelFileError, match="cannot be saved, because the saved file could not be loaded again"):
        save(replace(arrests(), **change), tmp_path / "m.eckart")
    assert not (tmp_path / "m.eckart").exists()


@pytest.mark.skipif(os.name != "posix", reason="needs pipes")
def test_pipes_are_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path, "/dev/zero"):
        with pytest.raises(ModelFileError, match="a pipe, a device or a folder"):
            load(place)
    with pytest.raises(ModelFileError, match="cannot be opened"):
        load("a\0b")


def _graph(name: str, change: Any) -> Any:
    """The array `name` of Isomap's details, changed."""

    def members(entries: Any) -> None:
        array = np.load(io.BytesIO(entries[f"parts.{name}.npy"]))
        entries[f"parts.{name}.npy"] = npy(change(array), version=(1, 0))

    return members


@pytest.mark.parametrize(
    "members",
    [
        _graph("index", lambda a: a + 10**7),
        _graph("index", lambda a: a - 100),
        _graph("index", lambda a: a.astype(float)),
        _graph("weight", lambda a: a[:, None]),
        _graph("weight", lambda a: a[:-1]),
        _graph("first", lambda a: a[::-1].copy()),
        _graph("first", lambda a: a[:-1]),
        _graph("first", lambda a: a * 1000),
        _graph("sources", lambda a: a + 10**7),
        _graph("sources", lambda a: a[:, None]),
        _graph("means", lambda a: a[:-1]),
    ],
)
def test_graphs_that_point_outside_are_refused(tmp_path: Path, members: Any) -> None:
    """Compiled loops follow the edges when new rows are placed: a forged index would be an address."""
    path = tmp_path / "isomap.eckart"
    ek.decompose(np.random.default_rng(0).standard_normal((30, 3)), "isomap", k=2).save(path)
    assert load(path).k == 2
    with pytest.raises(ModelFileError, match=r"graph|sources"):
        load(forge(path, members=members))


def test_edges_of_negative_length_are_refused(tmp_path: Path) -> None:
    """The search for shortest paths would never end, and would take all memory."""
    path = tmp_path / "isomap.eckart"
    ek.decompose(np.random.default_rng(0).standard_normal((30, 3)), "isomap", k=2).save(path)
    with pytest.raises(ModelFileError, match="an edge has a negative length"):
        load(forge(path, members=_graph("weight", lambda a: -a)))


_DETAILS = [
    ("pca", "column_norms", lambda a: a[:-1]),
    ("pca", "row_norms", lambda a: np.r_[a, a]),
    ("nmf", "lengths", lambda a: np.r_[a, a]),
    ("kernel_pca", "dual", lambda a: a.T.copy()),
    ("kernel_pca", "support", lambda a: a[:0]),
    ("kernel_pca", "offset", lambda a: a + np.nan),
    ("isomap", "points", lambda a: a * np.inf),
    ("isomap", "shift", lambda a: np.r_[a, a]),
    ("cur", "columns", lambda a: a + 100),
    ("cur", "rows", lambda a: a * 1e200),
    ("cur", "C", lambda a: a[:, :1]),
]


@pytest.mark.parametrize(("method", "name", "change"), _DETAILS, ids=[f"{m} {n}" for m, n, _ in _DETAILS])
def test_details_that_contradict_the_model_are_refused(tmp_path: Path, method: str, name: str, change: Any) -> None:
    path = tmp_path / "edited.eckart"
    options = {"left": True} if method == "pca" else {"kernel": "rbf"} if method == "kernel_pca" else {}
    table = np.abs(np.random.default_rng(0).standard_normal((30, 6)))
    ek.decompose(table, method, k=2, **options).save(path)
    assert load(path).k == 2
    with (
        np.errstate(invalid="ignore"),
        pytest.raises(ModelFileError, match=rf"{name}(_scores)? (has|contains)|chosen {name}"),
    ):
        load(forge(path, members=_graph(name, change)))


def test_bounds_of_different_lengths_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "edited.eckart"
    ek.decompose(np.abs(np.random.default_rng(0).standard_normal((30, 6))), "nmf", k=2).save(path)

    def shorten(entries: dict[str, bytes]) -> None:
        array = np.load(io.BytesIO(entries["certificate.upper.npy"]))
        entries["certificate.upper.npy"] = npy(array[:-1], version=(1, 0))

    with pytest.raises(ModelFileError, match=r"certificate\.lower and certificate\.upper differ"):
        load(forge(path, members=shorten))


def test_models_with_huge_numbers_are_described(tmp_path: Path) -> None:
    """Only an editor writes them: their squares overflow."""
    path = tmp_path / "edited.eckart"
    arrests().save(path)
    huge = npy(arrests().right * 1e200, version=(1, 0))
    forge(path, members=lambda entries: entries.update({"right.npy": huge}))
    with np.errstate(over="ignore", invalid="ignore"):
        assert "components" in ek.summary(load(path)).lower()
    huge = npy(arrests().values * 1e200, version=(1, 0))
    with pytest.raises(ModelFileError, match="shares would exceed 1"):
        load(forge(path, members=lambda entries: entries.update({"values.npy": huge})))


@pytest.mark.parametrize("group", [(99, 100), (0, 4), (-1, 2)])
def test_components_that_do_not_exist_are_refused(tmp_path: Path, group: tuple[int, int]) -> None:
    d = arrests()
    assert d.certificate is not None
    save(replace(d, certificate=replace(d.certificate, undetermined=((0, 3),))), tmp_path / "m")
    with pytest.raises(ModelFileError, match=r"certificate\.undetermined"):
        save(replace(d, certificate=replace(d.certificate, undetermined=(group,))), tmp_path / "n")


def test_a_scale_that_no_decomposition_has_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scaled"
    save(replace(arrests(), scale=np.ones(4)), path)
    with pytest.raises(ModelFileError, match="scale contains -1, but it must be positive"):
        load(
            forge(
                path,
                members=lambda entries: entries.update({"scale.npy": npy(np.array([1.0, -1, 1, 1]), version=(1, 0))}),
            )
        )


@pytest.mark.skipif(not Path("/proc/self/mem").is_file(), reason="needs a file that cannot be read")
def test_a_file_that_cannot_be_read() -> None:
    with pytest.raises(ModelFileError, match=r"/proc/self/mem cannot be read: Input/output error\. Check the disk"):
        load("/proc/self/mem")
