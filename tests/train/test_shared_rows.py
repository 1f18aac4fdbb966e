"""Runs whose tables share their rows out among values, or hold half floats: they learn, resume, export and agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_training as small
import torch
from test_learnt_inputs import tensors_of
from test_two_ranks import on_two_ranks

from polyrec import api
from polyrec.config import RunConfig

ROWS = 64
ANY = {"kind": "hash", "rows": 2**63 - 1, "function": "murmur64"}
LFU = {"eviction": "lfu", "every_steps": 5}


def planted(size: int, seed: int) -> pa.Table:
    """Clicks that follow the shop: 40 that sell much and 4000 that hardly do."""
    random = np.random.default_rng(seed)
    table = small.rows(size, seed)
    often = random.random(size) < 0.8
    shop = np.where(often, random.integers(0, 40, size), 40 + random.integers(0, 4000, size))
    logit = np.random.default_rng(0).normal(scale=2.0, size=4040)[shop]
    click = (random.random(size) < 1 / (1 + np.exp(-logit))).astype(np.int64)
    names = table.schema.names
    return table.set_column(names.index("click"), "click", pa.array(click)).append_column(
        "shop", pa.array([f"shop-{number}" for number in shop])
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shops")
    for name, size, seed in (("train", 6000, 1), ("eval", 3000, 2)):
        (folder / name).mkdir()
        pq.write_table(planted(size, seed), folder / name / "part.parquet", row_group_size=300)
    return folder


def config(folder: Path, model_dir: Path, bucket: dict[str, Any], table: dict[str, Any], **changes: Any) -> RunConfig:
    settings = small.settings(folder)
    shop = {"kind": "id", "name": "shop", "column": "shop", "bucket": bucket, "default": None}
    history = {**settings["features"][3], "bucket": ANY if "collisions" in table else settings["features"][3]["bucket"]}
    tables = [{**small.table_of("shop", ROWS), **table}, {**small.table_of("seen", small.ITEMS + 1), **table}]
    groups = [
        {"name": "deep", "kind": "flat", "inputs": [{"feature": "shop", "table": "shop"}]},
        {"name": "clicks", "kind": "sequence", "inputs": [
            {"feature": "shop", "table": "shop"}, {"feature": "history", "table": "seen"},
        ]},
    ]  # fmt: skip
    mlp = {**small.MLP, "dropout": []}
    model = {
        "kind": "multi_tower_din",
        "towers": [{"group": "deep"}],
        "din_towers": [{"group": "clicks", "mlp": mlp}],
        "head": {"kernel": small.LINEAR},
    }
    parts = {"features": [shop, history], "tables": tables, "groups": groups, "model": model}
    return small.config(folder, model_dir=str(model_dir), **parts, **changes)


def auc(run: RunConfig) -> float:
    return api.train(run)["metrics"]["auc"]


def test_rows_of_their_own_beat_rows_by_hash(folder: Path, tmp_path: Path) -> None:
    hashed = auc(config(folder, tmp_path / "hashed", {**ANY, "rows": ROWS}, {}))
    shared = auc(config(folder, tmp_path / "shared", ANY, {"collisions": LFU}))
    assert shared > hashed + 0.02


def test_half_floats_learn_what_floats_do(folder: Path, tmp_path: Path) -> None:
    bucket = {**ANY, "rows": ROWS}
    whole, half = (auc(config(folder, tmp_path / name, bucket, {"precision": name})) for name in ("fp32", "fp16"))
    assert half == pytest.approx(whole, abs=3e-3)


TABLES: dict[str, dict[str, Any]] = {
    "collisions": {"collisions": LFU},
    "admission": {"collisions": {"eviction": "distance_lfu", "every_steps": 3, "at_least": 2}},
    "half": {"precision": "fp16"},
    "both": {"collisions": {"eviction": "lru", "every_steps": 4}, "precision": "fp16"},
}


def bucket_of(name: str) -> dict[str, Any]:
    return ANY if "collisions" in TABLES[name] else {**ANY, "rows": ROWS}


@pytest.mark.parametrize("name", TABLES)
def test_a_resumed_run_ends_where_an_unbroken_one_does(folder: Path, tmp_path: Path, name: str) -> None:
    def run(part: str, steps: int, every: int) -> RunConfig:
        limits = {"train__epochs": None, "train__steps": steps, "train__saving": {"every_steps": every}}
        return config(folder, tmp_path / part, bucket_of(name), TABLES[name], data__evaluate=[], **limits)

    api.train(run("whole", 31, 100))
    api.train(run("broken", 17, 6))
    api.train(run("broken", 31, 100), resume=True)
    whole, broken = (tensors_of(tmp_path / part / "model.ckpt-31") for part in ("whole", "broken"))
    assert whole.keys() == broken.keys()
    assert all(torch.equal(value, broken[key]) for key, value in whole.items())
    weight = whole["model/tables.shop.weight"]
    assert weight.dtype == (torch.float16 if "precision" in TABLES[name] else torch.float32)


@pytest.mark.parametrize("name", TABLES)
def test_an_export_predicts_what_its_checkpoint_does(folder: Path, tmp_path: Path, name: str) -> None:
    run = config(folder, tmp_path / "model", bucket_of(name), TABLES[name], train__epochs=1)
    trained = api.train(run)["metrics"]["auc"]
    assert api.evaluate(run)["metrics"]["auc"] == trained
    api.export(run, str(tmp_path / "export"))
    inputs = [str(folder / "eval")]
    api.predict(str(tmp_path / "export"), inputs, str(tmp_path / "a"))
    api.predict_checkpoint(run, inputs, str(tmp_path / "b"))
    exported, kept = (pq.read_table(tmp_path / part)["logits"].to_numpy().ravel() for part in "ab")
    assert kept.std() > 0.1
    assert np.abs(exported - kept).max() < 1e-5


@pytest.mark.parametrize("name", ["collisions", "both"])
def test_two_ranks_learn_what_one_does_and_another_number_goes_on(folder: Path, tmp_path: Path, name: str) -> None:
    table = pq.read_table(folder / "train").slice(0, 2000)
    order = [np.arange(at, at + 50) for start in range(0, 1000, 50) for at in (start, 1000 + start)]
    for part, rows in (("two", table), ("one", table.take(pa.array(np.concatenate(order))))):
        (tmp_path / part).mkdir()
        pq.write_table(rows, tmp_path / part / "part.parquet", row_group_size=300)

    def run(part: str, size: int, epochs: int = 2) -> RunConfig:
        changes = {"data__train": [str(tmp_path / part)], "data__evaluate": [], "data__batch_size": size}
        return config(folder, tmp_path / f"m-{part}", bucket_of(name), TABLES[name], train__epochs=epochs, **changes)

    curve: list[float] = []
    api.train(run("one", 100), on_step=lambda step, named: curve.append(named["total"]))
    found = on_two_ranks(run("two", 50), tmp_path / "job")
    assert found["curve"] == pytest.approx(curve, abs=2e-4 if name == "both" else 2e-5)
    one, two = (tensors_of(tmp_path / f"m-{part}" / "model.ckpt-40") for part in ("one", "two"))
    learnt = [key for key in one if ".known." in key or ".waiting." in key]
    assert len(learnt) == 12
    assert all(torch.equal(one[key], two[key]) for key in learnt)
    assert api.train(run("two", 100, epochs=3), resume=True)["steps"] == 60
