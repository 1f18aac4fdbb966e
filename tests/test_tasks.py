from __future__ import annotations

import math
from dataclasses import dataclass, field

import pytest
import torch
from torch import Tensor

from polyrec.config import Task, WeightedLoss
from polyrec.errors import ConfigError
from polyrec.families import LossConfig
from polyrec.judging import TrainMetric
from polyrec.losses.binary_cross_entropy import BinaryCrossEntropy
from polyrec.losses.jrc import JRC
from polyrec.losses.softmax_cross_entropy import SoftmaxCrossEntropy
from polyrec.losses.squared_error import SquaredError
from polyrec.metrics.auc import AUC
from polyrec.metrics.grouped_auc import GroupedAUC
from polyrec.metrics.mean_squared_error import MeanSquaredError
from polyrec.tasks import Judge

LOGITS = torch.tensor([[0.8], [-0.4], [0.3], [1.2], [-1.5], [-0.2], [0.1], [2.0]])
LABELS = torch.tensor([1.0, 0, 1, 0, 0, 1, 0, 1])
WEIGHTS = torch.tensor([1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 0.0, 1.5])


@dataclass
class Rows:
    labels: dict[str, Tensor]
    sample_weights: dict[str, Tensor] = field(default_factory=dict)
    groups: dict[str, Tensor] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(next(iter(self.labels.values())))


def task(**fields: object) -> Task:
    return Task.model_validate({"label": "clk", "losses": [WeightedLoss(loss=BinaryCrossEntropy())], **fields})


def test_without_weights_the_loss_is_the_mean() -> None:
    total, parts = Judge((task(),)).loss({"": LOGITS}, Rows({"clk": LABELS}))
    assert total.item() == pytest.approx(0.5965788, abs=1e-6)
    assert parts == {"binary_cross_entropy": total}


def test_weights_by_nonzero_are_tensorflows() -> None:
    judge = Judge((task(sample_weight="w", weighting="by_nonzero"),))
    total, _ = judge.loss({"": LOGITS}, Rows({"clk": LABELS}, {"w": WEIGHTS}))
    assert total.item() == pytest.approx(0.675766, abs=1e-6)


def test_weights_by_sum_make_a_weighted_mean() -> None:
    rows = [math.log1p(math.exp(-z if y else z)) for z, y in zip(LOGITS[:, 0].tolist(), LABELS.tolist(), strict=True)]
    expected = sum(row * w for row, w in zip(rows, WEIGHTS.tolist(), strict=True)) / 10.0
    judge = Judge((task(sample_weight="w"),))
    total, _ = judge.loss({"": LOGITS}, Rows({"clk": LABELS}, {"w": WEIGHTS}))
    assert total.item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("weighting", ["by_sum", "by_nonzero", None])
@pytest.mark.parametrize("rows", [0, 3])
def test_nothing_to_learn_from_is_zero_with_a_gradient(weighting: str | None, rows: int) -> None:
    weighted = {"sample_weight": "w", "weighting": weighting} if weighting else {}
    logits = torch.zeros(rows if weighting else 0, 1, requires_grad=True)
    batch = Rows({"clk": torch.zeros(len(logits))}, {"w": torch.zeros(len(logits))})
    total, _ = Judge((task(**weighted),)).loss({"": logits}, batch)
    total.backward()
    assert total.item() == 0.0
    assert logits.grad is not None
    assert not logits.grad.any()


