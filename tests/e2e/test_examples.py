"""Every verb for every example, as the comments of the examples say, on few rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from commands import ROOT, Done, run, workplace
from known_examples import EXAMPLES, Example, make_data
from modes import FULL
from sklearn.metrics import roc_auc_score

ROWS = 20_000 if FULL else 1500
WITH_DATA = tuple(example for example in EXAMPLES if not example.is_workflow)


@dataclass(frozen=True, slots=True)
class Chain:
    """What each verb said of one example."""

    folder: Path
    data: dict[str, Any]
    checked: Done
    shown: Done
    trained: Done
    judged: Done
    exported: Done
    predicted: Done


def chain(example: Example, folder: Path) -> Chain:
    """Data, then every verb of a run, each in a process of its own."""
    workplace(folder)
    data = {} if example.is_workflow else make_data(folder, example, ROWS)
    small = example.small_settings
    checked = run(folder, "check", example.path, "--json", *small)
    shown = run(folder, "show", example.path, *small)
    (folder / "shown.yaml").write_text(shown.out, encoding="utf-8")
    trained = run(folder, "train", example.path, *small, *example.train_step)
    judged = run(folder, "eval", "shown.yaml", *example.eval_step, "--result-file", "judged.txt")
    exported = run(folder, "export", "shown.yaml", "--to", "export", *example.train_step)
    predicted = run(
        folder,
        *("predict", "export", "--input", *evaluation_paths(example, data), "--output", "predictions"),
        *("--reserve", example.label, "--format", "parquet"),
    )
    return Chain(folder, data, checked, shown, trained, judged, exported, predicted)


def evaluation_paths(example: Example, data: dict[str, Any]) -> list[str]:
    return data["evaluate"] if data else [f"{Path(example.path).parent}/data/infer"]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Chain]]]:
    """Chains of all examples, two at a time: a process of one thread each, and most machines have two cores."""
    with ThreadPoolExecutor(2) as pool:
        yield {item.name: pool.submit(chain, item, tmp_path_factory.mktemp(item.name)) for item in EXAMPLES}


@pytest.fixture(params=EXAMPLES, ids=lambda example: example.name)
def example(request: pytest.FixtureRequest) -> Example:
    return request.param


@pytest.fixture
def found(example: Example, started: dict[str, Future[Chain]]) -> Chain:
    return started[example.name].result()


def auc_of(folder: Path, label: str, score: str) -> float:
    table = pq.read_table(folder)
    labels = table[label].combine_chunks()
    flat = labels.flatten() if pa.types.is_nested(labels.type) else labels
    return float(roc_auc_score(flat.to_numpy(), table[score].to_numpy()))


def test_every_example_is_tested() -> None:
    files = [path for path in (ROOT / "examples").rglob("*") if path.suffix in (".config", ".yaml", ".yml", ".json")]
    assert {path.relative_to(ROOT).as_posix() for path in files} == {example.path for example in EXAMPLES}


def test_check_finds_nothing_wrong(found: Chain, example: Example) -> None:
    checked = found.checked.answer
    assert checked["ok"]
    assert checked["problems"] == []
    assert not [note for note in checked["notes"] if "not looked at" in note["message"]], "the data is at hand"
    assert checked["dialect"] == example.path.split("/")[1]
    assert {item["origin"].partition(":")[0] for item in checked["read"]} >= {example.path}
    assert found.checked.err == ""


def test_show_is_accepted_as_a_config_and_shown_again_as_it_was(found: Chain, example: Example) -> None:
    assert found.shown.code == 0
    assert run(found.folder, "show", "shown.yaml").out == found.shown.out
    values = run(found.folder, "show", "shown.yaml", "--json")
    assert values.answer == run(found.folder, "show", example.path, "--json", *example.small_settings).answer
    (found.folder / "shown.json").write_text(values.out, encoding="utf-8")
    assert run(found.folder, "show", "shown.json").out == found.shown.out


def test_train_answers_and_leaves_checkpoints(found: Chain, example: Example) -> None:
    trained = found.trained.answer
    rows = found.data.get("rows", 2 * 12 * 32)  # the workflow: two epochs of twelve whole batches of its 400 rows
    assert (trained["verb"], trained["samples"], trained["stopped_by_signal"]) == ("train", rows, None)
    model_dir, last = found.folder / trained["model_dir"], found.folder / trained["checkpoint"]
    assert {"model", "optimizer", "state.json", "config.json", "manifest.json"} <= {
        item.name for item in last.iterdir()
    }
    assert not list(model_dir.glob(".*")), "nothing unfinished is left"
    listed = run(found.folder, "checkpoint", "ls", trained["checkpoint"], "--json").answer
    assert listed["num_tensors"] == len(listed["tensors"]) > 4
    kept = run(found.folder, "show", str(model_dir / "pipeline.config"))
    assert kept.code == 0, kept.err


def test_training_evaluates_like_eval(found: Chain, example: Example) -> None:
    judged = found.judged.answer
    newest = judged["checkpoints"][-1] if example.is_workflow else judged
    trained = found.trained.answer
    assert newest["checkpoint"] == trained["checkpoint"]
    assert newest["step"] == trained["step"]
    if not example.is_workflow:
        assert newest["metrics"] == pytest.approx(trained["metrics"], abs=1e-6)
    text = (found.folder / trained["model_dir"] / "judged.txt").read_text("utf-8")
    written = json.loads(text) if text.count("\n") > 1 and text.startswith("{\n") else json.loads(text.splitlines()[-1])
    assert written["auc"] == newest["metrics"]["auc"]


def test_predictions_are_those_that_were_evaluated(found: Chain, example: Example) -> None:
    exported, predicted = found.exported.answer, found.predicted.answer
    assert set(exported["outputs"]) == set(example.columns)
    assert exported["checkpoint"] == found.trained.answer["checkpoint"]
    assert predicted["rows"] == found.data.get("eval_rows", 160)
    table = pq.read_table(found.folder / "predictions")
    assert set(table.column_names) == {*example.columns, example.label}
    judged = found.judged.answer
    newest = judged["checkpoints"][-1] if example.is_workflow else judged
    auc = auc_of(found.folder / "predictions", example.label, example.score)
    assert auc == pytest.approx(newest["metrics"]["auc"], abs=1e-6)


@pytest.mark.parametrize("example", WITH_DATA, ids=lambda example: example.name, indirect=True)
def test_predictions_are_in_the_order_of_the_rows(found: Chain, example: Example) -> None:
    paths = [found.folder / path for path in found.data["evaluate"]]
    if found.data["form"] == "parquet":
        labels = pq.read_table(paths)[example.label].to_pylist()
    else:
        options = pa_csv.ReadOptions(column_names=found.data["columns"])
        parts = [pa_csv.read_csv(path, read_options=options)[example.label] for path in paths]
        labels = [value for part in parts for value in part.to_pylist()]
    assert pq.read_table(found.folder / "predictions")[example.label].to_pylist() == labels


def test_commands_say_one_line_on_stdout_and_the_rest_on_stderr(found: Chain) -> None:
    for name in ("checked", "trained", "judged", "exported", "predicted"):
        done: Done = getattr(found, name)
        assert done.code == 0, done.err
        assert done.out.count("\n") == 1
        assert done.out.endswith("\n")
        assert done.answer["verb"] == {"judged": "eval"}.get(name, name.removesuffix("ed"))
        assert "Traceback" not in done.err
        assert "Warning" not in done.err


@pytest.mark.parametrize(
    "example", EXAMPLES if FULL else EXAMPLES[-1:], ids=lambda example: example.name, indirect=True
)
def test_run_does_every_step(found: Chain, example: Example) -> None:
    folder = ["--set", "model_dir=again"] if not example.is_workflow else []
    steps = run(found.folder, "run", example.path, *example.small_settings, *folder).answer["steps"]
    assert [step["verb"] for step in steps] == (["train", "evaluate"] if example.is_workflow else ["train"])
    # The seed is that of the first run, so everything is.
    assert steps[0]["samples"] == found.trained.answer["samples"]
    if example.is_workflow:
        first = [item["metrics"] for item in found.judged.answer["checkpoints"]]
        assert [item["metrics"] for item in steps[1]["checkpoints"]] == first
    else:
        assert steps[0]["metrics"] == found.trained.answer["metrics"]


@pytest.mark.parametrize("example", EXAMPLES[:1], ids=lambda example: example.name, indirect=True)
def test_a_second_run_does_not_touch_the_first(found: Chain, example: Example) -> None:
    done = run(found.folder, "train", example.path, *example.small_settings)
    assert (done.code, done.out) == (4, "")
    assert "go on from it with --resume" in done.err
    done = run(found.folder, "predict", "export", "--input", "data", "--output", "predictions")
    assert (done.code, done.out) == (3, "")
    assert "is not empty" in done.err
