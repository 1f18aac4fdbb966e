"""The dssm message, with its sampler."""

from __future__ import annotations

from typing import Any

import pytest

from polyrec.dialects import load_text
from polyrec.errors import ConfigError

TEXT = """
train_input_path: "a.parquet"
model_dir: "out"
train_config {
  sparse_optimizer { adagrad_optimizer {} constant_learning_rate {} }
  dense_optimizer { adam_optimizer {} constant_learning_rate {} }
  num_steps: 10
}
data_config {
  dataset_type: ParquetDataset
  fg_mode: FG_DAG
  label_fields: "clk"
  negative_sampler { input_path: "i.txt" num_sample: 5 attr_fields: ["item", "cate"] item_id_field: "item" }
}
feature_configs { id_feature { feature_name: "user" expression: "user:user" num_buckets: 9 embedding_dim: 4 } }
feature_configs { id_feature {
  feature_name: "last" expression: "user:last" num_buckets: 9 embedding_dim: 4 embedding_name: "items"
} }
feature_configs { id_feature {
  feature_name: "item" expression: "item:item" num_buckets: 9 embedding_dim: 4 embedding_name: "items"
} }
feature_configs { id_feature { feature_name: "cate" expression: "item:cate" num_buckets: 9 embedding_dim: 4 } }
model_config {
  feature_groups { group_name: "user" feature_names: ["user", "last"] group_type: DEEP }
  feature_groups { group_name: "item" feature_names: ["item", "cate"] group_type: DEEP }
  dssm {
    user_tower { input: "user" mlp { hidden_units: [16, 8] } }
    item_tower { input: "item" mlp { hidden_units: 8 use_bn: true } }
    output_dim: 6
  }
  metrics { recall_at_k { top_k: 3 } }
  metrics { recall_at_k {} }
  losses { softmax_cross_entropy {} }
}
"""


def read(*changes: tuple[str, str]) -> Any:
    text = TEXT
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return load_text(text, "dssm.config", "torcheasyrec").config


def test_two_towers() -> None:
    config = read()
    model = config.model
    assert model.kind == "dssm"
    assert (model.user.group, model.item.group, model.output) == ("user", "item", 6)
    assert (model.user.mlp.hidden, model.item.mlp.hidden) == ((16, 8), (8,))
    assert model.item.mlp.norm.kind == "batch"
    assert (model.similarity, model.temperature, model.kernel.kind) == ("inner_product", 1.0, "linear")
    (task,) = config.tasks
    assert (task.label, task.classes) == ("clk", 1)
    assert [item.loss.kind for item in task.losses] == ["sampled_softmax"]
    assert [metric.title for metric in task.metrics] == ["recall_at_3", "recall_at_5"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [("COSINE", "cosine"), ("INNER_PRODUCT", "inner_product"), ("EUCLID", "euclid"), (0, "cosine")],
)
def test_similarities(word: object, expected: str) -> None:
    model = read(("output_dim: 6", f"output_dim: 6 similarity: {word} temperature: 0.05")).model
    assert (model.similarity, model.temperature) == (expected, 0.05)


def test_towers_share_no_table() -> None:
    config = read()
    tables = {group.name: [item.table for item in group.inputs] for group in config.groups}
    assert tables == {"user": ["user_emb", "items"], "item": ["items_item", "cate_emb"]}
    rows = {table.name: (table.rows, table.width) for table in config.tables}
    assert rows["items_item"] == rows["items"] == (9, 4)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("output_dim: 6", "", "dssm.output_dim: is required"),
        ('item_tower { input: "item" mlp { hidden_units: 8 use_bn: true } }', "", "dssm.item_tower: is required"),
        ('input: "user" mlp', 'input: "usr" mlp', "no feature group is called usr; did you mean user?"),
        ("output_dim: 6", "output_dim: 6 in_batch_negative: true", "negatives of the batch are not available yet"),
        ("softmax_cross_entropy {}", "l2_loss {}", "dssm learns by softmax_cross_entropy"),
        ("softmax_cross_entropy {}", "softmax_cross_entropy { label_smoothing: 0.1 }", "without label_smoothing"),
        ("recall_at_k {}", "auc {}", "auc takes no sampled items; use sampled_softmax and recall_at_k"),
        ('["item", "cate"] item_id', '["cate"] item_id', "ok"),
        ("negative_sampler {", "ignored {", "unknown field"),
    ],
)
def test_what_cannot_be(old: str, new: str, message: str) -> None:
    if message == "ok":
        assert read((old, new)).data.sampler.item_columns == ("item", "cate")
        return
    with pytest.raises(ConfigError) as caught:
        read((old, new))
    assert message in str(caught.value)
    assert all(problem.origin is not None for problem in caught.value.problems)


def test_without_a_sampler_there_is_nothing_to_compare_with() -> None:
    line = TEXT[TEXT.index("  negative_sampler") :].partition("\n")[0]
    with pytest.raises(ConfigError, match=r"softmax_cross_entropy compares with sampled items; set data.sampler"):
        read((line, ""))


@pytest.mark.parametrize("name", ["recall@5", "recall_at_5"])
def test_the_best_checkpoint_may_go_by_either_name(name: str) -> None:
    config = read(
        ("data_config {", f'export_config {{ exporter_type: "best" best_exporter_metric: "{name}" }} data_config {{')
    )
    assert config.export.metric == "recall_at_5"
