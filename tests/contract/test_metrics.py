"""What every metric must do."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from polyrec import catalog
from polyrec.families import GroupedMetricConfig, Meter, MetricConfig

NAMES = catalog.names(MetricConfig)


def rows() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(400, generator=generator).mul(50).round().div(50)  # many ties
    return scores, (torch.rand(400, generator=generator) < scores).long()


def metered(name: str, scores: Tensor, labels: Tensor, batch: int = 1000) -> Meter:
    meter = catalog.find(MetricConfig, name).example().meter()
    for part in zip(scores.split(batch), labels.split(batch), strict=True):
        meter.update(*part)
    return meter


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("batch", [1, 7, 399])
def test_batches_do_not_matter(name: str, batch: int) -> None:
    scores, labels = rows()
    whole = metered(name, scores, labels).compute()
    assert math.isfinite(whole)
    assert metered(name, scores, labels, batch).compute() == pytest.approx(whole, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks_do_not_matter(name: str, ranks: int) -> None:
    scores, labels = rows()
    whole = metered(name, scores, labels).compute()
    # The last rank has no rows at all when there are three.
    share = 400 if ranks == 1 else 150 if ranks == 2 else 250
    places = [slice(0, share), slice(share, 400), slice(400, 400)][:ranks]
    states = [metered(name, scores[place], labels[place], 32).state() for place in places]
    merged = catalog.find(MetricConfig, name).example().meter()
    merged.merge(states)
    assert merged.compute() == pytest.approx(whole, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_merged_meter_merges_again(name: str) -> None:
    meter = metered(name, *rows())
    before = meter.compute()
    meter.merge([meter.state()])
    assert meter.compute() == pytest.approx(before, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_without_rows_it_is_undefined(name: str) -> None:
    assert math.isnan(catalog.find(MetricConfig, name).example().meter().compute())


@pytest.mark.parametrize("name", NAMES)
def test_one_score_that_is_nan_shows(name: str) -> None:
    """Else a model that has diverged may look as if it were merely bad."""
    scores, labels = rows()
    scores[7] = float("nan")
    meter = metered(name, scores, labels, 32)
    assert math.isnan(meter.compute())
    other = metered(name, *rows())
    other.merge([other.state(), meter.state()])
    assert math.isnan(other.compute())


@pytest.mark.parametrize("name", NAMES)
def test_titles_are_words(name: str) -> None:
    assert catalog.find(MetricConfig, name).example().title.isidentifier()


GROUPED = [name for name in NAMES if issubclass(catalog.find(MetricConfig, name), GroupedMetricConfig)]


@pytest.mark.parametrize("name", GROUPED)
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_groups_may_be_spread_over_batches_and_ranks(name: str, ranks: int) -> None:
    scores, labels = rows()
    groups = torch.arange(400) * 7 % 11 - 5 + 2**61 * (torch.arange(400) % 2)
    metric = catalog.find(MetricConfig, name).example()
    assert isinstance(metric, GroupedMetricConfig)
    whole = metric.meter()
    whole.update(scores, labels, groups)
    meters = [metric.meter() for _ in range(ranks)]
    for number, batch in enumerate(zip(*(column.split(9) for column in (scores, labels, groups)), strict=True)):
        meters[number % min(ranks, 2)].update(*batch)
    merged = metric.meter()
    merged.merge([meter.state() for meter in meters])
    assert math.isfinite(whole.compute())
    assert merged.compute() == pytest.approx(whole.compute(), abs=1e-12)


@pytest.mark.parametrize("name", GROUPED)
def test_without_groups_all_rows_are_one(name: str) -> None:
    metric = catalog.find(MetricConfig, name).example()
    assert isinstance(metric, GroupedMetricConfig)
    meter = metric.meter()
    meter.update(*rows(), torch.full((400,), 2**61))
    assert metered(name, *rows()).compute() == meter.compute()
