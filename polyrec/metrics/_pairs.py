"""Pairs of rows of a group whose labels and scores are in the same order, counted without looking at each pair."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

Ties = Literal["half", "wrong"]


class Pairs(NamedTuple):
    """For each group, float64 [G]."""

    right: np.ndarray
    """Pairs in the right order."""
    counted: np.ndarray
    """Pairs that could have been."""
    rows: np.ndarray


def pairs(scores: np.ndarray, labels: np.ndarray, numbers: np.ndarray, ties: Ties) -> Pairs:
    """`numbers` are those of the groups, from 0."""
    groups = int(numbers.max()) + 1
    rows = np.bincount(numbers, minlength=groups).astype(np.float64)
    alike = _alike(groups, numbers, scores)
    # Where scores tie, the larger label comes first, so that such a pair is not in order.
    order = np.lexsort((-labels, scores, numbers))
    numbers, labels, scores = numbers[order], labels[order], scores[order]
    right = _rising(numbers, labels, groups)
    every = rows * (rows - 1) / 2
    if ties == "wrong":
        return Pairs(right, every, rows)
    same_label = _alike(groups, numbers, labels)
    both = _alike(groups, numbers, labels, scores)
    return Pairs(right + (alike - both) / 2, every - same_label, rows)


def _alike(groups: int, numbers: np.ndarray, *columns: np.ndarray) -> np.ndarray:
    """Pairs of a group that are equal in all columns."""
    order = np.lexsort((*columns, numbers))
    changes = np.zeros(len(order), bool)
    changes[:1] = True
    for column in (*columns, numbers):
        sorted_column = column[order]
        changes[1:] |= sorted_column[1:] != sorted_column[:-1]
    starts = np.flatnonzero(changes)
    sizes = np.diff(starts, append=len(order)).astype(np.float64)
    return np.bincount(numbers[order][starts], sizes * (sizes - 1) / 2, minlength=groups)


def _rising(numbers: np.ndarray, labels: np.ndarray, groups: int) -> np.ndarray:
    """For each group its pairs of rows of which the later has the larger label; groups stand one after another.

    One bit of the labels' ranks at a time, from the highest: rows that agree in all bits before stay together in their
    order, and among them each row with the bit is above all earlier ones without it.
    """
    ranks = np.unique(labels, return_inverse=True)[1].reshape(-1)
    of_group, together, found = numbers, numbers, np.zeros(groups)
    for bit in range(int(ranks.max()).bit_length() - 1, -1, -1):
        has_bit = (ranks >> bit) & 1
        lacking = np.cumsum(1 - has_bit)
        starts = np.flatnonzero(np.concatenate(([True], together[1:] != together[:-1])))
        sizes = np.diff(starts, append=len(ranks))
        lacking_before = np.repeat(np.where(starts > 0, lacking[starts - 1], 0), sizes)
        below = (lacking - lacking_before) * has_bit
        found += np.bincount(of_group, below, minlength=groups)
        # Those without the bit first, each part in its order.
        part = np.repeat(np.arange(len(starts)), sizes) * 2 + has_bit
        lacking_of = np.repeat(np.diff(lacking[starts + sizes - 1], prepend=0), sizes)
        start_of = np.repeat(starts, sizes)
        having_before = np.arange(len(ranks)) - start_of - (lacking - lacking_before)
        place = np.where(has_bit, start_of + lacking_of + having_before, start_of + lacking - lacking_before - 1)
        ranks, of_group, together = (_placed(column, place) for column in (ranks, of_group, part))
    return found


def _placed(column: np.ndarray, place: np.ndarray) -> np.ndarray:
    out = np.empty_like(column)
    out[place] = column
    return out
