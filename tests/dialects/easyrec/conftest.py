from __future__ import annotations

from collections.abc import Callable

import pytest

from polyrec.config import RunConfig
from polyrec.dialects import load_text

SMALL = """
train_input_path: "a.csv"
model_dir: "out"
train_config {
  optimizer_config { adam_optimizer { learning_rate { constant_learning_rate {} } } }
  num_steps: 10
}
data_config {
  input_type: CSVInput
  label_fields: "clk"
  input_fields { input_name: "clk" input_type: INT32 }
  input_fields { input_name: "city" input_type: STRING default_val: "rome" }
  input_fields { input_name: "tags" }
  input_fields { input_name: "price" input_type: DOUBLE }
}
feature_config { features { input_names: "city" hash_bucket_size: 9 embedding_dim: 4 } }
model_config {
  model_class: "MultiTower"
  feature_groups { group_name: "deep" feature_names: "city" }
  multi_tower { towers { input: "deep" dnn { hidden_units: 8 } } final_dnn { hidden_units: 8 } }
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
        config = load_text(text, "small.config", "easyrec").config
        assert isinstance(config, RunConfig)
        return config

    return read
