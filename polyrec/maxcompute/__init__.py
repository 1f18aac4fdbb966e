"""MaxCompute tables: their paths, and the client that reaches them. The package pyodps is imported when one is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from polyrec.errors import DataError, StorageError
from polyrec.storage import TABLES, masked, scheme

if TYPE_CHECKING:
    import pyarrow as pa
    from odps.apis.storage_api import StorageApiArrowClient
    from odps.core import ODPS
    from odps.models import Table

FORM = "odps://project/tables/name/partition=value"
"""How paths of tables are written; the partition may be left out, a schema stands before the name: `schema.name`."""
DEFAULT_QUOTA = "pay-as-you-go"


@dataclass(frozen=True, slots=True)
class Address:
    """What a path names."""

    project: str
    table: str
    schema: str | None
    partition: str | None

    @classmethod
    def of(cls, path: str) -> Address:
        parts = path.split("/")
        is_whole = scheme(path) == TABLES and len(parts) >= 5 and parts[3] == "tables" and all(parts[2:5])
        if not is_whole:
            raise DataError(f"{masked(path)}: is no path of a table; write {FORM}")
        partition = "/".join(part for part in parts[5:] if part)
        if partition and not all("=" in part for part in partition.split("/")):
            raise DataError(f"{masked(path)}: {partition} is no partition; write {FORM}")
        schema, _, table = parts[4].rpartition(".")
        return cls(parts[2], table, schema or None, partition or None)


@contextmanager
def named(path: str, what: str = "cannot be read") -> Iterator[None]:
    """Errors of the service become errors that name the table."""
    from odps.errors import ODPSError
    from requests import RequestException

    try:
        yield
    except (ODPSError, RequestException, OSError) as error:
        # The first line of a text of theirs is about the request, its first argument about what went wrong.
        reason = str(error.args[0]) if isinstance(error, ODPSError) and error.args else str(error)
        raise DataError(f"{path}: {what} ({type(error).__name__}: {masked(reason)})") from error


def table(path: str) -> Table:
    """The table of a path, with its columns; an error that names what is not there."""
    from odps.errors import NoSuchObject

    address = Address.of(path)
    service = _service(address.project, address.schema)
    found = service.get_table(address.table)
    try:
        with named(path):
            found.reload()
    except DataError as error:
        if isinstance(error.__cause__, NoSuchObject):
            raise DataError(f"{path}: the project {address.project} has no table {address.table}") from None
        raise
    return found


def arrow_schema(found: Table) -> pa.Schema:
    """The table's columns, those that it is partitioned by left out."""
    import pyarrow as pa
    from odps.tunnel.io.types import odps_type_to_arrow_type

    form: Any = found.table_schema
    return pa.schema([(column.name, odps_type_to_arrow_type(column.type)) for column in form.simple_columns])


def client(path: str, quota: str) -> StorageApiArrowClient:
    from odps.apis.storage_api import StorageApiArrowClient

    return StorageApiArrowClient(odps=_service(Address.of(path).project, Address.of(path).schema), table=table(path),
                                 quota_name=quota)  # fmt: skip


def service(path: str) -> ODPS:
    address = Address.of(path)
    return _service(address.project, address.schema)


def _service(project: str, schema: str | None) -> ODPS:
    if find_spec("odps") is None:
        raise StorageError("odps:// needs the package pyodps; install it: pip install 'polyrec[odps]'")
    from polyrec.maxcompute.account import credentials

    return _opened(project, schema, credentials())


@lru_cache(maxsize=16)
def _opened(project: str, schema: str | None, given: object) -> ODPS:
    from odps.core import ODPS

    from polyrec.maxcompute.account import Credentials

    assert isinstance(given, Credentials)
    return ODPS(account=given.account(), project=project, endpoint=given.endpoint, schema=schema)
