"""Ratings of films with the films that were watched before, in the manner of the MovieLens data set."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from polyrec.demo.kind import Sample, chosen, ints, joined, lists
from polyrec.demo.truth import Part, mean_of, ragged_shares, zipf

NUM_USERS = 20_000
NUM_MOVIES = 4_000
GENDERS = ["F", "M"]
AGES = np.array([1, 18, 25, 35, 45, 50, 56])
NUM_OCCUPATIONS = 21
GENRES = [
    *("Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary", "Drama", "Fantasy"),
    *("Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western"),
]
FIRST_YEAR = 1930
NUM_YEARS = 71
MOST_GENRES = 3
LONGEST = 50


class MovieLens:
    forms = ("csv", "parquet")
    label = "label"
    rate = 0.4

    def __init__(self, random: np.random.Generator) -> None:
        self.gender = random.integers(0, 2, NUM_USERS)
        self.age = random.integers(0, len(AGES), NUM_USERS)
        self.occupation = random.integers(0, NUM_OCCUPATIONS, NUM_USERS)
        self.favourite = random.integers(0, len(GENRES), NUM_USERS)
        self.genre = np.sort(random.integers(0, len(GENRES), NUM_MOVIES))
        self.first = np.searchsorted(self.genre, np.arange(len(GENRES)))
        self.count = np.bincount(self.genre, minlength=len(GENRES))
        self.movie_ids = random.permutation(NUM_MOVIES) + 1
        self.year = NUM_YEARS - 1 - zipf(random, NUM_MOVIES, NUM_YEARS, 10.0)
        self.num_genres = random.integers(1, MOST_GENRES + 1, NUM_MOVIES)
        steps = random.integers(1, 6, (2, NUM_MOVIES))
        # Steps below half the number of genres keep the three genres of a film apart.
        self.genres = (self.genre + np.stack([0 * steps[0], steps[0], steps.sum(0)])) % len(GENRES)
        self.effects = {
            "gender": random.choice([-0.2, 0.2], 1) * np.array([-1.0, 1.0]),
            "age": random.normal(0, 0.3, len(AGES)),
            "occupation": random.normal(0, 0.3, NUM_OCCUPATIONS),
            "genres": random.normal(0, 0.4, len(GENRES)),
            "decade": random.normal(0, 0.4, NUM_YEARS // 10 + 1),
            "match": np.array([0.8]),
            "history": random.normal(0, 1.0, len(GENRES)),
        }

    def sample(self, random: np.random.Generator, num_rows: int) -> Sample:
        users = zipf(random, num_rows, NUM_USERS, 1000.0)
        movies = self._movies(random, users, 0.35)
        lengths = np.minimum(np.exp(random.normal(np.log(10), 0.9, num_rows)), LONGEST).astype(np.int64)
        watched = self._movies(random, np.repeat(users, lengths), 0.5)
        num_genres = self.num_genres[movies]
        is_used = np.arange(MOST_GENRES)[None, :] < num_genres[:, None]
        genres = self.genres[:, movies].T[is_used]
        parts = {
            "gender": Part(self.gender[users]),
            "age": Part(self.age[users]),
            "occupation": Part(self.occupation[users]),
            "genres": Part(genres, rows=np.repeat(np.arange(num_rows), num_genres)),
            "decade": Part(self.year[movies] // 10),
            "history": mean_of(self.genre[watched], lengths),
            "match": Part(
                np.zeros(num_rows, np.int64), ragged_shares(self.genre[watched], lengths, self.genre[movies])
            ),
        }
        columns = {
            "user_id": ints(users + 1),
            "gender": chosen(GENDERS, self.gender[users]),
            "age": ints(AGES[self.age[users]]),
            "occupation": ints(self.occupation[users]),
            "movie_id": ints(self.movie_ids[movies]),
            "genres": joined(lists(chosen(GENRES, genres), num_genres)),
            "year": ints(self.year[movies] + FIRST_YEAR),
            "hist_movie_id": lists(ints(self.movie_ids[watched]), lengths),
            "hist_genre": lists(chosen(GENRES, self.genre[watched]), lengths),
        }
        return Sample(columns, parts)

    def _movies(self, random: np.random.Generator, users: np.ndarray, loyalty: float) -> np.ndarray:
        """A film for each user: of the favourite genre this often, else of any."""
        genres = random.integers(0, len(GENRES), len(users))
        is_loyal = random.random(len(users)) < loyalty
        genres[is_loyal] = self.favourite[users[is_loyal]]
        popular = random.random(len(users)) ** 2
        return self.first[genres] + (popular * self.count[genres]).astype(np.int64)

    def finish(
        self, random: np.random.Generator, columns: dict[str, pa.Array], chance: np.ndarray, labels: np.ndarray
    ) -> dict[str, pa.Array]:
        """`label` says whether the rating is 4 or 5."""
        ratings = np.where(labels > 0, random.integers(4, 6, len(labels)), random.integers(1, 4, len(labels)))
        return {**columns, "rating": ints(ratings), "label": ints(labels)}
