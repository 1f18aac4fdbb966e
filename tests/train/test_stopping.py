from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import small_training as small

from polyrec import api
from polyrec import checkpoint as checkpoints
from polyrec.checkpoint.folder import UNFINISHED
from polyrec.config import RunConfig
from polyrec.distributed import Ranks
from polyrec.errors import CheckpointError
from polyrec.recommender import Recommender
from polyrec.train import loop
from polyrec.train.evaluate import measure
from polyrec.train.stop import StopRequest

PROGRAM = """
import json, logging, sys
logging.basicConfig(level=logging.INFO)
from polyrec import api
from polyrec.config import RunConfig
result = api.train(RunConfig.model_validate_json(open(sys.argv[1]).read()))
print(json.dumps(result))
sys.exit(result["exit_code"])
"""


def start(folder: Path, **changes: object) -> subprocess.Popen[str]:
    config = small.config(folder, train__epochs=None, train__steps=100_000, data__evaluate=[], **changes)
    (folder / "run.json").write_text(config.model_dump_json())
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder / "run.json")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def wait_for(condition: Callable[[], object], process: subprocess.Popen[str], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < end
        time.sleep(0.0005)


def test_a_signal_during_an_evaluation_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small.data(tmp_path)
    config = small.config(tmp_path, train__saving={"every_steps": 5})

    def interrupted(config: RunConfig, recommender: Recommender, ranks: Ranks, stop: StopRequest) -> object:
        stop.signal = signal.SIGTERM
        return measure(config, recommender, ranks, stop)

    with monkeypatch.context() as patch:
        patch.setattr(loop, "measure", interrupted)
        result = api.train(config)
    assert (result["steps"], result["metrics"], result["exit_code"]) == (5, {}, 143)
    assert not (tmp_path / "model" / config.evaluate.history).exists()
    assert api.train(config, resume=True)["exit_code"] == 0


def test_a_full_disk_ends_a_save_with_its_reason(tmp_path: Path) -> None:
    """A limit on the size of files stands for it."""
    small.data(tmp_path)
    config = small.config(tmp_path, train__saving={"every_steps": 5}, data__evaluate=[])
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill_up(step: int, _: object) -> None:
        if step == 8:
            resource.setrlimit(resource.RLIMIT_FSIZE, (8000, limits[1]))

    try:
        with pytest.raises(CheckpointError, match=r"ckpt-10/model: cannot be written: File too large"):
            api.train(config, on_step=fill_up)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert [path.name for path in (tmp_path / "model").iterdir() if "ckpt" in path.name] == ["model.ckpt-5"]


def test_a_signal_after_the_last_step_is_told(tmp_path: Path) -> None:
    small.data(tmp_path)
    config = small.config(tmp_path, train__epochs=None, train__steps=4, data__evaluate=[])
    result = api.train(config, on_step=lambda step, _: signal.raise_signal(signal.SIGTERM) if step == 4 else None)
    assert (result["steps"], result["stopped_by_signal"], result["exit_code"]) == (4, signal.SIGTERM, 143)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_run_with_a_checkpoint(tmp_path: Path, number: signal.Signals) -> None:
    small.data(tmp_path)
    process = start(tmp_path)
    wait_for(lambda: checkpoints.found_in(tmp_path / "model"), process)
    process.send_signal(number)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    result = json.loads(out)
    assert result["stopped_by_signal"] == number
    assert "saving a checkpoint, then stopping" in error
    newest = checkpoints.newest(tmp_path / "model")
    assert newest is not None
    assert str(newest) == result["checkpoint"]
    assert checkpoints.read_state(newest)["step"] == result["steps"] > 0


def test_a_run_killed_while_saving_goes_on_from_the_last_whole_checkpoint(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    small.data(tmp_path)
    # A table large enough for the save to take a moment.
    tables = [small.table_of("color", 200_000, 32), small.table_of("item", 20), small.table_of("seen", 20)]
    process = start(tmp_path, tables=tables, train__saving={"every_steps": 1})
    model = tmp_path / "model"

    def is_saving() -> bool:
        return bool(checkpoints.found_in(model)) and any(path.name.startswith(UNFINISHED) for path in model.iterdir())

    wait_for(is_saving, process)
    process.kill()
    process.communicate(timeout=60)
    torn = [path for path in model.iterdir() if path.name.startswith(UNFINISHED)]
    whole = checkpoints.found_in(model)
    assert torn
    step = checkpoints.read_state(whole[-1])["step"]
    config = small.config(tmp_path, tables=tables, train__epochs=None, train__steps=step + 2, data__evaluate=[])
    with caplog.at_level("INFO", "polyrec"):
        result = api.train(config, resume=True)
    assert f"{torn[0]}: left by a save that was interrupted; removed" in caplog.text
    assert f"going on from {whole[-1]}: step {step}" in caplog.text
    assert result["steps"] == step + 2
    assert not torn[0].exists()
