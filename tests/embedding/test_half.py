"""Tables whose numbers are stored as half floats."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
import torch
from small_runs import Ids, flat, of, run, sequence, table

from polyrec.checkpoint import tensors
from polyrec.config import RunConfig
from polyrec.data.batch import Batch, Collator
from polyrec.embedding import Embedding
from polyrec.families import OptimizerConfig
from polyrec.optim.optimizers.adagrad import Adagrad
from polyrec.optim.optimizers.adam import Adam
from polyrec.optim.optimizers.rowwise_adagrad import RowwiseAdagrad
from polyrec.optim.optimizers.sgd import SGD

CPU = torch.device("cpu")
OPTIMIZERS = [
    SGD(lr=0.1),
    SGD(lr=0.02, momentum=0.5),
    Adagrad(lr=0.1, initial_accumulator=0.1, eps=0.0),
    Adagrad(lr=0.1, initial_accumulator=0.0, eps=1e-8, weight_decay=0.01),
    RowwiseAdagrad(lr=0.1, initial_accumulator=0.1, eps=1e-8),
    Adam(lr=0.1, beta1=0.9, beta2=0.99, eps=1e-4),
]
NEAREST = 2**-11
"""Largest relative distance of a number to the nearest half float."""


def config_of(optimizer: OptimizerConfig, precision: str, as_sequence: bool = False) -> RunConfig:
    group = sequence("deep", of("a", "t")) if as_sequence else flat("deep", of("a", "t"))
    feature = Ids(name="a", count=9, ordered=as_sequence)
    return run((feature,), (table("t", 9, 6, precision=precision),), (group,), optimizer)


def batch_of(config: RunConfig, step: int) -> Batch:
    ids = [[step % 9], [(step * 5) % 9, 2], [], [8]]
    return Collator(config, with_labels=False)(pa.record_batch({"a": pa.array(ids, pa.list_(pa.int64()))}))


def loss(embedding: Embedding, config: RunConfig, step: int) -> torch.Tensor:
    found = embedding(batch_of(config, step)).groups
    (value,) = [tensor for name, tensor in found.items() if name in ("deep", "deep.sequence")]
    assert value.dtype == torch.float32
    return (value - 0.3 * (value != 0)).square().sum()


@pytest.mark.parametrize("as_sequence", [False, True], ids=["flat", "sequence"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda item: f"{item.kind}-{OPTIMIZERS.index(item)}")
def test_one_step_is_nearly_that_of_float32(optimizer: OptimizerConfig, as_sequence: bool) -> None:
    half, whole = (config_of(optimizer, precision, as_sequence) for precision in ("fp16", "fp32"))
    halves, wholes = Embedding(half, device=CPU), Embedding(whole, device=CPU)
    stored, exact = halves.weights()["t.weight"], wholes.weights()["t.weight"]
    assert stored.dtype == torch.float16
    assert exact.dtype == torch.float32
    assert torch.equal(stored, exact.half())
    for step in range(4):
        exact.copy_(stored)
        before = stored.clone()
        for embedding, config in ((halves, half), (wholes, whole)):
            loss(embedding, config, step).backward()
        # FBGEMM's own updates round the step too, so what counts is the larger of the numbers before and after.
        largest = torch.maximum(before.float().abs(), exact.abs())
        assert ((stored.float() - exact).abs() <= 2 * NEAREST * largest + 1e-7).all()
        moved = (stored != before).any(1).nonzero().flatten().tolist()
        assert moved == sorted({step % 9, (step * 5) % 9, 2, 8})
    for name, state in halves.states().items():
        assert state.dtype == torch.float32
        torch.testing.assert_close(state, wholes.states()[name], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda item: f"{item.kind}-{OPTIMIZERS.index(item)}")
def test_what_is_learnt_is_nearly_that_of_float32(optimizer: OptimizerConfig) -> None:
    losses = []
    for precision in ("fp16", "fp32"):
        config = config_of(optimizer, precision)
        embedding = Embedding(config, device=CPU)
        first = float(loss(embedding, config, 0).detach())
        for step in range(60):
            loss(embedding, config, step).backward()
        losses.append(float(loss(embedding, config, 0).detach()))
        assert losses[-1] < 0.2 * first
    assert losses[0] == pytest.approx(losses[1], abs=5e-3)


def test_a_checkpoint_keeps_half_floats_bit_by_bit(tmp_path: Path) -> None:
    config = config_of(OPTIMIZERS[-1], "fp16")
    embedding = Embedding(config, device=CPU)
    loss(embedding, config, 1).backward()
    kept = {**embedding.weights(), **embedding.states()}
    tensors.save(kept, tmp_path)
    assert tensors.shapes(tmp_path)["t.weight"] == (torch.Size([9, 6]), torch.float16)
    again = Embedding(config, device=CPU)
    live = {**again.weights(), **again.states()}
    tensors.load(live, tmp_path)
    assert all(torch.equal(live[name], value) for name, value in kept.items())


def test_tables_of_both_precisions_stand_side_by_side() -> None:
    features = (Ids(name="a", count=9), Ids(name="b", count=9))
    tables = (table("s", 9, 4, precision="fp16"), table("t", 9, 4))
    config = run(features, tables, (flat("deep", of("a", "s"), of("b", "t")),), SGD(lr=1.0))
    embedding = Embedding(config, device=CPU)
    rows = pa.record_batch({name: pa.array([[1], [2]], pa.list_(pa.int64())) for name in "ab"})
    found = embedding(Collator(config, with_labels=False)(rows)).groups["deep"]
    expected = torch.cat([embedding.weights()[f"{name}.weight"][1:3].float() for name in "st"], dim=1)
    assert torch.equal(found.detach(), expected)
