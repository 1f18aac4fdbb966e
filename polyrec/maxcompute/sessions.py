"""Read sessions: a table or partition as it was when the session began, its rows in one order for all who know its id.

Two sessions of the same rows may order them otherwise, so all processes of a run read from one, and a run that goes on
later asks for the same one.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from polyrec import maxcompute
from polyrec.errors import DataError

if TYPE_CHECKING:
    from odps.apis.storage_api import StorageApiArrowClient

Compression = Literal["LZ4_FRAME", "ZSTD", "UNCOMPRESSED"]
MARK = "#"
"""Between a path and a session's id."""
REFRESH_SECONDS = 600.0
WAIT_SECONDS = 1.0
TRIES = 5
"""How often a stream that broke is taken up again without a row in between."""


@dataclass(slots=True)
class Session:
    path: str
    id: str
    rows: int
    client: StorageApiArrowClient
    columns: tuple[str, ...]
    """Of the table; a session that another process began may give fewer."""
    refreshed: float

    def refresh(self) -> None:
        """Sessions end a day after they were last refreshed."""
        if time.monotonic() - self.refreshed > REFRESH_SECONDS:
            from odps.apis.storage_api import SessionRequest

            with maxcompute.named(self.path):
                self.client.get_read_session(SessionRequest(self.id, refresh=True))
            self.refreshed = time.monotonic()

    def read(self, start: int, stop: int, most: int, compression: Compression) -> Iterator[pa.RecordBatch]:
        """Rows start to stop in batches of at most so many; a stream that breaks or ends early is taken up again."""
        tries = 0
        while start < stop:
            before = start
            fault = "the stream ended early"
            try:
                for batch in self._stream(start, stop, most, compression):
                    yield batch
                    start += batch.num_rows
            except DataError as error:
                fault = str(error)
            tries = 0 if start > before else tries + 1
            if tries >= TRIES:
                raise DataError(fault if fault.startswith(self.path) else f"{self.path}: cannot be read ({fault})")
            if start < stop:
                time.sleep(WAIT_SECONDS)

    def _stream(self, start: int, stop: int, most: int, compression: Compression) -> Iterator[pa.RecordBatch]:
        from odps.apis import storage_api
        from urllib3.exceptions import HTTPError

        request = storage_api.ReadRowsRequest(
            session_id=self.id,
            row_index=start,
            row_count=stop - start,
            max_batch_rows=most,
            compression=storage_api.Compression[compression],
        )
        try:
            with maxcompute.named(self.path):
                reader = self.client.read_rows_arrow(request)
                while (batch := reader.read()) is not None:
                    yield batch
        except (pa.ArrowException, HTTPError) as error:
            raise DataError(f"{self.path}: cannot be read ({type(error).__name__}: {error})") from error


def begin(path: str, columns: Sequence[str], quota: str) -> Session:
    """A session of the table or partition with these columns or all; the service may take a while to make one."""
    from odps.apis import storage_api

    partition = maxcompute.Address.of(path).partition
    client = maxcompute.client(path, quota)
    request = storage_api.TableBatchScanRequest(
        split_options=storage_api.SplitOptions.get_default_options(storage_api.SplitOptions.SplitMode.ROW_OFFSET),
        required_data_columns=list(columns) or maxcompute.arrow_schema(client.table).names,
        required_partitions=[partition] if partition else [],
    )
    with maxcompute.named(path):
        found = client.create_read_session(request)
    return _ready(path, str(found.session_id), client)


def _ready(path: str, id: str, client: StorageApiArrowClient) -> Session:
    from odps.apis.storage_api import SessionRequest, SessionStatus

    while True:
        with maxcompute.named(path):
            facts = client.get_read_session(SessionRequest(id))
        if facts.session_status == SessionStatus.NORMAL:
            columns = maxcompute.arrow_schema(client.table).names
            return Session(path, id, int(facts.record_count), client, tuple(columns), time.monotonic())
        if facts.session_status != SessionStatus.INIT:
            raise DataError(f"{path}: cannot be read (its session is {str(facts.session_status.value).lower()})")
        time.sleep(WAIT_SECONDS)


_open: dict[tuple[str, str], Session] = {}
"""Sessions of this process by name and quota."""


def name(session: Session) -> str:
    """A path that says which session to read from."""
    return f"{session.path}{MARK}{session.id}"


def path_of(name: str) -> str:
    return name.partition(MARK)[0]


def opened(name: str, quota: str) -> Session:
    """The session that a name says, or for a path alone one that this process begins with all columns."""
    key = (name, quota)
    if key not in _open:
        path, mark, id = name.partition(MARK)
        _open[key] = _ready(path, id, maxcompute.client(path, quota)) if mark else begin(path, (), quota)
    for session in [*_open.values()]:
        session.refresh()
    return _open[key]


def is_open(name: str, quota: str) -> bool:
    """Whether a session can still be read."""
    try:
        opened(name, quota)
    except DataError:
        return False
    return True


def release(names: Iterable[str], quota: str) -> None:
    """Read no more from these."""
    for name in names:
        _open.pop((name, quota), None)
