from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import Any

import pytest
import yaml

from polyrec import dialects
from polyrec.config import RunConfig
from polyrec.dialects.edits import Edit
from polyrec.dialects.node import Node
from polyrec.dialects.structure import plain
from polyrec.errors import ConfigError
from polyrec.workflow import Workflow


def told(text: str, **options: Any) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        dialects.load_text(text, "run.yaml", **options)
    return str(caught.value).splitlines()


def loaded(text: str, **options: Any) -> RunConfig:
    config = dialects.load_text(text, "run.yaml", **options).config
    assert isinstance(config, RunConfig)
    return config


def test_the_own_form_is_read(tmp_path: Path, run_text: str) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(run_text)
    found = dialects.load(file)
    assert isinstance(found.config, RunConfig)
    assert (found.dialect, found.config.data.train) == ("polyrec", ("data/a.csv", "data/b.csv"))
    assert found.config.tables[0].init.dump() == {"kind": "normal", "mean": 0.0, "std": 0.01}
    assert found.config.optim.dense.clip_gradient == 5
    assert str(found.origins["tables[0].init.std"]) == f"{file}:22:29"


def test_json_is_the_same(run_text: str) -> None:
    config = loaded(run_text)
    assert loaded(json.dumps(yaml.safe_load(run_text.replace("1e-2", "0.01").replace("1e-7", "1.0e-7")))) == config
    assert loaded(config.model_dump_json()) == config


@pytest.mark.parametrize(
    ("old", "new", "problems"),
    [
        ("model_dir:", "modle_dir:", [
            "run.yaml:2:12: modle_dir: unknown field; did you mean model_dir?",
        ]),
        ("batch_size: 32", "batch_size: big", ['run.yaml:6:15: data.batch_size: needs a whole number, not "big"']),
        ("batch_size: 32", "batch_size: 0", ["run.yaml:6:15: data.batch_size: needs more than 0"]),
        ("data:\n", "data:\n  shuffle: 1\n", [
            "run.yaml:4:12: data.shuffle: unknown field; did you mean shuffle_rows?",
        ]),
        ("feature: price", "feature: prise", [
            "run.yaml:32:15: groups[1].inputs[1].feature: no feature is called prise; did you mean price?",
        ]),
        ("deep: all", "deep: al", [
            "run.yaml:35:9: model.deep: deepfm reads the group al, which is not there; did you mean all?",
        ]),
        ("train:\n  epochs: 1", "trian:\n  epochs: 1", [
            "run.yaml:52:1: trian: unknown field; did you mean train?",
        ]),
        ("epochs: 1", "epochs: 1\n  epochs: 2", ["run.yaml:54:3: train.epochs: is given twice, first on line 53"]),
    ],
)  # fmt: skip
def test_every_mistake_is_told_at_its_place(run_text: str, old: str, new: str, problems: list[str]) -> None:
    assert told(run_text.replace(old, new)) == problems


def test_a_syntax_error_is_all_that_is_told(run_text: str) -> None:
    (line,) = told(run_text.replace("data/b.csv]", "data/b.csv"))
    assert line.startswith("run.yaml:4:10: needs a closing bracket: ")


def test_all_mistakes_are_told_at_once_in_order(run_text: str) -> None:
    text = (
        run_text.replace("width: 4", "width: x")
        .replace("kind: parquet", "kind: parket")
        .replace("epochs: 1", "epoch: 1")
    )
    assert [line.split(":")[1] for line in told(text)] == ["5", "21", "53"]


def test_settings_change_the_typed_config(run_text: str) -> None:
    config = loaded(run_text, settings={"model_dir": "x", "data.train": ["a"], "features[name=user].bucket.rows": 50})
    assert (config.model_dir, config.data.train, config.features[0].rows) == ("x", ("a",), 50)
    assert told(run_text, settings={"modle_dir": "x"}) == [
        "--set modle_dir:1:1: modle_dir: unknown field; did you mean model_dir?"
    ]
    assert told(run_text, settings={"train.epochs": "x"}) == [
        '--set train.epochs:1:1: train.epochs: needs a whole number, not "x"'
    ]


def test_edits_change_the_text(run_text: str) -> None:
    assert loaded(run_text, edits=[Edit("train.epochs", 3), Edit("tables[0].width", 8)]).train.epochs == 3
    assert told(run_text, edits=[Edit("train.epochz", 3)]) == [
        "--edit:1:1: train.epochz: unknown field; did you mean epochs?"
    ]
    assert told(run_text, edits=[Edit("tables[1].width", 3)]) == [
        "--edit:1:1: tables[1].width: there are 1 tables; the last is tables[0]"
    ]


def test_a_missing_file_is_answered_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "deepfm.config").write_text("")
    with pytest.raises(ConfigError, match=r"deepfn.config: no such file; did you mean deepfm.config\?"):
        dialects.load(tmp_path / "deepfn.config")
    with pytest.raises(ConfigError, match="cannot be read"):
        dialects.load(tmp_path)


