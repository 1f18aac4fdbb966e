"""Tables are read and written by pyodps against a service of our own that speaks its protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_training
from fake_maxcompute import KEY, SECRET, TOKEN, FakeMaxCompute

from polyrec import api, maxcompute
from polyrec import checkpoint as checkpoints
from polyrec.config import RunConfig
from polyrec.data.files import expand, partitions
from polyrec.data.loader import RowLoader
from polyrec.data.position import Position
from polyrec.data.readers import Span, odps
from polyrec.data.readers.odps import Odps
from polyrec.errors import CheckpointError, ConfigError, DataError, PolyrecError, StorageError
from polyrec.maxcompute import account, sessions

CLICKS = {"row": "bigint", "color": "string", "item": "bigint", "price": "float", "history": "array<bigint>",
          "click": "bigint"}  # fmt: skip


def numbers(service: FakeMaxCompute, count: int = 60, partition: str = "") -> str:
    rows = pa.table({"other": ["x"] * count, "row": range(count), "last": [[1.5]] * count})
    return service.add("numbers", rows, {"other": "string", "row": "bigint", "last": "array<double>"}, partition)


def rows_of(loader: RowLoader, start: Position | None = None) -> list[list[int]]:
    return [batch.column("row").to_pylist() for batch, _ in loader.batches(0, start)]


def flat(parts: list[list[int]]) -> list[int]:
    return [row for part in parts for row in part]


def test_paths() -> None:
    root = "odps://shop/tables/clicks"
    assert partitions(root) == partitions(f"{root}/") == [root]
    assert partitions(f"{root}/pt=1&pt=2") == [f"{root}/pt=1", f"{root}/pt=2"]
    assert partitions(f"{root}/pt=1/h=0&pt=1/h=1") == [f"{root}/pt=1/h=0", f"{root}/pt=1/h=1"]
    assert expand([f"{root}/pt=1&pt=2,{root}2,{root}/pt=2"], ()) == [f"{root}/pt=1", f"{root}/pt=2", f"{root}2"]
    address = maxcompute.Address.of("odps://shop/tables/new.clicks/pt=1/h=0")
    assert address == maxcompute.Address("shop", "clicks", "new", "pt=1/h=0")
    for wrong in ("odps://shop/clicks", "odps://shop/tables", "odps://shop/table/clicks", f"{root}/pt"):
        with pytest.raises(DataError, match=r"write odps://project/tables/name/partition=value"):
            maxcompute.Address.of(wrong)


def test_types_are_those_of_the_table(service: FakeMaxCompute) -> None:
    columns = {"a": "bigint", "b": "int", "c": "double", "d": "float", "e": "string", "f": "boolean",
               "g": "array<array<float>>", "h": "map<string,bigint>", "i": "decimal(10,2)"}  # fmt: skip
    path = service.add("types", pa.table({}), columns)
    assert Odps().arrow_schema(path).types == [
        pa.int64(), pa.int32(), pa.float64(), pa.float32(), pa.string(), pa.bool_(),
        pa.list_(pa.list_(pa.float32())), pa.map_(pa.string(), pa.int64()), pa.decimal128(10, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("compression", ["LZ4_FRAME", "ZSTD", "UNCOMPRESSED"])
def test_only_asked_columns_travel(service: FakeMaxCompute, compression: Any) -> None:
    reader = Odps(compression=compression)
    files = reader.shared([numbers(service)], ["row"])
    assert flat(rows_of(RowLoader(reader, files, ["row"], batch_size=7))) == list(range(60))
    assert next(iter(service.reads.values()))["rows"].column_names == ["row"]


def test_ranks_share_a_session_and_read_each_row_once(service: FakeMaxCompute) -> None:
    """The fake orders the rows of each session otherwise, so sessions of their own would overlap."""
    numbers(service, 50, "pt=1")
    paths = expand([numbers(service, 30, "pt=2").replace("pt=2", "pt=1&pt=2")], ())
    numbers_of = Odps().shared(paths, ["row"])
    loaders = [RowLoader(Odps(), numbers_of, ["row"], batch_size=8, rank=rank, world=3) for rank in range(3)]
    assert sorted(flat([row for loader in loaders for row in rows_of(loader)])) == sorted([*range(50), *range(30)])
    assert len(service.reads) == 2
    by_file = [
        RowLoader(Odps(), numbers_of, ["row"], batch_size=8, rank=rank, world=2, by_file=True) for rank in range(2)
    ]
    shares = [flat(rows_of(loader)) for loader in by_file]
    assert [len(share) for share in shares] == [40, 40]
    assert sorted(shares[0][:25] + shares[1][:25]) == list(range(50))


@pytest.mark.parametrize("shuffle", [0, 16])
@pytest.mark.parametrize("world", [2, 3])
def test_resuming_goes_on_with_the_very_next_row(service: FakeMaxCompute, shuffle: int, world: int) -> None:
    reader = Odps()
    files = reader.shared([numbers(service)], ["row"])

    def loaders(names: Any, size: int) -> list[RowLoader]:
        return [
            RowLoader(reader, names, ["row"], batch_size=7, rank=rank, world=size, shuffle_rows=shuffle)
            for rank in range(size)
        ]

    given, positions = [], []
    for loader in loaders(files, 2):
        batches = loader.batches(0)
        for _ in range(2):
            batch, position = next(batches)
            given += batch.column("row").to_pylist()
        positions.append(Position.load(json.loads(json.dumps(position.dump()))))
    reader.release(files)
    assert all(position.files == tuple(files) for position in positions)
    again = loaders(positions[0].files, world)
    rest = flat([row for loader in again for row in rows_of(loader, loader.resume(positions))])
    assert sorted([*given, *rest]) == list(range(60))
    assert len(service.reads) == 1


def test_streams_that_break_are_taken_up_again(service: FakeMaxCompute, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(odps, "BATCH_ROWS", 5)
    path = numbers(service)
    service.cuts = 3
    found = [row for _, rows in Odps().read(Span(path, 3, 57), ("row",)) for row in rows.column(0).to_pylist()]
    assert found == list(range(3, 57))
    assert service.cuts == 0
    service.cuts = 100
    with pytest.raises(DataError, match=rf"{path}: cannot be read \(the stream ended early"):
        list(Odps().read(Span(path, 0, 4), ("row",)))


def test_what_is_not_there_is_named(service: FakeMaxCompute) -> None:
    path = numbers(service, partition="pt=1")
    absent = "odps://shop/tables/numebrs"
    with pytest.raises(DataError, match=rf"{absent}: the project shop has no table numebrs"):
        Odps().arrow_schema(absent)
    with pytest.raises(DataError, match=r"tables/numbers/pt=9: cannot be read .*the partition pt=9 does not exist"):
        Odps().length(path.replace("pt=1", "pt=9"))
    with pytest.raises(DataError, match=r"pt=1: no column rwo; did you mean row\?"):
        Odps().shared([path], ["rwo"])
    with pytest.raises(DataError, match="no column rwo"):
        next(Odps().read(Span(path, 0, 4), ("rwo",)))


def test_sessions_are_kept_alive(service: FakeMaxCompute, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "REFRESH_SECONDS", -1.0)
    path = numbers(service)
    Odps().length(path)
    before = len(service.requests)
    Odps().length(path)
    assert service.requests[before:] == [("GET", service.requests[-1][1])]
    assert service.requests[-1][1].endswith("/sessions/read-0")


# -- who reads


def test_credentials_of_a_file(service: FakeMaxCompute, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ALIBABA_CLOUD_ACCESS_KEY_ID")
    monkeypatch.delenv("ODPS_ENDPOINT")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(StorageError, match=r"needs credentials, and there are none; set one of: ODPS_CONFIG_FILE_PATH"):
        Odps().length(numbers(service))
    path = tmp_path / "odps.conf"
    path.write_text(f"project_name=shop\naccess_id={KEY}\naccess_key={SECRET}\n")
    monkeypatch.setenv("ODPS_CONFIG_FILE_PATH", str(path))
    with pytest.raises(StorageError, match=r"odps.conf: has no end_point; it needs") as caught:
        Odps().length(numbers(service))
    assert SECRET not in str(caught.value)
    path.write_text(path.read_text() + f"end_point = {service.endpoint}\n")
    assert Odps().length(numbers(service)) == 60
    monkeypatch.delenv("ODPS_CONFIG_FILE_PATH")
    path.rename(tmp_path / ".odps_config.ini")
    assert Odps().arrow_schema(numbers(service)).names == ["other", "row", "last"]


def test_credentials_of_sts_and_of_a_role(service: FakeMaxCompute, monkeypatch: pytest.MonkeyPatch) -> None:
    path = numbers(service)
    monkeypatch.setenv("ALIBABA_CLOUD_SECURITY_TOKEN", TOKEN)
    Odps().arrow_schema(path)
    assert service.tokens == {TOKEN}
    for name in ("ALIBABA_CLOUD_ACCESS_KEY_ID", "ALIBABA_CLOUD_SECURITY_TOKEN"):
        monkeypatch.delenv(name)
    service.tokens.clear()
    monkeypatch.setenv("ALIBABA_CLOUD_CREDENTIALS_URI", service.endpoint.replace("/api", "/role"))
    assert Odps().length(path) == 60
    assert service.tokens == {TOKEN}
    assert [path for _, path in service.requests].count("/role") == 1
    monkeypatch.setenv("ALIBABA_CLOUD_CREDENTIALS_URI", f"{service.endpoint}/nothing?token={SECRET}")
    with pytest.raises(PolyrecError, match="ALIBABA_CLOUD_CREDENTIALS_URI: gives no credentials") as caught:
        Odps().arrow_schema(path)
    assert SECRET not in str(caught.value)
    monkeypatch.delenv("ALIBABA_CLOUD_CREDENTIALS_URI")
    monkeypatch.setenv("ALIBABA_CLOUD_ECS_METADATA", "role")
    with pytest.raises(StorageError, match="ALIBABA_CLOUD_ECS_METADATA needs the package alibabacloud_credentials"):
        Odps().arrow_schema(path)


def test_refused_credentials_are_not_shown(service: FakeMaxCompute, monkeypatch: pytest.MonkeyPatch) -> None:
    path = numbers(service)
    monkeypatch.setenv("ALIBABA_CLOUD_ACCESS_KEY_ID", "someone-else")
    with pytest.raises(DataError, match=f"{path}: cannot be read .*who is there") as caught:
        Odps().arrow_schema(path)
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(account.credentials())
    monkeypatch.delenv("ODPS_ENDPOINT")
    with pytest.raises(StorageError, match="needs ODPS_ENDPOINT"):
        Odps().arrow_schema(path)


# -- whole runs


def clicks(service: FakeMaxCompute, partition: str, size: int, seed: int) -> str:
    return service.add("clicks", small_training.rows(size, seed), CLICKS, partition)


def config(folder: Path, train: str, evaluate: str, **changes: Any) -> RunConfig:
    data = {"data__train": [train], "data__evaluate": [evaluate], "data__reader": {"kind": "odps"}}
    return small_training.config(folder, **data, **changes)


def weights(folder: Path) -> dict[str, np.ndarray]:
    import torch

    shapes = checkpoints.tensors.shapes(folder / "model")
    found = {name: torch.zeros(size, dtype=dtype) for name, (size, dtype) in shapes.items()}
    checkpoints.tensors.load(found, folder / "model")
    return {name: tensor.numpy() for name, tensor in found.items()}


def test_train_resume_evaluate_predict(service: FakeMaxCompute, tmp_path: Path) -> None:
    clicks(service, "pt=1", 300, 1)
    train = clicks(service, "pt=2", 300, 2).replace("pt=2", "pt=1&pt=2")
    held = clicks(service, "pt=3", 200, 3)
    run = config(tmp_path, train, held, train__epochs=1, data__shuffle_rows=150)
    api.train(run.model_copy(update={"train": run.train.model_copy(update={"steps": 4})}))
    before = len(service.reads)
    done = api.train(run, resume=True)
    assert (done["step"], done["samples"]) == (6, 600)
    # The two sessions that the run began and evaluated in serve it again; what is new is unused or evaluates.
    state = json.loads((tmp_path / "model/model.ckpt-4/state.json").read_text())
    assert [name.partition("#")[2] for name in state["positions"][0]["files"]] == ["read-0", "read-1"]
    assert before >= 3

    service.reads.clear()
    with pytest.raises(CheckpointError, match="already holds"):
        api.train(run)
    out = "odps://shop/tables/scores/pt=3/model=din"
    scored = api.predict_checkpoint(run, [held], out, reserve=["row", "history"])
    assert scored["rows"] == 200
    assert "PARTITIONED BY" in service.statements[0]
    stored = service.tables["scores"]
    assert stored.columns["history"].lower() == "array<bigint>"
    written = stored.rows["pt=3/model=din"]
    assert sorted(written.column("row").to_pylist()) == list(range(200))
    local = tmp_path / "local.parquet"
    pq.write_table(service.tables["clicks"].rows["pt=3"], local)
    api.predict_checkpoint(run, [str(local)], str(tmp_path / "scores"), reserve=["row"])
    expected = pq.read_table(tmp_path / "scores").sort_by("row")
    assert np.allclose(written.sort_by("row").column("probs").to_numpy(), expected.column("probs").to_numpy())

    with pytest.raises(DataError, match=f"{out}: is not empty"):
        api.predict_checkpoint(run, [held], out, reserve=["row"])
    api.predict_checkpoint(run, [held], out, reserve=["row"], overwrite=True)
    again = stored.rows["pt=3/model=din"]
    assert again.num_rows == 200
    assert again.column("history").null_count == 200
    with pytest.raises(ConfigError, match="is a table, which has no file format"):
        api.predict_checkpoint(run, [held], out, format="csv")
    with pytest.raises(
        DataError, match=r"tables/scores/pt=4/model=din: no column price; it has: logits, probs, row, history"
    ):
        api.predict_checkpoint(run, [held], out.replace("pt=3", "pt=4"), reserve=["price"])


def test_an_ended_session_starts_the_epoch_over(
    service: FakeMaxCompute, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    train = clicks(service, "pt=1", 300, 1)
    run = config(tmp_path, train, clicks(service, "pt=3", 100, 3), train__epochs=1)
    api.train(run.model_copy(update={"train": run.train.model_copy(update={"steps": 2})}))
    service.reads.clear()
    sessions._open.clear()
    assert api.train(run, resume=True)["samples"] == 200 + 300
    assert "so epoch 0 starts over" in caplog.text


def test_a_failed_prediction_leaves_the_table_as_it_was(service: FakeMaxCompute, tmp_path: Path) -> None:
    train = clicks(service, "pt=1", 300, 1)
    run = config(tmp_path, train, clicks(service, "pt=3", 100, 3), train__steps=1)
    api.train(run)
    bad = small_training.rows(600, 5).set_column(2, "item", pa.array([*range(20), *[77] * 580]))
    source = service.add("clicks", bad, CLICKS, "pt=9")
    with pytest.raises(DataError, match=r"tables/clicks/pt=9: row \d+ of the session: column item: id 77"):
        api.predict_checkpoint(run, [source], "odps://shop/tables/scores", batch_size=20)
    assert service.tables["scores"].rows[""].num_rows == 0
