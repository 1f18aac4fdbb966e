"""What holds of every feature, whatever its kind, and of every kind under many settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from polyrec import catalog
from polyrec.data.columns import Dense, Ragged, RaggedDense
from polyrec.families import BucketConfig, FeatureConfig, NormalizerConfig
from polyrec.features.bucketized import BucketizedFeature
from polyrec.features.buckets.hash import HashBucket
from polyrec.features.buckets.identity import IdentityBucket
from polyrec.features.buckets.vocabulary import VocabularyBucket
from polyrec.features.id import IdFeature
from polyrec.features.normalizers.log10 import Log10
from polyrec.features.raw import RawFeature
from polyrec.features.sequence_id import SequenceIdFeature
from polyrec.features.sequence_raw import SequenceRawFeature

MURMUR = HashBucket(rows=1000, function="murmur64")
FARM = HashBucket(rows=1000, function="farm64")
SAME = IdentityBucket(rows=50, out_of_range="skip")
WORDS = VocabularyBucket(rows=3, words=("1", "22", "a"), unknown=None)

WORD = st.one_of(
    st.none(), st.just(""), st.sampled_from(["1", "22", "a"]), st.text(st.characters(codec="utf-8"), max_size=40)
)
NUMBER = st.one_of(st.none(), st.just(""), st.integers(-5, 99).map(str), st.floats(width=32, allow_nan=False).map(str))
WHOLE = st.one_of(st.none(), st.just(""), st.integers(-5, 99).map(str))


def joined(part: st.SearchStrategy[str | None]) -> st.SearchStrategy[str | None]:
    return st.one_of(st.none(), st.lists(part.map(lambda text: text or ""), max_size=5).map(";".join))


def plain(part: st.SearchStrategy[str | None]) -> st.SearchStrategy[str | None]:
    return part.map(lambda text: text and text.replace(";", ""))


FEATURES: dict[str, tuple[FeatureConfig, st.SearchStrategy[str | None]]] = {
    "id murmur64": (IdFeature(name="f", column="c", bucket=MURMUR, default=None), WORD),
    "id farm64": (IdFeature(name="f", column="c", bucket=FARM, default="a", separator=";"), joined(plain(WORD))),
    "id identity": (
        IdFeature(name="f", column="c", bucket=SAME, default="0", max_values=2, separator=";"),
        joined(WHOLE),
    ),
    "id vocabulary": (IdFeature(name="f", column="c", bucket=WORDS, default="a"), WORD),
    "id weighted": (
        IdFeature(name="f", column="c", bucket=MURMUR, default=None, separator=";", kv_separator=":"),
        joined(st.tuples(WHOLE, WHOLE).map(lambda pair: f"{pair[0] or ''}:{pair[1] or ''}")),
    ),
    "bucketized": (BucketizedFeature(name="f", column="c", boundaries=(0, 1, 50), default=None), NUMBER),
    "raw": (RawFeature(name="f", column="c", default=1, normalizer=Log10(threshold=0, default=-1)), NUMBER),
    "sequence_id": (
        SequenceIdFeature(name="f", column="c", bucket=FARM, default=None, separator=";", max_length=3),
        joined(plain(WORD)),
    ),
    "sequence_id default": (
        SequenceIdFeature(name="f", column="c", bucket=SAME, default="0", separator=";"),
        joined(WHOLE),
    ),
    "sequence_raw": (SequenceRawFeature(name="f", column="c", default=1, separator=";", max_length=3), joined(NUMBER)),
}


def by_row(out: Ragged | Dense | RaggedDense) -> list[Any]:
    """The value of each row, comparable with ==."""
    if isinstance(out, Dense):
        return out.values.tolist()
    ends = np.cumsum(out.lengths)[:-1]
    found = [part.tolist() for part in np.split(out.values, ends)][: len(out.lengths)]
    if isinstance(out, Ragged) and out.weights is not None:
        return list(zip(found, [part.tolist() for part in np.split(out.weights, ends)], strict=False))
    return found


def transform(feature: FeatureConfig, *columns: pa.Array) -> list[Any]:
    return by_row(feature.transform(pa.record_batch(dict(zip(feature.inputs, columns, strict=True)))))


@pytest.mark.parametrize("name", FEATURES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_row_depends_on_nothing_but_itself(name: str, data: st.DataObject) -> None:
    feature, texts = FEATURES[name]
    values = data.draw(st.lists(texts, max_size=12))
    column = pa.array(values, pa.string())
    whole = transform(feature, column)
    assert len(whole) == len(values)
    start = data.draw(st.integers(0, len(values)))
    assert transform(feature, column.slice(start)) == whole[start:]
    assert transform(feature, column.slice(0, start)) == whole[:start]
    order = data.draw(st.permutations(range(len(values))))
    assert transform(feature, column.take(pa.array(order, pa.int64()))) == [whole[place] for place in order]
    twice = pa.concat_arrays([column, column])
    assert transform(feature, twice) == whole + whole


@pytest.mark.parametrize("name", FEATURES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_every_form_of_text_agrees(name: str, data: st.DataObject) -> None:
    feature, texts = FEATURES[name]
    column = pa.array(data.draw(st.lists(texts, max_size=8)), pa.string())
    whole = transform(feature, column)
    for kind in (pa.large_string(), pa.string_view(), pa.binary()):
        assert transform(feature, column.cast(kind)) == whole
    encoded = column.dictionary_encode()
    assert transform(feature, encoded) == whole
    start = data.draw(st.integers(0, len(column)))
    assert transform(feature, encoded.slice(start)) == whole[start:]


@pytest.mark.parametrize("name", FEATURES)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_a_batch_of_any_size_and_a_single_row_agree(name: str, data: st.DataObject) -> None:
    """Rows come in batches of one size in training, of another in prediction, and alone."""
    feature, texts = FEATURES[name]
    column = pa.array(data.draw(st.lists(texts, min_size=1, max_size=9)), pa.string())
    whole = transform(feature, column)
    size = data.draw(st.integers(1, len(column)))
    batches = [transform(feature, column.slice(start, size)) for start in range(0, len(column), size)]
    assert [row for batch in batches for row in batch] == whole
    assert [transform(feature, pa.array([value], pa.string()))[0] for value in column.to_pylist()] == whole
    parts = [column.slice(start, size).dictionary_encode() for start in range(0, len(column), size)]
    assert transform(feature, pa.concat_arrays(parts)) == whole


def kinds_beside_each_other(name: str) -> list[FeatureConfig]:
    """The feature several times under other settings, reading other columns, some of them the same."""
    feature = FEATURES[name][0]
    found = [feature.model_copy(update={"name": f"f{place}", "column": f"c{place % 3}"}) for place in range(5)]
    if isinstance(feature, IdFeature):
        found.append(feature.model_copy(update={"name": "other", "bucket": FARM, "default": "a", "separator": None}))
    if isinstance(feature, BucketizedFeature):
        found.append(feature.model_copy(update={"name": "other", "boundaries": (0.5,), "default": 3.0}))
    return [item.model_copy(update={"column": "c1"}) if item.name == "other" else item for item in found]


@pytest.mark.parametrize("name", FEATURES)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_features_together_are_what_they_are_alone(name: str, data: st.DataObject) -> None:
    texts = FEATURES[name][1]
    features = kinds_beside_each_other(name)
    rows = data.draw(st.lists(st.tuples(texts, texts, texts), max_size=8))
    kinds = [pa.string(), pa.large_string(), pa.string()]
    if name == "bucketized" and data.draw(st.booleans()):
        rows = [tuple(float(text) if text else None for text in row) for row in rows]
        kinds = [pa.float32(), pa.float32(), pa.float64()]
    columns = [pa.array([row[place] for row in rows], kinds[place]) for place in range(3)]
    if name == "id murmur64":
        columns[2] = columns[2].dictionary_encode()
    batch = pa.record_batch(columns, ["c0", "c1", "c2"])
    start = data.draw(st.integers(0, len(rows)))
    for part in (batch, batch.slice(start), batch.slice(0, start)):
        together = type(features[0]).transform_all(features, part)
        alone = [feature.transform(part) for feature in features]
        assert [by_row(out) for out in together] == [by_row(out) for out in alone]
        for out, other in zip(together, alone, strict=True):
            assert out.values.dtype == other.values.dtype
            assert out.lengths.tolist() == other.lengths.tolist() if hasattr(out, "lengths") else True


def example(name: str) -> FeatureConfig:
    return catalog.find(FeatureConfig, name).example()


@pytest.mark.parametrize("name", catalog.names(FeatureConfig))
def test_every_feature_takes_numbers_as_text_and_no_rows(name: str) -> None:
    feature = example(name)
    texts = pa.array(["3", "12", "7"])
    assert len(transform(feature, *[texts for _ in feature.inputs])) == 3
    out = feature.transform(pa.record_batch({column: texts.slice(3) for column in feature.inputs}))
    assert len(out.values) == 0
    if not isinstance(out, Dense):
        assert len(out.lengths) == 0


@pytest.mark.parametrize("name", catalog.names(FeatureConfig))
def test_every_feature_says_what_it_makes(name: str) -> None:
    feature = example(name)
    out = feature.transform(pa.record_batch({column: pa.array(["3", "12"]) for column in feature.inputs}))
    assert isinstance(out, Dense if not feature.is_sequence and feature.rows is None else Ragged | RaggedDense)
    if isinstance(out, Ragged):
        assert feature.rows is not None
        assert out.values.min() >= 0
        assert out.values.max() < feature.rows
        assert feature.width == 0
    else:
        assert feature.rows is None
        assert out.values.shape[1] == feature.width


@pytest.mark.parametrize("family", [FeatureConfig, BucketConfig, NormalizerConfig], ids=lambda family: family.__name__)
def test_every_component_is_read_back_from_its_text(family: Any) -> None:
    for name in catalog.names(family):
        component = catalog.find(family, name).example()
        assert TypeAdapter(family).validate_python(component.dump()) == component


@pytest.fixture
def in_folder_with_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that examples of components name."""
    (tmp_path / "words.txt").write_text("1\n2\n33\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("in_folder_with_files")
@pytest.mark.parametrize("name", catalog.names(BucketConfig))
def test_every_bucket_keeps_to_its_rows(name: str) -> None:
    bucket = catalog.find(BucketConfig, name).example()
    ids = bucket.rows_of(pa.array([str(number) for number in range(200)]))
    assert ids.dtype == np.int64
    assert ids.min() >= -1
    assert ids.max() < bucket.rows
    assert bucket.rows_of(pa.array([], pa.string())).tolist() == []


@pytest.mark.parametrize("name", catalog.names(NormalizerConfig))
def test_every_normalizer_keeps_shape_and_type(name: str) -> None:
    normalizer = catalog.find(NormalizerConfig, name).example()
    values = np.array([1, 2, 300], np.float32)
    out = normalizer.apply(values)
    assert (out.shape, out.dtype) == (values.shape, np.float32)
    assert values.tolist() == [1, 2, 300]
    assert normalizer.apply(values[:0]).shape == (0,)
