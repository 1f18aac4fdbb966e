from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import small_training as small
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from polyrec import api
from polyrec import checkpoint as checkpoints
from polyrec.checkpoint import tensors
from polyrec.cli import main
from polyrec.config import RunConfig
from polyrec.dialects import dump
from polyrec.errors import CheckpointError, ConfigError, DataError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small.data(tmp_path_factory.mktemp("data"))


def weights_of(path: Path) -> dict[str, torch.Tensor]:
    """Everything a checkpoint holds, read without polyrec's model."""
    found: dict[str, torch.Tensor] = {}
    for part in ("model", "optimizer"):
        values = {name: torch.zeros(size, dtype=kind) for name, (size, kind) in tensors.shapes(path / part).items()}
        tensors.load(values, path / part)
        found.update({f"{part}.{name}": value for name, value in values.items()})
    return found


def same(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor]) -> bool:
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def test_a_run_learns_and_leaves_what_it_should(folder: Path, tmp_path: Path) -> None:
    losses: list[float] = []
    config = small.config(folder, model_dir=str(tmp_path / "model"))
    result = api.train(config, on_step=lambda step, named: losses.append(named["binary_cross_entropy"]))
    assert np.mean(losses[-10:]) < np.mean(losses[:10]) - 0.05
    assert result["steps"] == 40
    assert result["samples"] == 4000
    assert result["metrics"]["auc"] > 0.7
    names = {path.name for path in checkpoints.found_in(tmp_path / "model")}
    assert names == {"model.ckpt-10", "model.ckpt-20", "model.ckpt-30", "model.ckpt-40"}
    lines = (tmp_path / "model" / "train_eval_result.txt").read_text().splitlines()
    assert [json.loads(line)["global_step"] for line in lines] == [10, 20, 30, 40]
    evaluated = api.evaluate(config)
    assert evaluated["metrics"] == result["metrics"]
    assert json.loads((tmp_path / "model" / "eval_result.txt").read_text())["auc"] == result["metrics"]["auc"]


@pytest.mark.parametrize("shuffle", [0, 250])
def test_a_resumed_run_equals_the_unbroken_one_bit_for_bit(folder: Path, tmp_path: Path, shuffle: int) -> None:
    def run(name: str, steps: int, **options: Any) -> Path:
        api.train(
            small.config(
                folder,
                model_dir=str(tmp_path / name),
                train__epochs=None,
                train__steps=steps,
                data__shuffle_rows=shuffle,
                train__saving={},
            ),
            **options,
        )
        return tmp_path / name / f"model.ckpt-{steps}"

    unbroken = run("one", 27)
    run("two", 13)
    resumed = run("two", 27, resume=True)
    assert same(weights_of(unbroken), weights_of(resumed))


def test_a_run_does_not_write_over_another(folder: Path, tmp_path: Path) -> None:
    config = small.config(folder, model_dir=str(tmp_path / "model"), train__epochs=1)
    api.train(config)
    with pytest.raises(CheckpointError, match=r"already holds model\.ckpt-20; go on from it with --resume"):
        api.train(config)


def test_resuming_a_finished_run_changes_nothing(folder: Path, tmp_path: Path) -> None:
    config = small.config(folder, model_dir=str(tmp_path / "model"), train__epochs=1)
    api.train(config)
    before = weights_of(tmp_path / "model" / "model.ckpt-20")
    again = api.train(config, resume=True)
    assert again["steps"] == 20
    assert again["checkpoint"] == str(tmp_path / "model" / "model.ckpt-20")
    assert same(before, weights_of(tmp_path / "model" / "model.ckpt-20"))


def test_the_result_has_the_losses_of_the_last_step(folder: Path, tmp_path: Path) -> None:
    curve: list[dict[str, float]] = []

    def config(name: str) -> RunConfig:
        return small.config(folder, model_dir=str(tmp_path / name), train__epochs=1, train__log_every=7)

    api.train(config("one"), on_step=lambda step, named: curve.append(named))
    assert api.train(config("other"))["losses"] == curve[-1]


def test_a_fault_in_the_first_batch_leaves_no_checkpoint(tmp_path: Path) -> None:
    """There is nothing to go on from, so the same command works once the data is right."""
    small.data(tmp_path)
    config = small.config(tmp_path, train__epochs=1)
    first = tmp_path / "train" / "part-0.parquet"
    good = first.read_bytes()
    table = pq.read_table(first)
    place = table.schema.get_field_index("click")
    pq.write_table(table.set_column(place, "click", [["no"] * table.num_rows]), first)
    with pytest.raises(DataError, match="cannot read 'no' as a number"):
        api.train(config)
    first.write_bytes(good)
    assert api.train(config)["steps"] > 0


