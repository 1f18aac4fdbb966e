from __future__ import annotations

import by_hand
import numpy as np
import pyarrow as pa
import pytest
import torch
from small_runs import Ids, clipped, flat, mixed_rows, mixed_run, of, run, sequence, table

from polyrec.config import RunConfig
from polyrec.data.batch import Collator, empty
from polyrec.embedding import Embedding
from polyrec.families import OptimizerConfig
from polyrec.features.buckets.identity import IdentityBucket
from polyrec.features.sequence_id import SequenceIdFeature
from polyrec.optim.optimizers.adadelta import Adadelta
from polyrec.optim.optimizers.adagrad import Adagrad
from polyrec.optim.optimizers.adam import Adam
from polyrec.optim.optimizers.ftrl import FTRL
from polyrec.optim.optimizers.lamb import Lamb
from polyrec.optim.optimizers.lars_sgd import LarsSGD
from polyrec.optim.optimizers.partial_rowwise_adam import PartialRowwiseAdam
from polyrec.optim.optimizers.partial_rowwise_lamb import PartialRowwiseLamb
from polyrec.optim.optimizers.rmsprop import RMSprop
from polyrec.optim.optimizers.rowwise_adagrad import RowwiseAdagrad
from polyrec.optim.optimizers.sgd import SGD

CPU = torch.device("cpu")
OPTIMIZERS = [
    SGD(lr=0.1),
    SGD(lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True),
    Adagrad(lr=0.1, initial_accumulator=0.1, eps=0.0),
    Adagrad(lr=0.1, initial_accumulator=0.0, eps=1e-8, weight_decay=0.01),
    RowwiseAdagrad(lr=0.1, initial_accumulator=0.1, eps=1e-8),
    Adam(lr=0.1, beta1=0.9, beta2=0.99, eps=1e-4, epsilon_hat=True),
    Adam(lr=0.1, beta1=0.9, beta2=0.99, eps=1e-4, weight_decay=0.01, is_decoupled=True),
    Adam(lr=0.1, beta1=0.9, beta2=0.99, eps=1e-4, amsgrad=True),
    RowwiseAdagrad(lr=0.1, initial_accumulator=0.1, eps=1e-8, weight_decay=0.01, is_decoupled=True),
    PartialRowwiseAdam(lr=0.1, beta1=0.9, beta2=0.99, eps=1e-4, weight_decay=0.01),
    Lamb(lr=0.1, beta1=0.9, beta2=0.99, eps=1e-4, weight_decay=0.01),
    PartialRowwiseLamb(lr=0.1, beta1=0.9, beta2=0.99, eps=1e-4, weight_decay=0.01),
    LarsSGD(lr=0.1, eta=0.5, weight_decay=0.01),
    Adadelta(lr=0.1, rho=0.9, eps=1e-4, weight_decay=0.01),
    RMSprop(lr=0.1, alpha=0.9, eps=1e-4, momentum=0.5, weight_decay=0.01),
    FTRL(lr=0.1, l1=0.001, l2=0.01, shrinkage=0.01),
]


def copies(embedding: Embedding) -> dict[str, torch.Tensor]:
    return {name.removesuffix(".weight"): weight.clone() for name, weight in embedding.weights().items()}