@pytest.mark.parametrize("fields", [{}, {"sample_weight": "w"}, {"sample_weight": "w", "weighting": "by_nonzero"}])
def test_shares_of_several_processes_add_up_to_the_loss_of_all_rows(fields: dict[str, str]) -> None:
    """Weights are spread unevenly, one process has none but zeros and one has no rows."""
    judge = Judge((task(**fields),))
    whole, _ = judge.loss({"": LOGITS}, Rows({"clk": LABELS}, {"w": WEIGHTS}))
    ranks = [slice(0, 3), slice(6, 7), slice(3, 3), torch.tensor([3, 4, 5, 7])]
    batches = [Rows({"clk": LABELS[rank]}, {"w": WEIGHTS[rank]}) for rank in ranks]
    divisors = [sum(column) for column in zip(*map(judge.divisors, batches), strict=True)]
    shares = [judge.loss({"": LOGITS[rank]}, batch, divisors) for rank, batch in zip(ranks, batches, strict=True)]
    assert sum(total.item() for total, _ in shares) == pytest.approx(whole.item(), abs=1e-6)
    assert sum(parts["binary_cross_entropy"].item() for _, parts in shares) == pytest.approx(whole.item(), abs=1e-6)


@pytest.mark.parametrize("weighting", ["by_sum", "by_nonzero"])
def test_a_weighted_loss_is_measured_alike_however_rows_are_cut(weighting: str) -> None:
    judge = Judge((task(sample_weight="w", weighting=weighting, metrics=[AUC()]),))
    whole, _ = judge.loss({"": LOGITS}, Rows({"clk": LABELS}, {"w": WEIGHTS}))
    meters = judge.meters()
    for part in (slice(0, 1), slice(1, 6), slice(6, 7), slice(7, 8)):
        meters.update({"": LOGITS[part]}, Rows({"clk": LABELS[part]}, {"w": WEIGHTS[part]}))
    assert meters.compute()["binary_cross_entropy"] == pytest.approx(whole.item(), abs=1e-6)


def test_a_sum_of_weights_below_one_is_divided_by_all_the_same() -> None:
    judge = Judge((task(sample_weight="w"),))
    whole, _ = judge.loss({"": LOGITS}, Rows({"clk": LABELS}, {"w": WEIGHTS}))
    light, _ = judge.loss({"": LOGITS}, Rows({"clk": LABELS}, {"w": WEIGHTS / 100}))
    assert light.item() == pytest.approx(whole.item(), abs=1e-6)


def two_tasks() -> Judge:
    losses = [WeightedLoss(loss=SquaredError(), weight=0.5), WeightedLoss(loss=SquaredError(), weight=0.25)]
    return Judge((task(name="clk", metrics=[AUC()]), task(name="price", label="price", losses=losses, weight=2.0)))


BATCH = Rows({"clk": LABELS, "price": torch.ones(8)})
TWO = {"clk": LOGITS, "price": torch.zeros(8, 1)}


def test_parts_carry_their_weights_and_add_up() -> None:
    total, parts = two_tasks().loss(TWO, BATCH)
    assert {name: round(value.item(), 6) for name, value in parts.items()} == {
        "binary_cross_entropy_clk": 0.596579,
        "squared_error_price": 1.0,
        "squared_error_price_2": 0.5,
    }
    assert total.item() == pytest.approx(0.5965788 + 1.5, abs=1e-6)


def test_outputs_end_with_the_tasks_name() -> None:
    outputs = two_tasks().outputs(TWO)
    assert list(outputs) == ["logits_clk", "probs_clk", "y_price"]
    assert list(Judge((task(),)).outputs({"": LOGITS})) == ["logits", "probs"]


def test_meters_give_metrics_and_the_mean_of_each_loss_by_rows() -> None:
    meters = two_tasks().meters()
    for part in (slice(0, 5), slice(5, 8), slice(8, 8)):
        batch = Rows({name: values[part] for name, values in BATCH.labels.items()})
        meters.update({name: values[part] for name, values in TWO.items()}, batch)
    assert meters.compute() == pytest.approx(
        {
            "auc_clk": 0.75,
            "binary_cross_entropy_clk": 0.5965788,
            "squared_error_price": 1.0,
            "squared_error_price_2": 0.5,
        },
        abs=1e-6,
    )


