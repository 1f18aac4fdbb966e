"""Tables that share their rows out among values of any size, as parts of a run."""

from __future__ import annotations

from pathlib import Path

import by_hand
import numpy as np
import pyarrow as pa
import pytest
import torch
from small_runs import Ids, flat, of, run, sequence, table
from valued_runs import ANY, valued_rows, valued_run

from polyrec.checkpoint import tensors
from polyrec.checks import check
from polyrec.config import Collisions, RunConfig
from polyrec.data.batch import Batch, Collator, empty
from polyrec.data.columns import RowError
from polyrec.embedding import Embedding
from polyrec.embedding.initial import restarted
from polyrec.families import OptimizerConfig
from polyrec.optim.optimizers.adagrad import Adagrad
from polyrec.optim.optimizers.adam import Adam
from polyrec.optim.optimizers.sgd import SGD

CPU = torch.device("cpu")
OPTIMIZERS = [Adagrad(lr=0.1, initial_accumulator=0.1, eps=0.0), Adam(lr=0.1, beta1=0.9, beta2=0.99, eps=1e-4)]
LFU = Collisions(eviction="lfu", every_steps=3)


def one_table(optimizer: OptimizerConfig, as_sequence: bool = False, **others: object) -> RunConfig:
    group = sequence("deep", of("a", "t")) if as_sequence else flat("deep", of("a", "t"))
    settings = {"collisions": LFU, **others}
    return run((Ids(name="a", count=ANY, ordered=as_sequence),), (table("t", 3, 2, **settings),), (group,), optimizer)


def batch_of(config: RunConfig, *ids: int) -> Batch:
    rows = pa.record_batch({"a": pa.array([[value] for value in ids], pa.list_(pa.int64()))})
    return Collator(config, with_labels=False)(rows)


@pytest.mark.parametrize("as_sequence", [False, True], ids=["flat", "sequence"])
def test_each_value_moves_its_own_row(as_sequence: bool) -> None:
    config = one_table(SGD(lr=1.0), as_sequence)
    embedding = Embedding(config, device=CPU)
    weight = embedding.weights()["t.weight"]
    before = weight.clone()
    key = "deep.sequence" if as_sequence else "deep"
    big, other, stranger = 2**62 + 5, 3, 17
    found = embedding(batch_of(config, big, other, big)).groups[key].reshape(3, 2)
    assert torch.equal(found.detach(), before[[0, 1, 0]])
    found.sum().backward()
    torch.testing.assert_close(before - weight, torch.tensor([[2.0, 2], [1, 1], [0, 0]]))
    found = embedding(batch_of(config, stranger, 99)).groups[key].reshape(2, 2)
    assert torch.equal(found.detach(), weight[[2, 2]])
    found.sum().backward()
    torch.testing.assert_close(before - weight, torch.tensor([[2.0, 2], [1, 1], [2, 2]]))


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda item: item.kind)
@pytest.mark.parametrize("precision", ["fp32", "fp16"])
def test_a_row_that_changes_hands_starts_anew_with_its_states(optimizer: OptimizerConfig, precision: str) -> None:
    config = one_table(optimizer, precision=precision)
    embedding = Embedding(config, device=CPU)
    weight, states = embedding.weights()["t.weight"], embedding.states()
    for ids in ((5, 5, 6), (7, 7, 7)):
        embedding(batch_of(config, *ids)).groups["deep"].square().sum().backward()
    kept, held = weight.clone(), {name: state.clone() for name, state in states.items()}
    found = embedding(batch_of(config, 5)).groups["deep"]  # the third step is a round: 7 takes the row of 6
    fresh = restarted(config.tables[0], 1, 3, config.train.seed).to(weight.dtype)
    assert torch.equal(weight[1], fresh[0])
    assert torch.equal(weight[0], kept[0])
    assert torch.equal(weight[2], kept[2])
    for name, state in states.items():
        start = optimizer.rows_rule().states[name.partition(".")[2]].start
        assert (state[1] == start).all()
        assert torch.equal(state[0], held[name][0])
        assert torch.equal(state[2], held[name][2])
        assert not torch.equal(held[name][1], state[1])
    found.sum().backward()
    seven = embedding.eval()(batch_of(config, 7, 6)).groups["deep"]
    assert torch.equal(seven.detach(), weight[[1, 2]].float())


def test_only_training_learns_values() -> None:
    config = one_table(SGD(lr=1.0))
    embedding = Embedding(config, device=CPU)
    weight = embedding.weights()["t.weight"]
    for _ in range(2):
        with torch.no_grad():
            found = embedding(batch_of(config, 1, 2)).groups["deep"]
        assert torch.equal(found, weight[[2, 2]])
        found = embedding.eval()(batch_of(config, 1, 2)).groups["deep"]
        assert torch.equal(found.detach(), weight[[2, 2]])
        embedding.train()
    assert torch.equal(embedding(batch_of(config, 1, 2)).groups["deep"].detach(), weight[[0, 1]])
    frozen = one_table(SGD(lr=1.0), trainable=False)
    found = Embedding(frozen, device=CPU)
    assert torch.equal(found(batch_of(frozen, 1, 2)).groups["deep"], found.weights()["t.weight"][[2, 2]])


