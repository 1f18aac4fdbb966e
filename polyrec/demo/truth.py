"""A truth planted in made-up rows: additive effects on the logit, and how well they can be told or fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class Part:
    """Values of one planted feature: row `rows[i]` has value `ids[i]`, that counts `weights[i]`."""

    ids: Array
    weights: Array | None = None
    """None when each counts once."""
    rows: Array | None = None
    """None when each row has exactly one value."""

    def scores(self, effect: Array, num_rows: int) -> Array:
        """What this feature adds to the logit of each row."""
        values = effect[self.ids]
        if self.weights is not None:
            values = values * self.weights
        return values if self.rows is None else np.bincount(self.rows, values, num_rows)

    def slope(self, errors: Array, size: int) -> Array:
        """Sum, for each value, of the errors of its rows."""
        values = errors if self.rows is None else errors[self.rows]
        return np.bincount(self.ids, values if self.weights is None else values * self.weights, size)

    def curve(self, errors: Array, size: int) -> Array:
        """A bound on the second derivatives: values of one row share its error, so each counts for all of them."""
        weights = np.ones(len(self.ids)) if self.weights is None else self.weights
        if self.rows is None:
            return np.bincount(self.ids, errors * weights**2, size)
        totals = np.bincount(self.rows, weights, len(errors))
        return np.bincount(self.ids, (errors * totals)[self.rows] * weights, size)


Parts = dict[str, Part]
Effects = dict[str, Array]


def logit(effects: Mapping[str, Array], parts: Parts, num_rows: int) -> Array:
    """Sum of all effects."""
    total = np.zeros(num_rows)
    for name, effect in effects.items():
        total += parts[name].scores(effect, num_rows)
    return total


def sigmoid(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-x))


def offset_for(logits: Array, rate: float) -> float:
    """What must be added to the logits so that their probabilities have this mean."""
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if sigmoid(logits + middle).mean() < rate else (low, middle)
    return (low + high) / 2


def auc(scores: Array, labels: Array) -> float:
    """Share of (positive, negative) pairs in the right order, ties counted half."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positive = int(labels.sum())
    negative = len(labels) - positive
    if not positive or not negative:
        return float("nan")
    return float((ranks[labels > 0].sum() - positive * (positive + 1) / 2) / (positive * negative))


def fit(parts: Parts, sizes: Mapping[str, int], labels: Array, rounds: int = 20, ridge: float = 4.0) -> Effects:
    """Logistic regression on the planted features, by Newton steps on one feature at a time.

    A feature with one value per row has a diagonal Hessian, so each step is exact up to the other features; a feature
    with several takes the steps that a diagonal bound allows.
    """
    num_rows = len(labels)
    rate = np.clip(labels.mean(), 1e-6, 1 - 1e-6)
    total = np.full(num_rows, np.log(rate / (1 - rate)))
    effects = {name: np.zeros(size) for name, size in sizes.items()}
    for _ in range(rounds):
        for name, part in parts.items():
            chance = sigmoid(total)
            slope = part.slope(labels - chance, sizes[name]) - ridge * effects[name]
            step = slope / (part.curve(chance * (1 - chance), sizes[name]) + ridge)
            effects[name] += step
            total += part.scores(step, num_rows)
    return effects


def zipf(random: np.random.Generator, size: int, num_ids: int, shift: float = 1.0) -> Array:
    """Ids from 0 on whose frequency falls as 1 / (id + shift); a larger shift flattens the head."""
    draws = shift * np.exp(random.random(size) * np.log((num_ids + shift) / shift)) - shift
    return np.minimum(draws.astype(np.int64), num_ids - 1)


def ragged_shares(values: Array, lengths: Array, wanted: Array) -> Array:
    """Share of each row's values that equal the row's wanted value, 0 for a row of none."""
    rows = np.repeat(np.arange(len(lengths)), lengths)
    hits = np.bincount(rows, values == np.repeat(wanted, lengths), len(lengths))
    return hits / np.maximum(lengths, 1)


def mean_of(values: Array, lengths: Array) -> Part:
    """A feature whose effect is the mean of those of each row's values."""
    rows = np.repeat(np.arange(len(lengths)), lengths)
    return Part(values, 1 / lengths[rows], rows)
