from __future__ import annotations

from pathlib import Path

import pytest

from polyrec.config import RunConfig
from polyrec.data.readers.script import Script
from polyrec.dialects import Loaded, load, load_text
from polyrec.dialects.paddlerec import workspace
from polyrec.errors import ConfigError
from polyrec.workflow import Workflow

ROOT = Path(__file__).parents[3]
BUILT_IN = workspace.built_in("paddlerec.models.rank.dnn")
TEXT = (BUILT_IN / "config.yaml").read_text(encoding="utf-8")


def read(*changes: tuple[str, str]) -> Loaded:
    """The built-in config with each of the pieces of text replaced, once."""
    text = TEXT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return load_text(text, "config.yaml", "paddlerec")


def runs(loaded: Loaded) -> list[RunConfig]:
    assert isinstance(loaded.config, Workflow)
    return [step.run for step in loaded.config.steps]


def notes(loaded: Loaded) -> str:
    return "\n".join(problem.message for problem in loaded.report.notes)


def wrong(*changes: tuple[str, str]) -> str:
    with pytest.raises(ConfigError) as caught:
        read(*changes)
    return str(caught.value)


def test_mode_becomes_steps_in_order() -> None:
    loaded = read()
    assert isinstance(loaded.config, Workflow)
    found = [(step.verb, step.run.name, step.checkpoint) for step in loaded.config.steps]
    assert found == [
        ("train", "single_cpu_train", None),
        ("evaluate", "single_cpu_infer", "increment_dnn"),
    ]
    assert loaded.dialect == "paddlerec"
    assert not loaded.report.notes


def test_numbers_of_the_built_in_model() -> None:
    train, infer = runs(read())
    assert [(table.rows, table.width) for table in train.tables] == [(1_000_001, 9)]
    assert len(train.features) == 26 + 1
    assert train.features[26].width == 13
    model = train.model.dump()
    assert model["towers"][0]["mlp"]["hidden"] == [512, 256, 128, 32]
    assert train.tasks[0].label == "click"
    assert train.tasks[0].classes == 2
    adam = train.optim.tables.optimizer.dump()
    assert (adam["kind"], adam["lr"], adam["beta1"], adam["beta2"], adam["eps"]) == ("adam", 0.001, 0.9, 0.999, 1e-8)
    assert adam["epsilon_hat"] is True
    assert (train.train.epochs, train.train.log_every) == (4, 10)
    assert (train.data.batch_size, train.data.eval_batch_size) == (2, 2)
    assert train.data.train == (str(BUILT_IN / "data/sample_data/train"),)
    assert infer.data.evaluate == train.data.train
    assert infer.data.train == ()


def test_checkpoints_are_folders_named_after_epochs() -> None:
    train, infer = runs(read())
    assert (train.model_dir, infer.model_dir) == ("increment_dnn", "increment_dnn")
    assert (train.train.saving.every_epochs, train.train.saving.folder) == (2, "{epoch}")
    assert train.train.saving.on_existing == "replace"


@pytest.mark.parametrize("interval", ["-1", "0"])
def test_an_interval_not_above_zero_saves_the_last_epoch_only(interval: str) -> None:
    loaded = read(("save_checkpoint_interval: 2", f"save_checkpoint_interval: {interval}"))
    assert runs(loaded)[0].train.saving.every_epochs is None
    assert "only the last epoch" in notes(loaded)


def test_without_a_save_path_the_last_state_goes_to_logs() -> None:
    loaded = read(('save_checkpoint_path: "increment_dnn"', 'save_checkpoint_path: ""'))
    assert runs(loaded)[0].model_dir == "logs/single_cpu_train"
    assert "logs/single_cpu_train" in notes(loaded)


def test_results_of_a_checkpoint_lie_beside_it() -> None:
    loaded = read(('init_model_path: "increment_dnn"', 'init_model_path: "increment_dnn/3"'))
    assert isinstance(loaded.config, Workflow)
    assert loaded.config.steps[1].checkpoint == "increment_dnn/3"
    assert loaded.config.steps[1].run.model_dir == "increment_dnn"


def test_a_warm_start() -> None:
    loaded = read(('init_model_path: ""', 'init_model_path: "before/1"'))
    assert runs(loaded)[0].train.fine_tune_from == "before/1"