def test_a_value_is_the_same_in_all_features_of_a_table() -> None:
    config = valued_run(SGD(lr=0.1))
    embedding = Embedding(config, device=CPU)
    rows = pa.record_batch(
        {name: pa.array([[8]], pa.list_(pa.int64())) for name in ("user", "item", "history", "plain")}
    )
    found = embedding(Collator(config, with_labels=False)(rows)).groups
    item = embedding.weights()["item.weight"][0].float()
    assert torch.equal(found["deep"][0, 8:].detach(), item)
    assert torch.equal(found["clicks.query"][0].detach(), item)
    assert torch.equal(found["clicks.sequence"][0, 0].detach(), item)
    assert torch.equal(found["deep"][0, 4:8].detach(), embedding.weights()["plain.weight"][8])


def test_rows_are_those_that_looking_up_by_hand_gives() -> None:
    config = valued_run(OPTIMIZERS[1])
    embedding, collate = Embedding(config, device=CPU), Collator(config, with_labels=True)
    for step in range(8):
        by_hand.loss(embedding(collate(valued_rows(20, step))).groups).backward()
    rows = valued_rows(30, 99)
    found = embedding.eval()(collate(rows)).groups
    weights = {name.removesuffix(".weight"): value for name, value in embedding.weights().items()}
    known = {
        name: {int(value): row for row, value in enumerate(weights[f"{name}.known.values"].tolist())}
        for name in ("user", "user_wide", "item")
    }

    def row_of(name: str, value: int) -> torch.Tensor:
        return weights[name][known[name].get(value, len(weights[name]) - 1)].float()

    strangers = 0
    for place, row in enumerate(rows.to_pylist()):
        user = torch.stack([row_of("user", value) for value in row["user"]] + [torch.zeros(4)]).sum(0)
        wide = torch.stack([row_of("user_wide", value) for value in row["user"]] + [torch.zeros(1)]).sum(0)
        item = row_of("item", row["item"][0])
        expected = torch.cat([user, weights["plain"][row["plain"][0]], item])
        torch.testing.assert_close(found["deep"][place].detach(), expected)
        torch.testing.assert_close(found["wide"][place].detach(), wide)
        for position, value in enumerate(row["history"]):
            torch.testing.assert_close(found["clicks.sequence"][place, position].detach(), row_of("item", value))
            strangers += value not in known["item"]
    assert strangers


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda item: item.kind)
def test_a_restored_run_goes_on_bit_by_bit(optimizer: OptimizerConfig, tmp_path: Path) -> None:
    config = valued_run(optimizer)
    collate = Collator(config, with_labels=True)
    whole, broken = Embedding(config, device=CPU), Embedding(config, device=CPU)
    for step in range(5):
        by_hand.loss(whole(collate(valued_rows(20, step))).groups).backward()
    tensors.save({**whole.weights(), **whole.states()}, tmp_path)
    tensors.load({**broken.weights(), **broken.states()}, tmp_path)
    broken.step = 5
    for step in range(5, 11):
        for embedding in (whole, broken):
            by_hand.loss(embedding(collate(valued_rows(20, step))).groups).backward()
    for name, value in {**whole.weights(), **whole.states()}.items():
        assert torch.equal({**broken.weights(), **broken.states()}[name], value), name


def test_batches_without_rows_and_what_no_value_can_be() -> None:
    config = valued_run(SGD(lr=0.1))
    embedding = Embedding(config, device=CPU)
    assert embedding(empty(config)).groups["clicks.sequence"].shape == (0, 1, 6)
    with pytest.raises(RowError, match="feature a"):
        batch_of(one_table(SGD(lr=0.1)), -1)


def test_a_table_with_collisions_may_be_smaller_than_its_ids() -> None:
    config = valued_run(SGD(lr=0.1))
    assert check(config) == []
    bare = config.tables[1].model_copy(update={"collisions": None})
    config = config.model_copy(update={"tables": (config.tables[0], bare, *config.tables[2:])})
    assert check(config) == [("groups[0].inputs[0].table", f"user has 12 rows, user needs {ANY}")]


def test_rows_start_anew_with_other_numbers_each_time() -> None:
    item = table("t", 9, 4)
    assert torch.equal(restarted(item, 5, 3, 1), restarted(item, 5, 3, 1))
    assert not np.isin(restarted(item, 5, 3, 1).numpy(), restarted(item, 5, 4, 1).numpy()).any()
