"""Tables of database files and servers: DuckDB, SQLite, and PostgreSQL by ADBC. Opened read-only.

`key` names a table or view, or is a query that begins with SELECT, WITH or FROM.
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from eckart.errors import FileError, ParameterError, require, translated
from eckart.io.guard import reason
from eckart.io.objects.arrow_stream import arrow_reader, reader_source
from eckart.io.objects.batches import cursor_source
from eckart.io.roles import listed
from eckart.wording import KEY

if TYPE_CHECKING:
    import pyarrow as pa

_SERVERS = ("postgresql://", "postgres://")
_DUCKDB = (".duckdb", ".ddb")
_SQLITE = (".sqlite", ".sqlite3", ".db")
_CACHE, _LEAST_CACHE = 4 * 10**9, 10**8
_QUERY = re.compile(r"\s*(select|with|from)\s", re.IGNORECASE)


def is_database(place: str) -> bool:
    """Whether a path or address leads to a database."""
    if "://" in place:
        return place.startswith(_SERVERS)
    return PurePath(place.lower()).suffix in (*_DUCKDB, *_SQLITE)


def database_source(place: str, key: str | None, row_names: str | None, memory: int | None) -> Any:
    """The rows of a table or query, streamed."""
    name = _shown(place)
    if not place.startswith(_SERVERS) and not Path(place).is_file():
        raise FileError(f"{name} does not exist. Check the path.")
    opener = _postgresql if place.startswith(_SERVERS) else _duckdb if _is_duckdb(place) else _sqlite

    def unreadable(error: Exception) -> FileError:
        return FileError(f"{name} cannot be read: {reason(error)}. Check the path, the table and the query.")

    with translated(unreadable), opener(place, memory) as database:
        query = database.query(key, name)
        cursor = database.run(query)
        if isinstance(database, Sqlite):
            return cursor_source(cursor, row_names, memory)
        return reader_source(arrow_reader(cursor), name, row_names, memory)


def _shown(place: str) -> str:
    """An address without its password."""
    return re.sub(r"//[^@/]*@", "//", place) if place.startswith(_SERVERS) else PurePath(place).name


def _is_duckdb(place: str) -> bool:
    """Whether a database file is DuckDB's and not SQLite's, whatever its suffix."""
    with Path(place).open("rb") as stream:
        head = stream.read(16)
    if head and not head.startswith(b"SQLite format 3") and head[8:12] != b"DUCK":
        raise FileError(
            f"{_shown(place)} cannot be read: it is neither a DuckDB nor a SQLite database. Check its suffix."
        )
    return not head.startswith(b"SQLite format 3")


@contextlib.contextmanager
def bounded_cache(data: object, memory: int | None) -> Iterator[None]:
    """Limit the cache of a database to a quarter of an explicit `memory` while a DuckDB relation is read.

    By default DuckDB caches what it reads in up to 80 % of the machine's memory. The limit is restored at the end.
    Before version 2, a query of a relation would leave a view in the database of the user, so nothing is limited.
    """
    run = getattr(data, "query", None)
    if memory is None or run is None or not _is_relation(data):
        yield
        return
    number, unit = run("eckart", "SELECT current_setting('memory_limit')").fetchall()[0][0].split()
    with contextlib.suppress(Exception):  # refused if a database in memory already takes more
        run("eckart", f"SET memory_limit = '{_cache(memory)}'")
    try:
        yield
    finally:
        # DuckDB shows one decimal and drops the others; without half a unit the limit would shrink with every call.
        run("eckart", f"SET memory_limit = '{float(number) + 0.05:.2f} {unit}'")


def _is_relation(data: object) -> bool:
    """Whether `data` belongs to DuckDB 2 or later."""
    known = type(data).__module__.partition(".")[0].lstrip("_") == "duckdb"
    return known and int(sys.modules["duckdb"].__version__.partition(".")[0]) >= 2


def _cache(memory: int | None) -> str:
    return f"{max(_LEAST_CACHE, (memory or _CACHE) // 4) // 10**6}MB"


class Database:
    """An open connection."""

    tables_query = ""

    def __init__(self, connection: Any, opened: contextlib.ExitStack | None = None) -> None:
        self.connection = connection
        self.opened = contextlib.ExitStack() if opened is None else opened

    def run(self, query: str) -> pa.RecordBatchReader:
        return self.connection.execute(query)

    def tables(self) -> Sequence[str]:
        return [str(row[0]) for row in self.run(self.tables_query).fetchall()]

    def query(self, key: str | None, name: str) -> str:
        if key is not None and _QUERY.match(key):
            return key
        tables = self.tables()
        if key is None and len(tables) != 1:
            raise ParameterError(f"{name} contains {len(tables)} tables: {listed(tables)}. Choose a table with {KEY}.")
        if key is not None and key not in tables:
            raise ParameterError(f"{name} has no table {key!r}. Its tables are {listed(tables)}.")
        table = tables[0] if key is None else key
        parts = table.split(".", 1) if isinstance(self, PostgreSql) else [table]
        return "SELECT * FROM " + ".".join('"' + part.replace('"', '""') + '"' for part in parts)


class DuckDb(Database):
    """DuckDB: a relation streams its rows, while a result of `execute` copies them first."""

    tables_query = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY 1"

    def run(self, query: str) -> pa.RecordBatchReader:
        return self.connection.sql(query)


class Sqlite(Database):
    tables_query = (
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY 1"
    )


class PostgreSql(Database):
    tables_query = (
        "SELECT CASE table_schema WHEN 'public' THEN table_name ELSE table_schema || '.' || table_name END "
        "FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"
    )

    def run(self, query: str) -> pa.RecordBatchReader:
        cursor = self.opened.enter_context(self.connection.cursor())
        cursor.execute(query)
        return cursor


@contextlib.contextmanager
def _duckdb(place: str, memory: int | None) -> Iterator[Database]:
    duckdb = require("duckdb", extra="databases", purpose="DuckDB files")
    # Otherwise a view in the file could read other files, and DuckDB would use most of the machine's memory as a cache.
    config = {"enable_external_access": "false", "memory_limit": _cache(memory)}
    with duckdb.connect(place, read_only=True, config=config) as connection:
        yield DuckDb(connection)


@contextlib.contextmanager
def _sqlite(place: str, _memory: int | None) -> Iterator[Database]:
    import sqlite3

    with contextlib.closing(sqlite3.connect(f"{Path(place).absolute().as_uri()}?mode=ro", uri=True)) as connection:
        yield Sqlite(connection)


@contextlib.contextmanager
def _postgresql(place: str, _memory: int | None) -> Iterator[Database]:
    dbapi = require("adbc_driver_postgresql.dbapi", extra="databases", purpose="PostgreSQL")
    with dbapi.connect(place) as connection, contextlib.ExitStack() as opened:
        database = PostgreSql(connection, opened)
        database.run("SET TRANSACTION READ ONLY")  # a query that begins with WITH could delete rows
        yield database
