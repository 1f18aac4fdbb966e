"""A run of a few seconds on rows with a planted truth, written as Parquet, for tests of whole verbs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from polyrec.config import RunConfig

COLORS = 6
ITEMS = 20


def rows(size: int, seed: int) -> pa.Table:
    """Clicks that follow the color, the price and how often the item's kind occurs in the history."""
    random = np.random.default_rng(seed)
    color = random.integers(0, COLORS, size)
    item = random.integers(0, ITEMS, size)
    price = random.normal(size=size).astype(np.float32)
    lengths = random.integers(0, 6, size)
    history = random.integers(0, ITEMS, int(lengths.sum()))
    logit = np.linspace(-2, 2, COLORS)[color] + 0.8 * price + np.linspace(-1, 1, ITEMS)[item]
    click = (random.random(size) < 1 / (1 + np.exp(-logit))).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.table(
        {
            "row": np.arange(size),
            "color": pa.array([f"c{value}" for value in color]),
            "item": item,
            "price": price,
            "history": pa.ListArray.from_arrays(pa.array(offsets), pa.array(history)),
            "click": click,
        }
    )


def write(folder: Path, size: int, seed: int, files: int = 2) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    table = rows(size, seed)
    part = -(-size // files)
    for number in range(files):
        pq.write_table(table.slice(number * part, part), folder / f"part-{number}.parquet", row_group_size=300)
    return folder


LINEAR: dict[str, Any] = {"kind": "linear"}
MLP: dict[str, Any] = {"hidden": [16], "activation": "relu", "kernel": LINEAR, "dropout": [0.1]}


def table_of(name: str, count: int, width: int = 8) -> dict[str, Any]:
    return {"name": name, "rows": count, "width": width, "init": {"kind": "uniform", "low": -0.1, "high": 0.1}}


def settings(folder: Path, **changes: Any) -> dict[str, Any]:
    """A multi-tower DIN run in RunConfig's own fields."""
    hashed = {"kind": "hash", "rows": 50, "function": "murmur64"}
    items = {"kind": "identity", "rows": ITEMS, "out_of_range": "error"}
    constant = {"kind": "constant"}
    base: dict[str, Any] = {
        "model_dir": str(folder / "model"),
        "data": {
            "train": [str(folder / "train")],
            "evaluate": [str(folder / "eval")],
            "reader": {"kind": "parquet"},
            "batch_size": 100,
            "eval_batch_size": 256,
        },
        "features": [
            {"kind": "id", "name": "color", "column": "color", "bucket": hashed, "default": None},
            {"kind": "id", "name": "item", "column": "item", "bucket": items, "default": None},
            {"kind": "raw", "name": "price", "column": "price", "default": 0.0},
            {"kind": "sequence_id", "name": "history", "column": "history", "bucket": items, "default": None},
        ],
        "tables": [table_of("color", 50), table_of("item", ITEMS), table_of("seen", ITEMS)],
        "groups": [
            {
                "name": "deep",
                "kind": "flat",
                "inputs": [
                    {"feature": "color", "table": "color"},
                    {"feature": "item", "table": "item"},
                    {"feature": "price"},
                ],
            },
            {
                "name": "clicks",
                "kind": "sequence",
                "inputs": [{"feature": "item", "table": "seen"}, {"feature": "history", "table": "seen"}],
            },
        ],
        "model": {
            "kind": "multi_tower_din",
            "towers": [{"group": "deep", "mlp": MLP}],
            "din_towers": [{"group": "clicks", "mlp": {**MLP, "dropout": []}}],
            "final": MLP,
            "head": {"kernel": LINEAR},
        },
        "tasks": [
            {
                "label": "click",
                "losses": [{"loss": {"kind": "binary_cross_entropy"}}],
                "metrics": [{"kind": "auc"}],
            }
        ],
        "optim": {
            "tables": {
                "optimizer": {"kind": "adagrad", "lr": 0.05, "initial_accumulator": 0.0, "eps": 1e-8},
                "schedule": constant,
            },
            "dense": {
                "optimizer": {"kind": "adam", "lr": 0.01, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8},
                "schedule": constant,
            },
        },
        "train": {"epochs": 2, "log_every": 5, "tensorboard": False, "saving": {"every_steps": 10}},
    }
    for path, value in changes.items():
        place: Any = base
        *outer, last = path.split("__")
        for name in outer:
            place = place[name]
        place[last] = value
    return base


def config(folder: Path, **changes: Any) -> RunConfig:
    return RunConfig.model_validate(settings(folder, **changes))


def data(folder: Path, train_rows: int = 2000, eval_rows: int = 500) -> Path:
    write(folder / "train", train_rows, seed=1)
    write(folder / "eval", eval_rows, seed=2)
    return folder
