"""Display advertising with click histories, in the columns of the Taobao data set."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from polyrec.demo.kind import Sample, chosen, ints, lists
from polyrec.demo.truth import Part, mean_of, ragged_shares, sigmoid, zipf

NUM_USERS = 100_000
NUM_ADS = 60_000
NUM_CATEGORIES = 30
NUM_BRANDS = 200
PROFILE = {
    "cms_segid": 97,
    "cms_group_id": 13,
    "final_gender_code": 2,
    "age_level": 7,
    "pvalue_level": 4,
    "shopping_level": 3,
    "occupation": 2,
    "new_user_class_level": 5,
}
"""Features of a user and how many values each has."""
PLACES = ["430539_1007", "430548_1007"]
PRICE_BOUNDARIES = (10.0, 25.0, 50.0, 100.0, 200.0, 400.0, 1000.0)
"""Prices at which the planted effect changes."""
LONGEST = 50
MEDIAN_LENGTH = 10


class Taobao:
    forms = ("parquet", "csv")
    label = "clk"
    rate = 0.2

    def __init__(self, random: np.random.Generator) -> None:
        self.profile = {name: random.integers(0, size, NUM_USERS) for name, size in PROFILE.items()}
        self.favourites = zipf(random, 2 * NUM_USERS, NUM_CATEGORIES, 4.0).reshape(2, NUM_USERS)
        self.category = np.sort(zipf(random, NUM_ADS, NUM_CATEGORIES, 4.0))
        self.first = np.searchsorted(self.category, np.arange(NUM_CATEGORIES))
        self.count = np.bincount(self.category, minlength=NUM_CATEGORIES)
        self.ad_ids = random.permutation(NUM_ADS)
        self.brand = zipf(random, NUM_ADS, NUM_BRANDS, 10.0)
        self.price = np.round(np.exp(random.normal(4.2, 1.3, NUM_ADS)), 2).astype(np.float32)
        self.effects = {name: random.normal(0, 0.25, size) for name, size in PROFILE.items()}
        self.effects |= {
            "pid": np.array([-0.3, 0.3]),
            "cate_id": random.normal(0, 0.5, NUM_CATEGORIES),
            "brand": random.normal(0, 0.3, NUM_BRANDS),
            "price": random.permutation(np.linspace(-0.7, 0.7, len(PRICE_BOUNDARIES) + 1)),
            "match": np.array([0.8]),
            "history": random.normal(0, 1.0, NUM_CATEGORIES),
        }

    def sample(self, random: np.random.Generator, num_rows: int) -> Sample:
        users = zipf(random, num_rows, NUM_USERS, 1000.0)
        ads = self._ads(random, users, 0.4)
        lengths = np.minimum(np.exp(random.normal(np.log(MEDIAN_LENGTH), 0.9, num_rows)), LONGEST).astype(np.int64)
        lengths[random.random(num_rows) < 0.03] = 0
        clicked = self._ads(random, np.repeat(users, lengths), 0.6)
        places = random.integers(0, 2, num_rows)
        prices = self.price[ads]
        parts = {name: Part(values[users]) for name, values in self.profile.items()}
        parts |= {
            "pid": Part(places),
            "cate_id": Part(self.category[ads]),
            "brand": Part(self.brand[ads]),
            "price": Part(np.searchsorted(np.array(PRICE_BOUNDARIES), prices, side="right")),
            "history": mean_of(self.category[clicked], lengths),
            "match": Part(
                np.zeros(num_rows, np.int64),
                ragged_shares(self.category[clicked], lengths, self.category[ads]),
            ),
        }
        columns = {
            "user_id": ints(users),
            **{name: ints(values[users]) for name, values in self.profile.items()},
            "adgroup_id": ints(self.ad_ids[ads]),
            "cate_id": ints(self.category[ads]),
            "campaign_id": ints(self.ad_ids[ads] // 2),
            "customer": ints(self.ad_ids[ads] // 5),
            "brand": ints(self.brand[ads]),
            "price": pa.array(prices),
            "pid": chosen(PLACES, places),
            "click_50_seq__adgroup_id": lists(ints(self.ad_ids[clicked]), lengths),
            "click_50_seq__cate_id": lists(ints(self.category[clicked]), lengths),
            "click_50_seq__brand": lists(ints(self.brand[clicked]), lengths),
        }
        return Sample(columns, parts)

    def _ads(self, random: np.random.Generator, users: np.ndarray, loyalty: float) -> np.ndarray:
        """An ad for each user: from a favourite category this often, else from any."""
        categories = zipf(random, len(users), NUM_CATEGORIES, 4.0)
        draws = random.random(len(users))
        for number in (0, 1):
            is_loyal = (draws >= loyalty / 2 * number) & (draws < loyalty / 2 * (number + 1))
            categories[is_loyal] = self.favourites[number, users[is_loyal]]
        popular = random.random(len(users)) ** 3
        return self.first[categories] + (popular * self.count[categories]).astype(np.int64)

    def finish(
        self, random: np.random.Generator, columns: dict[str, pa.Array], chance: np.ndarray, labels: np.ndarray
    ) -> dict[str, pa.Array]:
        """`buy` follows a click the more often the surer the click was."""
        buys = labels * (random.random(len(labels)) < sigmoid(4 * chance - 2.5))
        return {**columns, "clk": ints(labels), "buy": ints(buys)}
