"""CSR matrices in .npz files, read in blocks."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from eckart.errors import FileError
from eckart.io.open_rows import open_table


@pytest.mark.parametrize("index", [-1, 5, 2**31])
@pytest.mark.parametrize("compressed", [False, True])
def test_an_index_outside_the_matrix_is_refused_in_the_same_words_whole_and_in_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: int, *, compressed: bool
) -> None:
    matrix = sparse.random_array((40, 5), density=0.5, format="csr", rng=np.random.default_rng(3))
    indices = matrix.indices.astype(np.int64)
    indices[-2] = index
    parts = {"indices": indices, "indptr": matrix.indptr, "format": b"csr", "shape": matrix.shape, "data": matrix.data}
    path = tmp_path / "damaged.npz"
    (np.savez_compressed if compressed else np.savez)(path, **parts)
    fault = f"entry {len(indices) - 2} of 'indices' is {index}, outside 0 to 4"
    monkeypatch.chdir(tmp_path)
    for given in (path, "damaged.npz"):
        said = []
        for stream in (False, True):
            with pytest.raises(FileError, match=fault) as info:
                open_table(given, stream=stream).read(0, 40)
            said.append(str(info.value))
        assert said[0] == said[1]