def test_merged_ranks_hold_what_one_process_would() -> None:
    parts = [slice(0, 2), slice(2, 2), slice(2, 8)]
    ranks = [two_tasks().meters() for _ in parts]
    sent: list[list[Tensor]] = []
    for meters, part in zip(ranks, parts, strict=True):
        batch = Rows({name: values[part] for name, values in BATCH.labels.items()})
        meters.update({name: values[part] for name, values in TWO.items()}, batch)
        meters.merge(lambda tensors: sent.append(tensors) or [tensors])
    for meters in ranks:
        meters.merge(lambda _: sent)
    whole = two_tasks().meters()
    whole.update(TWO, BATCH)
    for meters in ranks:
        assert meters.compute() == pytest.approx(whole.compute(), abs=1e-6)


def test_two_classes_are_judged_by_the_second_ones_probability() -> None:
    judge = Judge((task(classes=2, losses=[WeightedLoss(loss=SoftmaxCrossEntropy())], metrics=[AUC()]),))
    meters = judge.meters()
    meters.update({"": torch.cat([torch.zeros(8, 1), LOGITS], dim=1)}, Rows({"clk": LABELS.long()}))
    assert meters.compute()["auc"] == 0.75


def test_a_title_given_twice_is_numbered() -> None:
    judge = Judge((task(metrics=[MeanSquaredError(), MeanSquaredError()]),))
    assert list(judge.meters().compute()) == ["mean_squared_error", "mean_squared_error_2", "binary_cross_entropy"]


@pytest.mark.parametrize(
    ("classes", "loss", "message"),
    [
        (3, BinaryCrossEntropy(), "binary_cross_entropy needs 1 class, not 3; use softmax_cross_entropy"),
        (2, SquaredError(), "squared_error needs 1 class, not 2"),
        (1, SoftmaxCrossEntropy(), "softmax_cross_entropy needs 2 classes or more; use binary_cross_entropy"),
        (3, SoftmaxCrossEntropy(), "auc needs one score per row, not 3; use accuracy or log_loss"),
    ],
)
def test_what_does_not_fit_the_classes_is_found_before_training(classes: int, loss: LossConfig, message: str) -> None:
    with pytest.raises(ConfigError, match=f"task clk: {message}"):
        Judge((task(classes=classes, losses=[WeightedLoss(loss=loss)], metrics=[AUC()]),))


USERS = torch.tensor([3, 3, 9, 3, 9, 9, 9, 3])


def test_losses_and_metrics_of_groups_see_them() -> None:
    losses = [WeightedLoss(loss=JRC(group="user"), weight=2.0)]
    metrics = [GroupedAUC(group="user"), GroupedAUC(group="kind", weighting="by_rows")]
    judge = Judge((task(classes=2, losses=losses, metrics=metrics),))
    logits, groups = torch.cat([-LOGITS, LOGITS], dim=1), {"user": USERS, "kind": torch.zeros(8, dtype=torch.int64)}
    batch = Rows({"clk": LABELS.long()}, {}, groups)
    total, parts = judge.loss({"": logits}, batch)
    expected = 2 * JRC(group="user")(logits, LABELS.long(), USERS).mean()
    torch.testing.assert_close(total, expected)
    assert list(parts) == ["jrc_loss"]
    meters = judge.meters()
    for rows in (slice(0, 3), slice(3, 8)):
        part = Rows({"clk": LABELS[rows].long()}, {}, {name: found[rows] for name, found in groups.items()})
        meters.update({"": logits[rows]}, part)
    # User 3 has scores .8 and 2 above -.4, and one of them above 1.2; user 9 has .3 and -.2 over -1.5 and .1.
    found = meters.compute()
    assert (found["grouped_auc"], found["grouped_auc_2"]) == pytest.approx(((3 / 4 + 3 / 4) / 2, 0.75))


def test_columns_of_groups_are_each_named_once() -> None:
    losses = [WeightedLoss(loss=JRC(group="user"))]
    recent = [TrainMetric(metric=GroupedAUC(group="day"))]
    metrics = [AUC(), GroupedAUC(group="item"), GroupedAUC(group="user")]
    found = task(classes=2, losses=losses, metrics=metrics, train_metrics=recent)
    assert found.group_columns == ("user", "item", "day")
