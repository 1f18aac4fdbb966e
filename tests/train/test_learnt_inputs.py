"""Runs whose groups hold embedded numbers and read sequences: they learn, resume, export, and agree on two ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_training as small
import torch
from test_two_ranks import on_two_ranks

from polyrec import api
from polyrec.checkpoint import tensors
from polyrec.config import RunConfig

AUTODIS = {"kind": "autodis", "width": 8, "channels": 8, "temperature": 0.5, "keep": 0.8}
LAYERS = {**small.MLP, "dropout": []}
NORMED = {**LAYERS, "norm": {"kind": "batch"}, "bias": False}
"""The gradient of a bias before a norm is rounding noise, which Adam would make steps of."""
ENCODERS: dict[str, dict[str, Any]] = {
    "target_attention": {"mlp": NORMED, "with_query": True, "transform": {**LAYERS, "hidden": [8]}},
    "text_cnn": {"windows": [1, 2], "filters": [8, 8], "length": 6, "activation": "relu", "kernel": small.LINEAR},
    "pooling": {"by": "mean"},
}


def planted(size: int, seed: int) -> pa.Table:
    """Clicks that follow a wave of the price and the items seen before."""
    random = np.random.default_rng(seed)
    table = small.rows(size, seed)
    price = random.uniform(-2, 2, size).astype(np.float32)
    lengths = np.diff(table["history"].combine_chunks().offsets.to_numpy())
    worth = np.linspace(-2.5, 2.5, small.ITEMS)[table["history"].combine_chunks().flatten().to_numpy()]
    seen = np.bincount(np.repeat(np.arange(size), lengths), worth, minlength=size) / np.maximum(lengths, 1)
    logit = 2 * np.cos(4 * price) + 2 * seen
    click = (random.random(size) < 1 / (1 + np.exp(-logit))).astype(np.int64)
    names = table.schema.names
    return table.set_column(names.index("price"), "price", pa.array(price)).set_column(
        names.index("click"), "click", pa.array(click)
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted")
    for name, size, seed in (("train", 8000, 1), ("eval", 2000, 2)):
        (folder / name).mkdir()
        pq.write_table(planted(size, seed), folder / name / "part.parquet", row_group_size=300)
    return folder


def config(folder: Path, model_dir: Path, embedding: Any, *encoders: str, **changes: Any) -> RunConfig:
    deep, clicks = small.settings(folder)["groups"]
    inputs = [*deep["inputs"][:2], {"feature": "price", "embedding": embedding}]
    readings = [{"group": "clicks", "encoder": {"kind": name, **ENCODERS[name]}} for name in encoders]
    groups = [{**deep, "inputs": inputs, "readings": readings}, *([clicks] if encoders else [])]
    return small.config(
        folder,
        model_dir=str(model_dir),
        groups=groups,
        # The towers' own layers are narrow, so that what the groups hold is what counts.
        model={"kind": "multi_tower", "towers": [{"group": "deep"}], "head": {"kernel": small.LINEAR}},
        **{"train__kernel_penalty": 1e-5, **changes},
    )


def auc(run: RunConfig) -> float:
    return api.train(run)["metrics"]["auc"]


@pytest.fixture(scope="module")
def plain_auc(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> float:
    return auc(config(folder, tmp_path_factory.mktemp("plain"), None))


def test_an_embedded_number_beats_a_bare_one(folder: Path, plain_auc: float, tmp_path: Path) -> None:
    assert auc(config(folder, tmp_path, AUTODIS)) > plain_auc + 0.05


@pytest.mark.parametrize("encoder", ENCODERS)
def test_what_is_read_of_a_sequence_beats_nothing(folder: Path, plain_auc: float, tmp_path: Path, encoder: str) -> None:
    assert auc(config(folder, tmp_path, None, encoder)) > plain_auc + 0.05


def tensors_of(path: Path) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = {}
    for part in ("model", "optimizer"):
        live = {name: torch.empty(size, dtype=dtype) for name, (size, dtype) in tensors.shapes(path / part).items()}
        tensors.load(live, path / part)
        found |= {f"{part}/{name}": value for name, value in live.items()}
    return found


def test_a_resumed_run_ends_where_an_unbroken_one_does(folder: Path, tmp_path: Path) -> None:
    def run(name: str, steps: int) -> RunConfig:
        limits = {"train__epochs": None, "train__steps": steps, "data__evaluate": []}
        return config(folder, tmp_path / name, AUTODIS, *ENCODERS, **limits)

    api.train(run("whole", 30))
    api.train(run("broken", 20))
    api.train(run("broken", 30), resume=True)
    whole, broken = (tensors_of(tmp_path / name / "model.ckpt-30") for name in ("whole", "broken"))
    assert whole.keys() == broken.keys()
    assert all(torch.equal(value, broken[name]) for name, value in whole.items())
    names = {name for name in whole if name.startswith("model/inputs.")}
    assert "model/inputs.numbers.autodis_8.vectors" in names
    assert any(name.startswith("model/inputs.readings.deep-clicks-text_cnn.") for name in names)
    moments = {f"optimizer/{name.partition('/')[2]}.exp_avg" for name in names if ".running_" not in name}
    assert moments <= whole.keys()


def test_an_export_predicts_what_its_checkpoint_does(folder: Path, tmp_path: Path) -> None:
    run = config(folder, tmp_path / "model", AUTODIS, *ENCODERS, train__epochs=1, data__evaluate=[])
    api.train(run)
    api.export(run, str(tmp_path / "export"))
    inputs = [str(folder / "eval")]
    api.predict(str(tmp_path / "export"), inputs, str(tmp_path / "a"))
    api.predict(str(tmp_path / "export"), inputs, str(tmp_path / "single"), batch_size=1, steps=20)
    api.predict_checkpoint(run, inputs, str(tmp_path / "b"))
    exported, single, kept = (
        pq.read_table(tmp_path / name)["logits"].to_numpy().ravel() for name in ("a", "single", "b")
    )
    assert kept.std() > 0.1
    assert np.abs(exported - kept).max() < 1e-5
    assert np.abs(single - kept[:20]).max() < 1e-5


def test_a_sequence_without_a_query_is_read_and_exported(folder: Path, tmp_path: Path) -> None:
    run = config(folder, tmp_path / "model", None, "text_cnn", "pooling", train__epochs=1, data__evaluate=[])
    clicks = run.groups[1].model_copy(update={"inputs": run.groups[1].inputs[1:]})
    run = run.model_copy(update={"groups": (run.groups[0], clicks)})
    api.train(run)
    api.export(run, str(tmp_path / "export"))
    api.predict(str(tmp_path / "export"), [str(folder / "eval")], str(tmp_path / "a"))
    api.predict_checkpoint(run, [str(folder / "eval")], str(tmp_path / "b"))
    exported, kept = (pq.read_table(tmp_path / name)["logits"].to_numpy().ravel() for name in "ab")
    assert kept.std() > 0.1
    assert np.abs(exported - kept).max() < 1e-5


def test_two_ranks_learn_what_one_does(folder: Path, tmp_path: Path) -> None:
    """Batch statistics are those of all ranks' rows, so the curves of losses are the same."""
    table = pq.read_table(folder / "train").slice(0, 2000)
    order = [np.arange(at, at + 50) for start in range(0, 1000, 50) for at in (start, 1000 + start)]
    for name, rows in (("two", table), ("one", table.take(pa.array(np.concatenate(order))))):
        (tmp_path / name).mkdir()
        pq.write_table(rows, tmp_path / name / "part.parquet", row_group_size=300)

    def run(name: str, size: int) -> RunConfig:
        changes = {"data__train": [str(tmp_path / name)], "data__evaluate": [], "data__batch_size": size}
        return config(folder, tmp_path / f"m-{name}", AUTODIS, *ENCODERS, **changes)

    curve: list[float] = []
    api.train(run("one", 100), on_step=lambda step, named: curve.append(named["total"]))
    assert len(curve) == 40
    found = on_two_ranks(run("two", 50), tmp_path / "job")
    assert found["curve"] == pytest.approx(curve, abs=2e-5)
