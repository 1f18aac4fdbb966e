"""Clicks on mobile advertising, in the columns of the Avazu data set, with tags added."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from polyrec.demo.kind import Sample, chosen, codes, ints, joined, lists
from polyrec.demo.truth import Part, zipf

NUM_DAYS = 10
FIRST_DAY = 141021
"""The first day, as year, month and day; an hour is written with two more digits."""
TEXTS = {
    "site_id": 4_700,
    "site_domain": 7_700,
    "site_category": 26,
    "app_id": 8_500,
    "app_domain": 560,
    "app_category": 36,
    "device_id": 200_000,
    "device_ip": 300_000,
    "device_model": 8_000,
}
"""Values of each column of hashed texts."""
NUMBERS = {
    "c1": 7,
    "banner_pos": 7,
    "device_type": 5,
    "device_conn_type": 4,
    "c14": 2_600,
    "c15": 8,
    "c16": 9,
    "c17": 435,
    "c18": 4,
    "c19": 68,
    "c20": 172,
    "c21": 60,
}
"""Values of each column of small numbers."""
TOLD = (
    *("c1", "banner_pos", "site_category", "app_category", "device_type", "device_conn_type"),
    *("c15", "c16", "c17", "c18", "c19", "c21"),
)
"""Columns that the label follows from, with the hour of the day and the tags."""
NUM_TAGS = 50
MOST_TAGS = 3
ORDER = (
    *("hour", "c1", "banner_pos", "site_id", "site_domain", "site_category", "app_id", "app_domain", "app_category"),
    *("device_id", "device_ip", "device_model", "device_type", "device_conn_type"),
    *("c14", "c15", "c16", "c17", "c18", "c19", "c20", "c21", "tags"),
)


class Avazu:
    forms = ("csv", "parquet")
    label = "label"
    rate = 0.17

    def __init__(self, random: np.random.Generator) -> None:
        self.words = {name: codes(size, number) for number, (name, size) in enumerate(TEXTS.items())}
        self.tags = pa.array([f"tag{number}" for number in range(NUM_TAGS)])
        sizes = TEXTS | NUMBERS
        self.effects = {name: random.normal(0, 0.35, sizes[name]) for name in TOLD}
        self.effects["hour"] = 0.5 * np.cos(2 * np.pi * (np.arange(24) - 20) / 24)
        self.effects["tags"] = random.normal(0, 0.4, NUM_TAGS)

    def sample(self, random: np.random.Generator, num_rows: int) -> Sample:
        ids = {name: zipf(random, num_rows, size, 1 + size / 20) for name, size in (TEXTS | NUMBERS).items()}
        hours = random.integers(0, 24, num_rows)
        days = random.integers(0, NUM_DAYS, num_rows)
        lengths = random.integers(0, MOST_TAGS + 1, num_rows)
        tags = zipf(random, int(lengths.sum()), NUM_TAGS, 5.0)
        parts = {name: Part(ids[name]) for name in TOLD}
        parts["hour"] = Part(hours)
        parts["tags"] = Part(tags, rows=np.repeat(np.arange(num_rows), lengths))
        columns = {name: chosen(words, ids[name]) for name, words in self.words.items()}
        columns |= {name: ints(ids[name]) for name in NUMBERS}
        columns["hour"] = ints((FIRST_DAY + days) * 100 + hours)
        columns["tags"] = joined(lists(chosen(self.tags, tags), lengths))
        return Sample({name: columns[name] for name in ORDER}, parts)

    def finish(
        self, random: np.random.Generator, columns: dict[str, pa.Array], chance: np.ndarray, labels: np.ndarray
    ) -> dict[str, pa.Array]:
        return {"label": ints(labels), **columns}