def test_bytes_that_are_no_text_are_a_problem(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(ConfigError, match=r"run.yaml:2:4: is not UTF-8 text"):
        dialects.load(file)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, run_text: str) -> None:
    """A dialect in the place of EasyRec's: a path, a number of steps, all else from the sample run."""

    def read(node: Node) -> dict[str, Any]:
        model = node.child("model_config")
        if model is not None:
            model.text("model_class")
        train = node.child("train_config")
        draft = plain(_own(node, run_text))
        draft["model_dir"] = node.text("model_dir")
        draft["train"] = {"steps": train.integer("num_steps") if train else 1}
        node.ignore({"eval_config": "evaluates everything"})
        return draft

    module = types.ModuleType("polyrec.dialects.easyrec")
    module.__dict__.update(read=read, ENUMS={"kind": {1: "ONE"}})
    monkeypatch.setitem(sys.modules, "polyrec.dialects.easyrec", module)


def _own(node: Node, text: str) -> Node:
    return dialects.read_text(text, "sample.yaml")


TINY = 'model_dir: "x"\nmodel_config { model_class: "A" }\ntrain_config {\n  num_steps: 5\n}\neval_config { a: 1 }\n'


@pytest.mark.usefixtures("tiny")
def test_a_dialect_is_detected_read_and_checked() -> None:
    found = dialects.load_text(TINY, "tiny.config")
    assert isinstance(found.config, RunConfig)
    assert (found.dialect, found.config.model_dir, found.config.train.steps) == ("easyrec", "x", 5)
    assert str(found.origins["train.steps"]) == "tiny.config:4:14"
    assert [str(item) for item in found.report.ignored] == ["tiny.config:6:1: eval_config: evaluates everything"]


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("num_steps", "num_step", "tiny.config:4:13: train_config.num_step: unknown field; did you mean num_steps?"),
        ("5", '"5"', 'tiny.config:4:14: train_config.num_steps: needs a whole number, not "5"'),
        ("5", "0", "tiny.config:4:14: train_config.num_steps: needs more than 0"),
        ("model_dir", "model_dri", "tiny.config:1:12: model_dri: unknown field; did you mean model_dir?"),
        ("train_config", "trian_config", "tiny.config:3:1: trian_config: unknown field; did you mean train_config?"),
        ("5\n}", "5\n", "tiny.config:3:1: train_config: needs a closing brace, before the end of the file"),
        ('"x"', '"x', "tiny.config:1:12: model_dir: has a text that is not closed on its line"),
    ],
)
def test_mistakes_in_a_dialect_are_told_at_their_place(old: str, new: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        dialects.load_text(TINY.replace(old, new, 1), "tiny.config")
    assert problem in str(caught.value).splitlines()


@pytest.mark.usefixtures("tiny")
def test_a_dialect_s_json_and_edits() -> None:
    text = '{"modelDir": "x", "modelConfig": {"modelClass": "A"}, "trainConfig": {"numSteps": "7"}}'
    config = dialects.load_text(text, "tiny.json", edits=[Edit("model_dir", "y")]).config
    assert isinstance(config, RunConfig)
    assert (config.model_dir, config.train.steps) == ("y", 7)


def test_an_unknown_dialect_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"--dialect easyrek is not known; did you mean easyrec\?"):
        dialects.load("x", dialect="easyrek")


def test_a_workflow_is_read_and_checked(run_text: str) -> None:
    run = yaml.safe_load(run_text.replace("1e-2", "0.01").replace("1e-7", "1.0e-7"))
    flow = {"polyrec_workflow": 1, "steps": [{"verb": "train", "run": run}, {"verb": "evaluate", "run": run}]}
    found = dialects.load_text(json.dumps(flow), "flow.json", settings={"model_dir": "z"})
    assert isinstance(found.config, Workflow)
    assert [step.run.model_dir for step in found.config.steps] == ["z", "z"]
    assert isinstance(dialects.load_text(dialects.dump(found.config), "again.yaml").config, Workflow)
    run["groups"][0]["inputs"][0]["table"] = "usr"
    with pytest.raises(ConfigError, match=r"steps\[1\].run.groups\[0\].inputs\[0\].table: no table is called usr"):
        dialects.load_text(json.dumps(flow), "flow.json")