def test_groups_are_what_looking_up_row_by_row_gives() -> None:
    config = mixed_run(SGD(lr=0.1))
    embedding, rows = Embedding(config, device=CPU), mixed_rows(9, seed=1)
    found = embedding(Collator(config, with_labels=True)(rows)).groups
    expected = by_hand.groups(copies(embedding), rows)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value)


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda item: f"{item.kind}-{OPTIMIZERS.index(item)}")
def test_only_touched_rows_move_and_by_the_rule(optimizer: OptimizerConfig) -> None:
    config = mixed_run(optimizer)
    embedding = Embedding(config, device=CPU)
    collate, rule = Collator(config, with_labels=True), optimizer.rows_rule()
    kept = {
        name: {state: torch.full_like(value, rule.states[state].start) for state, value in states.items()}
        for name, states in states_of(embedding).items()
    }
    for step in range(1, 4):
        rows = mixed_rows(9, seed=step)
        before = {name: weight.requires_grad_() for name, weight in copies(embedding).items()}
        by_hand.loss(by_hand.groups(before, rows)).backward()
        by_hand.loss(embedding(collate(rows)).groups).backward()
        after = copies(embedding)
        for name, ids in by_hand.touched(rows).items():
            expected = before[name].detach().clone()
            part, gradient = expected[ids], before[name].grad[ids]  # type: ignore[index]
            held = {state: value[ids] for state, value in kept.get(name, {}).items()}
            rule.apply(part, gradient, held, optimizer.lr, step)
            expected[ids] = part
            for state, value in held.items():
                kept[name][state][ids] = value
            torch.testing.assert_close(after[name], expected, rtol=1e-4, atol=1e-6)
            assert torch.equal(np_without(after[name], ids), np_without(before[name].detach(), ids))
        assert torch.equal(after["still"], before["still"])
    for name, states in states_of(embedding).items():
        for state, value in states.items():
            torch.testing.assert_close(value, kept[name][state], rtol=1e-4, atol=1e-6)


def states_of(embedding: Embedding) -> dict[str, dict[str, torch.Tensor]]:
    found: dict[str, dict[str, torch.Tensor]] = {}
    for name, value in embedding.states().items():
        table_name, _, state = name.partition(".")
        found.setdefault(table_name, {})[state] = value
    return found


def np_without(weight: torch.Tensor, ids: list[int]) -> torch.Tensor:
    return torch.from_numpy(np.delete(weight.numpy(), ids, axis=0))


# What TensorFlow 2.12 gives for x0 = [[1, -2], [.5, .25], [3, 1]], rate .1, loss sum(x ** 2) of the gathered rows,
# after steps that gather rows [0, 0], then [1], then [0].
TENSORFLOW = [
    (
        Adam(lr=0.1, beta1=0.9, beta2=0.999, eps=1e-8, epsilon_hat=True),
        [0.82132393, -1.8206271, 0.42558658, 0.17558661, 3, 1],
    ),
    (SGD(lr=0.1, momentum=0.9), [0.12, -0.24, 0.4, 0.2, 3, 1]),
    (
        RMSprop(lr=0.1, alpha=0.9, eps=1.0, momentum=0.9, start=1.0, is_eps_inside=True),
        [0.5096824, -1.355994, 0.4292893, 0.2139625, 3, 1],
    ),
    (FTRL(lr=0.1), [0.78360647, -1.7796744, 0.25389805, 0.03185396, 3, 1]),
    (
        FTRL(lr=0.1, l1=0.01, l2=0.02, shrinkage=0.03),
        [0.7800489, -1.7759686, 0.24913405, 0.02744264, 3, 1],
    ),
    (
        Adagrad(lr=0.1, initial_accumulator=0.1, eps=0.0),
        [0.85936904, -1.8571982, 0.40465373, 0.16548458, 3, 1],
    ),
]


def one_table(optimizer: OptimizerConfig, width: int) -> RunConfig:
    groups = (flat("deep", of("a", "t")),)
    return run((Ids(name="a", count=3),), (table("t", 3, width),), groups, optimizer)


@pytest.mark.parametrize(("optimizer", "expected"), TENSORFLOW, ids=lambda item: getattr(item, "kind", ""))
@pytest.mark.parametrize("as_sequence", [False, True], ids=["flat", "sequence"])
def test_moves_as_tensorflow_does(optimizer: OptimizerConfig, expected: list[float], as_sequence: bool) -> None:
    config = one_table(optimizer, 2)
    if as_sequence:
        groups = (sequence("deep", of("a", "t")),)
        config = run((Ids(name="a", count=3, ordered=True),), (table("t", 3, 2),), groups, optimizer)
    embedding = Embedding(config, device=CPU)
    embedding.weights()["t.weight"].copy_(torch.tensor([[1, -2], [0.5, 0.25], [3, 1]]))
    collate = Collator(config, with_labels=False)
    for ids in ([[0], [0]], [[1]], [[0]]):
        found = embedding(collate(pa.record_batch({"a": pa.array(ids, pa.list_(pa.int64()))}))).groups
        (found["deep.sequence"] if as_sequence else found["deep"]).square().sum().backward()
    np.testing.assert_allclose(embedding.weights()["t.weight"].numpy().ravel(), expected, rtol=2e-6)


