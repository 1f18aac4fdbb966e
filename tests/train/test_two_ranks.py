from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_training as small
import torch

from polyrec import api
from polyrec import checkpoint as checkpoints
from polyrec.checkpoint import tensors
from polyrec.config import RunConfig

PROGRAM = """
import json, signal, sys
from polyrec import api, runtime
from polyrec.config import RunConfig
curve = []
config = RunConfig.model_validate_json(open(sys.argv[1]).read())
def note(step, named):
    curve.append(named["total"])
    if f"--stop-second-at-{step}" in sys.argv and runtime.world().rank == 1:
        signal.raise_signal(signal.SIGTERM)
result = api.train(config, resume="--resume" in sys.argv, on_step=note)
if config.data.evaluate:
    result["evaluated"] = api.evaluate(config)["metrics"]
if runtime.world().is_first:
    json.dump({"curve": curve, "result": result}, open(sys.argv[2], "w"))
"""


def on_two_ranks(config: RunConfig, folder: Path, *flags: str) -> dict[str, Any]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "program.py").write_text(PROGRAM)
    (folder / "run.json").write_text(config.model_dump_json())
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command += [str(folder / "program.py"), str(folder / "run.json"), str(folder / "out.json"), *flags]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PROCESS_GROUP_TIMEOUT_SECONDS": "180"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads((folder / "out.json").read_text())


def table_weights(path: Path) -> torch.Tensor:
    weight = torch.zeros(small.ITEMS, 8)
    tensors.load({"tables.item.weight": weight}, path / "model")
    return weight


def statistics(path: Path) -> dict[str, torch.Tensor]:
    """What the batch norms of a checkpoint have kept."""
    kept = {name: torch.zeros(size) for name, (size, _) in tensors.shapes(path / "model").items() if "running" in name}
    tensors.load(kept, path / "model")
    return kept


def plain_layers() -> dict[str, Any]:
    """The model without dropout, whose noise is not the same on two ranks as on one."""
    mlp = {**small.MLP, "dropout": []}
    model = small.settings(Path())["model"]
    return {**model, "towers": [{"group": "deep", "mlp": mlp}], "final": mlp}


