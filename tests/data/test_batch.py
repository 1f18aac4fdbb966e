from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
import torch

from polyrec.config import Data, Group, GroupInput, RunConfig, Table, Task, Train, WeightedLoss
from polyrec.data.batch import Collator, empty
from polyrec.data.columns import Dense, Ragged, RaggedDense
from polyrec.data.readers.parquet import Parquet
from polyrec.errors import DataError
from polyrec.families import FeatureConfig, ModelConfig
from polyrec.inits.constant import Constant as Filled
from polyrec.learning import Learning, Optim
from polyrec.losses.binary_cross_entropy import BinaryCrossEntropy
from polyrec.optim.optimizers.sgd import SGD
from polyrec.optim.schedules.constant import Constant


class Given(FeatureConfig):
    """A feature whose values stand in the test, cut to the batch."""

    value: Any
    count: int | None = None
    numbers: int = 0
    ordered: bool = False

    @property
    def inputs(self) -> tuple[str, ...]:
        return ()

    @property
    def rows(self) -> int | None:
        return self.count

    @property
    def width(self) -> int:
        return self.numbers

    @property
    def is_sequence(self) -> bool:
        return self.ordered

    def transform(self, rows: pa.RecordBatch) -> Ragged | Dense | RaggedDense:
        return self.value


class AnyGroups(ModelConfig):
    @property
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        return {}


def ids(name: str, values: list[int], lengths: list[int], weights: list[float] | None = None, **others: Any) -> Given:
    ragged = Ragged(
        np.array(values, np.int64),
        np.array(lengths, np.int32),
        None if weights is None else np.array(weights, np.float32),
    )
    return Given(name=name, value=ragged, count=others.pop("count", 10), **others)


def run(features: list[Given], groups: list[Group], tasks: list[Task] | None = None) -> RunConfig:
    learning = Learning(optimizer=SGD(lr=1), schedule=Constant())
    losses = (WeightedLoss(loss=BinaryCrossEntropy()),)
    names = {item.table for group in groups for item in group.inputs if item.table}
    return RunConfig(
        model_dir="unused",
        data=Data(reader=Parquet(), batch_size=2, eval_batch_size=2),
        features=tuple(features),
        tables=tuple(Table(name=name, rows=10, width=4, init=Filled(value=0)) for name in sorted(names)),
        groups=tuple(groups),
        model=AnyGroups(),
        tasks=tuple(tasks or [Task(label="y", losses=losses)]),
        optim=Optim(tables=learning, dense=learning),
        train=Train(steps=1),
    )


def flat(*inputs: GroupInput) -> Group:
    return Group(name="deep", kind="flat", inputs=inputs)


ROWS = pa.record_batch({"y": [0.0, 1.0]})


def test_ids_of_a_stack_stand_by_table() -> None:
    features = [ids("a", [1, 2, 3], [1, 2]), ids("b", [4], [0, 1]), ids("c", [5, 6], [1, 1])]
    inputs = [GroupInput(feature=f, table=t) for f, t in (("a", "t"), ("b", "u"), ("c", "t"))]
    batch = Collator(run(features, [flat(*inputs)]), with_labels=True)(ROWS)
    (found,) = batch.ids.values()
    assert found.keys() == ["a/t/sum/row", "c/t/sum/row", "b/u/sum/row"]
    assert found.values().tolist() == [1, 2, 3, 5, 6, 4]
    assert found.lengths().tolist() == [1, 2, 1, 1, 0, 1]
    assert found.weights_or_none() is None
    assert batch.labels["y"].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("pooling", "weights", "expected"),
    [
        ("sum", [2.0, 1.0, 3.0], [2, 1, 3]),
        ("mean", None, [1, 0.5, 0.5]),
        ("sqrtn", None, [1, 0.5**0.5, 0.5**0.5]),
        ("mean", [2.0, 1.0, 3.0], [1, 0.25, 0.75]),
        ("sqrtn", [2.0, 3.0, 4.0], [1, 0.6, 0.8]),
        ("mean", [0.0, 1.0, 1.0], [0, 0.5, 0.5]),
    ],
)
def test_pooling_is_a_sum_with_shares(pooling: Any, weights: list[float] | None, expected: list[float]) -> None:
    config = run([ids("a", [1, 2, 3], [1, 2], weights)], [flat(GroupInput(feature="a", table="t", pooling=pooling))])
    (found,) = Collator(config, with_labels=True)(ROWS).ids.values()
    np.testing.assert_allclose(found.weights().numpy(), expected, rtol=1e-6)


