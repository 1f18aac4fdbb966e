"""The field tables of docs/dialects/torcheasyrec.md are what the code reads, ignores and refuses."""

from __future__ import annotations

from pathlib import Path

from polyrec.dialects import fields, pbtxt, torcheasyrec
from polyrec.dialects.node import Node, Report
from polyrec.dialects.sampling import KINDS
from polyrec.dialects.torcheasyrec.ignored import UNUSED

ROOT = Path(__file__).parents[3]
# Together with the examples, every message that is read.
EVERYTHING = """
train_config {
  sparse_optimizer { sgd_optimizer {} exponential_decay_learning_rate {} }
  dense_optimizer { sgd_optimizer {} }
  grad_clipping {}
}
export_config {}
data_config { input_fields {} }
feature_configs { id_feature { hash_bucket_size: 1 } }
feature_configs { id_feature { vocab_list: "a" default_bucketize_value: 0 } }
feature_configs { id_feature { vocab_dict {} } }
feature_configs { raw_feature { normalizer: "" } }
feature_configs { sequence_feature { features { id_feature { num_buckets: 1 } } features { raw_feature {} } } }
feature_configs { sequence_id_feature { vocab_list: "a" default_bucketize_value: 0 } }
feature_configs { sequence_raw_feature {} }
model_config {
  feature_groups {}
  multi_tower { towers { mlp {} } final {} }
  losses { binary_cross_entropy {} }
  losses { softmax_cross_entropy {} }
  losses { l2_loss {} }
  metrics { auc {} }
  metrics { mean_absolute_error {} }
  metrics { mean_squared_error {} }
  metrics { accuracy {} }
  metrics { recall_at_k {} }
}
"""
OPTIMIZERS = [
    f"train_config {{ {part}_optimizer {{ {name}_optimizer {{}} }} }}"
    for part, names in (("sparse", ("adagrad", "rowwise_adagrad", "adam")), ("dense", ("adagrad", "adam", "adamw")))
    for name in names
]
SAMPLERS = [f"data_config {{ {name} {{}} }}" for name in (*KINDS, "tdm_sampler")]
MODELS = [
    "data_config { fg_mode: FG_DAG } feature_configs { id_feature {} } "
    "feature_configs { sequence_id_feature { num_buckets: 1 } } "
    "feature_configs { raw_feature { boundaries: 1 } } "
    "model_config { deepfm { deep {} final {} } }",
    "data_config { fg_mode: FG_DAG } feature_configs { sequence_feature { features { id_feature {} } } } "
    "model_config { multi_tower_din { towers { mlp {} } din_towers { attn_mlp {} } final {} } }",
    "data_config {} model_config { dssm { user_tower { mlp {} } item_tower { mlp {} } } }",
]


def read_roots() -> list[Node]:
    texts = [path.read_text() for path in sorted((ROOT / "examples" / "torcheasyrec").glob("*.config"))]
    roots = [
        pbtxt.parse(text, "everything.config", Report())
        for text in (*texts, EVERYTHING, *OPTIMIZERS, *SAMPLERS, *MODELS)
    ]
    for root in roots:
        torcheasyrec.read(root)
    return roots


def test_the_tables_are_up_to_date() -> None:
    page = (ROOT / "docs" / "dialects" / "torcheasyrec.md").read_text()
    start = page.index("## Fields that are read")
    assert page[start:] == fields.describe(read_roots(), UNUSED)


def test_no_field_is_both_ignored_and_refused() -> None:
    assert not UNUSED.ignored.keys() & UNUSED.refused.keys()
