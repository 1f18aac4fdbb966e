"""Two processes on one run: rows of a table, checkpoints in a store."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import fake_maxcompute
import pytest
import small_training
from fake_maxcompute import FakeMaxCompute

from polyrec import api
from polyrec import checkpoint as checkpoints
from polyrec.config import RunConfig
from polyrec.storage import copies

PROGRAM = """
import json, sys
from polyrec import api, runtime
from polyrec.config import RunConfig
config = RunConfig.model_validate_json(open(sys.argv[1]).read())
result = [api.train(config)]
result.append(api.predict_checkpoint(config, config.data.evaluate, sys.argv[3], reserve=["row"]))
if runtime.world().is_first:
    json.dump(result, open(sys.argv[2], "w"))
"""
TYPES = {"row": "bigint", "color": "string", "item": "bigint", "price": "float", "history": "array<bigint>",
         "click": "bigint"}  # fmt: skip


def test_two_ranks(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = FakeMaxCompute()
    service.start()
    monkeypatch.setenv("ODPS_CONFIG_FILE_PATH", str(tmp_path / "odps.conf"))
    lines = (
        f"access_id={fake_maxcompute.KEY}",
        f"access_key={fake_maxcompute.SECRET}",
        f"end_point={service.endpoint}",
    )
    (tmp_path / "odps.conf").write_text("\n".join(lines))
    train = service.add("clicks", small_training.rows(600, 1), TYPES, "pt=1")
    held = service.add("clicks", small_training.rows(301, 2), TYPES, "pt=2")
    places = {"model_dir": f"{bucket}/model", "data__train": [train], "data__evaluate": [held]}
    run = small_training.config(tmp_path, **places, data__reader={"kind": "odps"}, train__epochs=1)
    first = on_two_ranks(run, tmp_path, "odps://shop/tables/scores")
    assert [result.get("samples") or result["rows"] for result in first] == [600, 301]
    assert sorted(service.tables["scores"].rows[""].column("row").to_pylist()) == list(range(301))
    manifest = json.loads(copies.read_bytes(f"{bucket}/model/model.ckpt-3/manifest.json"))
    assert {"model/__0_0.distcp", "model/__1_0.distcp", "model/.metadata", "state.json"} <= manifest["files"].keys()
    assert checkpoints.newest(f"{bucket}/model") == f"{bucket}/model/model.ckpt-3"
    longer = run.model_copy(update={"train": run.train.model_copy(update={"epochs": 2})})
    assert api.train(longer, resume=True)["samples"] == 1200
    service.stop()


def on_two_ranks(config: RunConfig, folder: Path, output: str) -> list[dict]:
    (folder / "program.py").write_text(PROGRAM)
    (folder / "run.json").write_text(config.model_dump_json())
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    command += [str(folder / "program.py"), str(folder / "run.json"), str(folder / "out.json"), output]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PROCESS_GROUP_TIMEOUT_SECONDS": "180"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-40000:]
    return json.loads((folder / "out.json").read_text())
