"""What each kind of feature and operator and each hash costs, on one core; prints one JSON line.

    python bench/features.py [--small] [--rows 65536]

`per_s` counts rows (of hashes: texts) in a second of wall time and `per_cpu_s` in a second of CPU time of the thread,
`bytes_per_cpu_s` the bytes of the texts: medians of several repeats over one batch of that many rows, the first not
counted. `decode_ratio` is the CPU time of a feature over that of plain pyarrow decoding of its columns from Parquet.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import tokenizers

from polyrec.config import Derived, EachPosition
from polyrec.families import FeatureConfig, OperatorConfig
from polyrec.features._hashing import farm64, hash_texts, murmur64
from polyrec.features._program import make
from polyrec.features.bucketized import BucketizedFeature
from polyrec.features.buckets.hash import HashBucket
from polyrec.features.buckets.identity import IdentityBucket
from polyrec.features.buckets.vocabulary import VocabularyBucket
from polyrec.features.id import IdFeature
from polyrec.features.normalizers.zscore import ZScore
from polyrec.features.operators.bool_mask import BoolMask
from polyrec.features.operators.combine import Combine
from polyrec.features.operators.combo import Combo
from polyrec.features.operators.cross import Cross
from polyrec.features.operators.edit_distance import EditDistance
from polyrec.features.operators.expression import Expression
from polyrec.features.operators.fixed_point import FixedPoint
from polyrec.features.operators.kv_dot_product import KvDotProduct
from polyrec.features.operators.lookup import Lookup
from polyrec.features.operators.match import Match
from polyrec.features.operators.overlap import Overlap
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
        "8": pa.array([f"{number:08x}" for number in random.integers(0, 2**32, rows)]),
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
        **maps(rows, random),
    }


def maps(rows: int, random: np.random.Generator) -> dict[str, pa.Array]:
    """Maps of 20 entries, keys that they hold now and then, tags, and terms."""
    keys = random.integers(0, 100, (rows, SEQUENCE))
    entries = [[f"{key}:0.5" for key in row] for row in keys.tolist()]
    offsets = pa.array(np.arange(rows + 1, dtype=np.int32) * SEQUENCE)
    weights = pa.array(random.random(rows * SEQUENCE), pa.float32())
    return {
        "map text": pa.array(["|".join(row) for row in entries]),
        "map": pa.MapArray.from_arrays(offsets, pa.array(keys.ravel()), weights),
        "nested map": pa.array([f"{row[0][0]}^{','.join(row[:10])}|7^{','.join(row[10:])}" for row in entries]),
        "key": pa.array(random.integers(0, 100, rows)),
        "keys": pa.ListArray.from_arrays(offsets, pa.array(random.integers(0, 100, rows * SEQUENCE))),
        "tags": pa.array(["|".join(row) for row in random.integers(0, 1000, (rows, 3)).astype(str).tolist()]),
        "mask": pa.ListArray.from_arrays(offsets, pa.array(random.random(rows * SEQUENCE) < 0.5)),
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


def formulas_and_texts(folder: str) -> dict[str, OperatorConfig]:
    """A tokenizer is made in the folder."""
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


def operators() -> dict[str, OperatorConfig]:
    bar = {"separator": "|"}
    number = {**bar, "values": "number", "repeats": "first", "combiner": "sum"}
    return {
        "combo_2_values": Combo(columns=("int", "text")),
        "combo_3_times_3_texts": Combo(columns=("tags", "tags"), separators=("|", "|")),
        "cross_2_values": Cross(columns=("text", "dictionary"), rows=100_000),
        "cross_3_times_3_texts": Cross(columns=("tags", "tags"), separators=("|", "|"), rows=100_000),
        "lookup_20_entries_text": Lookup(map="map text", keys="key", **number),
        "lookup_20_entries_map": Lookup(map="map", keys="key", **number),
        "lookup_20_entries_20_keys_map": Lookup(map="map", keys="keys", **number),
        "match_20_entries_text": Match(map="nested map", outer_key="key", inner_key="key", values="number"),
        "overlap_ratio": Overlap(query="tags", title="clicks text", method="query_common_ratio", separator=";"),
        "overlap_avg_dist": Overlap(query="keys", title="keys", method="proximity_avg_dist", separator=";"),
        "kv_dot_product_20_times_20": KvDotProduct(query="map", document="map text", **bar),
        "bool_mask_20_values": BoolMask(values="clicks", mask="mask"),
        "combine_20_numbers": Combine(column="prices", combiner="sum"),
        "fixed_point": FixedPoint(column="float", places=3),
    }


def sequences() -> dict[str, Derived]:
    each = EachPosition(columns=("keys",))
    lookup = Lookup(map="map text", keys="keys", separator="|", values="number", repeats="first", combiner="sum")
    return {
        "lookup_in_20_positions": Derived(name="d", operator=lookup, each_position=each),
        "combo_in_20_positions": Derived(name="d", operator=Combo(columns=("text", "keys")), each_position=each),
    }


def cost(work: Callable[[], object]) -> tuple[float, float]:
    """Median seconds, wall and CPU."""
    work()
    wall, cpu = [], []
    for _ in range(REPEATS):
        began, began_cpu = time.perf_counter(), time.thread_time()
        work()
        cpu.append(time.thread_time() - began_cpu)
        wall.append(time.perf_counter() - began)
    return statistics.median(wall), statistics.median(cpu)


def rates(work: Callable[[], object], rows: int) -> dict[str, float]:
    """Rows in a second."""
    wall, cpu = cost(work)
    return {"per_s": round(rows / wall), "per_cpu_s": round(rows / cpu)}


def feature_rates(feature: FeatureConfig, batch: pa.RecordBatch, folder: str) -> dict[str, float]:
    """Beside decoding the feature's columns, without threads."""
    wanted = list(feature.inputs)
    path = f"{folder}/{'-'.join(wanted)}.parquet"
    pq.write_table(pa.table(batch.select(wanted)), path)
    _, decoding = cost(lambda: pq.ParquetFile(path).read(use_threads=False))
    found = rates(lambda: feature.transform(batch), batch.num_rows)
    return {**found, "decode_ratio": round(batch.num_rows / found["per_cpu_s"] / decoding, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=65536, help="rows of the batch")
    parser.add_argument("--small", action="store_true", help="few rows; checks the script, not speed")
    options = parser.parse_args()
    rows = 1000 if options.small else options.rows
    batch = pa.record_batch(columns(rows))
    hashes = {}
    for length, array in texts(rows).items():
        for function in (murmur64, farm64):
            found = rates(lambda a=array, f=function: hash_texts(a, f), rows)
            size = array.buffers()[2].size / rows
            hashes[f"{function.__name__}_bytes_{length}"] = {
                **found,
                "bytes_per_cpu_s": round(size * found["per_cpu_s"]),
            }
    speeds = {}
    with tempfile.TemporaryDirectory() as folder:
        speeds |= {name: feature_rates(feature, batch, folder) for name, feature in features().items()}
        made = {**operators(), **formulas_and_texts(folder)}
        speeds |= {name: rates(lambda o=operator: o.apply(batch), rows) for name, operator in made.items()}
    speeds |= {name: rates(lambda d=derived: make(d, batch), rows) for name, derived in sequences().items()}
    json.dump({"bench": "features", "rows": rows, "hashes": hashes, "kinds": speeds}, sys.stdout)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