def test_one_mode_without_brackets() -> None:
    loaded = read(("mode: [single_cpu_train, single_cpu_infer]", "mode: single_cpu_infer"))
    assert [run.name for run in runs(loaded)] == ["single_cpu_infer"]


def test_a_bare_phase_is_an_exact_name() -> None:
    assert runs(read(("phases: [phase1]", "phases: phase1")))[0].name == "single_cpu_train"
    assert "no phase is named phase; did you mean phase" in wrong(("phases: [phase1]", "phases: phase"))


def test_without_phases_a_runner_does_them_all_each_with_its_own_weights() -> None:
    loaded = read(
        ("  phases: [phase1]\n", ""), ("mode: [single_cpu_train, single_cpu_infer]", "mode: single_cpu_train")
    )
    assert [(run.name, run.model_dir) for run in runs(loaded)] == [
        ("single_cpu_train.phase1", "increment_dnn/phase1"),
        ("single_cpu_train.phase2", "increment_dnn/phase2"),
    ]
    assert "weights of its own" in notes(loaded)


def test_the_last_batch() -> None:
    train, infer = runs(read())
    assert train.data.drop_remainder
    assert not infer.data.drop_remainder
    assert not runs(read(("type: DataLoader", "type: QueueDataset")))[0].data.drop_remainder


def test_old_and_new_names_of_classes() -> None:
    train, infer = runs(read(("class: train", "class: single_train"), ("class: infer", "class: SINGLE_INFER")))
    assert (train.name, infer.name) == ("single_cpu_train", "single_cpu_infer")


@pytest.mark.parametrize("name", ["local_cluster", "local_cluster_train", "cluster", "cluster_train"])
def test_clusters_are_refused_when_mode_chooses_them(name: str) -> None:
    assert "not available yet" in wrong(("class: train", f"class: {name}"))
    loaded = read(("class: train", f"class: {name}"), ("[single_cpu_train, single_cpu_infer]", "single_cpu_infer"))
    assert len(runs(loaded)) == 1


def test_several_cards_are_refused_and_one_is_not() -> None:
    one = ("device: cpu\n  epochs", 'device: gpu\n  selected_gpus: "0"\n  epochs')
    assert len(runs(read(one))) == 2
    assert "several cards" in wrong((one[0], one[1].replace("0", "0,1")))


def test_optimizers_of_paddle() -> None:
    adagrad = runs(read(("class: Adam", "class: adagrad")))[0].optim.dense.optimizer.dump()
    assert (adagrad["kind"], adagrad["initial_accumulator"], adagrad["eps"]) == ("adagrad", 0.0, 1e-6)
    sgd = runs(read(("class: Adam", "class: SGD"), ("learning_rate: 0.001", "learning_rate: 1e-2")))[0].optim.dense
    assert (sgd.optimizer.kind, sgd.optimizer.lr) == ("sgd", 0.01)


def test_defaults_of_hyper_parameters() -> None:
    start, end = TEXT.index("hyper_parameters:"), TEXT.index("runner:")
    assert runs(read((TEXT[start:end], "")))[0].model_copy(update={"name": ""}) == runs(read())[0].model_copy(
        update={"name": ""}
    )


def test_dense_slots_may_have_several_dimensions() -> None:
    loaded = read(('"dense_var:13"', '"a:[2,3] b:7"'))
    assert [(feature.name, feature.width) for feature in runs(loaded)[0].features[26:]] == [("a", 6), ("b", 7)]


def test_declared_sizes_must_be_those_of_the_slots() -> None:
    assert "has 27 sparse slots" in wrong(("sparse_inputs_slots: 27", "sparse_inputs_slots: 26"))
    assert "did you mean 13?" in wrong(("dense_input_dim: 13", "dense_input_dim: 12"))


def test_a_workspace_of_ones_own(tmp_path: Path) -> None:
    folder = tmp_path / "models" / "rank" / "dnn"
    folder.mkdir(parents=True)
    (folder / "model.py").write_text("import paddle.fluid\n", encoding="utf-8")
    loaded = read(('"paddlerec.models.rank.dnn"', f'"{folder}/"'))
    assert runs(loaded)[0].data.train == (f"{folder}/data/sample_data/train",)
    assert "is not run: polyrec's own rank/dnn stands for it" in notes(loaded)


