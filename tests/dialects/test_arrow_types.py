"""Every type of column that a user may have, nullable, through Parquet files and the configs of both dialects that read
them, with all that moves rows about: shuffling, the filling up of batches, and rows that are left out."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from polyrec.config import RunConfig
from polyrec.data.columns import Dense, Ragged, RaggedBags
from polyrec.dialects import load_text
from polyrec.distributed import Ranks
from polyrec.features._hashing import farm64, hash_texts, murmur64
from polyrec.features._program import Program
from polyrec.runtime import World
from polyrec.train.source import Source

ROWS, BUCKETS = 60, 1000
EPOCH = datetime.datetime(1970, 1, 1)


def number(row: int) -> int:
    return row % 9


def word(row: int) -> str:
    return ["rome", "東京", "x"][row % 3] + str(row % 4)


WHOLE = {f"{sign}int{width}": getattr(pa, f"{sign}int{width}")() for sign in ("", "u") for width in (8, 16, 32, 64)}
TIMES = {
    "moment": (pa.timestamp("ms"), lambda row: EPOCH + datetime.timedelta(seconds=row), lambda row: str(row * 1000)),
    "zoned": (
        pa.timestamp("us", "Asia/Shanghai"),
        lambda row: EPOCH + datetime.timedelta(seconds=row),
        lambda row: str(row * 10**6),
    ),
    "date": (pa.date32(), lambda row: EPOCH.date() + datetime.timedelta(days=row), str),
}
SINGLE: dict[str, tuple[pa.DataType, Any, Any]] = {
    **{name: (kind, number, lambda row: str(number(row))) for name, kind in WHOLE.items()},
    "bool": (pa.bool_(), lambda row: row % 2 == 1, lambda row: "true" if row % 2 else "false"),
    "half": (pa.float16(), lambda row: np.float16(number(row) + 0.5), lambda row: f"{number(row)}.5"),
    "float": (pa.float32(), lambda row: number(row) + 0.1, lambda row: f"{number(row)}.1"),
    "double": (pa.float64(), lambda row: number(row) + 0.1, lambda row: f"{number(row)}.1"),
    "decimal": (
        pa.decimal128(6, 2),
        lambda row: decimal.Decimal(number(row)) / 4,
        lambda row: f"{number(row) / 4:.2f}",
    ),
    **TIMES,
    "string": (pa.string(), word, word),
    "large_string": (pa.large_string(), word, word),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), word, word),
}
"""The type, the value of a row, and the text that it is hashed as."""
SEVERAL: dict[str, tuple[pa.DataType, Any, Any]] = {
    "list": (pa.list_(pa.int64()), lambda row: [number(row), row], lambda row: [str(number(row)), str(row)]),
    "large_list": (pa.large_list(pa.string()), *[lambda row: [word(row)] * (row % 3)] * 2),
    "dictionaries": (pa.list_(pa.dictionary(pa.int32(), pa.string())), *[lambda row: [word(row), "a"]] * 2),
}  # fmt: skip
NESTED = {"nested": pa.list_(pa.list_(pa.int64())), "large_nested": pa.large_list(pa.large_list(pa.string()))}
MAPS = {"map": pa.map_(pa.string(), pa.float64()), "int_map": pa.map_(pa.int64(), pa.int32())}
BAD = 17
"""A row without a label, which is left out."""


def is_null(name: str, row: int) -> bool:
    return (row + len(name)) % 7 == 0


def positions(row: int) -> list[list[int]]:
    return [[number(row), row], [], [row]][: row % 4]


def table(start: int, stop: int) -> pa.Table:
    columns = {}
    for name, (kind, value, _) in {**SINGLE, **SEVERAL}.items():
        given = [None if is_null(name, row) else value(row) for row in range(start, stop)]
        columns[name] = (
            pa.array(given, kind) if not pa.types.is_dictionary(kind) else pa.array(given).dictionary_encode()
        )
    for name, kind in NESTED.items():
        made = [None if is_null(name, row) else positions(row) for row in range(start, stop)]
        if name == "large_nested":
            made = [row and [[str(value) for value in part] for part in row] for row in made]
        columns[name] = pa.array(made, kind)
    for name, kind in MAPS.items():
        keys = (word, str) if name == "map" else (number, lambda row: 100 + row)
        columns[name] = pa.array(
            [None if is_null(name, row) else [(keys[0](row), 2), (keys[1](row), 3)] for row in range(start, stop)], kind
        )
    columns["row"] = pa.array([None if row == BAD else row for row in range(start, stop)], pa.int64())
    return pa.table(columns)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    for number_of, start in enumerate((0, 25)):
        part = table(start, 25 if start == 0 else ROWS)
        pq.write_table(part, tmp_path / "data" / f"part-{number_of}.parquet", row_group_size=9)
    return tmp_path


def hashed(texts: list[str], function: Any) -> list[int]:
    return (hash_texts(pa.array(texts, pa.string()), function) % np.uint64(BUCKETS)).tolist() if texts else []


def columns_made(config: RunConfig) -> dict[int, dict[str, Any]]:
    """For each row what each feature made of it, read as training reads it."""
    changed = {**config.model_dump(), "data": {**config.model_dump()["data"], "faults": {"policy": "skip"}}}
    config = RunConfig.model_validate(changed)
    source, program = Source(config, config.data.train, Ranks(World(rank=0, size=1)), is_training=True), Program(config)
    found: dict[int, dict[str, Any]] = {}
    for (_, made, rows), _ in source.loader.prepared(
        lambda rows, number: (source._prepare(0)(rows, number), program(rows), rows), 0
    ):
        for name, column in made.items():
            for place, row in enumerate(rows.column("row").to_pylist()):
                found.setdefault(row, {})[name] = of_row(column, place)
    return found


def of_row(column: Any, place: int) -> Any:
    if isinstance(column, Dense):
        return column.values[place].tolist()
    ends = np.concatenate(([0], np.cumsum(column.lengths)))
    if isinstance(column, RaggedBags):
        bags = np.concatenate(([0], np.cumsum(column.counts)))
        return [column.values[bags[at] : bags[at + 1]].tolist() for at in range(ends[place], ends[place + 1])]
    assert isinstance(column, Ragged)
    values = column.values[ends[place] : ends[place + 1]].tolist()
    if column.weights is None:
        return values
    return list(zip(values, column.weights[ends[place] : ends[place + 1]].tolist(), strict=True))


TORCHEASYREC = """
train_input_path: "FOLDER/data"
eval_input_path: ""
model_dir: "FOLDER/model"
train_config {
  sparse_optimizer { adagrad_optimizer {} constant_learning_rate {} }
  dense_optimizer { adam_optimizer {} constant_learning_rate {} }
  num_steps: 10
}
data_config {
  dataset_type: ParquetDataset fg_mode: FG_DAG label_fields: "row" batch_size: 8 shuffle: true shuffle_buffer_size: 2
}
FEATURES
model_config {
  feature_groups { group_name: "deep" group_type: DEEP feature_names: [NAMES] }
  feature_groups { group_name: "seen" group_type: SEQUENCE feature_names: ["nested", "first"] }
  feature_groups { group_name: "words" group_type: SEQUENCE feature_names: ["large_nested", "first"] }
  multi_tower_din {
    towers { input: "deep" mlp { hidden_units: 8 } }
    din_towers { input: "seen" attn_mlp { hidden_units: 8 } }
    din_towers { input: "words" attn_mlp { hidden_units: 8 } }
    final { hidden_units: 8 }
  }
  losses { l2_loss {} }
}
"""
IDS = """feature_configs {{ id_feature {{ feature_name: "{0}" expression: "user:{0}" hash_bucket_size: 1000
  embedding_dim: 4 {1} }} }}"""
NUMBERS = (
    'feature_configs {{ raw_feature {{ feature_name: "{0}_number" expression: "user:{0}" default_value: "-3" }} }}'
)
SEQUENCES = """feature_configs {{ sequence_id_feature {{ feature_name: "{0}" expression: "user:{0}" sequence_length: 3
  value_dim: 0 hash_bucket_size: 1000 embedding_dim: 4 }} }}"""
OF_NUMBERS = [*WHOLE, "bool", "half", "float", "double", "decimal"]


def test_torcheasyrec_reads_every_type(folder: Path) -> None:
    features = [IDS.format(name, "") for name in (*SINGLE, *SEVERAL)]
    features += [IDS.format(name, "weighted: true") for name in MAPS]
    features += [IDS.format("first", "").replace("user:first", "user:string")]
    features += [NUMBERS.format(name) for name in OF_NUMBERS] + [SEQUENCES.format(name) for name in NESTED]
    names = [*SINGLE, *SEVERAL, *MAPS, *(f"{name}_number" for name in OF_NUMBERS)]
    text = TORCHEASYREC.replace("FOLDER", str(folder)).replace("FEATURES", "\n".join(features))
    text = text.replace("NAMES", ", ".join(f'"{name}"' for name in names))
    config = load_text(text, "types.config", "torcheasyrec").config
    assert isinstance(config, RunConfig)
    found = columns_made(config)
    assert sorted(found) == [row for row in range(ROWS) if row != BAD]
    assert list(found) != sorted(found)
    for row, made in found.items():
        for name, (_, _, text_of) in SINGLE.items():
            assert made[name] == ([] if is_null(name, row) else hashed([text_of(row)], murmur64)), (name, row)
        for name, (_, _, texts_of) in SEVERAL.items():
            assert made[name] == ([] if is_null(name, row) else hashed(texts_of(row), murmur64)), (name, row)
        for name in OF_NUMBERS:
            _, value, _ = SINGLE[name]
            wanted = -3 if is_null(name, row) else float(value(row))
            assert made[f"{name}_number"] == pytest.approx([wanted]), (name, row)
        keys = {"map": [word(row), str(row)], "int_map": [str(number(row)), str(100 + row)]}
        for name in MAPS:
            pairs = [] if is_null(name, row) else list(zip(hashed(keys[name], murmur64), [2.0, 3.0], strict=True))
            assert made[name] == pairs, (name, row)
        for name in NESTED:
            # A sequence without any position has one of "0", and so does an empty position.
            parts = [] if is_null(name, row) else positions(row)
            wanted = [hashed([str(value) for value in part or [0]], murmur64) for part in (parts or [[0]])[:3]]
            assert made[name] == wanted, (name, row)


EASYREC = """
train_input_path: "FOLDER/data"
model_dir: "FOLDER/model"
train_config {
  optimizer_config { adam_optimizer { learning_rate { constant_learning_rate {} } } }
  num_steps: 10
}
data_config {
  input_type: ParquetInput label_fields: "row" batch_size: 8 shuffle_buffer_size: 20
  INPUTS
}
feature_config { FEATURES }
model_config {
  model_class: "MultiTower"
  feature_groups { group_name: "deep" feature_names: [NAMES] }
  multi_tower { towers { input: "deep" dnn { hidden_units: 8 } } final_dnn { hidden_units: 8 } }
  loss_type: L2_LOSS
}
"""


def test_easyrec_reads_every_type(folder: Path) -> None:
    words = [*WHOLE, "bool", "decimal", *TIMES, "string", "large_string", "dictionary"]
    inputs = [f'input_fields {{ input_name: "{name}" }}' for name in (*words, *SEVERAL, "map")]
    inputs += [f'input_fields {{ input_name: "{name}" input_type: DOUBLE }}' for name in ("half", "float", "double")]
    inputs += ['input_fields { input_name: "row" input_type: INT64 }']
    features = [f'features {{ input_names: "{name}" hash_bucket_size: 1000 embedding_dim: 4 }}' for name in words]
    features += [
        f'features {{ input_names: "{name}" feature_type: TagFeature hash_bucket_size: 1000 embedding_dim: 4 }}'
        for name in SEVERAL
    ]
    numbers = ["half", "float", "double"]
    features += [f'features {{ input_names: "{name}" feature_type: RawFeature }}' for name in numbers]
    text = EASYREC.replace("FOLDER", str(folder)).replace("INPUTS", "\n".join(inputs))
    names = ", ".join(f'"{name}"' for name in (*words, *SEVERAL, *numbers))
    text = text.replace("FEATURES", "\n".join(features)).replace("NAMES", names)
    config = load_text(text, "types.config", "easyrec").config
    assert isinstance(config, RunConfig)
    found = columns_made(config)
    assert sorted(found) == [row for row in range(ROWS) if row != BAD]
    for row, made in found.items():
        for name in words:
            _, _, text_of = SINGLE[name]
            # Nothing is no id where a file has types of its own.
            assert made[name] == ([] if is_null(name, row) else hashed([text_of(row)], farm64)), (name, row)
        for name, (_, _, texts_of) in SEVERAL.items():
            assert made[name] == ([] if is_null(name, row) else hashed(texts_of(row), farm64)), (name, row)
        for name in numbers:
            wanted = 0 if is_null(name, row) else float(SINGLE[name][1](row))
            assert made[name] == pytest.approx([wanted]), (name, row)
