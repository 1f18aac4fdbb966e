"""Rows in which features are hidden: as many as asked for, the same when a run comes to them once more."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import small_training as small

from polyrec.config import RunConfig
from polyrec.data.columns import Dense, Ragged
from polyrec.data.masking import generator, hidden_rows, hide
from polyrec.features._program import Program


def config(*features: str) -> RunConfig:
    return small.config(Path(), data__masking={"features": features, "probability": 0.5})


def rows(size: int) -> pa.RecordBatch:
    return small.rows(size, seed=3).combine_chunks().to_batches()[0]


def test_hidden_features_count_as_missing_and_the_others_stay() -> None:
    found = rows(200)
    hidden = hide(found, 0.5, generator(1, 0, 0, 0))
    chosen = hidden_rows(hidden)
    assert chosen is not None
    plain, masked = Program(config("color", "price"))(found), Program(config("color", "price"))(hidden)
    color, price = masked["color"], masked["price"]
    assert isinstance(color, Ragged)
    assert isinstance(price, Dense)
    assert np.array_equal(color.lengths, np.where(chosen, 0, 1))
    assert np.array_equal(price.values[:, 0], np.where(chosen, 0, found.column("price").to_numpy()))
    for name in ("item", "history"):
        assert np.array_equal(masked[name].values, plain[name].values)
    # Without masking in the config the marks say nothing.
    assert np.array_equal(Program(small.config(Path()))(hidden)["price"].values, plain["price"].values)


def test_a_feature_is_hidden_and_not_the_column_that_others_read_too() -> None:
    settings = small.settings(Path(), data__masking={"features": ["price"], "probability": 1.0})
    settings["features"].append({"kind": "raw", "name": "again", "column": "price", "default": 0.0})
    settings["groups"][0]["inputs"].append({"feature": "again"})
    found = rows(20)
    made = Program(RunConfig.model_validate(settings))(hide(found, 1.0, generator(1, 0, 0, 0)))
    assert not made["price"].values.any()
    assert np.array_equal(made["again"].values[:, 0], found.column("price").to_numpy())


def test_the_share_of_rows_and_what_decides_it() -> None:
    found = rows(20000)

    def chosen(*place: int) -> np.ndarray:
        hidden = hidden_rows(hide(found, 0.1, generator(*place)))
        assert hidden is not None
        return hidden

    first = chosen(1, 0, 0, 0)
    assert abs(first.mean() - 0.1) < 4 * np.sqrt(0.1 * 0.9 / 20000)
    assert np.array_equal(chosen(1, 0, 0, 0), first)
    for other in ((2, 0, 0, 0), (1, 1, 0, 0), (1, 0, 1, 0), (1, 0, 0, 1)):
        assert not np.array_equal(chosen(*other), first)
    assert hidden_rows(hide(found, 0.0, generator(1, 0, 0, 0))) is None
