"""Configs around the features of a test, and what these make of lines of CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from polyrec.config import RunConfig
from polyrec.data.columns import Dense, Ragged, RaggedBags, RaggedDense
from polyrec.data.readers import Span
from polyrec.dialects import load_text
from polyrec.features._program import Program

COLUMNS = {"label": "INT32", "a": "STRING", "b": "STRING", "n": "INT64", "x": "FLOAT", "y": "DOUBLE"}


def text_of(features: str, groups: str, **parts: str) -> str:
    """A config of the columns above; `parts` are more text of a message."""
    fields = "\n".join(f'input_fields {{ input_name: "{name}" input_type: {kind} }}' for name, kind in COLUMNS.items())
    model = parts.get("model", "")
    towers = parts.get("towers", 'towers { input: "deep" dnn { hidden_units: 4 } }')
    return f"""
train_input_path: "a.csv"
model_dir: "out"
train_config {{
  num_steps: 1
  optimizer_config {{ adam_optimizer {{ learning_rate {{ constant_learning_rate {{}} }} }} }}
}}
data_config {{ input_type: CSVInput label_fields: "label" {parts.get("data", "")} {fields} }}
feature_config {{ {features} }}
model_config {{
  model_class: "{parts.get("model_class", "MultiTower")}"
  {groups}
  multi_tower {{ {towers} final_dnn {{ hidden_units: 4 }} }}
  {model}
}}
"""


def deep(*names: str, more: str = "") -> str:
    listed = ", ".join(f'"{name}"' for name in names)
    return f'feature_groups {{ group_name: "deep" feature_names: [{listed}] {more} }}'


def read(text: str) -> RunConfig:
    config = load_text(text, "test.config", "easyrec").config
    assert isinstance(config, RunConfig)
    return config


def made(config: RunConfig, lines: str, folder: Path) -> dict[str, Any]:
    """What every feature makes of these lines, as lists."""
    path = folder / "rows.csv"
    path.write_text(lines, encoding="utf-8")
    reader = config.data.reader
    ((_, rows),) = list(reader.read(Span(str(path), 0, reader.length(str(path))), config.feature_columns))
    return {name: listed(column) for name, column in Program(config)(rows).items()}


def listed(column: Dense | Ragged | RaggedBags | RaggedDense) -> Any:
    """Of ids each row's; with (id, weight) where they have weights; of a sequence's positions the same."""
    if isinstance(column, Dense):
        return [[round(float(number), 6) for number in row] for row in column.values]
    if isinstance(column, RaggedDense):
        return [
            [[round(float(number), 6) for number in place] for place in row]
            for row in cut(column.values, column.lengths)
        ]
    values: Any = column.values.tolist()
    if column.weights is not None:
        values = [(id, round(float(weight), 6)) for id, weight in zip(values, column.weights, strict=True)]
    if isinstance(column, RaggedBags):
        return cut(cut(values, column.counts), column.lengths)
    return cut(values, column.lengths)


def cut(values: Any, lengths: np.ndarray) -> list[Any]:
    ends = np.cumsum(lengths)
    return [list(values[end - length : end]) for end, length in zip(ends.tolist(), lengths.tolist(), strict=True)]
