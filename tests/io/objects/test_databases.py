"""Real databases: a DuckDB file and relation, a SQLite file, and PostgreSQL by ADBC on a temporary cluster."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import eckart as ek
from eckart.errors import FileError, InputError, ParameterError
from eckart.io.objects import arrow_stream

duckdb = pytest.importorskip("duckdb")
X = np.random.default_rng(8).normal(size=(5000, 5)) * [5, 4, 3, 2, 1] + 10
FRAME = pd.DataFrame(X, columns=list("abcde")).assign(kind=["u", "v"] * 2500)
WANTED = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:3]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory):
    path = tmp_path_factory.mktemp("duckdb") / "warehouse.duckdb"
    secret = path.with_name("secret.csv")
    secret.write_text("x\n1\n2\n")
    with duckdb.connect(str(path)) as connection:
        connection.register("frame", pa.Table.from_pandas(FRAME, preserve_index=False))
        connection.execute("create table readings as select * from frame")
        connection.execute("create view half as select a, b from readings where kind = 'u'")
        connection.execute(f"create view outside as select * from read_csv('{secret}')")
    return path


def test_duckdb_file_relation_and_query(warehouse):
    d = ek.decompose(warehouse, k=3, key="readings")
    np.testing.assert_allclose(d.values, WANTED, rtol=1e-12)
    assert d.column_names == tuple("abcde")
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        with pytest.raises(InputError, match="These columns are not numeric: 'kind'"):
            ek.PCA(3).fit(connection.table("readings"))
        numbers = connection.sql("select * exclude (kind) from readings")
        np.testing.assert_allclose(ek.PCA(3).fit(numbers).singular_values_, WANTED, rtol=1e-12)
        streamed = ek.open_data(connection.sql("from readings"), memory="300kB")
        assert not hasattr(streamed, "matrix")
        np.testing.assert_allclose(ek.decompose(streamed, k=3, memory="8MB").values, WANTED, rtol=1e-12)
    found = ek.open_data(warehouse, key="select e, a from readings order by a limit 10")
    assert found.shape == (10, 2)
    assert ek.open_data(warehouse, key="half").shape == (2500, 2)


def test_reading_a_relation_leaves_nothing_in_the_database(tmp_path):
    with duckdb.connect(str(tmp_path / "own.duckdb")) as connection:
        connection.execute("create table numbers as select a, sqrt(a) b from range(10) t(a)")
        assert ek.open_data(connection.table("numbers"), memory="600MB").shape == (10, 2)
        assert connection.execute("select view_name from duckdb_views() where not internal").fetchall() == []


@pytest.mark.skipif(duckdb.__version__ < "2", reason="DuckDB 1 leaves a view behind for every query of a relation")
def test_a_memory_limit_bounds_the_cache_of_a_relation_while_it_is_read(warehouse, monkeypatch):
    limits = []
    with duckdb.connect(str(warehouse), read_only=True) as connection:
        relation = connection.table("readings")

        def limit():
            return relation.query("x", "SELECT current_setting('memory_limit')").fetchall()[0][0]

        before = limit()
        read = arrow_stream.arrow_reader
        monkeypatch.setattr(arrow_stream, "arrow_reader", lambda data: (limits.append(limit()), read(data))[1])
        assert ek.open_data(relation, memory="600MB").shape == (5000, 5)
        assert (limits, limit()) == (["143.0 MiB"], before)
        with pytest.raises(ParameterError, match="nothing"):
            ek.open_data(relation, memory="600MB", row_names="nothing")
        assert limit() == before


def test_a_database_says_what_it_holds_and_reads_nothing_else(warehouse, tmp_path):
    with pytest.raises(ParameterError, match=r"'half', 'outside', 'readings'.*key="):
        ek.decompose(warehouse, k=1)
    with pytest.raises(ParameterError, match="no table 'sales'"):
        ek.decompose(warehouse, k=1, key="sales")
    with pytest.raises(FileError, match="cannot be read"):
        ek.decompose(warehouse, k=1, key="outside")
    with pytest.raises(FileError, match="does not exist"):
        ek.decompose(tmp_path / "none.duckdb", k=1)
    (tmp_path / "text.duckdb").write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match="cannot be read"):
        ek.decompose(tmp_path / "text.duckdb", k=1)


def test_sqlite_file(tmp_path):
    import sqlite3

    with sqlite3.connect(tmp_path / "x.sqlite") as connection:
        FRAME.to_sql("readings", connection, index=False)
    connection.close()
    d = ek.decompose(tmp_path / "x.sqlite", k=3)
    np.testing.assert_allclose(d.values, WANTED, rtol=1e-12)


def _binaries() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    by_path = shutil.which("initdb")
    return found[-1].parent if found else Path(by_path).parent if by_path else None


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a PostgreSQL server of our own, on loopback, owned by a user that is not root."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed: apt install postgresql")
    pytest.importorskip("adbc_driver_postgresql", reason="pip install adbc-driver-postgresql")
    folder = Path("/tmp" if os.getuid() == 0 else tmp_path_factory.getbasetemp()) / f"eckart-pg-{os.getpid()}"
    folder.mkdir(mode=0o700)
    user = "root"
    as_user: dict[str, str | int] = {}
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        user = "nobody"
        shutil.chown(folder, user)
        as_user = {"user": user}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def run(*command: str) -> None:
        subprocess.run(command, check=True, capture_output=True, timeout=60, cwd=folder, **as_user)  # type: ignore[call-overload]

    data = str(folder / "data")
    run(str(binaries / "initdb"), "-D", data, "-U", "tester", "-A", "trust", "--no-sync", "-E", "UTF8")
    settings = f"-c listen_addresses=127.0.0.1 -c unix_socket_directories= -p {port} -c fsync=off"
    control = str(binaries / "pg_ctl")
    try:
        run(control, "-D", data, "-o", settings, "-l", str(folder / "log"), "-w", "start")
        yield f"postgresql://tester:secret@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run((control, "-D", data, "-m", "immediate", "stop"), capture_output=True, timeout=60, cwd=folder,
                       check=False, **as_user)  # type: ignore[call-overload]  # fmt: skip
        shutil.rmtree(folder, ignore_errors=True)


def test_postgresql_by_adbc(server):
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(server) as connection:
        with connection.cursor() as cursor:
            cursor.adbc_ingest("readings", pa.Table.from_pandas(FRAME, preserve_index=False), mode="create")
            cursor.execute("create table prices (name text, price numeric(10, 2), n integer)")
            cursor.execute("insert into prices values ('x', 1.25, 1), ('y', 2.5, 2), ('z', null, 4)")
        connection.commit()
        with connection.cursor() as cursor:
            cursor.execute("select * from readings")
            np.testing.assert_allclose(ek.decompose(cursor, k=3).values, WANTED, rtol=1e-12)
    d = ek.decompose(server, k=3, key="readings")
    np.testing.assert_allclose(d.values, WANTED, rtol=1e-12)
    assert d.column_names == tuple("abcde")
    streamed = ek.open_data(server, key="readings", memory="300kB")
    assert not hasattr(streamed, "matrix")
    np.testing.assert_allclose(ek.decompose(streamed, k=3, memory="8MB").values, WANTED, rtol=1e-12)
    prices = ek.open_data(server, key="prices")
    assert prices.metadata.column_names == ("price", "n")
    np.testing.assert_array_equal(prices.matrix, [[1.25, 1], [2.5, 2], [np.nan, 4]])
    with pytest.raises(ParameterError, match=r"^postgresql://127.*'prices', 'readings'.*key=") as refused:
        ek.decompose(server, k=1)
    assert "secret" not in str(refused.value)
    with pytest.raises(FileError, match="in a read-only transaction"):
        ek.decompose(server, k=1, key="with gone as (delete from readings returning a, b) select * from gone")


def test_a_connection_without_a_query_says_what_to_do() -> None:
    with pytest.raises(InputError, match=r"cannot be read: .*\. Execute a query first\."):
        ek.decompose(duckdb.connect())


@pytest.mark.parametrize("name", ["a.sqlite", "a.duckdb", "a.db"])
def test_other_files_under_the_name_of_a_database_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match="neither a DuckDB nor a SQLite database"):
        ek.open_data(tmp_path / name)