def test_a_relative_workspace_is_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "rank" / "dnn"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    assert runs(read(('"paddlerec.models.rank.dnn"', '"./"')))[0].data.train == ("./data/sample_data/train",)


def test_an_unknown_model_names_the_known_ones() -> None:
    assert "did you mean paddlerec.models.rank.dnn?" in wrong(
        ('"paddlerec.models.rank.dnn"', '"paddlerec.models.rank.dn"')
    )
    text = wrong(('"paddlerec.models.rank.dnn"', '"/models/rank/deepfm"'))
    assert "known: paddlerec.models.rank.dnn" in text
    with pytest.raises(ConfigError, match=r"available: paddlerec\.models\.rank\.dnn"):
        workspace.built_in("paddlerec.models.match.dssm")


def test_package_paths() -> None:
    loaded = read(('"{workspace}/data/sample_data/train"', '"paddlerec::models/rank/dnn/data/sample_data/train"'))
    assert runs(loaded)[0].data.train == (str(BUILT_IN / "data/sample_data/train"),)


def test_empty_lists_of_variables_save_nothing() -> None:
    lists = "  save_inference_feed_varnames: []\n  save_inference_fetch_varnames: []\n"
    path = '  save_inference_interval: 4\n  save_inference_path: "inference"\n'
    old = '  save_checkpoint_path: "increment_dnn"\n'
    ignored = {problem.path for problem in read((old, old + path + lists)).report.ignored}
    assert {"runner[0].save_inference_path", "runner[0].save_inference_interval"} <= ignored
    assert "use polyrec export" in wrong((old, old + path + lists.replace("[]", '["x"]')))


def test_the_same_name_twice() -> None:
    assert "phase1 is the name of two items" in wrong(("- name: phase2", "- name: phase1"))


def test_an_unchosen_runner_may_name_what_is_not_there() -> None:
    loaded = read(("[single_cpu_train, single_cpu_infer]", "single_cpu_infer"), ("phases: [phase1]", "phases: [gone]"))
    assert "no phase is named gone" in notes(loaded)


READER = "type: DataLoader", 'type: DataLoader\n  data_converter: "{workspace}/own_reader.py"\n  own_key: 5'


def test_a_reader_class_of_the_workspace_gets_the_config_by_paths(tmp_path: Path) -> None:
    (tmp_path / "own_reader.py").write_text("class Reader: ...\n", encoding="utf-8")
    workspace = ('workspace: "paddlerec.models.rank.dnn"', f'workspace: "{tmp_path}"')
    model = ('model: "{workspace}/model.py"', 'model: "paddlerec.models.rank.dnn"')
    loaded = read(workspace, model, model, READER, ("fc_sizes", "own_hyper: 0.5\n  fc_sizes"))
    reader = runs(loaded)[0].data.reader
    assert isinstance(reader, Script)
    assert (reader.script, reader.class_name, reader.sparse[0]) == (f"{tmp_path}/own_reader.py", "Reader", "click")
    settings = reader.settings
    assert settings["hyper_parameters.optimizer.class"] == "Adam"
    assert settings["hyper_parameters.fc_sizes"] == [512, 256, 128, 32]
    assert settings["hyper_parameters.own_hyper"] == 0.5
    assert settings["dataset.dataloader_train.own_key"] == 5
    assert settings["dataset.dataloader_train.data_converter"] == reader.script
    ignored = {problem.path: problem.message for problem in loaded.report.ignored}
    assert ignored["dataset[0].own_key"] == ignored["hyper_parameters.own_hyper"]


def test_a_reader_outside_of_the_workspace_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "own_reader.py").write_text("class Reader: ...\n", encoding="utf-8")
    workspace = ('workspace: "paddlerec.models.rank.dnn"', f'workspace: "{tmp_path / "ws"}"')
    outside = READER[0], READER[1].replace("{workspace}/", "{workspace}/../")
    assert "own_reader.py: is outside of the workspace" in wrong(workspace, outside)
    assert "own_reader.py: no such reader file" in wrong(READER)


def test_the_example_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    loaded = load("examples/paddlerec/rank/dnn/config.yaml")
    assert [run.name for run in runs(loaded)] == ["train_runner", "infer_runner"]
    for run in runs(loaded):
        assert all(Path(path).is_dir() for path in (*run.data.train, *run.data.evaluate))
