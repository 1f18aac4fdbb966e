"""Rows of slot text for the built-in models: made here, always the same for a seed, with a truth to be learned."""

from __future__ import annotations

import math
import random

NUM_SPARSE = 26
NUM_DENSE = 13
IDS_PER_SLOT = 40
"""Few, so that each occurs often in a small sample. Slot k has ids from k * IDS_PER_SLOT on."""


def sample_rows(rows: int, seed: int) -> list[str]:
    """Lines of `click:0|1 dense_var:x (13 times) 1:id ... 26:id`; slot 26 has one to three ids."""
    truth = random.Random(20)
    effects = [[truth.gauss(0, 0.5) for _ in range(IDS_PER_SLOT)] for _ in range(NUM_SPARSE)]
    slopes = [truth.gauss(0, 0.8) for _ in range(NUM_DENSE)]
    draw = random.Random(seed)
    return [_row(draw, effects, slopes) for _ in range(rows)]


def _row(draw: random.Random, effects: list[list[float]], slopes: list[float]) -> str:
    dense = [round(draw.random(), 3) for _ in range(NUM_DENSE)]
    # The square makes low ids frequent and high ones rare.
    sparse = [[int(IDS_PER_SLOT * draw.random() ** 2)] for _ in range(NUM_SPARSE)]
    sparse[-1] += [int(IDS_PER_SLOT * draw.random() ** 2) for _ in range(draw.randrange(3))]
    score = sum(slope * (value - 0.5) for slope, value in zip(slopes, dense, strict=True))
    score += sum(effects[slot][item] for slot, items in enumerate(sparse) for item in items)
    click = int(draw.random() < 1 / (1 + math.exp(-score)))
    words = [f"click:{click}", *(f"dense_var:{value:g}" for value in dense)]
    words += [f"{slot + 1}:{slot * IDS_PER_SLOT + item}" for slot, items in enumerate(sparse) for item in items]
    return " ".join(words)
