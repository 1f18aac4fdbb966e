"""Rows into a table or partition, all at once: nobody sees any before every process has sent its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from polyrec import maxcompute, runtime
from polyrec.data.readers import check_columns
from polyrec.errors import DataError
from polyrec.families import ReaderConfig
from polyrec.maxcompute import sessions

if TYPE_CHECKING:
    from odps.models import Table


class TableOutput:
    """A table by its path, made when it is not there."""

    def __init__(self, path: str, quota: str) -> None:
        self.path = path
        self.quota = quota
        self.address = maxcompute.Address.of(path)
        if "&" in path or "," in path:
            raise DataError(f"{path}: names several tables or partitions; rows are written to one")

    def begin(self, schema: Callable[[], pa.Schema], overwrite: bool) -> str:
        """The id of the session that all processes write to."""
        from odps.apis import storage_api

        wanted = schema()
        with maxcompute.named(self.path, "cannot be written"):
            table = self._table(wanted)
            if not overwrite and sessions.begin(self.path, (), self.quota).rows:
                raise DataError(f"{self.path}: is not empty; name another table or partition, or replace its rows "
                                "with --overwrite")  # fmt: skip
            check_columns(self.path, wanted.names, maxcompute.arrow_schema(table).names)
            request = storage_api.TableBatchWriteRequest(
                partition_spec=(self.address.partition or "").replace("/", ","), overwrite=overwrite
            )
            made = maxcompute.client(self.path, self.quota).create_write_session(request)
        self._await(str(made.session_id), "INIT", "NORMAL")
        return str(made.session_id)

    def writer(self, begun: str, part: int) -> TableWriter:
        return TableWriter(self.path, self.quota, begun, part)

    def finish(self, begun: str, receipts: Sequence[str]) -> None:
        from odps.apis.storage_api import SessionRequest

        client = maxcompute.client(self.path, self.quota)
        with maxcompute.named(self.path, "cannot be written"):
            client.commit_write_session(SessionRequest(begun), [receipt for receipt in receipts if receipt])
        self._await(begun, "COMMITTING", "COMMITTED")

    def _await(self, id: str, passing: str, wanted: str) -> None:
        from odps.apis.storage_api import SessionRequest

        client = maxcompute.client(self.path, self.quota)
        while True:
            with maxcompute.named(self.path, "cannot be written"):
                status = client.get_write_session(SessionRequest(id)).session_status.value
            if status == wanted:
                return
            if status != passing:
                raise DataError(f"{self.path}: cannot be written (its session is {status.lower()})")
            time.sleep(sessions.WAIT_SECONDS)

    def _table(self, schema: pa.Schema) -> Table:
        """The table, made with columns for the rows if it is not there, and its partition."""
        from odps.tunnel.io.types import arrow_type_to_odps_type

        service, address = maxcompute.service(self.path), self.address
        if not service.exist_table(address.table):
            columns = ", ".join(f"`{field.name}` {arrow_type_to_odps_type(_plain(field.type))}" for field in schema)
            levels = [level.partition("=")[0] for level in (address.partition or "").split("/") if level]
            form: Any = (columns, ", ".join(f"`{level}` string" for level in levels)) if levels else columns
            lifecycle = runtime.maxcompute_settings().get("ODPS_TABLE_LIFECYCLE")
            options: dict[str, Any] = {"lifecycle": int(lifecycle)} if lifecycle else {}
            hints = {"odps.sql.type.system.odps2": "true"}
            service.create_table(address.table, form, if_not_exists=True, hints=hints, **options)
        table = maxcompute.table(self.path)
        if address.partition:
            table.create_partition(address.partition.replace("/", ","), if_not_exists=True)
        return table


class TableWriter:
    """Rows of one process as one block of the session."""

    def __init__(self, path: str, quota: str, session: str, part: int) -> None:
        self.rows = 0
        self.receipt = ""
        self._path, self._quota, self._session, self._part = path, quota, session, part
        self._stream: Any = None
        self._schema = pa.schema([])

    def write(self, batch: pa.RecordBatch) -> None:
        from odps.apis.storage_api import WriteRowsRequest

        if self._stream is None:
            client = maxcompute.client(self._path, self._quota)
            self._schema = maxcompute.arrow_schema(client.table)
            self._stream = client.write_rows_arrow(WriteRowsRequest(self._session, block_number=self._part))
        with maxcompute.named(self._path, "cannot be written"):
            self._stream.write(self._fitted(batch))
        self.rows += batch.num_rows

    def _fitted(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The columns of the table in their order; null where the rows have none."""
        columns = []
        for field in self._schema:
            if field.name not in batch.schema.names:
                columns.append(pa.nulls(batch.num_rows, field.type))
                continue
            column = batch.column(field.name)
            try:
                columns.append(column.cast(_plain(column.type)).cast(field.type))
            except pa.ArrowException as error:
                raise DataError(f"{self._path}: column {field.name} is {field.type}, not {column.type}") from error
        return pa.record_batch(columns, self._schema)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if self._stream is None:
            return
        if kind is not None:
            # The block ends so that its thread does; without its receipt it belongs to nothing.
            with suppress(Exception):
                self._stream.finish()
            return
        with maxcompute.named(self._path, "cannot be written"):
            message, is_sent = self._stream.finish()
        if not is_sent:
            raise DataError(f"{self._path}: cannot be written (the service did not take the rows)")
        self.receipt = message


def table_output(path: str, reader: ReaderConfig) -> TableOutput:
    """Charged to the quota that the run's tables are read with, if it reads any."""
    return TableOutput(path, getattr(reader, "quota", maxcompute.DEFAULT_QUOTA))


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type that tables have for it."""
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return pa.list_(_plain(kind.value_type))
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_unsigned_integer(kind):
        return pa.int64()
    return kind
