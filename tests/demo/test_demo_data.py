"""The planted truth, judged by scikit-learn, and the files it is written to."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from polyrec.data.readers import Span
from polyrec.data.readers.csv import Csv, CsvColumn
from polyrec.data.readers.slots import SlotColumn, Slots
from polyrec.demo import make_data
from polyrec.demo.truth import Part, auc, fit, logit, offset_for, ragged_shares, sigmoid, zipf
from polyrec.errors import DataError

USER = ("user_id", "cms_segid", "cms_group_id", "final_gender_code", "age_level", "pvalue_level", "shopping_level")
TAOBAO = [
    *(*USER, "occupation", "new_user_class_level", "adgroup_id", "cate_id", "campaign_id", "customer", "brand"),
    *("price", "pid", "click_50_seq__adgroup_id", "click_50_seq__cate_id", "click_50_seq__brand", "clk", "buy"),
]
AVAZU = [
    *("label", "hour", "c1", "banner_pos", "site_id", "site_domain", "site_category"),
    *("app_id", "app_domain", "app_category", "device_id", "device_ip", "device_model", "device_type"),
    *("device_conn_type", "c14", "c15", "c16", "c17", "c18", "c19", "c20", "c21", "tags"),
]
CRITEO = ["label", *(f"int_{number}" for number in range(13)), *(f"cat_{number}" for number in range(26))]


def test_auc_is_that_of_scikit_learn() -> None:
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 1000)
    for scores in (random.normal(size=1000), random.integers(0, 5, 1000).astype(float)):
        assert auc(scores, labels) == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


def test_the_fit_is_that_of_scikit_learn() -> None:
    random = np.random.default_rng(0)
    shares = random.random(5000)
    effects = {"a": random.normal(size=5), "b": np.array([2.0])}
    parts = {"a": Part(random.integers(0, 5, 5000)), "b": Part(np.zeros(5000, int), shares)}
    labels = (random.random(5000) < sigmoid(logit(effects, parts, 5000))).astype(int)
    found = fit(parts, {"a": 5, "b": 1}, labels, rounds=50, ridge=1e-3)
    x = np.column_stack([np.eye(5)[parts["a"].ids], shares])
    theirs = LogisticRegression(C=1e3, max_iter=1000, fit_intercept=False).fit(x, labels).coef_[0]
    base = np.log(labels.mean() / (1 - labels.mean()))
    np.testing.assert_allclose(np.append(found["a"] + base, found["b"]), theirs, atol=5e-3)


def test_several_values_in_a_row_add_up() -> None:
    part = Part(np.array([0, 1, 1]), rows=np.array([0, 0, 2]))
    assert part.scores(np.array([1.0, 10.0]), 3).tolist() == [11.0, 0.0, 10.0]
    assert part.slope(np.array([1.0, 2.0, 3.0]), 2).tolist() == [1.0, 4.0]


def test_shares_and_offsets_by_hand() -> None:
    shares = ragged_shares(np.array([1, 1, 2, 5]), np.array([3, 0, 1]), np.array([1, 1, 5]))
    assert shares.tolist() == [2 / 3, 0.0, 1.0]
    assert offset_for(np.zeros(10), 0.25) == pytest.approx(np.log(1 / 3))


def test_ids_follow_zipfs_law() -> None:
    counts = np.bincount(zipf(np.random.default_rng(0), 200_000, 1000), minlength=1000)
    # With density 1 / (x + 1) an id k has the chance log((k + 2) / (k + 1)) / log(1001).
    expected = 200_000 * np.log((np.arange(1000) + 2) / (np.arange(1000) + 1)) / np.log(1001)
    assert counts[:20] == pytest.approx(expected[:20], rel=0.06)
    assert len(counts) == 1000


@pytest.mark.parametrize("kind", ["taobao", "criteo", "movielens", "avazu"])
def test_the_truth_can_be_learned(tmp_path: Path, kind: str) -> None:
    data = make_data(kind, str(tmp_path), 40_000, seed=1, form="parquet")
    assert 0.7 < data.best_auc < 0.9
    assert data.best_auc - 0.02 < data.oracle_auc < data.best_auc + 0.005
    assert 0.1 < data.label_rate < 0.5
    tables = [pq.read_table(path) for path in data.evaluate]
    labels = pa.concat_tables(tables).column(data.label).to_numpy()
    assert labels.mean() == pytest.approx(data.label_rate)
    assert len(labels) == data.eval_rows == 8000
    assert sum(pq.read_metadata(path).num_rows for path in data.train) == 40_000
    assert len(data.train) == 4
    assert all(pq.read_metadata(path).num_row_groups >= 2 for path in data.train)
    written = json.loads((tmp_path / "truth.json").read_text())
    assert written["best_auc"] == data.best_auc
    assert tuple(written["train"]) == data.train


def test_columns_and_types_of_each_kind(tmp_path: Path) -> None:
    taobao = pq.read_table(make_data("taobao", str(tmp_path / "t"), 2000).train[0])
    assert taobao.column_names == TAOBAO
    assert {str(taobao.schema.field(name).type) for name in TAOBAO[:14] + TAOBAO[-2:]} == {"int64"}
    assert [str(taobao.schema.field(name).type) for name in TAOBAO[14:17]] == [
        "float",
        "string",
        "list<element: int64>",
    ]
    lengths = taobao.column("click_50_seq__cate_id").combine_chunks().value_lengths().to_numpy()
    assert lengths.min() == 0
    assert 8 <= np.median(lengths) <= 12
    assert lengths.max() <= 50
    assert set(taobao.column("buy").to_pylist()) == {0, 1}
    criteo = pq.read_table(make_data("criteo", str(tmp_path / "c"), 2000).train[0])
    assert criteo.column_names == CRITEO
    assert criteo.column("int_3").null_count == pytest.approx(75, abs=40)
    assert criteo.column("cat_5").null_count > 0
    assert make_data("avazu", str(tmp_path / "a"), 100, form="parquet").columns == tuple(AVAZU)


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    def files(name: str, seed: int) -> list[bytes]:
        data = make_data("movielens", str(tmp_path / name), 300, seed=seed)
        return [Path(path).read_bytes() for path in (*data.train, *data.evaluate)]

    assert files("a", 5) == files("b", 5)
    assert files("a", 5) != files("c", 6)


def test_csv_and_parquet_hold_the_same_rows(tmp_path: Path) -> None:
    """Lists are joined by a bar."""
    parquet = make_data("movielens", str(tmp_path / "p"), 400, form="parquet")
    text = make_data("movielens", str(tmp_path / "t"), 400, form="csv")
    reader = Csv(columns=tuple(CsvColumn(name=name, type="string") for name in text.columns), header=False)
    for left, right in zip(parquet.train, text.train, strict=True):
        table = pq.read_table(left)
        span = Span(right, 0, reader.length(right))
        rows = pa.Table.from_batches([batch for _, batch in reader.read(span, ())])
        for name in table.column_names:
            expected = [
                "|".join(map(str, value)) if isinstance(value, list) else str(value)
                for value in table.column(name).to_pylist()
            ]
            assert [value or "" for value in rows.column(name).to_pylist()] == expected, name


def test_slot_text_holds_the_rows_of_the_other_forms(tmp_path: Path) -> None:
    slots = make_data("criteo", str(tmp_path / "s"), 500, form="slots")
    parquet = make_data("criteo", str(tmp_path / "p"), 500)
    names = tuple(str(number) for number in range(1, 27))
    reader = Slots(sparse=("click", *names), dense=(SlotColumn(name="dense_var", size=13),))
    assert slots.best_auc == parquet.best_auc
    for left, right in zip(slots.train, parquet.train, strict=True):
        found = pa.Table.from_batches([rows for _, rows in reader.read(Span(left, 0, reader.length(left)), ())])
        table = pq.read_table(right)
        assert [label for (label,) in found.column("click").to_pylist()] == table.column("label").to_pylist()
        for number in range(26):
            ids = [value for (value,) in found.column(str(number + 1)).to_pylist()]
            texts = table.column(f"cat_{number}").to_pylist()
            assert [value == 0 for value in ids] == [text is None for text in texts]
            assert len(set(ids)) == len(set(texts))
            assert max(ids) < 1_000_001
        counts = np.array(table.column("int_4").fill_null(0).to_pylist())
        dense = np.array(found.column("dense_var").to_pylist())
        np.testing.assert_allclose(dense[:, 4], np.round(np.log1p(counts) / 10, 3), atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "form", "message"),
    [
        ("taobo", None, "demo data taobo is not known; did you mean taobao"),
        ("taobao", "slots", "taobao is not made as slots; known: parquet, csv"),
    ],
)
def test_what_is_not_made_is_refused(tmp_path: Path, kind: str, form: str | None, message: str) -> None:
    with pytest.raises(DataError, match=message):
        make_data(kind, str(tmp_path), 100, form=form)
