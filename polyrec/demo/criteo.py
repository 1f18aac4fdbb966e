"""Clicks told by 13 counts and 26 hashed categories, in the columns of the Criteo data set."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from polyrec.demo.kind import Sample, chosen, codes, ints
from polyrec.demo.truth import Part, zipf

NUM_INTS = 13
SIZES = (
    *(1460, 580, 90_000, 50_000, 305, 24, 12_000, 630, 3, 30_000, 5_000, 80_000, 3_000),
    *(27, 10_000, 60_000, 10, 4_000, 2_000, 4, 70_000, 18, 15, 40_000, 100, 30_000),
)
"""Values of each category; together they stay below the million ids that slot text shares."""
LARGEST_TOLD = 700
"""Categories with more values than this say nothing about the label."""
COUNT_BOUNDARIES = (0.5, 2.5, 7.5, 30.5)
"""Counts at which the planted effect changes; the first bin is for a count that is missing.

A missing count says what a count of 0 says, since slot text cannot tell them apart.
"""
TOLD_INTS = (0, 2, 3, 5, 8, 11)
MISSING_INTS = 0.15
MISSING_CATEGORIES = 0.05


class Criteo:
    forms = ("parquet", "csv")
    label = "label"
    rate = 0.25

    def __init__(self, random: np.random.Generator) -> None:
        self.words = [codes(size, number) for number, size in enumerate(SIZES)]
        self.means = random.uniform(0.5, 3.0, NUM_INTS)
        self.effects = {
            f"int_{number}": slope * np.concatenate([[-1.0], np.linspace(-1, 1, len(COUNT_BOUNDARIES) + 1)])
            for number, slope in zip(TOLD_INTS, random.choice([-0.5, 0.5], len(TOLD_INTS)), strict=True)
        }
        # The last effect of a category is that of a missing value.
        self.effects |= {
            f"cat_{number}": np.append(random.normal(0, 0.35, size), 0.0)
            for number, size in enumerate(SIZES)
            if size <= LARGEST_TOLD
        }

    def draw(self, random: np.random.Generator, num_rows: int) -> tuple[np.ndarray, np.ndarray]:
        """Counts, NaN where missing, and ids of categories, -1 where missing; a row of each array per column."""
        counts = np.floor(np.exp(random.normal(0, 1.3, (NUM_INTS, num_rows)) + self.means[:, None]) - 1).clip(0)
        counts[random.random(counts.shape) < MISSING_INTS] = np.nan
        ids = np.stack([zipf(random, num_rows, size, 1 + size / 20) for size in SIZES])
        ids[1:][random.random((len(SIZES) - 1, num_rows)) < MISSING_CATEGORIES] = -1
        return counts, ids

    def parts(self, counts: np.ndarray, ids: np.ndarray) -> dict[str, Part]:
        found = {}
        for name in self.effects:
            kind, _, number = name.partition("_")
            if kind == "cat":
                found[name] = Part(np.where(ids[int(number)] < 0, SIZES[int(number)], ids[int(number)]))
            else:
                values = counts[int(number)]
                bins = 1 + np.searchsorted(np.array(COUNT_BOUNDARIES), values)
                found[name] = Part(np.where(np.isnan(values), 0, bins))
        return found

    def sample(self, random: np.random.Generator, num_rows: int) -> Sample:
        counts, ids = self.draw(random, num_rows)
        columns: dict[str, pa.Array] = {}
        for number, values in enumerate(counts):
            columns[f"int_{number}"] = pa.array(values.astype(np.float32), mask=np.isnan(values))
        for number, values in enumerate(ids):
            columns[f"cat_{number}"] = chosen(self.words[number], np.maximum(values, 0), values < 0)
        return Sample(columns, self.parts(counts, ids))

    def finish(
        self, random: np.random.Generator, columns: dict[str, pa.Array], chance: np.ndarray, labels: np.ndarray
    ) -> dict[str, pa.Array]:
        return {"label": ints(labels), **columns}


class CriteoSlots(Criteo):
    """The same rows as slot text: counts squeezed to about 0 to 1, ids of all categories in one space."""

    forms = ("slots",)
    label = "click"

    def sample(self, random: np.random.Generator, num_rows: int) -> Sample:
        counts, ids = self.draw(random, num_rows)
        squeezed = np.round(np.log1p(np.nan_to_num(counts)) / 10, 3).astype(np.float32)
        columns: dict[str, pa.Array] = {
            "dense_var": pa.FixedSizeListArray.from_arrays(pa.array(squeezed.T.ravel()), NUM_INTS)
        }
        first = 1
        for number, (size, values) in enumerate(zip(SIZES, ids, strict=True)):
            columns[str(number + 1)] = pa.array(values + first, mask=values < 0)
            first += size
        return Sample(columns, self.parts(counts, ids))

    def finish(
        self, random: np.random.Generator, columns: dict[str, pa.Array], chance: np.ndarray, labels: np.ndarray
    ) -> dict[str, pa.Array]:
        return {"click": ints(labels), **columns}
