"""Metrics of groups written row by row and pair by pair, and how meters are fed in tests."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import torch

from polyrec.families import GroupedMeter, GroupedMetricConfig

Columns = tuple[np.ndarray, np.ndarray, np.ndarray]


def metered(metric: GroupedMetricConfig, columns: Columns, ranks: int = 1, batch: int = 50) -> float:
    """The metric of rows that are dealt to some processes unevenly, the last of which has none when there are three."""
    size = len(columns[0])
    cuts = {1: [0, size], 2: [0, size // 3, size], 3: [0, 2 * size // 3, size, size]}[ranks]
    meters: list[GroupedMeter] = []
    for start, stop in itertools.pairwise(cuts):
        meter = metric.meter()
        for at in range(start, stop, batch):
            scores, labels, groups = (torch.as_tensor(column[at : min(at + batch, stop)]) for column in columns)
            meter.update(scores, labels, groups)
        meters.append(meter)
    states = [meter.state() for meter in meters]
    for meter in meters:
        meter.merge(states)
    values = {meter.compute() for meter in meters}
    assert len(values) == 1 or all(np.isnan(value) for value in values)
    return values.pop()


def some(seed: int, size: int = 400, levels: int = 8) -> Columns:
    """Scores with many ties, labels of 0 and 1, and groups of one to many rows, far apart and below zero too."""
    random = np.random.default_rng(seed)
    scores = (random.integers(0, levels, size) / levels - 0.25).astype(np.float32)
    groups = random.choice(np.array([-7, 0, 1, 5, 2**61, 2**62 + 1, *range(100, 140)]), size)
    labels = (random.random(size) < np.clip(scores + 0.3, 0, 1)).astype(np.int64)
    return scores, labels, groups


def each(columns: Columns, value: Callable[[np.ndarray, np.ndarray], float | None]) -> list[tuple[float, int]]:
    """What `value` makes of the scores and labels of each group, and the group's rows; without None."""
    scores, labels, groups = columns
    found: list[tuple[float, int]] = []
    for group in sorted(set(groups.tolist())):
        chosen = groups == group
        result = value(scores[chosen], labels[chosen])
        if result is not None:
            found.append((result, int(chosen.sum())))
    return found


def xauc(scores: np.ndarray, labels: np.ndarray, ties: str) -> float | None:
    right = counted = 0.0
    for one, other in itertools.combinations(range(len(scores)), 2):
        score, label = float(scores[one]) - float(scores[other]), float(labels[one]) - float(labels[other])
        if ties == "wrong" or label:
            counted += 1
            right += 1.0 if score * label > 0 else 0.5 if score == 0 and ties == "half" else 0.0
    return right / counted if counted else None
