"""Upstream commands as their users type them, from training to predictions.

Under torchrun each is a process of its own. Alone they run in this one: `test_aliases.py` starts each as a program.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from polyrec.cli import main, upstream
from polyrec.demo import make_data

ROOT = Path(__file__).parents[2]
Run = Callable[..., dict[str, Any]]
"""A module and its flags to the line of JSON that the command ends with."""
TORCHRUN = ["torch.distributed.run", "--standalone", "--nnodes=1", "--nproc-per-node=2", "-m"]


@pytest.fixture
def alone(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.syspath_prepend(ROOT / "aliases")
    monkeypatch.chdir(tmp_path)

    def run(module: str, *words: str) -> dict[str, Any]:
        code = upstream.forward(importlib.import_module(module).command, list(words), main)
        found = capsys.readouterr()
        assert code == 0, found.err
        return answer(found.out)

    return run


@pytest.fixture
def under_torchrun(tmp_path: Path) -> Run:
    def run(module: str, *words: str) -> dict[str, Any]:
        paths = os.pathsep.join([str(ROOT), str(ROOT / "aliases")])
        environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
        command = [sys.executable, "-m", *TORCHRUN, module, *words]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return answer(done.stdout)

    return run


def answer(out: str) -> dict[str, Any]:
    """The line of JSON that is all that stdout has."""
    [line] = out.splitlines()
    return json.loads(line)


def test_paddlerec_trains_then_evaluates_each_checkpoint(alone: Run, tmp_path: Path) -> None:
    text = (ROOT / "examples/paddlerec/rank/dnn/config.yaml").read_text(encoding="utf-8")
    text = text.replace('"examples/paddlerec/rank/dnn"', f'"{ROOT}/examples/paddlerec/rank/dnn"')
    text = text.replace("sparse_feature_number: 1000001", "sparse_feature_number: 2000").replace(
        "demo/paddlerec_dnn", "out"
    )
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    train, infer = alone("paddlerec.run", "-m", "config.yaml")["steps"]
    # 400 rows in batches of 32 are 12 whole ones, four times over.
    assert (train["steps"], train["samples"], train["checkpoint"]) == (48, 1536, "out/3")
    assert [item["checkpoint"] for item in infer["checkpoints"]] == ["out/1", "out/3"]
    assert all(0 <= item["metrics"]["auc"] <= 1 for item in infer["checkpoints"])
    # Another run writes over the first one, as upstream does.
    assert alone("paddlerec.run", "-m", "config.yaml")["steps"][0]["samples"] == 1536


TRAIN = [
    *["--pipeline_config_path", str(ROOT / "examples/torcheasyrec/multi_tower_din_taobao.config")],
    *["--model_dir", "model", "--train_input_path", r"data/train/\*.parquet"],
    *["--eval_input_path", r"data/eval/\*.parquet", "--edit_config_json", '{"data_config.batch_size": 100}'],
    *["--continue_train", "True"],
]
SAVED = ["--pipeline_config_path", "model/pipeline.config"]


def test_torcheasyrec_under_torchrun(under_torchrun: Run, tmp_path: Path) -> None:
    make_data("taobao", str(tmp_path / "data"), 2000, 5)
    trained = under_torchrun("tzrec.train_eval", *TRAIN)
    # Names hold the index of the last step: 2000 rows are 20 batches of 100, shared by two processes.
    assert (trained["samples"], trained["checkpoint"]) == (2000, "model/model.ckpt-9")
    judged = under_torchrun("tzrec.eval", *SAVED)
    assert judged["metrics"]["auc"] == pytest.approx(trained["metrics"]["auc"])


def test_torcheasyrec_from_training_to_predictions(alone: Run, tmp_path: Path) -> None:
    data = make_data("taobao", str(tmp_path / "data"), 2000, 5)
    trained = alone("tzrec.train_eval", *TRAIN)
    assert (trained["samples"], trained["checkpoint"]) == (2000, "model/model.ckpt-19")
    judged = alone("tzrec.eval", *SAVED)
    assert judged["metrics"]["auc"] == pytest.approx(trained["metrics"]["auc"])
    alone("tzrec.export", *SAVED, "--export_dir", "export")
    predicted = alone(
        *["tzrec.predict", "--scripted_model_path", "export", "--predict_input_path", r"data/eval/\*.parquet"],
        *["--predict_output_path", "out", "--reserved_columns", "user_id,clk", "--output_columns", "probs"],
    )
    assert predicted["rows"] == data.eval_rows
    rows = pq.read_table(tmp_path / "out")
    assert set(rows.column_names) == {"probs", "user_id", "clk"}
    assert rows["user_id"].to_pylist() == pq.read_table(tmp_path / "data" / "eval")["user_id"].to_pylist()
    listed = alone("tzrec.tools.list_distcp_param", "--checkpoint_path", trained["checkpoint"])
    assert listed["num_tensors"] > 10


def test_easyrec_from_training_to_predictions(alone: Run, tmp_path: Path) -> None:
    data = make_data("avazu", str(tmp_path / "data/avazu"), 2000, 5, form="csv")
    config = ["--pipeline_config_path", str(ROOT / "examples/easyrec/deepfm_avazu.config")]
    trained = alone(
        *["easy_rec.python.train_eval", *config, "--model_dir", "model", "--data_config.batch_size=100"],
        *["--train_config.num_steps=15", "--edit_config_json", '{"train_config.save_checkpoints_steps": 10}'],
    )
    assert (trained["steps"], trained["checkpoint"]) == (15, "model/model.ckpt-15")
    more = alone(
        *["easy_rec.python.train_eval", "--pipeline_config_path", "model/pipeline.config", "--continue_train"],
        *["--edit_config_json", '{"train.steps": 20}'],
    )
    assert (more["steps"], more["samples"]) == (20, 2000)
    saved = [*config, "--model_dir", "model"]  # the config kept there wins
    judged = alone("easy_rec.python.eval", *saved)
    assert judged["metrics"]["auc"] == pytest.approx(more["metrics"]["auc"])
    assert json.loads((tmp_path / "model/eval_result.txt").read_text())["auc"] == judged["metrics"]["auc"]
    alone("easy_rec.python.export", *saved, "--export_dir", "export")
    files = ["--input_path", "data/avazu/eval/*.csv"]
    chosen = ["--reserved_cols", "label", "--output_cols", "probs"]
    alone("easy_rec.python.predict", "--saved_model_dir", "export", *files, "--output_path", "one", *chosen)
    alone("easy_rec.python.predict", *saved, *files, "--output_path", "two", *chosen)
    one, two = (pa_csv.read_csv(tmp_path / name / "part-0.csv") for name in ("one", "two"))
    assert (one.num_rows, one.column_names) == (data.eval_rows, ["probs", "label"])
    assert one["label"] == two["label"]
    np.testing.assert_allclose(one["probs"], two["probs"], atol=1e-6)
