"""Rows that losses and metrics take together, by the values of a column."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_training as small

from polyrec import api
from polyrec.checks import notes
from polyrec.config import RunConfig
from polyrec.data.batch import Collator, empty
from polyrec.data.grouping import NO_VALUE, group_ids
from polyrec.errors import DataError


def ids(values: Any) -> np.ndarray:
    array = values if isinstance(values, pa.Array) else pa.array(values)
    found = group_ids(pa.record_batch({"user": array}), "user")
    assert found.dtype == np.int64
    return found


def together(values: Any) -> list[int]:
    """Of each row the first that it goes with."""
    found = ids(values).tolist()
    return [found.index(value) for value in found]


@pytest.mark.parametrize(
    "values",
    [
        ["ann", "bob", "ann", "bob"],
        [7, -1, 7, -1],
        [0.5, 2.0, 0.5, 2.0],
        [True, False, True, False],
        [2**63 - 1, -(2**63), 2**63 - 1, -(2**63)],
        [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)] * 2,
        [b"ann", b"bob", b"ann", b"bob"],
        pa.array(["ann", "bob", "ann", "bob"]).dictionary_encode(),
    ],
)
def test_rows_of_equal_values_go_together_whatever_their_type(values: Sequence[Any]) -> None:
    assert together(values) == [0, 1, 0, 1]


def test_the_first_of_several_values_counts_and_none_is_a_group_too() -> None:
    assert together([["a", "b"], ["a"], ["b", "a"], [], None, [None, "b"]]) == [0, 0, 2, 3, 3, 2]
    assert together(["a", None, "b", None]) == [0, 1, 2, 1]
    assert ids([None, 3])[0] == NO_VALUE


def test_numbers_are_the_same_in_every_batch_file_and_process() -> None:
    """So they depend on nothing but the value: murmur64 of its text, modulo 2**63 - 1."""
    assert ids(["12", "x"])[0] == ids([12])[0] == ids(pa.array([12], pa.int8()))[0] == ids([12.0])[0]
    assert ids(pa.array(["b", "a"]).dictionary_encode())[1] == ids(["a"])[0]


def test_many_values_stay_apart() -> None:
    assert len(np.unique(ids(np.arange(100_000)))) == 100_000


def run(folder: Path, **changes: Any) -> RunConfig:
    """A run whose loss takes rows together by a derived column that no feature reads."""
    number = {"kind": "expression", "variables": {"x": "session"}, "text": "floor(x / 10)", "missing": "skip"}
    task = {
        "label": "click",
        "losses": [{"loss": {"kind": "jrc", "group": "ten"}}],
        "metrics": [{"kind": "grouped_auc", "group": "color"}],
        "classes": 2,
    }
    return small.config(folder, tasks=[task], derived=[{"name": "ten", "operator": number}], **changes)


def test_derived_columns_make_groups_and_their_columns_are_read(tmp_path: Path) -> None:
    config = run(tmp_path)
    assert config.group_columns == ("ten", "color")
    assert "session" in config.columns
    assert "session" not in config.feature_columns
    assert "ten" not in [path for path, _ in notes(config)]
    rows = small.rows(4, 0).append_column("session", pa.array([1, 12, 3, 19])).combine_chunks().to_batches()[0]
    batch = Collator(config, with_labels=True)(rows)
    assert (batch.groups["ten"] == batch.groups["ten"][[0, 1, 0, 1]]).all()
    assert batch.groups["ten"].unique().numel() == 2
    assert batch.nbytes > Collator(config, with_labels=False)(rows).nbytes
    assert Collator(config, with_labels=False)(rows).groups == {}
    assert {name: len(found) for name, found in empty(config).groups.items()} == {"ten": 0, "color": 0}


def test_a_session_that_cannot_be_used_leaves_its_row_out(tmp_path: Path) -> None:
    for name in ("train", "eval"):
        (tmp_path / name).mkdir()
        sessions = ["1"] * 300
        sessions[7] = "many"
        table = small.rows(300, seed=1).append_column("session", pa.array(sessions))
        pq.write_table(table, tmp_path / name / "part.parquet")
    changes = {"train__epochs": 1, "model_dir": str(tmp_path / "model")}
    with pytest.raises(DataError, match="session"):
        api.train(run(tmp_path, **changes))
    config = run(tmp_path, **changes, data__faults={"policy": "skip"})
    assert api.train(config)["samples"] == 299