def test_reading_a_config_imports_no_torch(tmp_path: Path, run_text: str) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(run_text)
    code = f"import sys; from polyrec import dialects; dialects.load({str(file)!r}); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        (
            "easyrec/deepfm_avazu",
            "train_config {",
            "train_conf {",
            "8:1: train_conf: unknown field; did you mean train_config?",
        ),
        (
            "easyrec/deepfm_avazu",
            "data_config {",
            "data_conf {",
            "36:1: data_conf: unknown field; did you mean data_config?",
        ),
        (
            "easyrec/deepfm_avazu",
            "model_class:",
            "modelclass:",
            "105:15: model_config.modelclass: unknown field; did you mean model_class?",
        ),
        (
            "easyrec/deepfm_avazu",
            'model_class: "DeepFM"',
            "model_class: 5",
            "105:16: model_config.model_class: needs a text in quotes, not 5",
        ),
        (
            "easyrec/deepfm_avazu",
            "num_epochs: 1",
            "num_epochs: one",
            "40:15: data_config.num_epochs: needs a whole number, not one",
        ),
        (
            "easyrec/deepfm_avazu",
            "batch_size: 256",
            "batch_size: -5",
            "39:15: data_config.batch_size: needs more than 0",
        ),
        (
            "easyrec/deepfm_avazu",
            "wide_output_dim: 4",
            "wide_output_dim: -5",
            "123:22: model_config.deepfm.wide_output_dim: needs more than 0",
        ),
        (
            "torcheasyrec/multi_tower_din_taobao",
            'feature_name: "pid"',
            "feature_name: 5",
            "165:19: feature_configs[15].id_feature.feature_name: needs a text in quotes, not 5",
        ),
        (
            "torcheasyrec/multi_tower_din_taobao",
            'input: "deep"',
            "input: 5",
            "227:14: model_config.multi_tower_din.towers.input: needs a text in quotes, not 5",
        ),
    ],
)
def test_one_mistake_is_one_problem_in_words_of_the_file(file: str, old: str, new: str, problem: str) -> None:
    text = (EXAMPLES / f"{file}.config").read_text()
    assert old in text
    with pytest.raises(ConfigError) as caught:
        dialects.load_text(text.replace(old, new, 1), "f.config")
    assert str(caught.value) == f"f.config:{problem}"


def test_what_is_missing_altogether_is_told_at_the_start() -> None:
    text = (EXAMPLES / "easyrec/deepfm_avazu.config").read_text()
    with pytest.raises(ConfigError, match=r"^f.config:1:1: model_dir: is required"):
        dialects.load_text(re.sub(r"(?m)^model_dir.*\n", "", text), "f.config")


def test_very_many_problems_are_collected_in_linear_time() -> None:
    start = time.perf_counter()
    with pytest.raises(ConfigError) as caught:
        dialects.load_text("a: [" * 30_000, "f.config")
    assert len(caught.value.problems) > 20_000
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            "[128, 64]",
            "[128, -64]",
            "228:33: model_config.multi_tower_din.towers.mlp.hidden_units[1]: needs more than 0",
        ),
        (
            "[128, 64]",
            "[128, 64] dropout_ratio: 1.5",
            "228:52: model_config.multi_tower_din.towers.mlp.dropout_ratio: needs less than 1",
        ),
        ("0.02", "-1", "12:29: train_config.sparse_optimizer.adagrad_optimizer.lr: needs at least 0"),
        ("0.02", "nan", "12:29: train_config.sparse_optimizer.adagrad_optimizer.lr: needs a finite number, not nan"),
    ],
)
def test_numbers_that_no_training_can_use_are_problems(old: str, new: str, problem: str) -> None:
    text = (EXAMPLES / "torcheasyrec/multi_tower_din_taobao.config").read_text()
    assert old in text
    with pytest.raises(ConfigError) as caught:
        dialects.load_text(text.replace(old, new, 1), "f.config")
    assert str(caught.value) == f"f.config:{problem}"


@pytest.mark.parametrize(("field", "value"), [("l2_regularization", -1), ("embedding_regularization", "-inf")])
def test_penalties_are_not_negative(field: str, value: object) -> None:
    text = (EXAMPLES / "easyrec/deepfm_avazu.config").read_text()
    with pytest.raises(ConfigError, match=rf"^f.config:1\d\d:\d+: model_config\.[a-z.]*{field}: needs "):
        dialects.load_text(re.sub(rf"{field}: \S+", f"{field}: {value}", text), "f.config")


def test_a_rate_below_zero_is_told_where_it_stands() -> None:
    text = (EXAMPLES / "easyrec/multi_tower_taobao.config").read_text()
    with pytest.raises(ConfigError) as caught:
        dialects.load_text(text.replace("initial_learning_rate: 0.001", "initial_learning_rate: -5"), "f.config")
    assert [problem.origin and problem.origin.line for problem in caught.value.problems] == [22]


def test_an_edit_in_the_words_of_another_form_is_told_which_form_the_file_has(tmp_path: Path, run_text: str) -> None:
    file = tmp_path / "pipeline.config"
    file.write_text(run_text, encoding="utf-8")
    edits = [Edit("train_config.num_steps", 3), Edit("train.epochs", 3)]
    with pytest.raises(ConfigError) as caught:
        dialects.load(file, edits=edits)
    [problem] = caught.value.problems
    assert problem.message.startswith(f"unknown field; did you mean train?; {file} is a typed config")
    assert dialects.load(file, edits=edits[1:]).config.train.epochs == 3  # type: ignore[union-attr]
