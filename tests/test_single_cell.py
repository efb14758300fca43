"""AnnData objects and files: layers, masks, names, results written back, and the same numbers as NumPy."""

from __future__ import annotations

import dask.array as da
import h5py
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import eckart as ek
from eckart.errors import InputError, ParameterError

CELLS, GENES = 90, 25
COUNTS = np.random.default_rng(2).poisson(1.5, (CELLS, GENES)).astype(np.float64)
LOGS = np.log1p(COUNTS)
VARIABLE = np.arange(GENES) % 3 > 0


def exact(table, k=5, scale=False):
    table = table - table.mean(axis=0)
    table = table / table.std(axis=0, ddof=1) if scale else table
    return np.linalg.svd(table, compute_uv=False)[:k] ** 2 / (len(table) - 1)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """An .h5ad file written by h5py, its names as strings (obs) and as nullable strings of pandas 3 (var)."""
    path = tmp_path_factory.mktemp("cells") / "cells.h5ad"
    with h5py.File(path, "w") as root:
        for place, matrix in (("X", sparse.csr_matrix(LOGS)), ("layers/counts", sparse.csr_matrix(COUNTS))):
            group = root.create_group(place)
            group.attrs.update({"encoding-type": "csr_matrix", "shape": (CELLS, GENES)})
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(matrix, part)
        obs, var = root.create_group("obs"), root.create_group("var")
        obs.attrs["_index"] = var.attrs["_index"] = "_index"
        obs["_index"] = [f"cell{i}" for i in range(CELLS)]
        names = var.create_group("_index")
        names.attrs["encoding-type"] = "nullable-string-array"
        names["values"], names["mask"] = [f"gene{j}" for j in range(GENES)], np.zeros(GENES, bool)
        var["highly_variable"] = VARIABLE
    return path


def test_layers_of_a_file_keep_their_names(file):
    d = ek.decompose(file, k=5, layer="counts", mask="highly_variable")
    np.testing.assert_allclose(d.explained_variance, exact(COUNTS[:, VARIABLE]), rtol=1e-10)
    assert d.column_names == tuple(f"gene{j}" for j in np.flatnonzero(VARIABLE))
    assert d.row_names is not None
    assert d.row_names[:2] == ("cell0", "cell1")
    np.testing.assert_allclose(ek.decompose(file, k=5).explained_variance, exact(LOGS), rtol=1e-10)
    with pytest.raises(
        ParameterError, match=r"no column 'variable' in var. The columns of var are .*'highly_variable'"
    ):
        ek.decompose(file, k=2, mask="variable")
    with pytest.raises(ParameterError, match=r"has no (matrix|array or group) 'layers/raw'"):
        ek.decompose(file, k=2, layer="raw")


@pytest.fixture
def adata():
    anndata = pytest.importorskip("anndata", reason="anndata is not installed; version 0.12 needs pandas < 3")
    var = pd.DataFrame({"highly_variable": VARIABLE}, index=[f"gene{j}" for j in range(GENES)])
    obs = pd.DataFrame({"kind": pd.Categorical(["t", "b"] * 45)}, index=[f"cell{i}" for i in range(CELLS)])
    return anndata.AnnData(sparse.csr_matrix(LOGS), obs, var, layers={"counts": sparse.csr_matrix(COUNTS)})


def test_pca_is_written_back(adata):
    assert ek.single_cell.pca(adata, 5) is None
    chosen = LOGS[:, VARIABLE]
    np.testing.assert_allclose(adata.uns["pca"]["variance"], exact(chosen), rtol=1e-10)
    total = chosen.var(axis=0, ddof=1).sum()
    np.testing.assert_allclose(adata.uns["pca"]["variance_ratio"], exact(chosen) / total, rtol=1e-10)
    loadings = adata.varm["PCs"]
    assert loadings.shape == (GENES, 5)
    assert not loadings[~VARIABLE].any()
    np.testing.assert_allclose(adata.obsm["X_pca"], (chosen - chosen.mean(axis=0)) @ loadings[VARIABLE], atol=1e-5)
    assert adata.obsm["X_pca"].dtype == np.float32
    low, high = adata.uns["pca"]["certificate"]["explained"]
    assert low <= exact(chosen).sum() / total * (1 + 1e-12) <= high * (1 + 1e-11)


def test_layers_scaling_keys_and_copies(adata):
    other = ek.single_cell.pca(adata, 4, layer="counts", mask_var=None, scale=True, key_added="scaled", copy=True)
    assert "scaled" not in adata.obsm
    np.testing.assert_allclose(other.uns["scaled"]["variance"], exact(COUNTS, 4, scale=True), rtol=1e-10)
    ek.single_cell.pca(adata, 4, zero_center=False, mask_var=None)
    wanted = np.linalg.svd(LOGS, full_matrices=False)
    np.testing.assert_allclose(abs(adata.obsm["X_pca"]), abs(wanted[0][:, :4] * wanted[1][:4]), atol=1e-4)


