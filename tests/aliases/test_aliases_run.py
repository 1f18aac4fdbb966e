"""Upstream commands as their users type them, each a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from polyrec.demo import make_data

ROOT = Path(__file__).parents[2]
TORCHRUN = ["torch.distributed.run", "--standalone", "--nnodes=1", "--nproc-per-node=2", "-m"]


def run(folder: Path, *words: str) -> dict[str, Any]:
    """The line of JSON that the command ends with."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "aliases")])
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    command = [sys.executable, "-m", *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [line] = done.stdout.splitlines()
    return json.loads(line)


def test_paddlerec_trains_then_evaluates_each_checkpoint(tmp_path: Path) -> None:
    text = (ROOT / "examples/paddlerec/rank/dnn/config.yaml").read_text(encoding="utf-8")
    text = text.replace('"examples/paddlerec/rank/dnn"', f'"{ROOT}/examples/paddlerec/rank/dnn"')
    text = text.replace("sparse_feature_number: 1000001", "sparse_feature_number: 2000").replace(
        "demo/paddlerec_dnn", "out"
    )
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    train, infer = run(tmp_path, "paddlerec.run", "-m", "config.yaml")["steps"]
    # 400 rows in batches of 32 are 12 whole ones, four times over.
    assert (train["steps"], train["samples"], train["checkpoint"]) == (48, 1536, "out/3")
    assert [item["checkpoint"] for item in infer["checkpoints"]] == ["out/1", "out/3"]
    assert all(0 <= item["metrics"]["auc"] <= 1 for item in infer["checkpoints"])
    # Another run writes over the first one, as upstream does.
    assert run(tmp_path, "paddlerec.run", "-m", "config.yaml")["steps"][0]["samples"] == 1536


@pytest.mark.parametrize("launcher", [[], TORCHRUN], ids=["alone", "torchrun"])
def test_torcheasyrec_from_training_to_predictions(launcher: list[str], tmp_path: Path) -> None:
    data = make_data("taobao", str(tmp_path / "data"), 2000, 5)
    config = ROOT / "examples/torcheasyrec/multi_tower_din_taobao.config"
    trained = run(
        tmp_path,
        *[*launcher, "tzrec.train_eval", "--pipeline_config_path", str(config), "--model_dir", "model"],
        *["--train_input_path", r"data/train/\*.parquet", "--eval_input_path", r"data/eval/\*.parquet"],
        *["--edit_config_json", '{"data_config.batch_size": 100}', "--continue_train", "True"],
    )
    assert trained["samples"] == 2000
    # Names hold the index of the last step: 2000 rows are 20 batches of 100, shared by the processes.
    assert trained["checkpoint"] == f"model/model.ckpt-{19 if not launcher else 9}"
    judged = run(tmp_path, *launcher, "tzrec.eval", "--pipeline_config_path", "model/pipeline.config")
    assert judged["metrics"]["auc"] == pytest.approx(trained["metrics"]["auc"])
    if launcher:
        return
    run(tmp_path, "tzrec.export", "--pipeline_config_path", "model/pipeline.config", "--export_dir", "export")
    predicted = run(
        tmp_path,
        *["tzrec.predict", "--scripted_model_path", "export", "--predict_input_path", r"data/eval/\*.parquet"],
        *["--predict_output_path", "out", "--reserved_columns", "user_id,clk", "--output_columns", "probs"],
    )
    assert predicted["rows"] == data.eval_rows
    rows = pq.read_table(tmp_path / "out")
    assert set(rows.column_names) == {"probs", "user_id", "clk"}
    assert rows["user_id"].to_pylist() == pq.read_table(tmp_path / "data" / "eval")["user_id"].to_pylist()
    assert (
        run(tmp_path, "tzrec.tools.list_distcp_param", "--checkpoint_path", trained["checkpoint"])["num_tensors"] > 10
    )
