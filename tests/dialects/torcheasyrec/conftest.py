from __future__ import annotations

from collections.abc import Callable

import pytest

from polyrec.config import RunConfig
from polyrec.dialects import load_text

SMALL = """
train_input_path: "a.parquet"
eval_input_path: ""
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
}
feature_configs { id_feature { feature_name: "city" expression: "user:town" num_buckets: 9 embedding_dim: 4 } }
model_config {
  feature_groups { group_name: "deep" feature_names: "city" group_type: DEEP }
  multi_tower { towers { input: "deep" mlp { hidden_units: 8 } } }
  losses { binary_cross_entropy {} }
}
"""


@pytest.fixture
def small() -> str:
    """The least that a config can say."""
    return SMALL


@pytest.fixture
def read(small: str) -> Callable[..., RunConfig]:
    """The small config with pieces of its text replaced, read."""

    def read(*changes: tuple[str, str]) -> RunConfig:
        text = small
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        config = load_text(text, "small.config", "torcheasyrec").config
        assert isinstance(config, RunConfig)
        return config

    return read