def test_a_damaged_checkpoint_is_named_and_the_one_before_is_taken(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = small.config(folder, model_dir=str(tmp_path / "model"), train__epochs=1)
    api.train(config)
    shard = next((tmp_path / "model" / "model.ckpt-20" / "model").glob("*.distcp"))
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    with caplog.at_level("INFO", "polyrec"):
        result = api.train(config, resume=True)
    assert f"{shard}: its content is not what was saved" in caplog.text
    assert "going on from" in caplog.text
    assert "model.ckpt-10: step 10, epoch 0" in caplog.text
    assert result["steps"] == 20
    assert checkpoints.newest(tmp_path / "model") == tmp_path / "model" / "model.ckpt-20"


@pytest.mark.parametrize(
    "text", ['{"step": 20, "fil', '{"step": 20}', '{"step": 20, "files": {"state.json": 1}}', "[]"]
)
def test_a_damaged_manifest_is_named_and_the_checkpoint_before_is_taken(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    config = small.config(folder, model_dir=str(tmp_path / "model"), train__epochs=1)
    api.train(config)
    newest = tmp_path / "model" / "model.ckpt-20"
    (newest / "manifest.json").write_text(text)
    assert checkpoints.newest(tmp_path / "model") == tmp_path / "model" / "model.ckpt-10"
    assert f"{newest / 'manifest.json'}: " in caplog.text
    assert "this checkpoint is not used" in caplog.text
    with pytest.raises(CheckpointError, match=r"model.ckpt-20/manifest.json: .*; this checkpoint is damaged"):
        checkpoints.locate(newest)


def test_a_save_interrupted_while_it_replaces_leaves_the_old_checkpoint(folder: Path, tmp_path: Path) -> None:
    config = small.config(folder, model_dir=str(tmp_path / "model"), train__epochs=1)
    api.train(config)
    newest = tmp_path / "model" / "model.ckpt-20"
    newest.rename(newest.with_name(f"{checkpoints.whole.REPLACED}{newest.name}"))
    assert api.train(config, resume=True)["checkpoint"] == str(newest)
    assert not list(checkpoints.whole.leftovers(tmp_path / "model"))


def test_a_run_that_replaces_another_has_a_best_checkpoint_of_its_own(folder: Path, tmp_path: Path) -> None:
    config = small.config(folder, model_dir=str(tmp_path / "model"), train__saving={"on_existing": "replace"})
    api.train(config)
    checkpoints.write_best(str(tmp_path / "model"), "model.ckpt-40", "auc", 1.0)
    api.train(config)
    best = checkpoints.read_best(tmp_path / "model")
    assert best is not None
    assert best["value"] < 1


def test_the_evaluations_of_a_run_are_in_one_file_of_tensorboard(folder: Path, tmp_path: Path) -> None:
    saving = {"every_steps": 10}
    config = small.config(folder, model_dir=str(tmp_path), train__saving=saving, train__tensorboard=True)
    api.train(config)
    [file] = (tmp_path / "eval_val").iterdir()
    events = EventAccumulator(str(file))
    events.Reload()
    assert [event.step for event in events.Scalars("metric/auc")] == [10, 20, 30, 40]


def test_old_checkpoints_go_and_the_best_stays(folder: Path, tmp_path: Path) -> None:
    config = small.config(folder, model_dir=str(tmp_path / "model"), train__saving={"every_steps": 5, "keep": 2})
    api.train(config)
    names = {path.name for path in checkpoints.found_in(tmp_path / "model")}
    best = checkpoints.read_best(tmp_path / "model")
    assert best is not None
    assert names == {"model.ckpt-35", "model.ckpt-40", best["checkpoint"]}


def test_steps_are_counted_from_the_last_finished_one_when_asked(folder: Path, tmp_path: Path) -> None:
    saving = {"every_steps": 10, "first_step": 0}
    config = small.config(folder, model_dir=str(tmp_path / "model"), train__epochs=1, train__saving=saving)
    assert api.train(config)["step"] == 19
    names = {path.name for path in checkpoints.found_in(tmp_path / "model")}
    assert names == {"model.ckpt-10", "model.ckpt-19"}


def test_folders_can_be_named_by_epoch(folder: Path, tmp_path: Path) -> None:
    saving = {"every_epochs": 1, "folder": "{epoch}", "on_existing": "replace"}
    config = small.config(folder, model_dir=str(tmp_path / "model"), train__saving=saving)
    for _ in range(2):
        api.train(config)
        assert {path.name for path in checkpoints.found_in(tmp_path / "model")} == {"0", "1"}
    results = api.evaluate_each(config, str(tmp_path / "model"))
    assert [Path(result["checkpoint"]).name for result in results] == ["0", "1"]


def test_a_trace_is_written_on_request(folder: Path, tmp_path: Path) -> None:
    config = small.config(folder, model_dir=str(tmp_path / "model"), train__epochs=1, train__profile=True)
    api.train(config)
    trace = json.loads((tmp_path / "model" / "train_eval_trace" / "rank0.json").read_text())
    assert any("embedding" in event.get("name", "") for event in trace["traceEvents"])


def test_tensorboard_holds_losses_rates_and_metrics(folder: Path, tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    config = small.config(folder, model_dir=str(tmp_path / "model"), train__tensorboard=True, train__log_every=1)
    api.train(config)
    events = EventAccumulator(str(tmp_path / "model" / "eval_val"))
    events.Reload()
    assert {"metric/auc", "metric/binary_cross_entropy"} <= set(events.Tags()["scalars"])


def test_a_penalty_makes_the_looked_up_vectors_smaller(folder: Path, tmp_path: Path) -> None:
    def size(name: str, penalty: float) -> float:
        config = small.config(folder, model_dir=str(tmp_path / name), train__output_penalty=penalty)
        api.train(config)
        return float(weights_of(tmp_path / name / "model.ckpt-40")["model.tables.item.weight"].norm())

    assert size("strong", 10.0) < 0.5 * size("none", 0.0)


def test_what_was_learned_before_a_fault_in_the_data_is_kept(tmp_path: Path) -> None:
    small.data(tmp_path, train_rows=1000)
    path = tmp_path / "train" / "part-1.parquet"
    table = pq.read_table(path)
    items = table["item"].to_numpy().copy()
    items[250] = small.ITEMS
    pq.write_table(table.set_column(table.schema.get_field_index("item"), "item", [items]), path, row_group_size=300)
    config = small.config(tmp_path, train__epochs=1, train__saving={}, data__evaluate=[])
    with pytest.raises(DataError, match="item"):
        api.train(config)
    assert [path.name for path in checkpoints.found_in(tmp_path / "model")] == ["model.ckpt-7"]
    pq.write_table(table, path, row_group_size=300)
    assert api.train(config, resume=True)["samples"] == 1000


def test_another_optimizer_does_not_take_up_the_state_of_the_first(folder: Path, tmp_path: Path) -> None:
    def config(kind: str, steps: int) -> RunConfig:
        optimizers = {
            "adagrad": {"kind": "adagrad", "lr": 0.05, "initial_accumulator": 0.0, "eps": 1e-8},
            "sgd": {"kind": "sgd", "lr": 0.05},
        }
        tables = {"optimizer": optimizers[kind], "schedule": {"kind": "constant"}}
        changes = {"optim__tables": tables, "train__epochs": None, "train__steps": steps, "data__evaluate": []}
        return small.config(folder, model_dir=str(tmp_path / "model"), **changes)

    api.train(config("adagrad", 3))
    with pytest.raises(CheckpointError, match=r"its tables were trained with adagrad, not sgd; .*--ignore-optimizer"):
        api.train(config("sgd", 6), resume=True)
    assert api.train(config("sgd", 6), resume=True, ignore_optimizer=True)["steps"] == 6


def test_training_without_data_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"data\.train: names no data"):
        api.train(small.config(tmp_path, data__train=[]))


def test_fewer_rows_than_a_batch_without_remainder_is_said(tmp_path: Path) -> None:
    small.data(tmp_path, train_rows=50)
    with pytest.raises(ConfigError, match="one epoch has no full batch"):
        api.train(small.config(tmp_path, data__drop_remainder=True))


def test_parts_of_the_weights_learn_by_their_own_optimizers_and_resume(folder: Path, tmp_path: Path) -> None:
    parts = [
        {
            "pattern": r".*\.bias",
            "optimizer": {"kind": "sgd", "lr": 0.0},
            "schedule": {"kind": "constant"},
        },
        {
            "pattern": r"network\..*",
            "optimizer": {"kind": "adadelta", "lr": 1.0, "rho": 0.9, "eps": 1e-6},
            "schedule": {"kind": "cosine", "length": 20},
        },
    ]

    def run(name: str, steps: int, **options: Any) -> dict[str, torch.Tensor]:
        model_dir, given = str(tmp_path / name), options.pop("parts", parts)
        api.train(
            small.config(
                folder,
                model_dir=model_dir,
                optim__parts=given,
                train__epochs=None,
                train__steps=steps,
                train__saving={},
            ),
            **options,
        )
        return weights_of(tmp_path / name / f"model.ckpt-{steps}")

    unbroken, early = run("one", 16), run("two", 9)
    assert same(unbroken, run("two", 16, resume=True))
    kernels = {name for name in early if name.startswith("model.network.") and name.endswith(".weight")}
    assert kernels
    assert all(f"optimizer.{name.removeprefix('model.')}.acc_delta" in early for name in kernels)
    biases = {name for name in early if name.endswith(".bias") and name.startswith("model.")}
    assert biases
    assert all(torch.equal(early[name], unbroken[name]) for name in biases)
    with pytest.raises(CheckpointError, match="parts of its weights were trained with other optimizers"):
        run("two", 20, resume=True, parts=parts[:1])


def test_a_pattern_without_weights_is_told_where_it_stands(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = {"pattern": "deep.*", "optimizer": {"kind": "sgd", "lr": 0.1}, "schedule": {"kind": "constant"}}
    config = small.config(folder, model_dir=str(tmp_path / "model"), optim__parts=[part])
    file = tmp_path / "run.yaml"
    file.write_text(dump(config))
    line = next(number for number, text in enumerate(file.read_text().splitlines(), 1) if "deep.*" in text)
    assert main(["train", str(file)]) == 2
    told = capsys.readouterr().err
    assert f"run.yaml:{line}:" in told
    assert "optim.parts[0].pattern: matches the name of no weight; the weights: " in told
    assert not list((tmp_path / "model").glob("model.ckpt*"))
