"""DSSM on planted tastes: with sampled items it learns who likes what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_two_ranks import on_two_ranks

from polyrec import api
from polyrec.config import RunConfig
from polyrec.dialects import load_text

USERS, ITEMS, KINDS = 60, 200, 4
HASHED = {"kind": "identity", "out_of_range": "error"}
CONSTANT = {"kind": "constant"}
LINEAR = {"kind": "linear"}
MLP = {"hidden": [16], "activation": "relu", "kernel": LINEAR}


def write(folder: Path) -> None:
    """Users choose items of their own kind nine times in ten; hard ones are of another kind."""
    random = np.random.default_rng(5)
    for name, rows in (("train", 6000), ("eval", 1200)):
        user = random.integers(0, USERS, rows)
        kind = np.where(random.random(rows) < 0.9, user % KINDS, random.integers(0, KINDS, rows))
        item = random.integers(0, ITEMS // KINDS, rows) * KINDS + kind
        table = pa.table({"user": user, "item": item, "shade": item % 7, "click": np.ones(rows, np.int64)})
        pq.write_table(table, folder / f"{name}.parquet", row_group_size=700)
    lines = [f"{item}\t{1 + item % 3}\t{item % 7}\n" for item in range(ITEMS)]
    (folder / "items.txt").write_text("id:int64\tweight:float\tattrs:string\n" + "".join(lines))
    chosen = [(user, item) for user in range(USERS) for item in range(user % KINDS, ITEMS, 5 * KINDS)]
    passed = [(user, (user + 1) % KINDS + KINDS * number) for user in range(USERS) for number in range(6)]
    for name, pairs in (("chosen", chosen), ("passed", passed)):
        (folder / f"{name}.txt").write_text("".join(f"{user}\t{item}\t1\n" for user, item in pairs))


def sampler(folder: Path, kind: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "kind": kind,
        "items": {"path": str(folder / "items.txt")},
        "item_column": "item",
        "attributes": ["shade"],
        "count": 40,
        "eval_count": 60,
        "kept_from": "row",
    }
    if kind != "negative":
        found["user_column"] = "user"
    if kind.endswith("v2"):
        found["positive_edges"] = {"path": str(folder / "chosen.txt")}
    if kind.startswith("hard"):
        found.update(hard_edges={"path": str(folder / "passed.txt")}, hard_count=4)
    return found


def feature(name: str, rows: int) -> dict[str, Any]:
    return {"kind": "id", "name": name, "column": name, "bucket": {**HASHED, "rows": rows}, "default": None}


def run(folder: Path, kind: str, **train: Any) -> RunConfig:
    sizes = {"user": USERS, "item": ITEMS, "shade": 7}
    learning = {"optimizer": {"kind": "adam", "lr": 0.02, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8}}
    tower = {"mlp": MLP}
    return RunConfig.model_validate(
        {
            "model_dir": str(folder / "model"),
            "data": {
                "train": [str(folder / "train.parquet")],
                "evaluate": [str(folder / "eval.parquet")],
                "reader": {"kind": "parquet"},
                "batch_size": 200,
                "eval_batch_size": 200,
                "shuffle_rows": 1000,
                "sampler": sampler(folder, kind),
            },
            "features": [feature(name, rows) for name, rows in sizes.items()],
            "tables": [
                {"name": name, "rows": rows, "width": 8, "init": {"kind": "uniform", "low": -0.1, "high": 0.1}}
                for name, rows in sizes.items()
            ],
            "groups": [
                {"name": "user", "kind": "flat", "inputs": [{"feature": "user", "table": "user"}]},
                {
                    "name": "item",
                    "kind": "flat",
                    "inputs": [{"feature": name, "table": name} for name in ("item", "shade")],
                },
            ],
            "model": {
                "kind": "dssm",
                "user": {"group": "user", **tower},
                "item": {"group": "item", **tower},
                "output": 8,
                "kernel": LINEAR,
                "similarity": "cosine",
                "temperature": 0.1,
            },
            "tasks": [
                {
                    "label": "click",
                    "losses": [{"loss": {"kind": "sampled_softmax"}}],
                    "metrics": [{"kind": "recall_at_k", "k": k} for k in (1, 20)],
                }
            ],
            "optim": {part: {**learning, "schedule": CONSTANT} for part in ("tables", "dense")},
            "train": {"epochs": 3, "log_every": 10, "tensorboard": False, **train},
        }
    )


@pytest.mark.parametrize("kind", ["negative", "hard_negative_v2"])
def test_it_learns_who_likes_what(tmp_path: Path, kind: str) -> None:
    """A quarter of 60 sampled items are of the user's kind: by chance a third of all items are among the first 20, with
    kinds learnt nine in ten. The loss by chance is log 61, or 4.11."""
    write(tmp_path)
    config = run(tmp_path, kind, epochs=5)
    result = api.train(config)
    assert result["metrics"]["recall_at_20"] > 0.8
    assert result["metrics"]["softmax_cross_entropy"] < 3.5
    assert api.evaluate(config)["metrics"] == pytest.approx(result["metrics"])
    # Prediction and exports need no tables of items.
    for name in ("items", "chosen", "passed"):
        (tmp_path / f"{name}.txt").unlink()
    api.export(config, str(tmp_path / "export"))
    api.predict(
        str(tmp_path / "export"), [str(tmp_path / "eval.parquet")], str(tmp_path / "out"), reserve=["user", "item"]
    )
    found = pq.read_table(tmp_path / "out").to_pydict()
    similarity = np.array(found["similarity"])
    is_alike = np.array(found["user"]) % KINDS == np.array(found["item"]) % KINDS
    assert similarity[is_alike].mean() > similarity[~is_alike].mean() + 0.5


def test_a_resumed_run_learns_the_same(tmp_path: Path) -> None:
    write(tmp_path)
    losses: dict[str, list[float]] = {"whole": [], "parts": []}

    def go(name: str, steps: int, *, resume: bool) -> None:
        config = run(tmp_path, "hard_negative", epochs=None, steps=steps, evaluate_after_save=False)
        config = config.model_copy(update={"model_dir": str(tmp_path / name)})
        api.train(config, resume=resume, on_step=lambda _, found: losses[name].append(found["total"]))

    go("whole", 40, resume=False)
    go("parts", 17, resume=False)
    go("parts", 40, resume=True)
    assert losses["parts"] == losses["whole"]


def test_two_ranks_draw_for_themselves_and_learn_together(tmp_path: Path) -> None:
    """Tables are sharded, rows of one rank alone are faulty, and those of the other cost three times as much: it has
    three times as many batches."""
    write(tmp_path)
    table = pq.read_table(tmp_path / "train.parquet")
    item = table.column("item").to_numpy().copy()
    item[7:2100:30] = 999
    table = table.set_column(table.schema.get_field_index("item"), "item", pa.array(item))
    cost = np.where(np.arange(6000) < 3000, 1, 3)
    pq.write_table(table.append_column("cost", pa.array(cost)), tmp_path / "train.parquet", row_group_size=700)
    settings = run(tmp_path, "hard_negative", epochs=6).model_dump()
    settings["data"].update(faults={"policy": "skip"}, cost_column="cost", cost_limit=200.0)
    settings["data"]["masking"] = {"features": ["shade"], "probability": 0.1, "negative_probability": 0.1}
    result = on_two_ranks(RunConfig.model_validate(settings), tmp_path / "ranks")["result"]
    assert result["samples"] == 6 * (6000 - 70)
    assert result["faults"] == {"count": 6 * 70, "rows_left_out": 6 * 70, "by_column": {"item": {"range": 6 * 70}}}
    # A rank has 3,000 rows of 3, of which 66 fit into a batch.
    assert result["steps"] == 6 * -(-3000 // 66)
    assert result["metrics"]["recall_at_20"] > 0.7
    assert result["evaluated"] == pytest.approx(result["metrics"])


UPSTREAM = """
train_input_path: "{folder}/train.parquet"
eval_input_path: "{folder}/eval.parquet"
model_dir: "{folder}/model"
train_config {{
  sparse_optimizer {{ adagrad_optimizer {{ lr: 0.1 }} constant_learning_rate {{}} }}
  dense_optimizer {{ adam_optimizer {{ lr: 0.02 }} constant_learning_rate {{}} }}
  num_epochs: 4
}}
data_config {{
  dataset_type: ParquetDataset
  batch_size: 50
  fg_mode: FG_DAG
  label_fields: "click"
  hard_negative_sampler {{
    user_input_path: "{folder}/users.txt" item_input_path: "{folder}/items.txt"
    hard_neg_edge_input_path: "{folder}/passed.txt"
    num_sample: 50 num_hard_sample: 3 num_eval_sample: 60
    attr_fields: "shade" item_id_field: "item" user_id_field: "user"
  }}
}}
feature_configs {{ id_feature {{ feature_name: "user" expression: "user:user" num_buckets: 60 embedding_dim: 8 }} }}
feature_configs {{
  id_feature {{ feature_name: "item" expression: "item:item" hash_bucket_size: 900 embedding_dim: 8 }}
}}
feature_configs {{ id_feature {{ feature_name: "shade" expression: "item:shade" num_buckets: 7 embedding_dim: 8 }} }}
model_config {{
  feature_groups {{ group_name: "user" feature_names: "user" group_type: DEEP }}
  feature_groups {{ group_name: "item" feature_names: ["item", "shade"] group_type: DEEP }}
  dssm {{
    user_tower {{ input: "user" mlp {{ hidden_units: 16 }} }}
    item_tower {{ input: "item" mlp {{ hidden_units: 16 }} }}
    output_dim: 8 similarity: COSINE temperature: 0.1
  }}
  metrics {{ recall_at_k {{ top_k: 20 }} }}
  losses {{ softmax_cross_entropy {{}} }}
}}
"""


def test_a_config_of_torcheasyrec_runs_as_it_is(tmp_path: Path) -> None:
    write(tmp_path)
    config = load_text(UPSTREAM.format(folder=tmp_path), "dssm.config", "torcheasyrec").config
    assert isinstance(config, RunConfig)
    result = api.train(config)
    assert result["steps"] == 480
    assert result["metrics"]["recall_at_20"] > 0.6
