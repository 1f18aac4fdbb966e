"""Every row once, over any number of ranks, from any position, at any later number of ranks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyrec.data.columns import RowError
from polyrec.data.loader import RowLoader
from polyrec.data.position import Position
from polyrec.data.readers import Span, _text, parquet
from polyrec.data.readers.csv import Csv, CsvColumn
from polyrec.data.readers.parquet import Parquet
from polyrec.errors import DataError
from polyrec.families import ReaderConfig
from polyrec.features.raw import RawFeature

FILES = st.lists(st.integers(0, 40), min_size=1, max_size=5)
SHUFFLE = st.sampled_from([0, 1, 7, 16, 1000])
FORMATS = st.sampled_from(["parquet", "csv", "csv.gz"])


@pytest.fixture(autouse=True, scope="module")
def _small_blocks() -> Iterator[None]:
    """Text in blocks of a few lines, so that small files have many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_text, "BLOCK_BYTES", 16)
        patch.setattr(_text, "PIECE_BYTES", 25)
        yield


def write(folder: str, sizes: list[int], form: str = "parquet") -> tuple[ReaderConfig, list[str], list[int]]:
    """Files of consecutive numbers, with row groups of 7 rows."""
    paths, row = [], 0
    for number, size in enumerate(sizes):
        values = list(range(row, row + size))
        row += size
        paths.append(str(Path(folder) / f"part-{number}.{form}"))
        if form == "parquet":
            pq.write_table(pa.table({"row": pa.array(values, pa.int64())}), paths[-1], row_group_size=7)
        else:
            with pa.output_stream(paths[-1]) as file:
                file.write("".join(f"{value}\n" for value in values).encode())
    csv = Csv(columns=(CsvColumn(name="row", type="int"),), header=False)
    return (Parquet() if form == "parquet" else csv), paths, list(range(row))


def numbers(batches: Iterator[tuple[pa.RecordBatch, Position]]) -> list[list[int]]:
    return [batch.column("row").to_pylist() for batch, _ in batches]


def flat(lists: list[list[int]]) -> list[int]:
    return [value for values in lists for value in values]


def test_about_as_many_rows_as_there_are(tmp_path: Path) -> None:
    def rows(form: str) -> int | None:
        (tmp_path / form).mkdir()
        reader, paths, _ = write(str(tmp_path / form), [500, 900], form)
        return RowLoader(reader, paths, ["row"], batch_size=10, rank=1, world=3).about_rows()

    assert rows("parquet") == 1400
    assert rows("csv") == pytest.approx(1400, rel=0.2)
    assert rows("csv.gz") is None


@settings(max_examples=150, deadline=None)
@given(FILES, st.integers(1, 5), st.integers(1, 9), SHUFFLE, st.booleans(), FORMATS)
def test_all_ranks_together_give_every_row_once(
    sizes: list[int], world: int, batch_size: int, shuffle: int, shuffled_files: bool, form: str
) -> None:
    with TemporaryDirectory() as folder:
        reader, paths, expected = write(folder, sizes, form)
        seen: list[list[int]] = []
        for rank in range(world):
            loader = RowLoader(
                reader,
                paths,
                ("row",),
                batch_size=batch_size,
                rank=rank,
                world=world,
                shuffle_rows=shuffle,
                shuffled_files=shuffled_files,
                seed=3,
            )
            batches = numbers(loader.batches(1))
            assert all(len(batch) == batch_size for batch in batches[:-1])
            seen.append(flat(batches))
    assert sorted(flat(seen)) == expected
    if not shuffle and not shuffled_files:
        assert flat(seen) == expected
    if form == "parquet":
        assert max(map(len, seen)) - min(map(len, seen)) <= 1


@settings(max_examples=150, deadline=None)
@given(FILES, st.integers(1, 3), st.integers(1, 9), SHUFFLE, st.booleans(), FORMATS, st.integers(0, 20))
def test_resuming_gives_the_very_batches_that_were_to_come(
    sizes: list[int], world: int, batch_size: int, shuffle: int, shuffled_files: bool, form: str, stop: int
) -> None:
    with TemporaryDirectory() as folder:
        reader, paths, _ = write(folder, sizes, form)

        def loader() -> RowLoader:
            return RowLoader(
                reader,
                paths,
                ("row",),
                batch_size=batch_size,
                rank=world - 1,
                world=world,
                shuffle_rows=shuffle,
                shuffled_files=shuffled_files,
            )

        whole = list(loader().batches(2))
        if not whole:
            return
        at = stop % len(whole)
        saved = Position.load(json.loads(json.dumps(whole[at][1].dump())))
        assert saved == whole[at][1]
        assert numbers(loader().batches(2, saved)) == numbers(iter(whole[at + 1 :]))


