"""Thirty ways to get a config wrong: each is found at its line, and where a name is wrong the right one is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyrec.dialects import load
from polyrec.errors import ConfigError

EXAMPLES = Path(__file__).parents[3] / "examples" / "torcheasyrec"
DIN, FM = (EXAMPLES / f"{name}.config" for name in ("multi_tower_din_taobao", "deepfm_criteo"))

# Config, text, what is written instead, the words that must stand in the message, and whether a name was wrong.
MUTATIONS = [
    (DIN, "train_input_path:", "train_input_pth:", "did you mean train_input_path?", True),
    (DIN, "model_dir:", "modeldir:", "did you mean model_dir?", True),
    (DIN, "train_config {", "train_conf {", "did you mean train_config?", True),
    (DIN, "sparse_optimizer {", "sparse_optimiser {", "did you mean sparse_optimizer?", True),
    (DIN, "adagrad_optimizer {", "adagrad_optimzer {", "did you mean adagrad_optimizer?", True),
    (DIN, "lr: 0.02", "learning_rate: 0.02", "unknown field", False),
    (DIN, "num_epochs: 1", "num_epoch: 1", "did you mean num_epochs?", True),
    (DIN, "num_epochs: 1", "num_epochs: 1 num_steps: 2", "leave one out", False),
    (DIN, "save_checkpoints_steps: 200", "save_checkpoint_steps: 200", "did you mean save_checkpoints_steps?", True),
    (DIN, "log_step_count_steps: 50", 'log_step_count_steps: "50"', "needs a whole number", False),
    (DIN, 'exporter_type: "latest"', 'exporter_type: "lastest"', "did you mean latest?", True),
    (DIN, "batch_size: 1024", "batch_size: 0", "needs more than 0", False),
    (DIN, "ParquetDataset", "ParquetDatset", "did you mean ParquetDataset?", True),
    (DIN, "FG_DAG ", "FG_DAGS ", "did you mean FG_DAG?", True),
    (DIN, "label_fields:", "label_field:", "did you mean label_fields?", True),
    (DIN, "id_feature {", "id_featur {", "did you mean id_feature?", True),
    (DIN, 'expression: "user:user_id"', 'expression: "users:user_id"', "did you mean user?", True),
    (DIN, 'expression: "user:cms_segid"', 'expression: "cms_segid"', "did you mean user:cms_segid?", True),
    (DIN, "hash_bucket_size: 20\n", "hash_bucketsize: 20\n", "did you mean hash_bucket_size?", True),
    (DIN, "num_buckets: 100", "num_buckets: 1.5", "needs a whole number, not 1.5", False),
    (DIN, "boundaries: [2, 5,", "boundaries: [2, five,", "needs a number, not five", False),
    (DIN, '"pvalue_level", "shop', '"pvalue_lvl", "shop', "did you mean pvalue_level?", True),
    (DIN, '"click_50_seq__brand"]', '"click_50_seq__brnd"]', "did you mean click_50_seq__brand?", True),
    (DIN, "group_type: SEQUENCE", "group_type: SEQUENC", "did you mean SEQUENCE?", True),
    (DIN, 'input: "seq"', 'input: "sec"', "did you mean seq?", True),
    (DIN, "hidden_units: [128, 64]", "hidden_unit: [128, 64]", "did you mean hidden_units?", True),
    (DIN, "multi_tower_din {", "multi_tower_dinn {", "did you mean multi_tower_din?", True),
    (DIN, "binary_cross_entropy {}", "binary_crossentropy {}", "did you mean binary_cross_entropy?", True),
    (DIN, "metrics { auc {} }", "metrics { acu {} }", "did you mean auc?", True),
    (DIN, "eval_config {}", "eval_config {", "needs a closing brace", False),
    (FM, 'feature_name: "int_1"', 'feature_name: "int_0"', "already the name of the one at", False),
    (FM, 'group_name: "wide"', 'group_name: "wid"', "did you mean wide?", True),
    (FM, "wide_embedding_dim: 1", "wide_embeding_dim: 1", "did you mean wide_embedding_dim?", True),
    (FM, "by_epoch: true", "by_epoch: yes", "needs true or false, not yes", False),
    (FM, "decay_size: 1", "decay_steps: 1", "did you mean decay_size?", True),
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