@pytest.fixture(scope="module")
def halves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same rows twice: in an order that two ranks split, and in the one that makes the same global batches."""
    folder = tmp_path_factory.mktemp("halves")
    table = small.rows(2000, seed=5)
    half, size = 1000, 50
    order = [np.arange(at, at + size) for start in range(0, half, size) for at in (start, half + start)]
    for name, rows in (("two", table), ("one", table.take(pa.array(np.concatenate(order))))):
        (folder / name).mkdir()
        pq.write_table(rows, folder / name / "part.parquet", row_group_size=300)
    return folder


@pytest.mark.parametrize("optimizer", ["adagrad", "adam"])
def test_two_ranks_have_the_loss_curve_of_one(halves: Path, tmp_path: Path, optimizer: str) -> None:
    rule = {"kind": "adam", "lr": 0.01, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8}
    tables = None if optimizer == "adagrad" else {"optimizer": rule, "schedule": {"kind": "constant"}}

    def config(name: str, size: int) -> RunConfig:
        changes: dict[str, Any] = {} if tables is None else {"optim__tables": tables}
        return small.config(
            tmp_path,
            model_dir=str(tmp_path / name),
            data__train=[str(halves / name)],
            data__evaluate=[],
            data__batch_size=size,
            model=plain_layers(),
            **changes,
        )

    curve: list[float] = []
    api.train(config("one", 100), on_step=lambda step, named: curve.append(named["total"]))
    found = on_two_ranks(config("two", 50), tmp_path / "job")
    assert len(curve) == 40
    assert found["curve"] == pytest.approx(curve, abs=2e-5)
    assert torch.allclose(
        table_weights(tmp_path / "one" / "model.ckpt-40"), table_weights(tmp_path / "two" / "model.ckpt-40"), atol=1e-5
    )


def test_batch_norms_see_the_rows_of_all_ranks(tmp_path: Path) -> None:
    """Their statistics, and so the curve and what is saved, are those of one process with all rows of the step."""
    table = small.rows(1010, seed=7)
    parts = [
        np.arange(at, min(at + 50, stop)) for start, stop in ((0, 505), (505, 1010)) for at in range(start, stop, 50)
    ]
    order = np.concatenate([part for pair in zip(parts[:11], parts[11:], strict=True) for part in pair])
    for name, rows in (("two", table), ("one", table.take(pa.array(order)))):
        (tmp_path / name).mkdir()
        pq.write_table(rows, tmp_path / name / "part.parquet", row_group_size=200)
    model = plain_layers()
    layer = {**model["final"], "norm": {"kind": "batch", "is_biased": True}}
    dice = {**model["final"], "activation": "dice"}
    model = {**model, "towers": [{"group": "deep", "mlp": layer}], "final": layer}
    model["din_towers"] = [{"group": "clicks", "mlp": dice}]
    # The gradient of a bias before a norm is rounding noise, which Adam would make steps of.
    dense = {"optimizer": {"kind": "sgd", "lr": 0.1}, "schedule": {"kind": "constant"}}

    def config(name: str, size: int) -> RunConfig:
        changes = {"data__train": [str(tmp_path / name)], "data__evaluate": [], "data__batch_size": size}
        changes["optim__dense"] = dense
        return small.config(tmp_path, model_dir=str(tmp_path / f"m-{name}"), model=model, train__epochs=1, **changes)

    curve: list[float] = []
    api.train(config("one", 100), on_step=lambda step, named: curve.append(named["total"]))
    assert len(curve) == 11
    assert on_two_ranks(config("two", 50), tmp_path / "job")["curve"] == pytest.approx(curve, abs=2e-5)
    found = [statistics(tmp_path / f"m-{name}" / "model.ckpt-11") for name in ("one", "two")]
    assert len(found[0]) == 6
    torch.testing.assert_close(found[1], found[0], atol=1e-5, rtol=1e-4)


def test_weights_of_rows_count_over_all_ranks(tmp_path: Path) -> None:
    """Ranks whose rows weigh differently have the loss of one process, which divides by the sum of all weights."""
    table = small.rows(600, seed=6)
    weight = np.where(np.arange(600) >= 300, 10.0, 1.0) * (np.arange(600) % 3 > 0)
    table = table.append_column("weight", pa.array(weight))
    order = [np.arange(at, at + 50) for start in range(0, 300, 50) for at in (start, 300 + start)]
    for name, rows in (("two", table), ("one", table.take(pa.array(np.concatenate(order))))):
        (tmp_path / name).mkdir()
        pq.write_table(rows, tmp_path / name / "part.parquet")
    task = {**small.settings(tmp_path)["tasks"][0], "sample_weight": "weight"}

    def config(name: str, size: int) -> RunConfig:
        changes = {"data__train": [str(tmp_path / name)], "data__evaluate": [], "data__batch_size": size}
        return small.config(
            tmp_path, model_dir=str(tmp_path / f"m-{name}"), model=plain_layers(), tasks=[task], **changes
        )

    curve: list[float] = []
    api.train(config("one", 100), on_step=lambda step, named: curve.append(named["total"]))
    assert on_two_ranks(config("two", 50), tmp_path / "job")["curve"] == pytest.approx(curve, abs=2e-5)


@pytest.mark.parametrize(("at", "steps"), [(3, 4), (6, 6)])
def test_all_ranks_know_of_a_signal_to_one(tmp_path: Path, at: int, steps: int) -> None:
    """Else the others would begin the next part of a workflow, and wait there for the one that has left."""
    small.data(tmp_path, train_rows=1200)
    config = small.config(tmp_path, train__epochs=1, data__evaluate=[])
    result = on_two_ranks(config, tmp_path / "job", f"--stop-second-at-{at}")["result"]
    assert result["steps"] in (steps, steps + 1)
    assert (result["stopped_by_signal"], result["exit_code"]) == (15, 143)


def test_uneven_ranks_neither_hang_nor_lose_rows_and_another_number_goes_on(tmp_path: Path) -> None:
    small.data(tmp_path, train_rows=1010, eval_rows=303)
    task = small.settings(tmp_path)["tasks"][0]
    grouped = [{"kind": "grouped_auc", "group": "color"}, {"kind": "ndcg_at_k", "group": "item", "k": 3}]
    recent = [{"metric": {"kind": "auc"}, "every_steps": 2}]
    tasks = [{**task, "metrics": [*task["metrics"], {"kind": "xauc"}, *grouped], "train_metrics": recent}]
    config = small.config(tmp_path, tasks=tasks, train__epochs=1, train__saving={"every_steps": 3})
    found = on_two_ranks(config, tmp_path / "job")
    # 505 rows each: six steps, the last with 5 rows on either rank.
    assert found["result"]["samples"] == 1010
    assert found["result"]["steps"] == 6
    alone = api.evaluate(config)["metrics"]
    assert set(alone) == {"auc", "xauc", "grouped_auc", "ndcg_at_3", "binary_cross_entropy"}
    assert found["result"]["evaluated"] == pytest.approx(alone, abs=1e-6)
    assert 0.4 < found["result"]["train_metrics"]["auc"] < 0.9
    newest = checkpoints.newest(tmp_path / "model")
    assert newest is not None
    checkpoints.whole.remove(newest)
    # From the middle of the epoch, 600 rows in, on one rank: the other 410 rows follow.
    result = api.train(config, resume=True)
    assert result["samples"] == 1010
    longer = small.config(tmp_path, train__epochs=2, train__saving={})
    assert on_two_ranks(longer, tmp_path / "more", "--resume")["result"]["samples"] == 2020
