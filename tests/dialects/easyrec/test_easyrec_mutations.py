"""Thirty ways to get a config wrong: each is found at its line, and where a name is wrong the right one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyrec.dialects import load
from polyrec.errors import ConfigError

EXAMPLES = Path(__file__).parents[3] / "examples" / "easyrec"
FM, TOWERS = (EXAMPLES / f"{name}.config" for name in ("deepfm_avazu", "multi_tower_taobao"))

# Config, text, what is written instead, the words that must stand in the message, and whether a name was wrong.
MUTATIONS = [
    (FM, "eval_input_path:", "eval_input_paths:", "did you mean eval_input_path?", True),
    (FM, "model_dir:", "model_path:", "did you mean model_dir?", True),
    (FM, "data_config {", "data_conf {", "did you mean data_config?", True),
    (FM, "optimizer_config {", "optimiser_config {", "did you mean optimizer_config?", True),
    (FM, "adagrad_optimizer {", "adagrd_optimizer {", "did you mean adagrad_optimizer?", True),
    (FM, "learning_rate { constant", "learning_rates { constant", "did you mean learning_rate?", True),
    (FM, "constant_learning_rate {", "const_learning_rate {", "did you mean constant_learning_rate?", True),
    (FM, "decay_steps: 400", "decay_steps: 400.5", "needs a whole number, not 400.5", False),
    (FM, "decay_factor: 0.7", "decay_ratio: 0.7", "did you mean decay_factor?", True),
    (FM, "decay_factor: 0.7", "decay_factor: -0.7", "needs more than 0", False),
    (FM, "save_checkpoints_steps: 800", "save_checkpoints_step: 800", "did you mean save_checkpoints_steps?", True),
    (FM, "log_step_count_steps: 100", "log_step_count_steps: 0", "needs more than 0", False),
    (FM, "metrics_set { auc {} }", "metrics_set { auk {} }", "did you mean auc?", True),
    (FM, "input_type: CSVInput", "input_type: CVSInput", "did you mean CSVInput?", True),
    (FM, "batch_size: 256", 'batch_size: "256"', "needs a whole number", False),
    (FM, "num_epochs: 1", "num_epoch: 1", "did you mean num_epochs?", True),
    (FM, "shuffle: true", "shuffle: ture", "needs true or false, not ture", False),
    (FM, 'label_fields: "label"', 'label_fields: "lable"', "did you mean label?", True),
    (FM, "input_type: INT32", "input_type: INT_32", "did you mean INT32?", True),
    (FM, 'default_val: "0"', 'default_val: "zero"', 'needs a whole number in quotes, not "zero"', False),
    (FM, 'input_names: "site_id"', 'input_names: "siteid"', "did you mean site_id?", True),
    (FM, "feature_type: IdFeature", "feature_type: IDFeature", "did you mean IdFeature?", True),
    (FM, "embedding_dim: 16 hash", "embeding_dim: 16 hash", "did you mean embedding_dim?", True),
    (FM, 'combiner: "mean"', 'combiner: "meen"', "did you mean mean?", True),
    (FM, 'model_class: "DeepFM"', 'model_class: "DeepFm"', "did you mean DeepFM?", True),
    (FM, 'group_name: "wide"', 'group_name: "wides"', "did you mean wide?", True),
    (FM, "wide_deep: WIDE", "wide_deep: WIDES", "did you mean WIDE?", True),
    (FM, "  deepfm {", "  deep_fm {", "did you mean deepfm?", True),
    (FM, "hidden_units: [128, 64]", "hidden_units: [128, 0]", "needs more than 0", False),
    (FM, "final_dnn {", "final_dn {", "did you mean final_dnn?", True),
    (FM, "eval_config {", "eval_config { {", "", False),
    (TOWERS, 'input: "user"', 'input: "usr"', "did you mean user?", True),
    (TOWERS, '"pid"]', '"pidd"]', "did you mean pid?", True),
    (TOWERS, "num_buckets: 100", "num_bucket: 100", "did you mean num_buckets?", True),
    (TOWERS, "boundaries: [2, 5,", "boundaries: [5, 5,", "", False),
    (TOWERS, 'default_val: "0" }', 'default_val: "0"', "needs a closing brace", False),
]


@pytest.mark.parametrize(("path", "old", "new", "words", "is_name"), MUTATIONS)
def test_a_wrong_config_is_found_at_its_line(
    tmp_path: Path, path: Path, old: str, new: str, words: str, is_name: bool
) -> None:
    text = path.read_text()
    assert old in text
    line = text[: text.index(old)].count("\n") + 1
    file = tmp_path / "mutated.config"
    file.write_text(text.replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        load(str(file))
    assert caught.value.exit_code == 2
    there = [problem for problem in caught.value.problems if problem.origin and problem.origin.line == line]
    assert any(words in problem.message for problem in there), str(caught.value)


def test_nine_in_ten_wrong_names_are_answered_with_the_right_one() -> None:
    names = [mutation for mutation in MUTATIONS if mutation[4]]
    assert len(MUTATIONS) >= 30
    assert sum("did you mean" in mutation[3] for mutation in names) / len(names) >= 0.9
