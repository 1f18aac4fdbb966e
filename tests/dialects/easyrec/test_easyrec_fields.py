"""The field tables of docs/dialects/easyrec.md are what the code reads, ignores and refuses."""

from __future__ import annotations

from pathlib import Path

from polyrec.dialects import easyrec, fields, pbtxt
from polyrec.dialects.easyrec.ignored import UNUSED
from polyrec.dialects.node import Node, Report
from polyrec.dialects.sampling import KINDS

ROOT = Path(__file__).parents[3]
EVERY_OPTION = "every_feature_option.config"
# Together with the examples, every message that is read.
EVERYTHING = """
parquet_train_input: "a"
parquet_eval_input: "a"
train_config {
  optimizer_config { adam_optimizer { learning_rate { exponential_decay_learning_rate {} } } }
  optimizer_config { lazy_adam_optimizer { learning_rate { constant_learning_rate {} } } }
  optimizer_config { adam_async_optimizer {} }
}
train_config {
  optimizer_config { adagrad_optimizer {} }
  optimizer_config { momentum_optimizer {} }
}
eval_config {
  num_examples: 1
  metrics_set { auc {} }
  metrics_set { mean_absolute_error {} }
  metrics_set { mean_squared_error {} }
  metrics_set { accuracy {} }
}
export_config {}
data_config { input_fields {} }
feature_configs { feature_type: IdFeature vocab_list: "a" }
model_config {
  model_class: "MultiTower"
  feature_groups {}
  multi_tower { towers { dnn {} } final_dnn {} }
  losses {}
}
"""
ATTENTION = """
model_config {
  model_class: "MultiTowerDIN"
  ev_params {}
  seq_att_groups { seq_att_map {} }
  multi_tower { din_towers { dnn {} } final_dnn {} }
}
"""
NEWER = """
feature_config {
  features { feature_type: IdFeature initializer { truncated_normal_initializer {} } hash_bucket_size: 1 }
  features { feature_type: TagFeature initializer { random_normal_initializer {} } num_buckets: 1 }
  features { feature_type: RawFeature boundaries: 1 initializer { constant_initializer {} } }
  features { feature_type: RawFeature embedding_dim: 1 }
}
model_config { model_class: "DeepFM" deepfm { dnn {} final_dnn {} } }
"""
SAMPLERS = [f"data_config {{ {name} {{}} }}" for name in (*KINDS, "negative_sampler_in_memory")]


def read_roots() -> list[Node]:
    files = [*sorted((ROOT / "examples" / "easyrec").glob("*.config")), Path(__file__).parent / EVERY_OPTION]
    texts = [*(path.read_text() for path in files), EVERYTHING, NEWER, ATTENTION, *SAMPLERS]
    roots = [pbtxt.parse(text, "everything.config", Report()) for text in texts]
    for root in roots:
        easyrec.read(root)
    return roots


def test_the_tables_are_up_to_date() -> None:
    page = (ROOT / "docs" / "dialects" / "easyrec.md").read_text()
    start = page.index("## Fields that are read")
    assert page[start:] == fields.describe(read_roots(), UNUSED)


def test_no_field_is_both_ignored_and_refused() -> None:
    assert not UNUSED.ignored.keys() & UNUSED.refused.keys()