@settings(max_examples=200, deadline=None)
@given(FILES, st.lists(st.integers(1, 4), min_size=2, max_size=4), SHUFFLE, st.booleans(), FORMATS, st.data())
def test_other_numbers_of_ranks_share_what_is_left(
    sizes: list[int], worlds: list[int], shuffle: int, shuffled_files: bool, form: str, data: st.DataObject
) -> None:
    """Each run of a chain has another number of ranks, and each rank stops after another number of batches."""
    with TemporaryDirectory() as folder:
        reader, paths, expected = write(folder, sizes, form)
        seen: list[int] = []
        positions: list[Position] = []
        for turn, world in enumerate(worlds):
            reached = []
            for rank in range(world):
                loader = RowLoader(
                    reader,
                    paths,
                    ("row",),
                    batch_size=3,
                    rank=rank,
                    world=world,
                    shuffle_rows=shuffle,
                    shuffled_files=shuffled_files,
                )
                position = loader.resume(positions) if positions else Position(data=loader.data)
                is_last = turn == len(worlds) - 1
                steps = 10**6 if is_last else data.draw(st.integers(0, 6))
                batches = loader.batches(0, position)
                for _, (batch, after) in zip(range(steps), batches, strict=False):
                    seen += batch.column("row").to_pylist()
                    position = after
                reached.append(position)
            positions = reached
    assert sorted(seen) == expected


def test_rows_are_mixed_within_a_block_and_differently_each_epoch(tmp_path: Path) -> None:
    reader, paths, _ = write(str(tmp_path), [100])
    loader = RowLoader(reader, paths, ("row",), batch_size=50, shuffle_rows=50)
    first, second = numbers(loader.batches(0))
    assert sorted(first) == list(range(50))
    assert sorted(second) == list(range(50, 100))
    assert first != sorted(first)
    assert [value - 50 for value in second] != first
    assert numbers(loader.batches(1))[0] != first
    assert numbers(loader.batches(0))[0] == first


def test_fewer_long_rows_are_shuffled_together(tmp_path: Path) -> None:
    """By the width of the first rows of the first file, so all ranks and resumed runs have the same blocks."""
    paths = [str(tmp_path / f"{number}.parquet") for number in range(2)]
    for number, path in enumerate(paths):
        pq.write_table(pa.table({"row": range(300), "text": ["x" * (996 if number == 0 else 9)] * 300}), path)
    loaders = [
        RowLoader(Parquet(), paths, ("text",), batch_size=5, rank=rank, world=2, shuffle_rows=200, shuffle_bytes=50_000)
        for rank in range(2)
    ]
    assert [loader.shuffle_rows for loader in loaders] == [50, 50]
    assert sum(batch.num_rows for loader in loaders for batch, _ in loader.batches(0)) == 600
    whole = RowLoader(Parquet(), paths, ("text",), batch_size=5, shuffle_rows=200, shuffle_bytes=1 << 20)
    assert whole.shuffle_rows == 200


