from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from polyrec.config import RunConfig
from polyrec.data.columns import Column, Dense, RaggedBags, RaggedDense
from polyrec.dialects import load_text
from polyrec.errors import ConfigError
from polyrec.features._program import Program

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


AROUND = """
train_input_path: "a.parquet"
eval_input_path: ""
model_dir: "out"
train_config {{
  sparse_optimizer {{ adagrad_optimizer {{}} constant_learning_rate {{}} }}
  dense_optimizer {{ adam_optimizer {{}} constant_learning_rate {{}} }}
  num_steps: 10
}}
data_config {{ dataset_type: ParquetDataset fg_mode: {mode} label_fields: "clk" {data} }}
{features}
feature_configs {{ id_feature {{ feature_name: "beside" expression: "user:beside" num_buckets: 9 embedding_dim: 4 }} }}
model_config {{
  feature_groups {{ group_name: "deep" feature_names: ["beside"{flat}] group_type: DEEP }}
  {sequences}
  multi_tower {{ towers {{ input: "deep" mlp {{ hidden_units: 8 }} }} }}
  losses {{ binary_cross_entropy {{}} }}
}}
"""


@dataclass(frozen=True)
class Door:
    """Configs around the text of a few features, and what those make of columns."""

    mode: str = "FG_DAG"
    data: str = ""
    """More fields of `data_config`."""
    switches: tuple[tuple[str, str], ...] = ()

    def config(self, features: str, flat: str = "f", sequences: str = "") -> RunConfig:
        """`flat` and `sequences` are names of features with blanks between."""
        wrapped = "\n".join(f"feature_configs {{ {feature} }}" for feature in features.strip().split("\n"))
        group = f'feature_groups {{ group_name: "s" feature_names: {names(sequences)} group_type: SEQUENCE }}'
        text = AROUND.format(
            mode=self.mode,
            data=self.data,
            features=wrapped,
            flat="".join(f', "{name}"' for name in flat.split()),
            sequences=group if sequences else "",
        )
        config = load_text(text, "door.config", "torcheasyrec", switches=dict(self.switches)).config
        assert isinstance(config, RunConfig)
        return config

    def problems(self, features: str, flat: str = "f", sequences: str = "") -> str:
        with pytest.raises(ConfigError) as caught:
            self.config(features, flat, sequences)
        assert all(problem.origin is not None for problem in caught.value.problems)
        return str(caught.value)

    def rows(self, feature: str, **columns: Any) -> list[Any]:
        """What the feature `f` makes of each row."""
        return by_row(self.program(self.config(feature), columns)["f"])

    def positions(self, feature: str, name: str = "f", **columns: Any) -> list[Any]:
        """What the sequence makes of each row."""
        return by_row(self.program(self.config(feature, "", name), columns)[name])

    def program(self, config: RunConfig, columns: dict[str, Any]) -> dict[str, Column]:
        arrays = {
            name: column if isinstance(column, pa.Array) else pa.array(column) for name, column in columns.items()
        }
        count = len(next(iter(arrays.values())))
        rows = pa.record_batch({"beside": pa.array([0] * count), **arrays})
        assert set(config.feature_columns) <= set(rows.schema.names)
        return Program(config)(rows.select(list(config.feature_columns)))


def names(text: str) -> str:
    return "[" + ", ".join(f'"{name}"' for name in text.split()) + "]"


def by_row(column: Column) -> list[Any]:
    """Ids, or pairs of ids and weights, or numbers of each row; of each position in a list of lists."""
    if isinstance(column, Dense):
        return [row if len(row) > 1 else row[0] for row in rounded(column.values).tolist()]
    if isinstance(column, RaggedDense):
        numbers = [row if len(row) > 1 else row[0] for row in rounded(column.values).tolist()]
        return cut(numbers, column.lengths)
    values = column.values.tolist()
    if column.weights is not None:
        values = list(zip(values, column.weights.tolist(), strict=True))
    if isinstance(column, RaggedBags):
        values = cut(values, column.counts)
    return cut(values, column.lengths)


def rounded(values: np.ndarray) -> np.ndarray:
    return np.round(values.astype(np.float64), 5)


def cut(values: list[Any], lengths: np.ndarray) -> list[Any]:
    ends = np.cumsum(lengths).tolist()
    return [values[end - length : end] for end, length in zip(ends, lengths.tolist(), strict=True)]


@pytest.fixture
def door() -> type[Door]:
    return Door
