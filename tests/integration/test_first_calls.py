"""The first calls after an installation: nothing is compiled for small data."""

import os
import subprocess
import sys

CALLS = """
import warnings
import numpy as np
import scipy.sparse as sp
import eckart as ek

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.gamma(1.0, 1.0, (200, 6)) @ rng.gamma(1.0, 1.0, (6, 30)) + 0.1 * rng.random((200, 30))
S = sp.random(300, 200, 0.05, random_state=0, format="csr")
for data in (X, X.astype("f4"), S):
    for model in (
        ek.PCA(3), ek.TruncatedSVD(3), ek.NMF(3), ek.NMF(3, beta_loss="kullback-leibler"), ek.CUR(3),
    ):
        model.fit(data).transform(data)
for model in (ek.KernelPCA(3), ek.KernelPCA(3, kernel="rbf"), ek.Isomap(n_components=2), ek.IncrementalPCA(3)):
    model.fit(X).transform(X)
ek.CorrelationFilter().fit(X, X[:, 0])
"""


def test_small_data_compile_nothing(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", CALLS], env=environment, check=True, timeout=300)
    assert not list(tmp_path.rglob("*.nbi"))