def test_dask_chunks_that_are_sparse(adata):
    adata.X = da.from_array(LOGS, chunks=(30, -1)).map_blocks(sparse.csr_matrix)
    ek.single_cell.pca(adata, 5, scale=True, mask_var=None)
    np.testing.assert_allclose(adata.uns["pca"]["variance"], exact(LOGS, scale=True), rtol=1e-10)


def test_objects_are_opened_at_once_with_their_names(adata):
    source = ek.open_data(adata, layer="counts")
    assert source.metadata.column_names == tuple(adata.var_names)
    assert source.metadata.labels["kind"][:2] == ("t", "b")
    assert ek.decompose(adata, k=2, mask=VARIABLE).columns == VARIABLE.sum()
    for options, message in (
        ({"layer": "raw"}, "no layer 'raw'"),
        ({"mask": "gone"}, "no column 'gone'"),
        ({"key": "obsm/umap"}, "no matrix 'obsm/umap'"),
        ({"mask": [True]}, "Pass 25 true or false values"),
    ):
        with pytest.raises(InputError, match=message):
            ek.decompose(adata, k=2, **options)
    with pytest.raises(InputError, match="ndarray"):
        ek.single_cell.pca(LOGS)


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"n_components": 5}, r"pca\(\) got an unexpected keyword argument 'n_components'. Use n_comps="),
        ({"obsm": "X_scvi"}, r"decompose\(adata, key='obsm/...'\)"),
    ],
)
def test_other_keywords_are_refused_with_the_right_one(adata, options, hint):
    with pytest.raises(TypeError, match=hint):
        ek.single_cell.pca(adata, **options)


def test_too_many_components_are_refused(adata):
    with pytest.raises(ParameterError, match="n_comps=500 is out of range: use a whole number from 1 to 25"):
        ek.single_cell.pca(adata, 500, mask_var=None)


def stored(adata, **options):
    """The scores of a PCA of all genes with these options."""
    made = ek.single_cell.pca(adata, 4, copy=True, **options)
    return made.obsm["X_pca"]


@pytest.mark.parametrize(
    "options",
    [
        *({"svd_solver": name} for name in ("arpack", "randomized", "auto", "full", "covariance_eigh", "lobpcg", None)),
        {"svd_solver": "arpack", "random_state": 0},
        {"random_state": np.random.RandomState(3)},
        {"seed": 1},
        {"chunked": True, "chunk_size": 20},
        {"return_info": True},
        {"use_highly_variable": None},
        {"use_highly_variable": True},
        {"mask_var": "highly_variable"},
        {"mask_var": VARIABLE},
    ],
    ids=", ".join,
)
def test_arguments_of_scanpy_give_the_same_scores(adata, options):
    np.testing.assert_allclose(stored(adata, **options), stored(adata), atol=1e-5)


def test_arguments_of_scanpy_choose_the_genes_and_the_type(adata):
    np.testing.assert_array_equal(stored(adata, use_highly_variable=False), stored(adata, mask_var=None))
    for dtype in ("float64", np.float64, np.dtype("float64")):
        assert stored(adata, dtype=dtype).dtype == np.float64
    del adata.var["highly_variable"]
    with pytest.raises(InputError, match="no column 'highly_variable' in var"):
        ek.single_cell.pca(adata, use_highly_variable=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"svd_solver": "arpak"}, "svd_solver='arpak' is not one of .*did you mean 'arpack'"),
        ({"random_state": 0, "rng": 1}, "random_state= and rng= each set the seed"),
        ({"random_state": 0, "seed": 0}, "random_state= and seed= each set the seed"),
        ({"use_highly_variable": True, "mask_var": None}, "Use only mask_var="),
        ({"zero_center": None}, "zero_center=None is neither True nor False"),
        ({"dtype": "int"}, "cannot store scores. Use 'float32' or 'float64'"),
        ({"dtype": "floatt"}, "dtype='floatt' is not a type of numbers"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_stored(adata, options, message):
    with pytest.raises(ParameterError, match=message):
        ek.single_cell.pca(adata, 3, **options)
    assert "X_pca" not in adata.obsm


def test_a_solver_without_effect_is_logged(adata, caplog):
    with caplog.at_level("INFO", logger="eckart"):
        ek.single_cell.pca(adata, 3, svd_solver="arpack")
    assert "svd_solver='arpack': no effect. Eckart chooses the solver by its accuracy" in caplog.text
