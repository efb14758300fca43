"""What a type checker says to users: each misspelled option is an error, each result has its type.

`make lint` checks this file; it is never run. A comment "type: ignore" that is not needed is an error, so a
misspelling that passes is found.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import assert_type

    import eckart as ek
    from eckart.cur.details import CURDetails
    from eckart.nmf.details import NMFDetails
    from eckart.result import Decomposition, SVDDetails

    TABLE = [[1.0, 2.0], [3.0, 5.0]]

    ek.PCA(n_componets=2)  # type: ignore[call-arg]
    ek.NMF(n_runz=2)  # type: ignore[call-arg]
    ek.KernelPCA(2, kernal="rbf")  # type: ignore[call-arg]
    ek.Isomap(n_neighbours=3)  # type: ignore[call-arg]
    ek.decompose(TABLE, scal=True)  # type: ignore[call-overload]
    ek.decompose(TABLE, n_rows=2)  # type: ignore[call-overload]
    ek.decompose(TABLE, "nmf", n_runz=3)  # type: ignore[call-overload]
    ek.decompose(TABLE, "isomap", device="cuda")  # type: ignore[call-overload]

    assert_type(ek.decompose(TABLE), Decomposition[SVDDetails])
    assert_type(ek.decompose(TABLE, "svd", k=1, progress=True, delimiter=";"), Decomposition[SVDDetails])
    assert_type(ek.decompose(TABLE, "cur", n_columns=1), Decomposition[CURDetails])
    assert_type(ek.decompose(TABLE, "nmf", k=1, device="cuda"), Decomposition[NMFDetails])
    assert_type(ek.PCA(n_components=2).fit(TABLE).n_components_, int)
