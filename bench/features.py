"""Rows per second of each kind of feature and operator, texts per second of each hash, on one core, as one JSON line.

    python bench/features.py [--small] [--rows 65536]

Every number is the best of several repeats over one batch of that many rows, the first not counted.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import tokenizers

from polyrec.families import FeatureConfig, OperatorConfig
from polyrec.features._hashing import farm64, hash_texts, murmur64
from polyrec.features.bucketized import BucketizedFeature
from polyrec.features.buckets.hash import HashBucket
from polyrec.features.buckets.identity import IdentityBucket
from polyrec.features.buckets.vocabulary import VocabularyBucket
from polyrec.features.id import IdFeature
from polyrec.features.normalizers.zscore import ZScore
from polyrec.features.operators.edit_distance import EditDistance
from polyrec.features.operators.expression import Expression
from polyrec.features.operators.regex_replace import RegexReplace
from polyrec.features.operators.text_normalize import TextNormalize
from polyrec.features.operators.tokenize import Tokenize
from polyrec.features.raw import RawFeature
from polyrec.features.sequence_id import SequenceIdFeature
from polyrec.features.sequence_raw import SequenceRawFeature

REPEATS = 20
SEQUENCE = 20
WORDS = ["Red", "blue", "green", "small", "large", "shoes,", "shirt", "coat", "萬里", "hat"]
HASH = HashBucket(rows=100_000, function="murmur64")


def texts(rows: int) -> dict[str, pa.Array]:
    """Texts of several lengths, in bytes."""
    random = np.random.default_rng(0)
    numbers = pa.array(random.integers(0, 10_000_000, rows)).cast(pa.string())
    return {
        "to_7": numbers,
        "5_to_12": pa.array([f"user_{number}" for number in numbers.to_pylist()]),
        "36": pa.array([f"{number:036x}" for number in random.integers(0, 2**62, rows)]),
        "0_to_200": pa.array(["x" * length for length in random.integers(0, 200, rows)]),
    }


def columns(rows: int) -> dict[str, pa.Array]:
    random = np.random.default_rng(0)
    numbers = random.integers(0, 100_000, rows)
    clicks = random.integers(0, 100_000, (rows, SEQUENCE))
    offsets = pa.array(np.arange(rows + 1, dtype=np.int32) * SEQUENCE)
    prices = random.random(rows)
    return {
        "int": pa.array(numbers),
        "text": pa.array(numbers).cast(pa.string()),
        "dictionary": pa.array(numbers % 1000).cast(pa.string()).dictionary_encode(),
        "float": pa.array(prices, pa.float32()),
        "float text": pa.array(np.round(prices, 4)).cast(pa.string()),
        "clicks": pa.ListArray.from_arrays(offsets, pa.array(clicks.ravel())),
        "clicks text": pa.array([";".join(row) for row in clicks.astype(str).tolist()]),
        "prices": pa.ListArray.from_arrays(offsets, pa.array(random.random(rows * SEQUENCE), pa.float32())),
        "title": pa.array([" ".join(random.choice(WORDS, 4)) for _ in range(rows)]),
        "query": pa.array([" ".join(random.choice(WORDS, 3)) for _ in range(rows)]),
    }


def features() -> dict[str, FeatureConfig]:
    same = IdentityBucket(rows=100_000, out_of_range="error")
    words = VocabularyBucket(rows=1000, words=tuple(str(number) for number in range(1000)), unknown=0)
    boundaries = tuple(number / 20 for number in range(1, 20))
    return {
        "id_hash_text": IdFeature(name="f", column="text", bucket=HASH, default=None),
        "id_hash_int": IdFeature(name="f", column="int", bucket=HASH, default=None),
        "id_hash_dictionary": IdFeature(name="f", column="dictionary", bucket=HASH, default=None),
        "id_identity_int": IdFeature(name="f", column="int", bucket=same, default=None),
        "id_vocabulary_text": IdFeature(name="f", column="text", bucket=words, default=None),
        "id_20_values_text": IdFeature(name="f", column="clicks text", bucket=HASH, default=None, separator=";"),
        "bucketized": BucketizedFeature(name="f", column="float", boundaries=boundaries, default=None),
        "raw": RawFeature(name="f", column="float", default=None, normalizer=ZScore(mean=0.5, std=0.3)),
        "raw_text": RawFeature(name="f", column="float text", default=None),
        "sequence_20_id_list": SequenceIdFeature(name="f", column="clicks", bucket=same, default=None),
        "sequence_20_id_text": SequenceIdFeature(
            name="f", column="clicks text", bucket=HASH, default="0", separator=";", max_length=SEQUENCE
        ),
        "sequence_20_raw_list": SequenceRawFeature(name="f", column="prices", default=None),
    }


def operators(folder: str) -> dict[str, OperatorConfig]:
    """Those of formulas and texts; a tokenizer is made in the folder."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(WORDS, tokenizers.trainers.BpeTrainer(show_progress=False))
    tokenizer.save(f"{folder}/tokenizer.json")
    of_numbers = {"a": "float", "b": "int", "c": "float"}
    return {
        "expression": Expression(variables=of_numbers, text="a * b + log(c)"),
        "expression_choice": Expression(variables=of_numbers, text="a > 0.5 && b < 1000 ? sigmoid(a) : c ^ 2"),
        "expression_20_numbers": Expression(variables={"x": "prices"}, text="x / reduce_sum(x)"),
        "expression_20_numbers_dot": Expression(variables={"x": "prices", "y": "clicks"}, text="dot(x, y)"),
        "expression_text": Expression(variables={"a": "float text"}, text="a * 2"),
        "edit_distance": EditDistance(first="query", second="title"),
        "regex_replace": RegexReplace(column="title", pattern="[a-c]+", replacement="#"),
        "text_normalize": TextNormalize(column="title", steps=("half_width", "simplified", "lower", "filter")),
        "tokenize": Tokenize(column="title", file=f"{folder}/tokenizer.json", form="tokenizers"),
    }


def rate(work: Callable[[], object], rows: int) -> int:
    """Rows per second."""
    work()
    best = float("inf")
    for _ in range(REPEATS):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return round(rows / best)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=65536, help="rows of the batch")
    parser.add_argument("--small", action="store_true", help="few rows; checks the script, not speed")
    options = parser.parse_args()
    rows = 1000 if options.small else options.rows
    batch = pa.record_batch(columns(rows))
    hashes = {
        f"{function.__name__}_bytes_{length}": rate(lambda a=array, f=function: hash_texts(a, f), rows)
        for length, array in texts(rows).items()
        for function in (murmur64, farm64)
    }
    speeds = {name: rate(lambda f=feature: f.transform(batch), rows) for name, feature in features().items()}
    with tempfile.TemporaryDirectory() as folder:
        speeds |= {name: rate(lambda o=made: o.apply(batch), rows) for name, made in operators(folder).items()}
    json.dump({"bench": "features", "rows": rows, "texts_per_second": hashes, "rows_per_second": speeds}, sys.stdout)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
