"""A whole run whose data, model folder, export and predictions are in an S3 store."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import small_training
from pyarrow import fs

from polyrec import api
from polyrec import checkpoint as checkpoints
from polyrec.cli import main
from polyrec.config import RunConfig
from polyrec.errors import CheckpointError, DataError, ExportError
from polyrec.storage import copies, file_system

Keys = Callable[..., dict[str, int]]


@pytest.fixture
def remote(bucket: str, tmp_path: Path) -> str:
    """A bucket with the data of a small run."""
    small_training.data(tmp_path, 1000, 200)
    store, path = file_system(bucket)
    for part in ("train", "eval"):
        fs.copy_files(str(tmp_path / part), f"{path}/{part}", destination_filesystem=store)
    return bucket


def config(bucket: str, **changes: Any) -> RunConfig:
    places = {
        "model_dir": f"{bucket}/model",
        "data__train": [f"{bucket}/train"],
        "data__evaluate": [f"{bucket}/eval/*.parquet"],
    }
    return small_training.config(Path("unused"), **{**places, **changes})


def weights(place: str) -> dict[str, np.ndarray]:
    import torch

    folder = checkpoints.locate(place)
    shapes = checkpoints.tensors.shapes(folder / "model")
    found = {name: torch.zeros(size, dtype=dtype) for name, (size, dtype) in shapes.items()}
    checkpoints.tensors.load(found, folder / "model")
    return {name: tensor.numpy() for name, tensor in found.items()}


def files_of(keys: Keys, prefix: str) -> set[str]:
    return {key.removeprefix(prefix) for key in keys(prefix)}


def test_train_evaluate_export_predict(remote: str, keys: Keys, tmp_path: Path) -> None:
    run = config(remote, train__tensorboard=True)
    done = api.train(run)
    assert done["checkpoint"] == f"{remote}/model/model.ckpt-20"
    names = files_of(keys, "model/")
    assert {"pipeline.config", "best.json", "train_eval_result.txt", "model.ckpt-10/manifest.json"} <= names
    assert not [name for name in names if ".unfinished" in name]
    assert [name for name in names if name.startswith("eval_val/events.out.tfevents")]

    judged = api.evaluate(run)
    assert judged["checkpoint"] == f"{remote}/model/model.ckpt-20"
    assert judged["metrics"]["auc"] == done["metrics"]["auc"]
    assert json.loads(copies.read_bytes(f"{remote}/model/eval_result.txt"))["global_step"] == 20
    assert len(api.evaluate_each(run, f"{remote}/model")) == 2

    made = api.export(run, f"{remote}/export")
    assert made["export_dir"] == f"{remote}/export"
    assert "manifest.json" in files_of(keys, "export/")
    with pytest.raises(ExportError, match=f"{remote}/export: already exists"):
        api.export(run, f"{remote}/export")

    scored = api.predict(f"{remote}/export", [f"{remote}/eval"], f"{remote}/scores", reserve=["row"])
    assert (scored["rows"], files_of(keys, "scores/")) == (200, {"part-0.parquet"})
    api.predict_checkpoint(run, [str(tmp_path / "eval")], f"file://{tmp_path}/scores", reserve=["row"])
    store, path = file_system(f"{remote}/scores/part-0.parquet")
    assert pq.read_table(path, filesystem=store) == pq.read_table(tmp_path / "scores/part-0.parquet")
    with pytest.raises(DataError, match="scores: is not empty"):
        api.predict(f"{remote}/export", [f"{remote}/eval"], f"{remote}/scores")
    api.predict(f"{remote}/export", [f"{remote}/eval"], f"{remote}/scores", format="csv", overwrite=True)
    assert files_of(keys, "scores/") == {"part-0.csv"}


def test_a_run_learns_the_same_in_a_store_and_resumes_there(remote: str, keys: Keys, tmp_path: Path) -> None:
    here = config(str(tmp_path), data__evaluate=[], data__shuffle_rows=150)
    there = config(remote, data__evaluate=[], data__shuffle_rows=150)
    api.train(here)
    api.train(config(remote, data__evaluate=[], data__shuffle_rows=150, train__steps=7))
    with pytest.raises(CheckpointError, match=f"{remote}/model: already holds model.ckpt-7"):
        api.train(there)
    resumed = api.train(there, resume=True)
    assert resumed["step"] == 20
    expected = weights(str(tmp_path / "model"))
    found = weights(f"{remote}/model")
    assert expected.keys() == found.keys()
    assert all(np.array_equal(expected[name], found[name]) for name in expected)
    state = json.loads(copies.read_bytes(f"{remote}/model/model.ckpt-7/state.json"))
    assert state["positions"][0]["block"]["spans"][0]["path"].startswith(f"{remote}/train/")


def test_a_half_sent_checkpoint_is_never_loaded(
    remote: str, keys: Keys, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run = config(remote, data__evaluate=[], train__epochs=1, train__saving={"every_steps": 4})
    send = copies.send

    def torn(file: Path, url: str) -> None:
        if "model.ckpt-8/optimizer" in url:
            raise CheckpointError("the network is gone")
        send(file, url)

    monkeypatch.setattr(copies, "send", torn)
    with pytest.raises(CheckpointError, match="the network is gone"):
        api.train(run)
    monkeypatch.setattr(copies, "send", send)
    assert "model.ckpt-8/.unfinished" in files_of(keys, "model/")
    assert checkpoints.newest(f"{remote}/model") == f"{remote}/model/model.ckpt-4"
    with pytest.raises(CheckpointError, match="holds no whole checkpoint"):
        checkpoints.locate(f"{remote}/model/model.ckpt-8")
    with caplog.at_level(logging.WARNING):
        assert api.train(run, resume=True)["step"] == 10
    assert f"{remote}/model/model.ckpt-8: left by a save that was interrupted; removed" in caplog.text
    assert checkpoints.locate(f"{remote}/model/model.ckpt-8")


def test_a_damaged_checkpoint_is_passed_over(remote: str, caplog: pytest.LogCaptureFixture) -> None:
    run = config(remote, data__evaluate=[], train__epochs=1, train__saving={"every_steps": 5, "keep": 2})
    api.train(run)
    newest = f"{remote}/model/model.ckpt-10"
    good = copies.read_bytes(f"{newest}/sample.arrow")
    copies.write_bytes(f"{newest}/sample.arrow", good[:-1] + b"?")
    with pytest.raises(CheckpointError, match=f"{newest}/sample.arrow: its content is not what was saved"):
        checkpoints.locate(newest)
    copies.write_bytes(f"{newest}/sample.arrow", good + b"?")
    with pytest.raises(CheckpointError, match=f"{newest}/sample.arrow: has .* bytes instead of"):
        checkpoints.locate(newest)
    assert checkpoints.newest(f"{remote}/model") == f"{remote}/model/model.ckpt-5"
    copies.write_bytes(f"{newest}/sample.arrow", good)
    assert checkpoints.newest(f"{remote}/model") == newest


def test_old_checkpoints_go(remote: str, keys: Keys) -> None:
    saving = {"every_steps": 2, "keep": 2}
    api.train(config(remote, data__evaluate=[], train__epochs=1, train__saving=saving))
    folders = {name.partition("/")[0] for name in files_of(keys, "model/") if "/" in name}
    assert folders == {"model.ckpt-8", "model.ckpt-10"}


def test_fine_tuning_and_listing(remote: str, capsys: pytest.CaptureFixture[str]) -> None:
    api.train(config(remote, data__evaluate=[], train__steps=3))
    tuned = config(remote, model_dir=f"{remote}/tuned", data__evaluate=[], train__steps=1,
                   train__fine_tune_from=f"{remote}/model")  # fmt: skip
    assert api.train(tuned)["checkpoint"] == f"{remote}/tuned/model.ckpt-1"
    assert main(["checkpoint", "ls", f"{remote}/tuned/model.ckpt-1"]) == 0
    assert "tables.color.weight  [50, 8]  float32" in capsys.readouterr().err


def test_only_what_is_needed_is_fetched(remote: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = config(remote, train__steps=3)
    api.train(run)
    copies.release()
    fetched: list[str] = []
    fetch = copies.fetch

    def noted(url: str, file: Path) -> None:
        fetched.append(url)
        fetch(url, file)

    monkeypatch.setattr(copies, "fetch", noted)
    api.evaluate(run)
    api.export(run, f"{remote}/export")
    names = [url.removeprefix(f"{remote}/model/model.ckpt-3/") for url in fetched]
    assert sorted(set(names)) == sorted(names)
    assert "model/.metadata" in names
    assert not [name for name in names if name.startswith("optimizer/")]
