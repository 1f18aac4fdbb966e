from __future__ import annotations

from typing import Any

import pytest

from polyrec.checks import check, check_columns, notes
from polyrec.config import RunConfig

LEARNING = {"optimizer": {"kind": "sgd", "lr": 0.1}, "schedule": {"kind": "constant"}}


def plain() -> dict[str, Any]:
    """A sound run: ids in a table, a number, a group that holds both."""
    return {
        "model_dir": "out",
        "data": {"reader": {"kind": "parquet"}, "batch_size": 2, "eval_batch_size": 2},
        "features": [
            {"kind": "id", "name": "user", "column": "uid", "default": None,
             "bucket": {"kind": "hash", "rows": 10, "function": "murmur64"}},
            {"kind": "raw", "name": "price", "column": "price", "default": 0.0},
        ],
        "tables": [{"name": "users", "rows": 10, "width": 4, "init": {"kind": "constant", "value": 0.0}}],
        "groups": [
            {"name": "deep", "kind": "flat", "inputs": [{"feature": "user", "table": "users"}, {"feature": "price"}]},
            {"name": "fm", "kind": "flat", "inputs": [{"feature": "user", "table": "users"}]},
        ],
        "model": {"kind": "deepfm", "deep": "deep", "fm": "fm", "head": {"kernel": {"kind": "linear"}},
                  "mlp": {"hidden": [4], "activation": "relu", "kernel": {"kind": "linear"}}},
        "tasks": [{"label": "clicked", "losses": [{"loss": {"kind": "binary_cross_entropy"}}]}],
        "optim": {"tables": LEARNING, "dense": LEARNING},
        "train": {"steps": 1},
    }  # fmt: skip


def changed(path: tuple[str | int, ...], value: Any) -> RunConfig:
    data = plain()
    place: Any = data
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return RunConfig.model_validate(data)


def test_a_sound_run_has_no_problems() -> None:
    config = RunConfig.model_validate(plain())
    assert check(config) == []
    assert notes(config) == []
    assert check_columns(config, ["uid", "price", "clicked", "more"]) == []


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        (("features", 1, "name"), "user", [
            ("features[1].name", "user is already the name of features[0]"),
            ("groups[0].inputs[1].feature", "no feature is called price; known: user"),
        ]),
        (("groups", 0, "inputs", 1, "feature"), "prise",
         [("groups[0].inputs[1].feature", "no feature is called prise; did you mean price?")]),
        (("groups", 0, "inputs", 1, "feature"), "user", [
            ("groups[0].inputs[1].feature", "user is in the group deep already"),
            ("groups[0].inputs[1].table", "is required: user is a feature of ids; known: users"),
        ]),
        (("groups", 0, "inputs", 1, "table"), "users",
         [("groups[0].inputs[1].table", "price is a feature of numbers, which look up no table")]),
        (("groups", 0, "inputs", 0, "table"), "user",
         [("groups[0].inputs[0].table", "no table is called user; did you mean users?")]),
        (("features", 0, "bucket", "rows"), 11, [
            ("groups[0].inputs[0].table", "users has 10 rows, user needs 11"),
            ("groups[1].inputs[0].table", "users has 10 rows, user needs 11"),
        ]),
        (("groups", 1, "name"), "fmm",
         [("model.fm", "deepfm reads the group fm, which is not there; did you mean fmm?")]),
        (("groups", 1, "name"), "deep", [
            ("groups[1].name", "deep is already the name of groups[0]"),
            ("model.fm", "deepfm reads the group fm, which is not there; known: deep"),
        ]),
        (("groups", 1, "kind"), "sequence", [
            ("groups[1].inputs", "fm is a sequence group and none of its features is a sequence"),
            ("groups[1].kind", "deepfm needs fm to be a flat group"),
        ]),
        (("tasks", 0, "label"), "", [("tasks[0].label", "needs the name of a column")]),
        (("train", "saving"), {"folder": "model"},
         [("train.saving.folder", "needs {step} or {epoch}, else each checkpoint replaces the last")]),
        (("tables", 0, "name"), "", [
            ("tables[0].name", "needs a name that is not empty"),
            ("groups[0].inputs[0].table", "no table is called users; known: none"),
            ("groups[1].inputs[0].table", "no table is called users; known: none"),
        ]),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit(path: tuple[str | int, ...], value: Any, found: list[tuple[str, str]]) -> None:
    assert check(changed(path, value)) == found


