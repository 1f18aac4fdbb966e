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
data_config { dataset_type: CsvDataset input_fields {} }
feature_configs { custom_feature { expression: "" operator_params { fields { value { list_value {} } } } } }
model_config {
  feature_groups {
    group_type: DEEP
    sequence_groups {}
    sequence_encoders { din_encoder { attn_mlp {} } }
    sequence_encoders { pooling_encoder {} }
  }
  multi_tower { towers { mlp {} } final {} }
  losses { binary_cross_entropy {} }
  losses { softmax_cross_entropy {} }
  losses { l2_loss {} }
  losses { jrc_loss {} }
  losses { binary_focal_loss {} }
  metrics { auc {} }
  metrics { mean_absolute_error {} }
  metrics { mean_squared_error {} }
  metrics { accuracy {} }
  metrics { recall_at_k {} }
  metrics { multiclass_auc {} }
  metrics { grouped_auc {} }
  metrics { xauc {} }
  metrics { grouped_xauc {} }
  metrics { normalized_entropy {} }
  train_metrics { auc {} }
  train_metrics { recall_at_k {} }
  train_metrics { mean_absolute_error {} }
  train_metrics { mean_squared_error {} }
  train_metrics { accuracy {} }
  train_metrics { xauc {} }
}
"""
OPTIMIZERS = [
    f"train_config {{ {part}_optimizer {{ {name}_optimizer {{}} }} }}"
    for part, names in (("sparse", ("adagrad", "rowwise_adagrad", "adam")), ("dense", ("adagrad", "adam", "adamw")))
    for name in names
]
SAMPLERS = [f"data_config {{ {name} {{}} }}" for name in (*KINDS, "tdm_sampler")]
MODELS = [
    "model_config { deepfm { deep {} final {} } }",
    "model_config { multi_tower_din { towers { mlp {} } din_towers { attn_mlp {} } final {} } }",
    "model_config { wide_and_deep { deep {} final {} } }",
    "model_config { dlrm { dense_mlp {} final {} } feature_groups { group_name: 'dense' feature_names: 'a' } "
    "feature_groups { group_name: 'sparse' feature_names: 'a' } }",
    "model_config { dcn_v1 { cross {} deep {} final {} } }",
    "model_config { dcn_v2 { backbone {} cross {} deep {} final {} } }",
    "model_config { xdeepfm { cin {} deep {} final {} } }",
    "model_config { mask_net { mask_net_module { mask_block { reduction_ratio: 0 } top_mlp {} } } }",
    "model_config { wukong { dense_mlp {} wukong_layers { feature_num_mlp {} } final {} } "
    "feature_groups { group_name: 'dense' feature_names: 'a' } "
    "feature_groups { group_name: 'sparse' feature_names: 'a' } }",
    "data_config {} model_config { simple_multi_task { task_towers { mlp {} losses {} metrics {} } } }",
    "data_config {} model_config { mmoe { expert_mlp {} gate_mlp {} task_towers { mlp {} } } }",
    "data_config {} model_config { ple { task_towers { mlp {} } "
    "extraction_networks { share_num: 1 task_expert_net {} share_expert_net {} } } }",
    "data_config {} model_config { dbmtl { mask_net { mask_block {} top_mlp {} } bottom_mlp {} expert_mlp {} "
    "gate_mlp {} task_towers { mlp {} relation_mlp {} } } }",
    "data_config {} model_config { dssm { user_tower { mlp {} } item_tower { mlp {} } } }",
]


def read_roots() -> list[Node]:
    paths = [
        *sorted((ROOT / "examples" / "torcheasyrec").glob("*.config")),
        Path(__file__).parent / "every_option.config",
    ]
    texts = [*(path.read_text() for path in paths), EVERYTHING, *OPTIMIZERS, *SAMPLERS, *MODELS]
    roots = [pbtxt.parse(text, "everything.config", Report()) for text in texts]
    for root in roots:
        torcheasyrec.read(root)
    return roots


def test_the_tables_are_up_to_date() -> None:
    page = (ROOT / "docs" / "dialects" / "torcheasyrec.md").read_text()
    start = page.index("## Fields that are read")
    assert page[start:] == fields.describe(read_roots(), UNUSED)


def test_no_field_is_both_ignored_and_refused() -> None:
    assert not UNUSED.ignored.keys() & UNUSED.refused.keys()
