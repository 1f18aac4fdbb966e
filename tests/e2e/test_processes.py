"""Two processes under torchrun learn what one does from the same global batches; the curve of evaluations shows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import run, settings, workplace
from known_examples import EXAMPLES, Example
from modes import FULL, full_only

ROWS = 20_000 if FULL else 2000
SIZE = 100
"""Rows of a global batch."""
KINDS = {
    "multi_tower_din_taobao": "taobao",
    "deepfm_criteo": "criteo",
    "deepfm_avazu": "avazu",
    "multi_tower_taobao": "taobao",
}
COMPARED = [example for example in EXAMPLES if example.name in KINDS]


def in_global_batches(table: pa.Table) -> pa.Table:
    """Rows in the order in which two processes, each with half of them, take them step by step."""
    half, share = len(table) // 2, SIZE // 2
    order = [np.arange(at, at + share) for start in range(0, half, share) for at in (start, half + start)]
    return table.take(pa.array(np.concatenate(order)))


def make_rows(folder: Path, kind: str) -> None:
    """Rows for two processes, and the same ones for a single process, as Parquet: there, halves are exact."""
    made = run(folder, *("demo", "data", "--kind", kind, "--form", "parquet", "--rows", str(ROWS), "--to", "two"))
    assert made.answer["rows"] == ROWS
    (folder / "one").mkdir()
    pq.write_table(in_global_batches(pq.read_table(folder / "two/train")), folder / "one/part-0.parquet")


def train(folder: Path, example: Example, processes: int) -> tuple[dict[str, Any], list[dict[str, float]]]:
    """The command's answer, and all evaluations during training."""
    name = "one" if processes == 1 else "two"
    changes: dict[str, Any] = {
        "model_dir": f"model_{name}",
        "data.train": [folder.joinpath("one" if processes == 1 else "two/train").as_posix()],
        "data.evaluate": [str(folder / "two/eval")],
        "data.reader": {"kind": "parquet"},
        "data.batch_size": SIZE // processes,
        "data.shuffle_rows": 0,
        "data.file_order": "kept",
        "train.saving.every_steps": ROWS // SIZE // 4,
        "train.tensorboard": False,
        "evaluate.history": "curve.txt",
    }
    answer = run(folder, "train", example.path, *settings(changes), processes=processes).answer
    text = (folder / answer["model_dir"] / "curve.txt").read_text(encoding="utf-8")
    return answer, [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("example", COMPARED if FULL else COMPARED[:1], ids=lambda example: example.name)
def test_two_processes_have_the_curve_of_one(example: Example, tmp_path: Path) -> None:
    folder = workplace(tmp_path)
    make_rows(folder, KINDS[example.name])
    alone, expected = train(folder, example, 1)
    both, found = train(folder, example, 2)
    assert (both["steps"], both["samples"]) == (alone["steps"], alone["samples"]) == (ROWS // SIZE, ROWS)
    assert len(found) == len(expected) >= 4
    for here, there in zip(found, expected, strict=True):
        assert here == pytest.approx(there, abs=2e-4)
    assert found[-1]["auc"] != found[0]["auc"], "it learns"


@full_only
def test_two_processes_come_as_far_as_one_on_slot_text(tmp_path: Path) -> None:
    """Text is cut at bytes, so global batches differ; the end does not."""
    folder = workplace(tmp_path)
    made = run(folder, *("demo", "data", "--kind", "criteo", "--form", "slots", "--rows", "60000", "--to", "data"))
    assert made.code == 0, made.err
    found = []
    for processes in (1, 2):
        words = [EXAMPLES[-1].path, *EXAMPLES[-1].train_step, "--train", "data/train", "--evaluate", "data/eval"]
        words += settings(
            {
                "model_dir": f"model_{processes}",
                "data.batch_size": 256 // processes,
                "train.epochs": 1,
                "train.tensorboard": False,
                "train.evaluate_after_save": True,
            }
        )
        found.append(run(folder, "train", *words, processes=processes).answer["metrics"]["auc"])
    assert found[1] == pytest.approx(found[0], abs=0.01)
