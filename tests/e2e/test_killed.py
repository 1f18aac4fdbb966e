"""SIGKILL in the middle of training, then --resume: the end is that of a run that was never broken, bit for bit."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from commands import run, settings, start, workplace
from killing import differences, kill
from known_examples import EXAMPLES, Example, make_data
from modes import FULL, full_only

from polyrec.checkpoint.folder import UNFINISHED

ROWS = 3000
EVERY = 10
DIN, MULTI_TOWER, WORKFLOW = (EXAMPLES[number] for number in (0, 3, 4))


def flags(example: Example, model_dir: str, **changes: Any) -> list[str]:
    """Many saves, no evaluations, and dropout, whose noise must go on where it was."""
    values: dict[str, Any] = {
        "model_dir": model_dir,
        "data.batch_size": 50,
        "train.tensorboard": False,
        "train.evaluate_after_save": False,
        "train.saving.every_steps": EVERY,
        **changes,
    }
    if not example.is_workflow and "multi_tower" in example.name:
        values["model.towers[0].mlp.dropout"] = [0.1]
    return [example.path, *settings(values), *example.train_step]


def prepared(folder: Path, example: Example, rows: int = ROWS) -> Path:
    workplace(folder)
    if not example.is_workflow:
        make_data(folder, example, rows)
    return folder


def saves(model_dir: Path) -> list[str]:
    """Checkpoints that are there under their own names."""
    names = [path.name for path in model_dir.iterdir()] if model_dir.is_dir() else []
    return [name for name in names if name.startswith("model.ckpt-")]


def unfinished(model_dir: Path) -> list[Path]:
    return list(model_dir.glob(f"{UNFINISHED}*")) if model_dir.is_dir() else []


def check_against_unbroken(folder: Path, example: Example, processes: int, **changes: Any) -> dict[str, Any]:
    """Resume the broken run to its end and hold it against one that nothing disturbed."""
    done = run(folder, "train", *flags(example, "broken", **changes), "--resume", processes=processes)
    resumed = done.answer
    assert "going on from broken/" in done.err
    unbroken = run(folder, "train", *flags(example, "unbroken", **changes), processes=processes).answer
    assert (resumed["steps"], resumed["samples"]) == (unbroken["steps"], unbroken["samples"])
    assert differences(folder / resumed["checkpoint"], folder / unbroken["checkpoint"]) == []
    assert unfinished(folder / "broken") == []
    return {**resumed, "log": done.err}


KILLED = [*((example, 1) for example in EXAMPLES[:4]), (DIN, 2), (MULTI_TOWER, 2)] if FULL else [(DIN, 1)]


@pytest.mark.parametrize(
    ("example", "processes"), KILLED, ids=[f"{item.name}-{processes}" for item, processes in KILLED]
)
def test_killed_between_saves(example: Example, processes: int, tmp_path: Path) -> None:
    folder = prepared(tmp_path, example)
    process = start(folder, "train", *flags(example, "broken"), processes=processes)
    assert kill(process, lambda: len(saves(folder / "broken")) >= 2), "it ended before it could be killed"
    assert check_against_unbroken(folder, example, processes)["samples"] == ROWS


def test_killed_in_a_save(tmp_path: Path) -> None:
    """Rows shuffled from text; the save under way is named, removed, and made again."""
    folder = prepared(tmp_path, MULTI_TOWER)
    model_dir = folder / "broken"
    process = start(folder, "train", *flags(MULTI_TOWER, "broken"))
    assert kill(process, lambda: len(saves(model_dir)) == 2 and bool(unfinished(model_dir)))
    [torn] = unfinished(model_dir)
    resumed = check_against_unbroken(folder, MULTI_TOWER, 1)
    assert f"{torn.name}: left by a save that was interrupted; removed" in resumed["log"]


@full_only
def test_killed_between_epochs_of_a_workflow(tmp_path: Path) -> None:
    """Its checkpoints are named by epochs, and a new run would write over them."""
    folder = prepared(tmp_path, WORKFLOW)
    changes = {"data.batch_size": 32, "train.epochs": 12, "train.saving.every_steps": None}
    changes |= {"train.saving.every_epochs": 1}
    process = start(folder, "train", *flags(WORKFLOW, "broken", **changes))
    assert kill(process, lambda: (folder / "broken" / "3").is_dir())
    check_against_unbroken(folder, WORKFLOW, 1, **changes)


@full_only
@pytest.mark.parametrize("processes", [1, 2])
def test_killed_five_times_in_saves(tmp_path: Path, processes: int) -> None:
    """At random moments of saves that are chosen at random, from one seed."""
    moments = random.Random(20 + processes)
    folder = prepared(tmp_path, DIN, 10_000)
    model_dir = folder / "broken"
    for number in range(5):
        before, more = len(saves(model_dir)), moments.randrange(3)
        resume = ["--resume"] if number else []
        process = start(folder, "train", *flags(DIN, "broken"), *resume, processes=processes)
        assert kill(
            process,
            lambda least=before + more: len(saves(model_dir)) >= least and bool(unfinished(model_dir)),
            delay=moments.uniform(0.0, 0.15),
        ), f"it ended before kill {number + 1}"
    resumed = check_against_unbroken(folder, DIN, processes)
    assert resumed["samples"] == 10_000