def test_rowwise_adagrad_takes_the_mean_over_true_width() -> None:
    config = one_table(RowwiseAdagrad(lr=1.0, initial_accumulator=0.0, eps=1e-12), 2)
    embedding = Embedding(config, device=CPU)
    weight = embedding.weights()["t.weight"]
    weight.zero_()
    found = embedding(Collator(config, with_labels=False)(pa.record_batch({"a": [[1]]}))).groups["deep"]
    found.backward(torch.tensor([[3.0, 1.0]]))
    # Mean of squares (9 + 1) / 2 = 5; the row moves by gradient / sqrt(5).
    np.testing.assert_allclose(weight.numpy(), [[0, 0], [-3 / 5**0.5, -1 / 5**0.5], [0, 0]], rtol=1e-6)
    np.testing.assert_allclose(embedding.states()["t.sum"].numpy(), [0, 5, 0])


@pytest.mark.parametrize("optimizer", [SGD(lr=1.0), SGD(lr=1.0, weight_decay=1e-20), Adagrad.example()])
@pytest.mark.parametrize("as_sequence", [False, True], ids=["flat", "sequence"])
def test_clipping_is_of_the_vectors_that_were_looked_up(optimizer: OptimizerConfig, as_sequence: bool) -> None:
    """By FBGEMM's kernel and by ours: numbers of the gradient are limited before those of a row are added up."""
    plain = one_table(optimizer, 4)
    if as_sequence:
        groups = (sequence("deep", of("a", "t")),)
        plain = run((Ids(name="a", count=3, ordered=True),), (table("t", 3, 4),), groups, optimizer)
    config = clipped(plain, 0.5)
    moved = []
    gradient = torch.tensor([[3.0, -0.25, 0.125, -9.0], [0.25, -0.25, 1.0, 0.5]])
    for some, given in ((config, gradient), (plain, gradient.clamp(-0.5, 0.5))):
        embedding = Embedding(some, device=CPU)
        embedding.weights()["t.weight"].zero_()
        found = embedding(Collator(some, with_labels=False)(pa.record_batch({"a": [[1], [1]]}))).groups
        value = found["deep.sequence"][:, 0] if as_sequence else found["deep"]
        value.backward(given)
        moved.append(embedding.weights()["t.weight"].clone())
    assert torch.equal(*moved)
    if optimizer.kind == "sgd":
        assert moved[0][1].tolist() == [-0.75, 0.5, -0.625, 0.0]


def test_rate_can_change_between_steps() -> None:
    for optimizer in (SGD(lr=1.0), SGD(lr=1.0, momentum=0.5)):
        config = one_table(optimizer, 4)
        embedding = Embedding(config, device=CPU)
        weight = embedding.weights()["t.weight"]
        weight.zero_()
        embedding.set_rate(0.25)
        batch = Collator(config, with_labels=False)(pa.record_batch({"a": [[2]]}))
        embedding(batch).groups["deep"].sum().backward()
        assert weight[2].tolist() == [-0.25] * 4


def test_a_batch_without_rows_changes_nothing() -> None:
    for optimizer in OPTIMIZERS:
        config = mixed_run(optimizer)
        embedding = Embedding(config, device=CPU)
        before = copies(embedding)
        found = embedding(empty(config)).groups
        assert found["clicks.sequence"].shape == (0, 1, 9)
        assert found["deep"].shape == (0, 25)
        by_hand.loss(found).backward()
        for name, weight in copies(embedding).items():
            assert torch.equal(weight, before[name])