def test_a_mean_of_at_most_one_id_needs_no_shares() -> None:
    config = run([ids("a", [1], [1, 0])], [flat(GroupInput(feature="a", table="t", pooling="mean"))])
    (found,) = Collator(config, with_labels=True)(ROWS).ids.values()
    assert found.weights_or_none() is None


@pytest.mark.parametrize("bad", [-1, 10])
def test_an_id_outside_its_table_is_named(bad: int) -> None:
    config = run([ids("a", [1, bad], [1, 1])], [flat(GroupInput(feature="a", table="t"))])
    with pytest.raises(DataError, match=f"feature a: row 1: id {bad} .* has 10"):
        Collator(config, with_labels=True)(ROWS)


def sequences(second: list[int]) -> RunConfig:
    numbers = RaggedDense(np.ones((sum(second), 1), np.float32), np.array(second, np.int32))
    features = [
        ids("clicks", [1, 2, 3], [1, 2], ordered=True),
        Given(name="gaps", value=numbers, numbers=1, ordered=True),
    ]
    inputs = (GroupInput(feature="clicks", table="t"), GroupInput(feature="gaps"))
    return run(features, [Group(name="history", kind="sequence", inputs=inputs)])


def test_sequences_of_a_group_share_their_lengths() -> None:
    batch = Collator(sequences([1, 2]), with_labels=True)(ROWS)
    assert batch.lengths["history"].tolist() == [1, 2]
    assert batch.longest["history"] == 2
    assert [tensor.shape for tensor in batch.sequences["gaps"]] == [(3, 1), (2,)]


def test_sequences_of_a_group_must_be_equally_long() -> None:
    with pytest.raises(DataError, match="group history: row 1: 2 values of clicks but 3 of gaps"):
        Collator(sequences([1, 3]), with_labels=True)(ROWS)


@pytest.mark.parametrize(
    ("values", "classes", "expected", "dtype"),
    [
        (pa.array([0, 1]), 1, [0, 1], torch.float32),
        (pa.array(["0", " 1.5"]), 1, [0, 1.5], torch.float32),
        (pa.array([True, False]), 1, [1, 0], torch.float32),
        (pa.array(["2", "0"]), 3, [2, 0], torch.int64),
        (pa.array([2.0, 1.0]), 3, [2, 1], torch.int64),
        (pa.array([["1"], ["0"]]), 1, [1, 0], torch.float32),
        (pa.array(["1", "0"]).dictionary_encode(), 1, [1, 0], torch.float32),
        (pa.array([[1], [0]], pa.list_(pa.int8(), 1)), 1, [1, 0], torch.float32),
        (pa.array([b"1", b"0"]), 1, [1, 0], torch.float32),
    ],
)
def test_labels_are_cast(values: pa.Array, classes: int, expected: list[float], dtype: torch.dtype) -> None:
    task = Task(label="y", classes=classes, losses=(WeightedLoss(loss=BinaryCrossEntropy()),))
    config = run([ids("a", [1], [1, 0])], [flat(GroupInput(feature="a", table="t"))], [task])
    found = Collator(config, with_labels=True)(pa.record_batch({"y": values})).labels["y"]
    assert found.tolist() == expected
    assert found.dtype == dtype


