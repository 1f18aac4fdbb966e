"""Rows that cannot be used: which stay, in exact batches, wherever a run is stopped and by however many it is read."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyrec.config import Faults, Policy
from polyrec.data.loader import RowLoader
from polyrec.data.numbers import costs, labels
from polyrec.data.position import Position
from polyrec.data.readers import _text, parquet
from polyrec.data.readers.csv import Csv, CsvColumn
from polyrec.data.sift import Sieve, Stage
from polyrec.errors import DataError
from polyrec.families import ReaderConfig
from polyrec.features.raw import RawFeature

FORMS = ["parquet", "csv"]
KINDS = ["good"] * 6 + ["price", "label", "both", "empty", "line"]
"""What is wrong with a row; `line` has too few columns, which Parquet cannot have."""
PRICE = RawFeature(name="price", column="price", default=-1.0)
COLUMNS = ("row", "price", "click")


@pytest.fixture(autouse=True, scope="module")
def _small_blocks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_text, "BLOCK_BYTES", 60)
        patch.setattr(_text, "PIECE_BYTES", 100)
        patch.setattr(parquet, "BATCH_ROWS", 5)
        yield


def cells(row: int, kind: str) -> tuple[str, str, str]:
    price = {"price": "x", "both": "y", "empty": ""}.get(kind, f"{row}.5")
    return str(row), price, "no" if kind in ("label", "both") else str(row % 2)


def write(folder: str, files: list[list[str]], form: str) -> tuple[ReaderConfig, list[str]]:
    """In CSV the reader finds what is no number; in Parquet, where prices are text, features do."""
    paths, row = [], 0
    for number, kinds in enumerate(files):
        rows = [cells(row + place, kind) for place, kind in enumerate(kinds)]
        row += len(kinds)
        paths.append(str(Path(folder) / f"part-{number}.{form}"))
        if form == "parquet":
            table = pa.table({"row": pa.array([int(cell[0]) for cell in rows], pa.int64())})
            for place, name in ((1, "price"), (2, "click")):
                table = table.append_column(name, pa.array([cell[place] for cell in rows], pa.string()))
            pq.write_table(table, paths[-1], row_group_size=7)
        else:
            lines = [cell[:1] if kind == "line" else cell for cell, kind in zip(rows, kinds, strict=True)]
            Path(paths[-1]).write_text("".join(",".join(line) + "\n" for line in lines))
    kinds = {"row": "int", "price": "float", "click": "int"}
    csv = Csv(columns=tuple(CsvColumn(name=name, type=kind) for name, kind in kinds.items()), header=False)  # type: ignore[arg-type]
    return (parquet.Parquet() if form == "parquet" else csv), paths


def expected(files: list[list[str]], form: str, policy: Policy) -> list[tuple[int, float]]:
    """Number and price of each row that stays, by the rules."""
    found = []
    for row, kind in enumerate(kind for kinds in files for kind in kinds):
        if kind in ("label", "both") or (kind == "line" and form == "csv"):
            continue
        if kind == "price" and policy == "skip":
            continue
        found.append((row, -1.0 if kind in ("price", "empty") else row + 0.5))
    return found


def make(rows: pa.RecordBatch, _: int) -> list[tuple[int, float]]:
    labels(rows, "click", 2)
    prices = PRICE.transform(rows).values[:, 0].tolist()
    return list(zip(rows.column("row").to_pylist(), prices, strict=True))


def sieve(policy: Policy, budget: int | None = None) -> Sieve:
    stages = [Stage(partial(labels, name="click", classes=2)), Stage(PRICE.transform, ("price",))]
    return Sieve(Faults(policy=policy, budget=budget), stages, ["click"])


def loader_of(reader: ReaderConfig, paths: list[str], policy: Policy, **options: Any) -> RowLoader:
    return RowLoader(reader, paths, COLUMNS, **{"batch_size": 4, "sieve": sieve(policy), **options})


POLICIES = st.sampled_from(["skip", "default"])
FILES = st.lists(st.lists(st.sampled_from(KINDS), max_size=30), min_size=1, max_size=3)


@settings(max_examples=120, deadline=None)
@given(FILES, st.sampled_from(FORMS), POLICIES, st.integers(1, 3), st.integers(1, 7), st.sampled_from([0, 6, 100]))
def test_the_rows_that_can_be_used_come_once_in_full_batches(
    files: list[list[str]], form: str, policy: Policy, world: int, batch_size: int, shuffle: int
) -> None:
    with TemporaryDirectory() as folder:
        reader, paths = write(folder, files, form)
        seen: list[tuple[int, float]] = []
        count = left_out = 0
        for rank in range(world):
            options: dict[str, Any] = {"batch_size": batch_size, "shuffle_rows": shuffle}
            loader = loader_of(reader, paths, policy, rank=rank, world=world, **options)
            batches = [batch for batch, _ in loader.prepared(make, 0)]
            assert all(len(batch) == batch_size for batch in batches[:-1])
            assert all(batches)
            seen += [row for batch in batches for row in batch]
            assert loader.faults is not None
            count, left_out = count + loader.faults.all.total, left_out + loader.faults.all.left_out
    wanted = expected(files, form, policy)
    assert sorted(seen) == wanted
    if not shuffle:
        assert seen == wanted
    kinds = [kind for file in files for kind in file]
    broken = kinds.count("line") if form == "csv" else 0
    # Of a row that is given up at once for its label nobody asks the price, unless the reader has.
    both = kinds.count("both") * (2 if form == "csv" else 1)
    assert count == kinds.count("price") + kinds.count("label") + both + broken
    assert left_out == len(kinds) - len(wanted)


@settings(max_examples=120, deadline=None)
@given(FILES, st.sampled_from(FORMS), POLICIES, st.integers(1, 2), st.sampled_from([0, 6, 100]), st.integers(0, 20))
def test_resuming_gives_the_very_next_rows(
    files: list[list[str]], form: str, policy: Policy, world: int, shuffle: int, stop: int
) -> None:
    with TemporaryDirectory() as folder:
        reader, paths = write(folder, files, form)
        options: dict[str, Any] = {"rank": world - 1, "world": world, "shuffle_rows": shuffle}
        whole = list(loader_of(reader, paths, policy, **options).prepared(make, 0))
        if not whole:
            return
        at = stop % len(whole)
        saved = Position.load(json.loads(json.dumps(whole[at][1].dump())))
        rest = list(loader_of(reader, paths, policy, **options).prepared(make, 0, saved))
    assert [batch for batch, _ in rest] == [batch for batch, _ in whole[at + 1 :]]


@settings(max_examples=100, deadline=None)
@given(FILES, st.lists(st.integers(1, 3), min_size=2, max_size=3), st.sampled_from([0, 6]), POLICIES, st.data())
def test_other_numbers_of_ranks_share_what_is_left(
    files: list[list[str]], worlds: list[int], shuffle: int, policy: Policy, data: st.DataObject
) -> None:
    form = data.draw(st.sampled_from(FORMS))
    with TemporaryDirectory() as folder:
        reader, paths = write(folder, files, form)
        seen: list[tuple[int, float]] = []
        positions: list[Position] = []
        for turn, world in enumerate(worlds):
            reached = []
            for rank in range(world):
                loader = loader_of(reader, paths, policy, rank=rank, world=world, shuffle_rows=shuffle)
                position = loader.resume(positions) if positions else Position(data=loader.data)
                steps = 10**6 if turn == len(worlds) - 1 else data.draw(st.integers(0, 4))
                for _, (batch, after) in zip(range(steps), loader.prepared(make, 0, position), strict=False):
                    seen += batch
                    position = after
                reached.append(position)
            positions = reached
    assert sorted(seen) == expected(files, form, policy)


@pytest.mark.parametrize("form", FORMS)
def test_faults_are_shown_by_file_and_row_and_counted_by_kind(
    tmp_path: Path, form: str, caplog: pytest.LogCaptureFixture
) -> None:
    reader, paths = write(str(tmp_path), [["good", "price"], ["good", "good", "label", "price", "price"]], form)
    loader = loader_of(reader, paths, "default")
    with caplog.at_level("WARNING", "polyrec"):
        rows = [row for batch, _ in loader.prepared(make, 0) for row in batch]
    assert [row for row, _ in rows] == [0, 1, 2, 3, 5, 6]
    assert loader.faults is not None
    assert loader.faults.all.facts() == {
        "count": 4,
        "rows_left_out": 1,
        "by_column": {"click": {"unreadable": 1}, "price": {"unreadable": 3}},
    }
    places = {"parquet": ("part-0.parquet: row 1", "part-1.parquet: row 2"), "csv": ("part-0.csv:2", "part-1.csv:3")}
    price, label = places[form]
    assert f"{tmp_path}/{price}: column price: cannot read 'x'" in caplog.text
    assert f"{tmp_path}/{label}: column click: cannot read 'no'" in caplog.text
    # Of the same kind in the same column, the third is only counted.
    assert len(caplog.records) == 3


def test_too_many_faults_end_the_pass_with_a_summary(tmp_path: Path) -> None:
    reader, paths = write(str(tmp_path), [["price"] * 3 + ["good"], ["label", "line"]], "csv")
    loader = RowLoader(reader, paths, COLUMNS, batch_size=2, sieve=sieve("skip", budget=5))
    assert len(list(loader.prepared(make, 0))) == 1
    loader = RowLoader(reader, paths, COLUMNS, batch_size=2, sieve=sieve("skip", budget=4))
    with pytest.raises(DataError, match=r"(?s)more than the 4 faults .*5 faults, .*3  unreadable  column price"):
        list(loader.prepared(make, 0))


def test_a_value_that_the_feature_cannot_lack_takes_its_row_along(tmp_path: Path) -> None:
    reader, paths = write(str(tmp_path), [["good", "price", "empty", "good"]], "parquet")
    price = RawFeature(name="price", column="price", default=None)
    strict = Sieve(Faults(policy="default"), [Stage(price.transform, ("price",))])
    loader = RowLoader(reader, paths, COLUMNS, batch_size=4, sieve=strict)
    rows = [rows for rows, _ in loader.prepared(lambda rows, _: (price.transform(rows), rows)[1], 0)]
    assert [batch.column("row").to_pylist() for batch in rows] == [[0, 3]]
    assert loader.faults is not None
    assert loader.faults.all.facts()["by_column"] == {"price": {"unreadable": 1, "missing": 1}}


# -- costs


def in_batches(found: list[float], limit: float, size: int) -> list[list[float]]:
    """One after another, by the rule: a batch ends before its sum passes the limit."""
    batches: list[list[float]] = []
    for cost in found:
        last = batches[-1] if batches else None
        total = math.inf
        if last is not None:
            total = 0.0
            for other in (*last, cost):
                total += other
        if last is None or total > limit or len(last) == size:
            batches.append([cost])
        else:
            last.append(cost)
    return batches


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.3, 1.0, 2.5, 99.0]), min_size=1, max_size=60),
    st.sampled_from([0.05, 0.3, 1.0, 3.0]),
    st.integers(1, 8),
    st.integers(0, 50),
)
def test_batches_end_before_their_costs_pass_the_limit(found: list[float], limit: float, size: int, stop: int) -> None:
    with TemporaryDirectory() as folder:
        path = f"{folder}/a.parquet"
        pq.write_table(pa.table({"cost": found}), path, row_group_size=7)

        def loader(**options: Any) -> RowLoader:
            cost = ("cost", limit)
            return RowLoader(parquet.Parquet(), [path], ("cost",), batch_size=size, cost=cost, **options)

        whole = list(loader().batches(0))
        batches = [batch.column(0).to_pylist() for batch, _ in whole]
        assert batches == in_batches(found, limit, size)
        at = stop % len(whole)
        rest = [batch.column(0).to_pylist() for batch, _ in loader().batches(0, whole[at][1])]
        assert rest == batches[at + 1 :]
        shuffled = [batch.column(0).to_pylist() for batch, _ in loader(shuffle_rows=10, seed=stop).batches(0)]
        assert sorted(cost for batch in shuffled for cost in batch) == sorted(found)
        assert shuffled == in_batches([cost for batch in shuffled for cost in batch], limit, size)
        kept = [batch.column(0).to_pylist() for batch, _ in loader(drop_remainder=True).batches(0)]
        assert kept == (batches if len(batches[-1]) == size else batches[:-1])


def test_a_cost_that_cannot_be_used_is_named_or_left_out(tmp_path: Path) -> None:
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"cost": [1.0, 1.0, -2.0, math.inf, 1.0, 1.0]}), path)
    options: dict[str, Any] = {"batch_size": 9, "cost": ("cost", 2.0)}
    with pytest.raises(DataError, match=r"a\.parquet: row 3: column cost: inf; a label, weight or cost is a finite"):
        list(RowLoader(parquet.Parquet(), [path], ("cost",), **options).batches(0))
    stages = [Stage(partial(costs, name="cost"))]
    loader = RowLoader(
        parquet.Parquet(), [path], ("cost",), sieve=Sieve(Faults(policy="default"), stages, ["cost"]), **options
    )
    batches = loader.prepared(lambda rows, _: costs(rows, "cost").tolist(), 0)
    assert [batch for batch, _ in batches] == [[1.0, 1.0], [1.0, 1.0]]
    assert loader.faults is not None
    assert loader.faults.all.facts()["by_column"] == {"cost": {"range": 2}}