def test_a_sequence_of_numbers_has_no_place_in_a_flat_group() -> None:
    data = plain()
    data["features"][1] = {"kind": "sequence_raw", "name": "price", "column": "price", "separator": ";",
                           "max_length": 3, "default": 0.0}  # fmt: skip
    found = check(RunConfig.model_validate(data))
    assert found == [("groups[0].inputs[1].feature", "price is a sequence of numbers and deep is a flat group")]


def test_what_nothing_uses_is_a_note() -> None:
    data = plain()
    data["features"].append({"kind": "raw", "name": "age", "column": "clicked", "default": 0.0})
    data["tables"].append({**data["tables"][0], "name": "spare"})
    data["groups"].append({"name": "other", "kind": "flat", "inputs": [{"feature": "price"}]})
    config = RunConfig.model_validate(data)
    assert check(config) == []
    assert notes(config) == [
        ("features[2].name", "no group has the feature age"),
        ("tables[1].name", "nothing looks up the table spare"),
        ("groups[2].name", "deepfm does not read the group other"),
        ("tasks[0].label", "clicked is also an input of a feature, so the model sees it"),
    ]


def test_columns_that_the_data_does_not_have() -> None:
    config = changed(("tasks", 0, "sample_weight"), "weigth")
    assert check_columns(config, ["uid", "prices", "click", "weight"]) == [
        ("features[1]", "the data has no column price; did you mean prices?"),
        ("tasks[0].label", "the data has no column clicked; did you mean click?"),
        ("tasks[0].sample_weight", "the data has no column weigth; did you mean weight?"),
    ]
    (found, *_) = check_columns(config, [f"c{index:02}" for index in range(22)])
    assert found[1].endswith("c18, c19 and 2 more")


def masked(*features: str) -> dict[str, Any]:
    return {**plain()["data"], "masking": {"features": features, "probability": 0.5}}


def test_features_that_cannot_be_hidden() -> None:
    assert check(changed(("data",), masked("user", "price"))) == []
    assert check(changed(("data",), masked("usr"))) == [
        ("data.masking.features[0]", "no feature is called usr; did you mean user?")
    ]
    data = {**plain(), "data": masked("price")}
    data["features"][1]["default"] = None
    assert check(RunConfig.model_validate(data)) == [
        ("data.masking.features[0]", "price has no default, which a row in which it is hidden needs")
    ]


def test_sequences_that_stand_side_by_side_are_hidden_together() -> None:
    def found(*names: str) -> list[tuple[str, str]]:
        data = {**plain(), "data": masked(*names)}
        bucket = data["features"][0]["bucket"]
        for name in ("seen", "bought"):
            sequence = {"kind": "sequence_id", "name": name, "column": name, "default": None, "bucket": bucket}
            data["features"].append(sequence)
        inputs = [{"feature": name, "table": "users"} for name in ("seen", "bought")]
        data["groups"].append({"name": "clicks", "kind": "sequence", "inputs": inputs})
        return check(RunConfig.model_validate(data))

    assert found("seen", "bought") == []
    text = "bought stands beside seen in the group clicks; hide both or none"
    assert found("seen") == [("data.masking.features[0]", text)]


def test_only_training_data_has_costs() -> None:
    config = changed(("data",), {**plain()["data"], "cost_column": "cost", "cost_limit": 5})
    known = ["uid", "price", "clicked"]
    assert check_columns(config, known, is_training=False) == []
    assert check_columns(config, known) == [
        ("data.cost_column", "the data has no column cost; known: clicked, price, uid")
    ]


def test_inputs_that_a_model_multiplies_must_be_equally_wide() -> None:
    layers = {"hidden": [4], "activation": "relu", "kernel": {"kind": "linear"}}
    model = {"kind": "dlrm", "sparse": "deep", "final": layers, "head": {"kernel": {"kind": "linear"}}}
    text = "the inputs of deep must be equally wide for dlrm, but price is 1 wide and user 4"
    assert check(changed(("model",), model)) == [("groups[0].inputs[1].feature", text)]
    dense = {"group": "deep", "mlp": {**layers, "hidden": [8, 3]}}
    text = "the last width must be that of the vectors it stands beside, 4, not 3"
    assert check(changed(("model",), {**model, "sparse": "fm", "dense": dense})) == [("model.dense.mlp.hidden", text)]


def test_every_task_has_a_tower() -> None:
    head = {"kernel": {"kind": "linear"}}
    model = {"kind": "simple_multi_task", "group": "fm", "towers": [{"task": "buy"}], "head": head}
    assert check(changed(("model",), model)) == [
        ("model.towers[0].task", "no task is called buy; known: one without a name"),
        ("model.towers", "the task without a name has no tower"),
    ]
