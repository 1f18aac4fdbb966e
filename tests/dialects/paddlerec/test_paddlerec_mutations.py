"""Thirty ways to get a config wrong: each is reported at its line, and nearly all with the right name."""

from __future__ import annotations

import pytest

from polyrec.dialects import load_text
from polyrec.dialects.paddlerec import workspace
from polyrec.errors import ConfigError

TEXT = (workspace.built_in("paddlerec.models.rank.dnn") / "config.yaml").read_text(encoding="utf-8")

# What is replaced, by what, and what the message must say: the right name where there is one, else the right form.
MUTATIONS = [
    # renamed keys
    ("workspace: ", "workspce: ", "did you mean workspace?"),
    ("mode: [", "modes: [", "did you mean mode?"),
    ("hyper_parameters:", "hyper_parameter:", "did you mean hyper_parameters?"),
    ("  batch_size: 2", "  batchsize: 2", "did you mean batch_size?"),
    ("  data_path: ", "  data_pth: ", "did you mean data_path?"),
    ("  sparse_slots: ", "  sparse_slot: ", "did you mean sparse_slots?"),
    ("  dense_slots: ", "  dense_slot: ", "did you mean dense_slots?"),
    ("    learning_rate: ", "    learn_rate: ", "did you mean learning_rate?"),
    ("  sparse_feature_number: ", "  sparse_feature_num: ", "did you mean sparse_feature_number?"),
    ("  fc_sizes: ", "  fc_size: ", "did you mean fc_sizes?"),
    ("  epochs: 4", "  epoch: 4", "did you mean epochs?"),
    ("  save_checkpoint_path: ", "  save_checkpoints_path: ", "did you mean save_checkpoint_path?"),
    ("  print_interval: 10", "  print_intervl: 10", "did you mean print_interval?"),
    ("  phases: [phase1]", "  phase: [phase1]", "did you mean phases?"),
    ("  dataset_name: ", "  dataset: ", "did you mean dataset_name?"),
    ("  dense_input_dim: ", "  dense_inputs_dim: ", "did you mean dense_input_dim?"),
    ("  sparse_feature_dim: ", "  sparse_features_dim: ", "did you mean sparse_feature_dim?"),
    ("  init_model_path: ", "  init_model_pth: ", "did you mean init_model_path?"),
    ("  thread_num: 1", "  threads_num: 1", "did you mean thread_num?"),
    ("  optimizer:", "  optimiser:", "did you mean optimizer?"),
    # values that are not among the known ones
    ("type: DataLoader", "type: DataLoder", "did you mean DataLoader?"),
    ("class: train", "class: tain", "did you mean train?"),
    ("class: Adam", "class: Adem", "did you mean adam?"),
    ("device: cpu", "device: cpuu", "did you mean cpu?"),
    ("{workspace}/model.py", "{worspace}/model.py", "did you mean {workspace}?"),
    ('"paddlerec.models.rank.dnn', '"paddlerec.models.rank.dnnn', "did you mean paddlerec.models.rank.dnn?"),
    # names of nothing
    ("mode: [single_cpu_train,", "mode: [single_cpu_trian,", "did you mean single_cpu_train?"),
    ("phases: [phase1]", "phases: [phase3]", "did you mean phase"),
    ("dataset_name: dataset_infer", "dataset_name: dataset_infr", "did you mean dataset_infer?"),
    # wrong types and numbers
    ("batch_size: 2", 'batch_size: "two"', "needs a whole number"),
    ("epochs: 4", "epochs: [4]", "needs one value, not a list"),
    ("sparse_feature_dim: 9", "sparse_feature_dim: 0", "needs a number above 0"),
    ("dense_input_dim: 13", "dense_input_dim: 14", "did you mean 13?"),
    ("dense_var:13", "dense_var=13", "did you mean dense_var:13?"),
    # what is no YAML, or says a thing twice
    ("  type: DataLoader", "  type: DataLoader\n  type: DataLoader", "is given twice, first on line 9"),
    ("[512, 256, 128, 32]", "[512, 256, 128, 32", "needs a closing bracket"),
]

SUGGESTING = [item for item in MUTATIONS if "did you mean" in item[2]]


@pytest.mark.parametrize(("old", "new", "message"), MUTATIONS, ids=[new.strip()[:30] for _, new, _ in MUTATIONS])
def test_a_mistake_is_told_where_it_stands(old: str, new: str, message: str) -> None:
    start = TEXT.index(old)
    line = TEXT[: start + len(old) - len(old.lstrip())].count("\n") + 1
    if message.startswith("is given twice"):
        line += 1
    with pytest.raises(ConfigError) as caught:
        load_text(TEXT.replace(old, new, 1), "config.yaml", "paddlerec")
    assert caught.value.exit_code == 2
    told = [problem for problem in caught.value.problems if message in problem.message]
    assert told, str(caught.value)
    assert {problem.origin.line for problem in told if problem.origin} == {line}, str(caught.value)


def test_most_mistakes_in_names_get_a_suggestion() -> None:
    # Every mutation of a name is in SUGGESTING; the others have no name to suggest.
    assert len(MUTATIONS) >= 30
    with_names = [item for item in MUTATIONS if "needs" not in item[2] and "twice" not in item[2]]
    assert len(SUGGESTING) >= 0.9 * len(with_names)


def test_a_mistake_does_not_bring_others_along() -> None:
    for key in ("  data_path", "  epochs", "phase", "dataset", "runner", "mode", "workspace", "- name"):
        with pytest.raises(ConfigError) as caught:
            load_text(TEXT.replace(f"{key}: ", f"{key}x: ", 1).replace(f"\n{key}:\n", f"\n{key}x:\n"), "config.yaml")
        assert len(caught.value.problems) == 1, caught.value
        assert f"did you mean {key.strip('- ')}?" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("batch_size: 2", "batch_size:", "dataset[0].batch_size: is required"),
        ("sparse_slots: ", "sparse_slots: one #", "dataset[0].sparse_slots: needs the label and at least one slot"),
    ],
)
def test_what_has_no_value_or_too_few_is_told_at_its_line(old: str, new: str, message: str) -> None:
    line = TEXT[: TEXT.index(old)].count("\n") + 1
    with pytest.raises(ConfigError) as caught:
        load_text(TEXT.replace(old, new, 1), "config.yaml", "paddlerec")
    told = [item for item in caught.value.problems if message == f"{item.path}: {item.message}"]
    assert [item.origin.line for item in told if item.origin] == [line], caught.value


def test_a_phase_without_a_model_and_networks_of_ones_own() -> None:
    with pytest.raises(ConfigError, match=r"phase\[0\].model: is required"):
        load_text(TEXT.replace('  model: "{workspace}/model.py"\n', "", 1), "config.yaml")
    with pytest.raises(ConfigError, match=r"networks of one's own are not available; did you mean \S+/model\.py\?"):
        load_text(TEXT.replace("/model.py", "/net.py", 1), "config.yaml")


def test_the_name_that_is_missing_is_likelier() -> None:
    with pytest.raises(ConfigError, match=r"did you mean save_checkpoint_path\?"):
        load_text(TEXT.replace("save_checkpoint_path", "save_checkpoint_dir"), "config.yaml")


def test_tabs() -> None:
    with pytest.raises(ConfigError, match=r"config.yaml:\d+:1: YAML takes no tabs before a name; write blanks"):
        load_text(TEXT.replace("  epochs:", "\tepochs:"), "config.yaml")