@pytest.mark.parametrize(
    ("values", "classes", "message"),
    [
        (pa.array([0.0, None]), 1, "column y: row 1: no value; a label, weight or cost is a finite number"),
        (pa.array([0.0, float("nan")]), 1, "column y: row 1: no value"),
        (pa.array([0.0, float("inf")]), 1, "column y: row 1: inf; a label, weight or cost is a finite number"),
        (pa.array(["", "1"]), 1, "column y: row 0: no value"),
        (pa.array(["0", "x"]), 1, "column y: row 1: cannot read 'x' as a number; correct it, or leave such rows out"),
        (pa.array([0.0, 1.5]), 2, "column y: row 1: label 1.5 is none of the 2 classes 0 to 1"),
        (pa.array([0, 5]), 2, "column y: row 1: label 5 is none of the 2 classes 0 to 1"),
        # cross_entropy would leave this one out without a word.
        (pa.array([0, -100]), 2, "column y: row 1: label -100 is none of the 2 classes"),
        (pa.array([[0.0], [1.0, 2.0]]), 1, "column y: row 1: 2 values; a label, weight or cost is one number"),
        (pa.array([[], [1.0]], pa.list_(pa.float64())), 1, "column y: row 0: 0 values"),
        (pa.array([0, None], pa.dictionary(pa.int8(), pa.int64())), 1, "column y: row 1: no value"),
    ],
)
def test_labels_that_cannot_be_used(values: pa.Array, classes: int, message: str) -> None:
    task = Task(label="y", classes=classes, losses=(WeightedLoss(loss=BinaryCrossEntropy()),))
    config = run([ids("a", [1], [1, 0])], [flat(GroupInput(feature="a", table="t"))], [task])
    with pytest.raises(DataError, match=message):
        Collator(config, with_labels=True)(pa.record_batch({"y": values}))


@pytest.mark.parametrize(("classes", "fewest"), [((1, 3), 3), ((3, 1), 3), ((5, 3), 3), ((3, 5), 3), ((5, 1, 3), 3)])
def test_a_label_of_several_tasks_must_suit_them_all(classes: tuple[int, ...], fewest: int) -> None:
    losses = (WeightedLoss(loss=BinaryCrossEntropy()),)
    tasks = [Task(name=f"t{number}", label="y", classes=count, losses=losses) for number, count in enumerate(classes)]
    config = run([ids("a", [1], [1, 0])], [flat(GroupInput(feature="a", table="t"))], tasks)
    collate = Collator(config, with_labels=True)
    assert collate(pa.record_batch({"y": [fewest - 1, 0]})).labels["y"].dtype == torch.int64
    assert empty(config).labels["y"].dtype == torch.int64
    with pytest.raises(DataError, match=f"label {fewest} is none of the {fewest} classes"):
        collate(pa.record_batch({"y": [0, fewest]}))


def test_without_labels_their_columns_are_not_read() -> None:
    task = Task(label="y", sample_weight="w", losses=(WeightedLoss(loss=BinaryCrossEntropy()),))
    config = run([ids("a", [1], [1, 0])], [flat(GroupInput(feature="a", table="t"))], [task])
    batch = Collator(config, with_labels=False)(pa.record_batch({"other": [1, 2]}))
    assert (batch.labels, batch.sample_weights, batch.size) == ({}, {}, 2)
    weighed = Collator(config, with_labels=True)(pa.record_batch({"y": [1, 0], "w": [0.5, 2.0]}))
    assert weighed.sample_weights["w"].tolist() == [0.5, 2]


def test_numbers_stay_as_they_are_and_arrow_s_memory_is_not_lent_for_writing() -> None:
    numbers = pa.array([1.0, 2.0], pa.float32()).to_numpy()[:, None]
    config = run([Given(name="price", value=Dense(numbers), numbers=1)], [flat(GroupInput(feature="price"))])
    found = Collator(config, with_labels=True)(ROWS).dense["price"]
    found += 1
    assert numbers.tolist() == [[1], [2]]


def test_the_empty_batch_has_every_part_of_a_real_one() -> None:
    for config in (sequences([1, 2]), run([ids("a", [1], [1, 0])], [flat(GroupInput(feature="a", table="t"))])):
        real, nothing = Collator(config, with_labels=True)(ROWS), empty(config)
        assert nothing.size == 0
        for part in ("ids", "dense", "sequences", "lengths", "longest", "labels", "sample_weights"):
            assert getattr(real, part).keys() == getattr(nothing, part).keys()
        for name, found in nothing.ids.items():
            assert found.keys() == real.ids[name].keys()
            assert found.stride() == 0
