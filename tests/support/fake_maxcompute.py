"""A MaxCompute of one project on this machine, as far as tables are read and written by its storage service.

Rows of each read session begin at another row of the table, as the service promises no order between sessions.
"""

from __future__ import annotations

import io
import itertools
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pyarrow as pa

KEY, SECRET, TOKEN = "the-key", "the-secret-of-the-key", "a-token-for-a-while"
PROJECT = "shop"


@dataclass
class Stored:
    """A table: its columns by MaxCompute types, and rows by partition ("" in a table without any)."""

    columns: dict[str, str]
    levels: list[str] = field(default_factory=list)
    rows: dict[str, pa.Table] = field(default_factory=dict)


@dataclass
class FakeMaxCompute:
    tables: dict[str, Stored] = field(default_factory=dict)
    reads: dict[str, Any] = field(default_factory=dict)
    writes: dict[str, Any] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    tokens: set[str | None] = field(default_factory=set)
    """STS tokens that requests came with."""
    statements: list[str] = field(default_factory=list)
    cuts: int = 0
    """Streams of rows that end in the middle from now on."""
    endpoint: str = ""
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def start(self) -> None:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                """Tests read what they need from the lists."""

            def do_GET(self) -> None:
                fake.answer(self, b"")

            def do_POST(self) -> None:
                fake.answer(self, _body(self))

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}/api"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def add(self, name: str, rows: pa.Table, columns: dict[str, str], partition: str = "") -> str:
        """A table or one more partition of it; returns its path."""
        levels = [level.partition("=")[0] for level in partition.split("/") if level]
        table = self.tables.setdefault(name, Stored(columns, levels))
        table.rows[partition] = rows
        return f"odps://{PROJECT}/tables/{name}" + (f"/{partition}" if partition else "")

    # -- answers

    def answer(self, request: BaseHTTPRequestHandler, body: bytes) -> None:
        parts = urlsplit(request.path)
        path, query = unquote(parts.path), {key: value[0] for key, value in parse_qs(parts.query).items()}
        self.requests.append((request.command, path))
        if path == "/role":
            facts = {"AccessKeyId": KEY, "AccessKeySecret": SECRET, "SecurityToken": TOKEN}
            return _send(request, 200, json.dumps({**facts, "Expiration": "2100-01-01T00:00:00Z"}).encode())
        self.tokens.add(request.headers.get("authorization-sts-token"))
        if not request.headers.get("Authorization", "").startswith(f"ODPS {KEY}:"):
            return _send(request, 401, _error("InvalidAuthorization", "who is there?"))
        if path.endswith("/tunnel"):
            return _send(request, 200, self.endpoint.removeprefix("http://").removesuffix("/api").encode())
        if "/instances" in path:
            return self._statement(request, body, query)
        found = re.search(r"/tables/([^/]+)(/.*)?$", path)
        table = self.tables.get(found[1]) if found else None
        if found is None or table is None:
            return _send(request, 404, _error("NoSuchTable", "ODPS-0130131: Table not found"))
        if "/api/storage/v1/" not in path:
            return _send(request, 200, _described(found[1], table))
        return self._storage(request, table, found[2] or "", {**query, "body": body})

    def _statement(self, request: BaseHTTPRequestHandler, body: bytes, query: dict[str, str]) -> None:
        if request.command == "POST":
            text = re.search(r"CDATA\[(.*?)\]\]", body.decode()[body.decode().find("<Query>") :], re.DOTALL)
            assert text is not None
            self.statements.append(text[1])
            self._run(text[1])
            return _send(request, 201, b"", {"Location": f"{self.endpoint}/projects/{PROJECT}/instances/1"})
        tasks = b"<Tasks><Task Type='SQL'><Name>x</Name><Status>Success</Status></Task></Tasks>"
        return _send(request, 200, b"<Instance><Status>Terminated</Status>" + tasks + b"</Instance>")

    def _run(self, text: str) -> None:
        name = re.search(r"`?(\w+)`?\s*(?:\(|ADD)", text)
        assert name is not None
        if text.startswith("CREATE"):
            columns, _, levels = text.partition("PARTITIONED BY")
            table = self.tables[name[1]] = Stored(dict(_columns(columns)), [level for level, _ in _columns(levels)])
            table.rows = {} if table.levels else {"": _schema(table).empty_table()}
        else:
            pairs = re.findall(r"(\w+)='([^']*)'", text)
            partition = "/".join(f"{key}={value}" for key, value in pairs)
            table = self.tables[name[1]]
            table.rows.setdefault(partition, _schema(table).empty_table())

    def _storage(self, request: BaseHTTPRequestHandler, table: Stored, rest: str, query: dict[str, Any]) -> None:
        wanted = rest.split("/")[1:]
        is_reading = query.get("session_type") == "batch_read"
        if wanted == ["sessions"] and request.command == "POST":
            facts = json.loads(query["body"])
            return self._begin_read(request, table, facts) if is_reading else self._begin_write(request, table, facts)
        if wanted == ["data"]:
            return self._rows(request, query)
        if len(wanted) == 3:
            session = self.writes[wanted[1]]
            with pa.ipc.open_stream(query["body"]) as reader:
                session["blocks"][query["block_number"]] = reader.read_all()
            return _send(request, 200, json.dumps({"CommitMessage": query["block_number"]}).encode())
        if wanted == ["commit"]:
            session = self.writes[query["session_id"]]
            blocks = [session["blocks"][number] for number in json.loads(query["body"])["CommitMessages"]]
            old = [] if session["overwrite"] else [table.rows[session["partition"]]]
            table.rows[session["partition"]] = pa.concat_tables([*old, *blocks])
            session["status"] = "COMMITTED"
            return _send(request, 201, json.dumps({"SessionId": "x", "SessionStatus": "COMMITTED"}).encode())
        known = self.reads if is_reading else self.writes
        if wanted[1] not in known:
            return _send(request, 404, _json_error("SessionNotFound", "the session has ended"))
        session = known[wanted[1]]
        count = {"RecordCount": session["rows"].num_rows} if is_reading else {}
        status = session.get("status", "NORMAL")
        return _send(request, 200, json.dumps({"SessionId": wanted[1], "SessionStatus": status, **count}).encode())

    def _begin_read(self, request: BaseHTTPRequestHandler, table: Stored, facts: dict[str, Any]) -> None:
        assert facts["SplitOptions"]["SplitMode"] == "RowOffset"
        partitions = facts["RequiredPartitions"] or list(table.rows)
        absent = [name for name in partitions if name not in table.rows]
        if absent:
            return _send(request, 404, _json_error("NoSuchPartition", f"the partition {absent[0]} does not exist"))
        rows = pa.concat_tables([table.rows[name] for name in partitions]).select(facts["RequiredDataColumns"])
        number = next(self._numbers)
        name = f"read-{number}"
        first = 7 * number % max(1, rows.num_rows)
        self.reads[name] = {"rows": pa.concat_tables([rows.slice(first), rows.slice(0, first)])}
        return _send(request, 201, json.dumps({"SessionId": name, "SessionStatus": "INIT"}).encode())

    def _begin_write(self, request: BaseHTTPRequestHandler, table: Stored, facts: dict[str, Any]) -> None:
        name = f"write-{len(self.writes)}"
        partition = facts["PartitionSpec"].replace(",", "/")
        table.rows.setdefault(partition, _schema(table).empty_table())
        self.writes[name] = {"partition": partition, "overwrite": facts["Overwrite"], "blocks": {}}
        return _send(request, 200, json.dumps({"SessionId": name, "SessionStatus": "NORMAL"}).encode())

    def _rows(self, request: BaseHTTPRequestHandler, query: dict[str, str]) -> None:
        if query["session_id"] not in self.reads:
            return _send(request, 404, _json_error("SessionNotFound", "the session has ended"))
        rows = self.reads[query["session_id"]]["rows"].slice(int(query["row_index"]), int(query["row_count"]))
        codec = {"LZ4_FRAME": "lz4", "ZSTD": "zstd"}.get(request.headers.get("Accept-Encoding", ""))
        sink = io.BytesIO()
        batches = rows.combine_chunks().to_batches(int(query["max_batch_rows"]))
        is_cut = self.cuts > 0
        self.cuts -= is_cut
        with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
            for batch in batches[: len(batches) // 2] if is_cut else batches:
                writer.write_batch(batch)
        return _send(request, 200, sink.getvalue())


def _body(request: BaseHTTPRequestHandler) -> bytes:
    if request.headers.get("Transfer-Encoding") != "chunked":
        return request.rfile.read(int(request.headers.get("Content-Length") or 0))
    parts = []
    while size := int(request.rfile.readline(), 16):
        parts.append(request.rfile.read(size))
        request.rfile.readline()
    request.rfile.readline()
    return b"".join(parts)


def _send(request: BaseHTTPRequestHandler, code: int, body: bytes, headers: dict[str, str] | None = None) -> None:
    request.send_response(code)
    for name, value in {"Content-Length": str(len(body)), "x-odps-request-id": "1", **(headers or {})}.items():
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(body)


def _error(code: str, message: str) -> bytes:
    return (f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message>"
            "<RequestId>1</RequestId><HostId>h</HostId></Error>").encode()  # fmt: skip


def _json_error(code: str, message: str) -> bytes:
    return json.dumps({"Code": code, "Message": message}).encode()


def _described(name: str, table: Stored) -> bytes:
    facts = {
        "columns": [{"name": column, "type": kind} for column, kind in table.columns.items()],
        "partitionKeys": [{"name": level, "type": "string"} for level in table.levels],
    }
    return (f"<?xml version='1.0'?><Table><Name>{name}</Name><Project>{PROJECT}</Project>"
            f"<Schema format='Json'><![CDATA[{json.dumps(facts)}]]></Schema></Table>").encode()  # fmt: skip


def _columns(text: str) -> list[tuple[str, str]]:
    return re.findall(r"`(\w+)`\s+([a-zA-Z]+(?:<[^`]*>)?)", text.partition("(")[2])


def _schema(table: Stored) -> pa.Schema:
    from odps.tunnel.io.types import odps_type_to_arrow_type
    from odps.types import validate_data_type

    return pa.schema(
        [(name, odps_type_to_arrow_type(validate_data_type(kind))) for name, kind in table.columns.items()]
    )