def test_steps_count_training_only_and_can_be_set() -> None:
    config = mixed_run(Adam.example())
    embedding = Embedding(config, device=CPU)
    batch = Collator(config, with_labels=True)(mixed_rows(3, seed=0))
    embedding(batch)
    with torch.no_grad():
        embedding(batch)
    embedding.eval()(batch)
    assert embedding.step == 1
    embedding.step = 10
    embedding.train()(batch)
    assert embedding.step == 11


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda item: f"{item.kind}-{OPTIMIZERS.index(item)}")
def test_inference_mode_finds_the_same_and_moves_nothing(optimizer: OptimizerConfig) -> None:
    config = mixed_run(optimizer)
    embedding = Embedding(config, device=CPU)
    collate, rows, before = Collator(config, with_labels=True), mixed_rows(4, seed=0), copies(embedding)
    with torch.inference_mode():
        found = embedding(collate(rows)).groups
    for name, value in embedding(collate(rows)).groups.items():
        assert torch.equal(found[name], value)
    assert all(torch.equal(weight, before[name]) for name, weight in copies(embedding).items())


def test_a_shared_lookup_is_done_once_but_counted_in_each_group() -> None:
    groups = (flat("one", of("a", "t")), flat("two", of("a", "t")))
    config = run((Ids(name="a", count=3),), (table("t", 3, 4),), groups, SGD(lr=1.0))
    embedding = Embedding(config, device=CPU)
    batch = Collator(config, with_labels=False)(pa.record_batch({"a": [[0], [2]]}))
    assert [ids.keys() for ids in batch.ids.values()] == [["a/t/sum/row"]]
    assert len(embedding(batch).vectors) == 2


def test_for_prediction_there_is_no_optimizer_state() -> None:
    config = mixed_run(Adam.example())
    embedding = Embedding(config, device=CPU, is_trained=False)
    found = embedding(Collator(config, with_labels=False)(mixed_rows(3, seed=0)))
    assert embedding.states() == {}
    assert not found.groups["wide"].requires_grad


@pytest.mark.parametrize("pooling", ["sum", "mean", "sqrtn"])
def test_positions_of_several_ids_become_one_vector_each(pooling: str) -> None:
    feature = SequenceIdFeature(
        name="s",
        column="s",
        bucket=IdentityBucket(rows=5, out_of_range="error"),
        default=None,
        several=True,
        separator=";",
        value_separator=",",
        kv_separator=":",
    )
    groups = (sequence("g", of("s", "t", pooling)), flat("f", of("s", "t")))
    config = run((feature,), (table("t", 5, 3),), groups, SGD(lr=1.0))
    embedding = Embedding(config, device=CPU)
    batch = Collator(config, with_labels=False)(pa.record_batch({"s": ["1:2,2;;4:3", "", "0"]}))
    before = embedding.weights()["t.weight"].numpy().copy()
    found = embedding(batch)
    weights = {"sum": (2, 1, 3), "mean": (2 / 3, 1 / 3, 1), "sqrtn": (2 / 5**0.5, 1 / 5**0.5, 1)}[pooling]
    wanted = np.zeros((3, 3, 3), np.float32)
    wanted[0, 0] = weights[0] * before[1] + weights[1] * before[2]
    wanted[0, 2] = weights[2] * before[4]
    wanted[2, 0] = before[0]
    np.testing.assert_allclose(found.groups["g.sequence"].detach().numpy(), wanted, rtol=1e-6)
    assert found.groups["g.length"].tolist() == [3, 0, 1]
    flat_wanted = [2 * before[1] + before[2] + 3 * before[4], 0 * before[0], before[0]]
    np.testing.assert_allclose(found.groups["f"].detach().numpy(), flat_wanted, rtol=1e-6)
    found.groups["g.sequence"].sum().backward()
    moved = np.zeros((5, 3), np.float32)
    for row, weight in zip((1, 2, 4, 0), (*weights, 1), strict=True):
        moved[row] = weight
    np.testing.assert_allclose(before - embedding.weights()["t.weight"].numpy(), moved, rtol=1e-5, atol=1e-6)