def test_row_groups_are_taken_in_another_order_each_epoch(tmp_path: Path) -> None:
    reader, paths, _ = write(str(tmp_path), [70, 70])
    loader = RowLoader(reader, paths, ("row",), batch_size=7, shuffled_files=True)
    orders = [[batch[0] // 7 for batch in numbers(loader.batches(epoch))] for epoch in range(3)]
    assert all(sorted(order) == list(range(20)) for order in orders)
    assert len({tuple(order) for order in orders}) == 3


def test_a_batch_that_is_not_full_can_be_left_out(tmp_path: Path) -> None:
    reader, paths, _ = write(str(tmp_path), [5, 6])
    loader = RowLoader(reader, paths, ("row",), batch_size=4, drop_remainder=True)
    assert numbers(loader.batches(0)) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_a_position_in_other_files_is_refused(tmp_path: Path) -> None:
    reader, paths, _ = write(str(tmp_path), [5, 6])
    position = next(RowLoader(reader, paths, ("row",), batch_size=4).batches(0))[1]
    other = RowLoader(reader, paths[:1], ("row",), batch_size=4)
    assert not other.fits(position)
    with pytest.raises(DataError, match="other files"):
        next(other.batches(0, position))


def test_files_of_other_integer_widths_join(tmp_path: Path) -> None:
    for name, kind in (("a", pa.int64()), ("b", pa.int32())):
        pq.write_table(pa.table({"row": pa.array([1, 2], kind)}), tmp_path / f"{name}.parquet")
    paths = [str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")]
    batch, _ = next(RowLoader(Parquet(), paths, ("row",), batch_size=4).batches(0))
    assert batch.column("row").type == pa.int64()
    assert batch.column("row").to_pylist() == [1, 2, 1, 2]


def test_files_whose_types_cannot_meet_are_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"row": pa.array([1, 2])}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"row": pa.array(["x", "y"])}), tmp_path / "b.parquet")
    paths = [str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")]
    with pytest.raises(DataError, match=r"b\.parquet: column row: is string here and int64 in .*a.parquet"):
        list(RowLoader(Parquet(), paths, ("row",), batch_size=4).batches(0))


def refuse(bad: int) -> Callable[[pa.RecordBatch, int], int]:
    """Prepares a batch unless it holds the row `bad`."""

    def prepare(batch: pa.RecordBatch, _: int) -> int:
        found = batch.column("row").to_pylist()
        if bad in found:
            raise RowError("column row", found.index(bad), "is not wanted")
        return len(found)

    return prepare


@settings(max_examples=100, deadline=None)
@given(FILES, st.integers(1, 3), st.integers(1, 9), SHUFFLE, st.booleans(), FORMATS, st.integers(0, 200), st.booleans())
def test_a_row_that_is_refused_is_named_by_file_and_place(
    sizes: list[int], world: int, batch_size: int, shuffle: int, shuffled: bool, form: str, pick: int, resumed: bool
) -> None:
    if not sum(sizes):
        return
    bad = pick % sum(sizes)
    file = next(number for number in range(len(sizes)) if bad < sum(sizes[: number + 1]))
    row = bad - sum(sizes[:file])
    place = f"part-{file}.parquet: row {row}" if form == "parquet" else f"part-{file}.{form}:{row + 1}"
    with TemporaryDirectory() as folder:
        reader, paths, _ = write(folder, sizes, form)
        told: list[str] = []
        for rank in range(world):
            options: dict[str, Any] = {"batch_size": batch_size, "shuffle_rows": shuffle, "shuffled_files": shuffled}
            loader = RowLoader(reader, paths, ("row",), rank=rank, world=world, **options)
            start = None
            if resumed:  # at the batch that holds the row, perhaps in the middle of a shuffled block
                for batch, position in loader.batches(0):
                    if bad in batch.column("row").to_pylist():
                        break
                    start = position
            try:
                list(loader.prepared(refuse(bad), 0, start))
            except DataError as error:
                told.append(str(error))
    assert told == [f"{folder}/{place}: column row: is not wanted"]


def test_texts_that_arrow_cannot_reorder_are_shuffled_too(tmp_path: Path) -> None:
    views = pa.array(["a", "b", None], pa.string_view())
    lists = pa.array([["a"], [], ["b", "c"]], pa.list_(pa.string_view()))
    pq.write_table(pa.table({"text": views, "texts": lists}), tmp_path / "a.parquet")
    path = str(tmp_path / "a.parquet")
    assert Parquet().arrow_schema(path).field("text").type == pa.string_view()
    batch, _ = next(RowLoader(Parquet(), [path], ("text", "texts"), batch_size=3, shuffle_rows=3).batches(0))
    assert sorted(batch.to_pylist(), key=str) == sorted(
        [{"text": "a", "texts": ["a"]}, {"text": "b", "texts": []}, {"text": None, "texts": ["b", "c"]}], key=str
    )


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_what_a_feature_cannot_use_is_named_by_file_and_row(tmp_path: Path, form: str) -> None:
    tables = [pa.table({"price": ["1", "2"]}), pa.table({"price": ["3", "n/a"]})]
    for number, table in enumerate(tables):
        if form == "parquet":
            pq.write_table(table, tmp_path / f"{number}.parquet")
        else:
            pa_csv.write_csv(table, tmp_path / f"{number}.csv", pa_csv.WriteOptions(quoting_style="none"))
    reader = Parquet() if form == "parquet" else Csv(columns=(CsvColumn(name="price", type="string"),), header=True)
    loader = RowLoader(reader, [str(tmp_path / f"{number}.{form}") for number in (0, 1)], ("price",), batch_size=4)
    place = "1.parquet: row 1" if form == "parquet" else "1.csv:3"
    feature = RawFeature(name="price", column="price", default=0)
    with pytest.raises(DataError) as caught:
        list(loader.prepared(lambda rows, _: feature.transform(rows), 0))
    remedy = "correct it, or leave it empty and set a default"
    assert str(caught.value) == f"{tmp_path}/{place}: column price: cannot read 'n/a' as a number; {remedy}"


@settings(max_examples=25, deadline=None)
@given(FILES.filter(any), st.integers(1, 4), st.integers(1, 4), st.integers(0, 5))
def test_each_file_is_dealt_by_itself(sizes: list[int], before: int, after: int, steps: int) -> None:
    """All ranks go through the files in their order, each file shared out evenly, also with other ranks later."""
    with TemporaryDirectory() as folder:
        reader, paths, expected = write(folder, sizes)
        first = [
            RowLoader(reader, paths, ["row"], batch_size=3, rank=rank, world=before, by_file=True)
            for rank in range(before)
        ]
        ends = [sum(sizes[: number + 1]) for number in range(len(sizes))]
        for loader in first:
            rows = [row for batch in numbers(loader.batches(0)) for row in batch]
            assert rows == sorted(rows)
            for end, size in zip(ends, sizes, strict=True):
                share = sum(end - size <= row < end for row in rows)
                assert size // before <= share <= -(-size // before)
        given_rows: list[int] = []
        positions = []
        for loader in first:
            taken = [*islice(loader.batches(0), steps)]
            given_rows += flat([batch.column("row").to_pylist() for batch, _ in taken])
            positions.append(taken[-1][1] if taken else loader.begin(0))
        for rank in range(after):
            loader = RowLoader(reader, paths, ["row"], batch_size=3, rank=rank, world=after, by_file=True)
            rows = [row for batch in numbers(loader.batches(0, loader.resume(positions))) for row in batch]
            assert rows == sorted(rows)
            given_rows += rows
        assert sorted(given_rows) == expected


@settings(max_examples=60, deadline=None)
@given(FILES.filter(any), st.data(), st.integers(1, 9), SHUFFLE, st.integers(0, 20))
def test_texts_are_the_same_whether_they_come_as_dictionaries_or_in_full(
    sizes: list[int], data: st.DataObject, batch_size: int, shuffle: int, stop: int
) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "ENCODED_ROWS", 1)
        patch.setattr(parquet, "WORD_BYTES", 1000)
        patch.setattr(parquet, "COLUMN_BYTES", 1000)
        paths, seen = [], set[pa.DataType]()
        for number, size in enumerate(sizes):
            texts = pa.array(data.draw(st.lists(st.sampled_from(["a", "bc", "", None]), min_size=size, max_size=size)))
            paths.append(str(Path(folder) / f"part-{number}.parquet"))
            table = pa.table({"row": pa.array(range(size), pa.int64()), "text": texts.cast(pa.string())})
            pq.write_table(table, paths[-1], row_group_size=7, use_dictionary=data.draw(st.booleans()))

        def loader(reader: ReaderConfig) -> RowLoader:
            return RowLoader(reader, paths, ("row", "text"), batch_size=batch_size, shuffle_rows=shuffle)

        def prepare(rows: pa.RecordBatch, _: int) -> list[dict[str, Any]]:
            seen.add(rows.schema.field("text").type)
            return rows.to_pylist()

        plain = list(loader(InFull()).batches(1))
        found = list(loader(Parquet()).with_rows(prepare, 1))
        assert [(item, rows.to_pylist(), rows.schema) for item, rows, _ in found] == [
            (rows.to_pylist(), rows.to_pylist(), rows.schema) for rows, _ in plain
        ]
        at = stop % len(found)
        again = list(loader(Parquet()).prepared(prepare, 1, found[at][2]))
        assert [item for item, _ in again] == [item for item, _, _ in found[at + 1 :]]
        assert seen <= {pa.string(), pa.dictionary(pa.int32(), pa.string())}


class InFull(Parquet):
    """Never gives dictionaries."""

    def read_encoded(self, span: Span, columns: tuple[str, ...]) -> Iterator[tuple[Span, pa.RecordBatch]]:
        return self.read(span, columns)
