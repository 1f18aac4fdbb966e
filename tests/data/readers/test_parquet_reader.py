"""Parquet spans by rows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from polyrec.data.readers import Span, parquet
from polyrec.data.readers.parquet import BATCH_BYTES, BATCH_ROWS, Parquet
from polyrec.errors import DataError

TABLE = pa.table(
    {
        "row": pa.array(range(100), pa.int64()),
        "price": pa.array([None if row % 7 == 0 else row / 2 for row in range(100)], pa.float32()),
        "history": pa.array([[row] * (row % 3) for row in range(100)], pa.list_(pa.int64())),
        "city": pa.array([f"city {row % 5}" for row in range(100)]).dictionary_encode(),
        "a.b": pa.array(range(100), pa.int8()),
    }
)


@pytest.fixture
def path(tmp_path: Path) -> str:
    pq.write_table(TABLE, tmp_path / "rows.parquet", row_group_size=30)
    return str(tmp_path / "rows.parquet")


def rows(path: str, start: int, stop: int, skip: int = 0) -> list[int]:
    found = Parquet().read(Span(path, start, stop, skip), ("row",))
    return [row for _, batch in found for row in batch.column("row").to_pylist()]


@pytest.mark.parametrize(
    ("start", "stop", "skip"),
    [(0, 100, 0), (0, 1, 0), (29, 31, 0), (30, 60, 0), (10, 95, 25), (90, 100, 20), (5, 5, 0)],
)
def test_a_span_is_its_rows(path: str, start: int, stop: int, skip: int) -> None:
    assert rows(path, start, stop, skip) == list(range(min(start + skip, stop), stop))


def test_columns_come_as_asked_in_their_types(path: str) -> None:
    columns = ("history", "city", "a.b", "price")
    batches = [batch for _, batch in Parquet().read(Span(path, 0, 100), columns)]
    assert pa.Table.from_batches(batches).to_pylist() == TABLE.select(columns).to_pylist()
    assert batches[0].schema.names == list(columns)
    assert Parquet().arrow_schema(path).equals(TABLE.schema)
    everything = next(Parquet().read(Span(path, 0, 100), ()))[1]
    assert everything.schema.names == TABLE.column_names


def test_any_piece_can_be_read_again_from_any_row(path: str) -> None:
    for piece, batch in Parquet().read(Span(path, 7, 77), ("row",)):
        values = batch.column("row").to_pylist()
        assert rows(piece.path, piece.start, 77, piece.skip + 2) == list(range(values[2], 77))
        assert rows(piece.path, piece.start, piece.stop, piece.skip) == values


def test_pieces_are_row_groups(path: str) -> None:
    pieces = Parquet().pieces(path)
    assert [(piece.start, piece.stop) for piece in pieces] == [(0, 30), (30, 60), (60, 90), (90, 100)]
    assert Parquet().length(path) == 100


def test_large_row_groups_are_read_in_batches(tmp_path: Path) -> None:
    table = pa.table({"row": pa.array(range(3 * BATCH_ROWS))})
    pq.write_table(table, tmp_path / "one.parquet", row_group_size=3 * BATCH_ROWS)
    found = list(Parquet().read(Span(str(tmp_path / "one.parquet"), 0, 3 * BATCH_ROWS), ("row",)))
    assert len(found) >= 3
    assert max(batch.num_rows for _, batch in found) <= BATCH_ROWS


def test_wide_rows_are_read_a_few_at_a_time(tmp_path: Path) -> None:
    lists = pa.ListArray.from_arrays(pa.array(range(0, 100_001, 100), pa.int32()), pa.array(range(100_000)))
    pq.write_table(pa.table({"row": pa.array(range(1000)), "list": lists}), tmp_path / "wide.parquet")
    span = Span(str(tmp_path / "wide.parquet"), 0, 1000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "BATCH_BYTES", 80_000)
        sizes = [batch.num_rows for _, batch in Parquet().read(span, ("list",))]
        assert max(sizes) <= 100
        assert sum(sizes) == 1000
        assert [batch.num_rows for _, batch in Parquet().read(span, ("row",))] == [1000]


def test_an_unknown_column_is_answered_by_the_nearest(path: str) -> None:
    with pytest.raises(
        DataError, match=r"rows\.parquet: no column histroy; did you mean history\?; it has: row, price"
    ):
        list(Parquet().read(Span(path, 0, 100), ("row", "histroy")))


def test_a_damaged_file_is_named(path: str, tmp_path: Path) -> None:
    whole = Path(path).read_bytes()
    for name, content in (("cut", whole[:-50]), ("text", b"a,b\n1,2\n")):
        broken = tmp_path / f"{name}.parquet"
        broken.write_bytes(content)
        with pytest.raises(DataError, match=rf"{name}\.parquet: cannot be read as Parquet"):
            Parquet().length(str(broken))
    garbled = tmp_path / "garbled.parquet"
    garbled.write_bytes(whole[:4] + b"\xff" * 600 + whole[604:])
    with pytest.raises(DataError, match=r"garbled\.parquet: cannot be read as Parquet"):
        list(Parquet().read(Span(str(garbled), 0, 100), ("row", "history", "city")))
    with pytest.raises(DataError, match="gone"):
        Parquet().arrow_schema(str(tmp_path / "gone.parquet"))


@pytest.mark.parametrize("kind", ["distinct", "shared", "list"])
def test_long_rows_are_decoded_few_at_a_time(tmp_path: Path, kind: str) -> None:
    """Texts that differ stand in full in the file; those that many rows share stand there once."""
    size, count = 10_000, 3_000
    texts = ["ab" * (size // 2)] * count if kind == "shared" else [f"{row:06}" * (size // 6) for row in range(count)]
    column = pa.array([[text] for text in texts]) if kind == "list" else pa.array(texts)
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"row": range(count), "text": column}), path)
    batches = [batch for _, batch in Parquet().read(Span(path, 0, count), ("row", "text"))]
    assert max(batch.nbytes for batch in batches) < 1.5 * BATCH_BYTES
    assert [row for batch in batches for row in batch.column(0).to_pylist()] == list(range(count))
    # Columns that are not read do not count.
    assert len(list(Parquet().read(Span(path, 0, count), ("row",)))) == 1


def test_texts_of_few_words_come_as_dictionaries_where_asked(tmp_path: Path) -> None:
    count = 20_000
    table = pa.table(
        {
            "city": [f"city {row % 50}" for row in range(count)],
            "user": [f"user {row}" for row in range(count)],
            "plain": [f"{row % 3}" for row in range(count)],
            "number": pa.array(range(count), pa.int64()),
        }
    )
    path = str(tmp_path / "a.parquet")
    pq.write_table(table, path, row_group_size=10_000, use_dictionary=["city", "user", "number"])
    found = [batch for _, batch in Parquet().read_encoded(Span(path, 5, count), ())]
    assert [batch.num_rows for batch in found] == [9_995, 10_000]
    codes = pa.dictionary(pa.int32(), pa.string())
    assert found[0].schema.types == [codes, pa.string(), pa.string(), pa.int64()]
    assert pa.Table.from_batches(found).cast(table.schema).equals(table.slice(5))
    ((_, whole),) = Parquet().read(Span(path, 5, count), ())
    assert whole.schema.types == table.schema.types
    # Dictionaries of small groups cost more than they save.
    pq.write_table(table, path, row_group_size=1_000)
    assert {batch.schema.field("city").type for _, batch in Parquet().read_encoded(Span(path, 0, count), ())} == {
        pa.string()
    }
