from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from polyrec import cli

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/paddlerec/rank/dnn"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example, in a folder of its own."""
    folder = tmp_path / "rank" / "dnn"
    for name in ("train", "infer"):
        (folder / "data" / name).mkdir(parents=True)
        rows = (EXAMPLE / "data" / name / "part-0.txt").read_text(encoding="utf-8")
        (folder / "data" / name / "part-0.txt").write_text(rows, encoding="utf-8")
    text = (EXAMPLE / "config.yaml").read_text(encoding="utf-8")
    (folder / "config.yaml").write_text(text.replace("examples/paddlerec/rank/dnn", str(folder)), encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder / "config.yaml"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any], str]:
    code = cli.main(["check", *words])
    found = capsys.readouterr()
    return code, json.loads(found.out), found.err


def change(config: Path, old: str, new: str) -> None:
    text = config.read_text(encoding="utf-8")
    assert old in text
    config.write_text(text.replace(old, new), encoding="utf-8")


def test_a_right_config(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found, text = run(capsys, "config.yaml")
    assert code == 0
    assert found["ok"] is True
    assert (found["dialect"], found["problems"], found["ignored"]) == ("paddlerec", 0, 2)
    assert "read     config.yaml:44:11: steps[0].run.train" in text
    assert "ignored  config.yaml:43:11: runner[0].device: a GPU is used when the machine has one" in text


def test_a_wrong_config_says_what_is_read_and_ignored_too(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(config, "epochs: 4", "epochs: 4\n  epoch: 4")
    code, found, text = run(capsys, "config.yaml")
    assert (code, found["ok"], found["dialect"], found["ignored"], found["problems"]) == (2, False, "paddlerec", 2, 1)
    assert found["read"] > 0
    assert "ignored  config.yaml:43:11: runner[0].device: a GPU is used when the machine has one" in text
    assert "wrong    config.yaml:45:10: runner[0].epoch: unknown field" in text


def test_everything_as_json(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found, text = run(capsys, "config.yaml", "--json")
    assert (code, text) == (0, "")
    assert {"path": "steps[0].run.train.epochs", "origin": "config.yaml:44:11"} in found["read"]
    assert found["problems"] == []
    assert found["ignored"][0] == {
        "file": "config.yaml",
        "line": 43,
        "column": 11,
        "path": "runner[0].device",
        "message": "a GPU is used when the machine has one",
    }


def test_what_is_wrong_has_its_place(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(config, "epochs: 4", "epoch: 4")
    code, found, _ = run(capsys, "config.yaml", "--json")
    assert (code, found["ok"]) == (2, False)
    assert [(item["line"], item["column"]) for item in found["problems"]] == [(44, 10)]
    assert "did you mean epochs?" in found["problems"][0]["message"]


def test_a_slot_that_never_occurs(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(config, "dense_var:13", "dense_feature:13")
    code, _, text = run(capsys, "config.yaml")
    assert code == 3
    assert "dense_feature" in text
    assert "dense_var" in text
    assert run(capsys, "config.yaml", "--no-data")[0] == 0


def test_ids_beyond_the_table(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(config, "sparse_feature_number: 1000001", "sparse_feature_number: 1000")
    code, _, text = run(capsys, "config.yaml")
    assert code == 3
    assert "1000" in text


def test_data_that_is_not_there_is_a_note(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(config, "data/infer", "data/elsewhere")
    code, found, text = run(capsys, "config.yaml")
    assert (code, found["notes"]) == (0, 1)
    assert "note     not looked at: " in text


def test_columns_are_held_against_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"user": [1], "clicked": [0]}), tmp_path / "rows.parquet")
    text = f"""\
polyrec: 1
model_dir: out
data:
  train: [{tmp_path}/*.parquet]
  reader: {{kind: parquet}}
  batch_size: 2
  eval_batch_size: 2
features:
- kind: id
  name: user
  column: user
  bucket: {{kind: hash, rows: 10, function: murmur64}}
  default: null
tables:
- {{name: user, rows: 10, width: 4, init: {{kind: constant, value: 0.0}}}}
groups:
- {{name: all, kind: flat, inputs: [{{feature: user, table: user}}]}}
model:
  kind: multi_tower
  towers: [{{group: all}}]
  head: {{kernel: {{kind: linear}}}}
tasks:
- label: clcked
  losses: [{{loss: {{kind: binary_cross_entropy}}}}]
optim:
  tables: {{optimizer: {{kind: sgd, lr: 0.1}}, schedule: {{kind: constant}}}}
  dense: {{optimizer: {{kind: sgd, lr: 0.1}}, schedule: {{kind: constant}}}}
train: {{epochs: 1}}
"""
    path = tmp_path / "run.yaml"
    path.write_text(text, encoding="utf-8")
    code, found, _ = run(capsys, str(path), "--json")
    assert code == 2
    [problem] = found["problems"]
    assert (problem["line"], problem["path"]) == (23, "tasks[0].label")
    assert "clicked" in problem["message"]
