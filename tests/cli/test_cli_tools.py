"""doctor, checkpoint and demo."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.distributed.checkpoint.filesystem import FileSystemWriter
from torch.distributed.checkpoint.state_dict_saver import save

from polyrec import cli
from polyrec.cli import doctor

INTACT: dict[str, str | None] = {**doctor.PINNED, **dict.fromkeys(doctor.REQUIRED, "1")}


def answer(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    return json.loads(capsys.readouterr().out)


def test_the_pinned_set() -> None:
    assert doctor.pinned_problems(INTACT) == []
    assert doctor.pinned_problems(INTACT | {"torch": "2.13.0+cpu"}) == []
    assert doctor.pinned_problems(INTACT | {"fbgemm-gpu": None, "fbgemm-gpu-cpu": "1.8.0"}) == []
    assert doctor.pinned_problems(INTACT | {"torchrec": "1.7.0", "torch": None, "numpy": None}) == [
        "torch: not installed, needs 2.13.0",
        "torchrec: 1.7.0 is installed, needs 1.8.0",
        "numpy: not installed",
    ]


def test_a_part_that_does_not_load() -> None:
    assert doctor.import_problem("torch") is None
    assert "no_such_part: does not load: No module named" in str(doctor.import_problem("no_such_part"))


def test_doctor(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli.main(["doctor", "--json"]) == 0
    found = answer(capsys)
    assert found["ok"] is True
    assert found["versions"]["torch"].startswith("2.13.0")
    assert found["cores"] >= 1
    assert {"tokenizers", "sentencepiece"} <= set(found["optional"])
    assert found["devices"][0] == "cpu"
    monkeypatch.setitem(doctor.PINNED, "torchrec", "9.9")
    assert cli.main(["doctor"]) == 4
    assert "the pinned set is NOT intact" in capsys.readouterr().err


def test_tensors_of_a_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = {"table.weight": torch.zeros(10, 4), "bias": torch.zeros(3, dtype=torch.float64)}
    save(state, storage_writer=FileSystemWriter(tmp_path / "model"), no_dist=True)
    assert cli.main(["checkpoint", "ls", str(tmp_path), "--json"]) == 0
    found = answer(capsys)
    assert found["tensors"] == [
        {"name": "table.weight", "shape": [10, 4], "type": "float32", "bytes": 160},
        {"name": "bias", "shape": [3], "type": "float64", "bytes": 24},
    ]
    assert (found["num_tensors"], found["bytes"]) == (2, 184)
    assert cli.main(["checkpoint", "ls", str(tmp_path)]) == 0
    assert "bias  [3]  float64  24 bytes" in capsys.readouterr().err


def test_tensors_of_an_optimizer_bear_its_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("model", "optimizer"):
        save({"bias": torch.zeros(3)}, storage_writer=FileSystemWriter(tmp_path / folder), no_dist=True)
    assert cli.main(["checkpoint", "ls", str(tmp_path), "--json"]) == 0
    assert [item["name"] for item in answer(capsys)["tensors"]] == ["bias", "optimizer/bias"]


def test_an_index_that_would_run_code_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".metadata").write_bytes(b"cos\nsystem\n(S'touch " + str(tmp_path / "ran").encode() + b"'\ntR.")
    assert cli.main(["checkpoint", "ls", str(tmp_path)]) == 4
    assert "does not belong in a checkpoint" in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()


def test_data_tells_the_best_possible_auc(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["demo", "data", "--rows", "200", "--to", str(tmp_path)]) == 0
    assert "best possible AUC 0." in capsys.readouterr().err


def test_no_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["checkpoint", "ls", str(tmp_path / "none")]) == 4
    assert cli.main(["checkpoint", "ls", str(tmp_path)]) == 4
    assert "holds no checkpoint" in capsys.readouterr().err
    assert cli.main(["checkpoint", "sl", str(tmp_path)]) == 2


def test_demo_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--kind", "criteo", "--form", "slots", "--rows", "200", "--seed", "3", "--to", str(tmp_path)]
    assert cli.main(["demo", "data", *words]) == 0
    found = answer(capsys)
    assert (found["verb"], found["rows"], found["form"]) == ("demo", 200, "slots")
    assert 0.5 < found["best_auc"] < 1
    assert all(Path(path).is_file() for path in found["train"])


def test_demo_needs_a_known_word_and_its_config(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.main(["demo", "dta"]) == 2
    assert "did you mean data?" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)
    assert cli.main(["demo", "run"]) == 2
    assert "no such file" in capsys.readouterr().err


def test_demo_run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    api = SimpleNamespace(
        train=lambda config: seen.update(config=config) or {"samples_per_second": 12.5},
        evaluate=lambda config: {"metrics": {"auc": 0.75, "loss": 0.5}},
        export=lambda config, folder: {"export_dir": folder},
        predict=lambda model, inputs, output, reserve: seen.update(inputs=inputs, reserve=reserve) or {"rows": 40},
    )
    monkeypatch.setitem(sys.modules, "polyrec.api", api)
    monkeypatch.setattr("polyrec.api", api, raising=False)
    monkeypatch.chdir(Path(__file__).parents[2])
    old = tmp_path / "export" / "old.txt"
    old.parent.mkdir()
    old.write_text("from before", encoding="utf-8")
    assert cli.main(["demo", "run", "--rows", "200", "--to", str(tmp_path)]) == 0
    text = capsys.readouterr()
    found = json.loads(text.out)
    assert (found["auc"], found["samples_per_second"], found["rows_predicted"]) == (0.75, 12.5, 40)
    assert found["auc"] < 1
    assert found["best_auc"] > 0.5
    assert "best possible AUC" in text.err
    assert seen["config"].model_dir == str(tmp_path / "model")
    assert tuple(seen["inputs"]) == seen["config"].data.evaluate
    assert not old.exists()
