"""Whole runs on data of which some cannot be used, and runs whose batches are cut or masked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_training as small
import torch

from polyrec import api
from polyrec.checkpoint import tensors
from polyrec.errors import DataError

SKIP = {"policy": "skip"}


def spoil(file: Path, bad_items: int = 0, bad_labels: int = 0) -> None:
    """Item ids outside their table in the first rows, labels that are missing in the rows after them."""
    table = pq.read_table(file)
    items, clicks = table.column("item").to_pylist(), table.column("click").to_pylist()
    items[:bad_items] = [999] * bad_items
    clicks[bad_items : bad_items + bad_labels] = [None] * bad_labels
    for name, values in (("item", items), ("click", clicks)):
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(values))
    pq.write_table(table, file, row_group_size=300)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = small.data(tmp_path_factory.mktemp("dirty"), train_rows=1000, eval_rows=300)
    spoil(folder / "train" / "part-0.parquet", 5, 3)
    spoil(folder / "train" / "part-1.parquet", 2, 0)
    spoil(folder / "eval" / "part-0.parquet", 4, 1)
    return folder


def options(folder: Path, name: str, **changes: Any) -> Any:
    base = {"model_dir": str(folder / name), "data__faults": SKIP, "train__epochs": 1, "train__saving": {}}
    return small.config(folder, **{**base, **changes})


def weights_of(path: Path) -> dict[str, torch.Tensor]:
    found = {name: torch.zeros(size, dtype=kind) for name, (size, kind) in tensors.shapes(path / "model").items()}
    tensors.load(found, path / "model")
    return found


def test_without_a_policy_the_first_fault_ends_the_run(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"part-0\.parquet: row 0: column item: id 999 is outside 0 to 19"):
        api.train(options(folder, str(tmp_path), data__faults={}))


def test_skip_trains_and_evaluates_on_the_rest(folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("WARNING", "polyrec"):
        result = api.train(options(folder, str(tmp_path)))
    assert (result["samples"], result["steps"]) == (990, 10)
    item, click = {"range": 7}, {"missing": 3}
    assert result["faults"] == {"count": 10, "rows_left_out": 10, "by_column": {"item": item, "click": click}}
    assert "part-0.parquet: row 0: column item: id 999 is outside 0 to 19" in caplog.text
    assert "faults in the data of this pass: 10 faults, 10 rows left out" in caplog.text
    found = api.evaluate(options(folder, str(tmp_path)))
    assert found["faults"] == {
        "count": 5, "rows_left_out": 5, "by_column": {"item": {"range": 4}, "click": {"missing": 1}}
    }  # fmt: skip


def test_predictions_say_what_they_leave_out(folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = options(folder, str(tmp_path))
    api.train(config)
    inputs, out = [str(folder / "eval")], tmp_path / "out"
    found = api.predict_checkpoint(config, inputs, str(out), reserve=["row", "item"])
    assert (found["rows"], found["faults"]["rows_left_out"]) == (296, 4)
    assert "4 rows have no prediction: they are not in" in caplog.text
    assert 999 not in pq.read_table(out / "part-0.parquet").column("item").to_pylist()
    kept = api.predict_checkpoint(config, inputs, str(out), reserve=["item"], overwrite=True, faults="default")
    assert (kept["rows"], kept["faults"]) == (
        300,
        {"count": 4, "rows_left_out": 0, "by_column": {"item": {"range": 4}}},
    )
    # What is kept of the input is what stood there.
    assert pq.read_table(out / "part-0.parquet").column("item").to_pylist()[:4] == [999] * 4
    with pytest.raises(DataError, match=r"row 0: column item: id 999 is outside"):
        api.predict_checkpoint(config, inputs, str(out), overwrite=True, faults="fail")


def test_an_export_of_such_a_run_is_whole(folder: Path, tmp_path: Path) -> None:
    config = options(folder, str(tmp_path / "model"))
    api.train(config)
    api.export(config, str(tmp_path / "export"))
    found = api.predict(str(tmp_path / "export"), [str(folder / "eval")], str(tmp_path / "out"))
    assert (found["rows"], found["faults"]["count"]) == (296, 4)


def test_a_budget_ends_the_run(folder: Path, tmp_path: Path) -> None:
    allowed = options(folder, str(tmp_path / "enough"), data__faults={**SKIP, "budget": 10})
    assert api.train(allowed)["faults"]["count"] == 10
    with pytest.raises(DataError, match=r"more than the 9 faults that data\.faults\.budget allows"):
        api.train(options(folder, str(tmp_path / "less"), data__faults={**SKIP, "budget": 9}))


def test_data_without_one_good_row_says_so(tmp_path: Path) -> None:
    small.data(tmp_path, train_rows=100)
    for file in (tmp_path / "train").iterdir():
        spoil(file, 0, 50)
    with pytest.raises(DataError, match="no row of an epoch can be used"):
        api.train(options(tmp_path, "model", data__evaluate=[]))


@pytest.mark.parametrize(
    "changes",
    [
        {"data__masking": {"features": ["color", "price", "history"], "probability": 0.3}},
        {"data__cost_column": "item", "data__cost_limit": 400.0, "data__faults": {"policy": "default"}},
        {"data__shuffle_rows": 130},
    ],
    ids=["masking", "costs", "shuffled"],
)
def test_a_resumed_run_equals_the_unbroken_one(folder: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    def run(name: str, steps: int, **more: Any) -> dict[str, torch.Tensor]:
        config = options(folder, str(tmp_path / name), train__epochs=None, train__steps=steps, **changes)
        api.train(config.model_copy(update={"data": config.data.model_copy(update={"evaluate": ()})}), **more)
        return weights_of(tmp_path / name / f"model.ckpt-{steps}")

    unbroken = run("one", 13)
    run("two", 6)
    resumed = run("two", 13, resume=True)
    assert all(torch.equal(unbroken[name], resumed[name]) for name in unbroken)


def test_masking_changes_what_is_learnt_and_not_what_is_judged(folder: Path, tmp_path: Path) -> None:
    masking = {"features": ["color", "price", "history"], "probability": 0.5}
    api.train(options(folder, str(tmp_path / "plain")))
    hidden = options(folder, str(tmp_path / "hidden"), data__masking=masking)
    result = api.train(hidden)
    plain_weights = weights_of(tmp_path / "plain" / "model.ckpt-10")
    hidden_weights = weights_of(tmp_path / "hidden" / "model.ckpt-10")
    assert not torch.equal(plain_weights["tables.color.weight"], hidden_weights["tables.color.weight"])
    without = options(folder, str(tmp_path / "hidden"))
    assert api.evaluate(without)["metrics"] == api.evaluate(hidden)["metrics"] == result["metrics"]


def test_costs_cut_batches_of_training_alone(folder: Path, tmp_path: Path) -> None:
    lines: list[int] = []
    changes = {"data__cost_column": "item", "data__cost_limit": 100.0, "data__evaluate": []}
    result = api.train(options(folder, str(tmp_path), **changes), on_step=lambda step, _: lines.append(step))
    items = pq.read_table(folder / "train").filter(pa.compute.field("click").is_valid()).column("item").to_pylist()
    good = [item for item in items if item != 999]
    assert result["samples"] == len(good) == 990
    # Items are 0 to 19, so the sum of a full batch is above 80, and no batch can hold more than 100.
    assert sum(good) / 100 <= result["steps"] <= sum(good) / 80 + 20


def test_the_line_that_a_verb_ends_with_holds_the_faults(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from polyrec import cli

    path = tmp_path / "run.json"
    path.write_text(options(folder, str(tmp_path / "model"), data__faults={}).model_dump_json())
    assert cli.main(["train", str(path)]) == 3
    capsys.readouterr()
    assert cli.main(["train", str(path), "--faults", "skip", "--resume"]) == 0
    assert json.loads(capsys.readouterr().out)["faults"]["rows_left_out"] == 10
    words = ["eval", str(path), "--set", "data.faults.policy=default"]
    assert cli.main(words) == 0
    assert json.loads(capsys.readouterr().out)["faults"] == {
        "count": 5, "rows_left_out": 1, "by_column": {"item": {"range": 4}, "click": {"missing": 1}}
    }  # fmt: skip
    assert cli.main(["check", str(path), "--faults", "skip"]) == 0
    assert "part-0.parquet: 5 faults, 5 rows left out" in capsys.readouterr().err
