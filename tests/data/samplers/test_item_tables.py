from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from item_tables import EDGES_HEADER, ITEMS_HEADER, edges, items, parquet_items, random, rows

from polyrec.data.samplers._edges import EdgeTable, read_edges
from polyrec.data.samplers._items import Items, ItemTable, read_items
from polyrec.data.samplers.negative import Negative
from polyrec.errors import DataError

NAMES = ("category", "price")
SCHEMA = pa.schema([("item", pa.int64()), ("category", pa.large_string()), ("price", pa.float64())])


def opened(table: ItemTable, names: tuple[str, ...] = NAMES) -> Items:
    return read_items(table, "item", names)


def joined(folder: Path, weights: list[float]) -> ItemTable:
    """Parquet with all attributes in one text."""
    ids = [f"{100 + n}" for n in range(len(weights))]
    texts = [f"c{int(item) % 3}:{int(item) / 10}" for item in ids]
    pq.write_table(pa.table({"attributes": texts, "id": ids, "weight": weights}), folder / "joined.parquet")
    return ItemTable(path=str(folder / "joined.parquet"))


def packed(folder: Path, weights: list[float]) -> ItemTable:
    """Other separators, in two files."""
    (folder / "parts").mkdir()
    for part in (0, 1):
        numbers = range(part * 4, min(part * 4 + 4, len(weights)))
        lines = [f"{100 + n},{weights[n]},c{(100 + n) % 3}#{(100 + n) / 10}\n" for n in numbers]
        (folder / "parts" / f"part-{part}").write_text("".join(lines))
    return ItemTable(path=str(folder / "parts"), separator=",", attribute_separator="#")


@pytest.mark.parametrize("other", [parquet_items, joined, packed, lambda folder, weights: items(folder, weights, "")])
def test_text_and_parquet_agree(tmp_path: Path, other: Callable[[Path, list[float]], ItemTable]) -> None:
    weights = [1.0, 2, 0, 5, 2, 1, 7]
    table, same = opened(items(tmp_path, weights)), opened(other(tmp_path, weights))
    every = np.arange(7)
    assert table.take(every, SCHEMA) == same.take(every, SCHEMA)
    assert table.weights.tolist() == same.weights.tolist() == weights
    config: dict[str, Any] = {"count": 5, "item_column": "item", "attributes": NAMES}
    drawn = [
        Negative(items=found, **config).open(is_training=True)(rows([101]), random(4)).items
        for found in (items(tmp_path, weights), other(tmp_path, weights) if other is not packed else None)
        if found
    ]
    assert all(found == drawn[0] for found in drawn)


def test_items_are_known_by_what_they_are_called(tmp_path: Path) -> None:
    table = opened(items(tmp_path, [1, 1, 1]))
    for values in (pa.array([102, 7, None]), pa.array(["102", "0102", ""]), pa.array([102.0, 7.5, None])):
        assert table.ids.numbers(values, "item").tolist() == [2, -1, -1]


def test_values_of_lists_and_missing_ones(tmp_path: Path) -> None:
    path = tmp_path / "items.txt"
    path.write_text("1\t1\t3;4:x\n2\t1\t:\n")
    table = ItemTable(path=str(path), value_separator=";")
    schema = pa.schema([("sizes", pa.list_(pa.int64())), ("word", pa.string())])
    expected = [{"sizes": [3, 4], "word": "x"}, {"sizes": None, "word": None}]
    assert opened(table, ("sizes", "word")).take(np.arange(2), schema).to_pylist() == expected
    single = opened(ItemTable(path=str(path)), ("sizes", "word"))
    assert single.take(np.array([1, 0]), pa.schema([("word", pa.list_(pa.string()))])).to_pylist() == [
        {"word": []},
        {"word": ["x"]},
    ]


def test_a_table_is_read_again_only_when_its_file_has_changed(tmp_path: Path) -> None:
    table = items(tmp_path, [1, 1])
    first = opened(table)
    assert opened(table) is first
    items(tmp_path, [1, 1, 1])
    assert len(opened(table)) == 3
    os.utime(table.path, ns=(0, 0))
    assert opened(table) is not first


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\t1\ta:1\n2\t1\n", "items.txt:2: 2 values where 3 columns are declared; check separator"),
        (ITEMS_HEADER + "1\t1\ta:1\n2\t1\n", "items.txt:3: 2 values where 3 columns are declared"),
        ("1,1,a:1\n", "items.txt:1: 1 fields where 3 are needed (id, weight, attributes); check separator"),
        ("1\t1\ta:1\n2\tx\ta:1\n", "items.txt:2: column weight: cannot read 'x' as float32"),
        (ITEMS_HEADER + "1\t1\ta:1\n2\tx\ta:1\n", "items.txt:3: column weight:float: cannot read 'x' as float32"),
        ("id\tweight\tattrs\n1\t1\ta:1\n", "items.txt:1: column weight: cannot read 'weight' as float32"),
        ("1\t1\ta:1\n2\t-1\ta:1\n", "items.txt:2: weight -1; a weight is a finite number, and none is less than 0"),
        ("1\t1\ta:1\n2\t\ta:1\n", "items.txt:2: weight nan"),
        ("1\t0\ta:1\n2\t0\ta:1\n", "items.txt: every weight is 0"),
        ("1\t1\ta:1\n2\t1\ta:1\n\n1\t1\tb:1\n", "items.txt:4: item 1 is there twice; keep one"),
        ("1\t1\ta:1\n\t1\ta:1\n", "items.txt:2: an item without an id"),
        (
            "1\t1\ta:1\n2\t1\ta\n",
            "items.txt:2: 1 attributes where 2 are declared (category, price); check",
        ),
        ("1\t1\ta:1\n2\t1\ta:1:2\n", "items.txt:2: 3 attributes where 2 are declared"),
        ("1\t1\ta:1\n2\t1\ta:much\n", "items.txt:2: attribute price: cannot read 'much' as double, the type of the"),
    ],
)
def test_what_is_wrong_is_named_by_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "items.txt").write_text(text)
    with pytest.raises(DataError) as caught:
        opened(ItemTable(path=str(tmp_path / "items.txt"))).take(np.arange(1), SCHEMA)
    assert message in str(caught.value)


def test_parquet_faults_are_named_by_file_and_row(tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    pq.write_table(pa.table({"id": [1, 2, 1], "weight": [1.0, 1, 1]}), path)
    with pytest.raises(DataError, match=r"items.parquet: row 2: item 1 is there twice"):
        opened(ItemTable(path=str(path)), ())
    pq.write_table(pa.table({"key": [1]}), path)
    with pytest.raises(DataError, match=r"items.parquet: needs the columns id, weight; it has: key"):
        opened(ItemTable(path=str(path)), ())


def test_a_table_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone.txt: no such file; the nearest path"):
        opened(ItemTable(path=str(tmp_path / "gone.txt")))
    with pytest.raises(DataError, match=r"gone.txt: no such file"):
        read_edges(EdgeTable(path=str(tmp_path / "gone.txt")), opened(items(tmp_path, [1])))


# -- edges

PAIRS = [("b", 101), ("a", 102), ("b", 100), ("b", 101), ("c", 100)]


def test_edges_by_their_first_end(tmp_path: Path) -> None:
    table = opened(items(tmp_path, [1, 1, 1]))
    columns = {"whoever": [user for user, _ in PAIRS], "what": [item for _, item in PAIRS], "when": list(range(5))}
    pq.write_table(pa.table(columns), tmp_path / "edges.parquet")
    texts = [edges(tmp_path, "typed", PAIRS), edges(tmp_path, "plain", PAIRS, "")]
    for config in (*texts, EdgeTable(path=str(tmp_path / "edges.parquet"))):
        found, items_of = read_edges(config, table).of(pa.array(["b", "z", "a", None, "b"]), "user")
        assert found.tolist() == [0, 0, 2, 4, 4]
        assert items_of.tolist() == [0, 1, 2, 0, 1]


def test_edges_to_no_item_are_left_out_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = opened(items(tmp_path, [1]))
    with caplog.at_level(logging.WARNING):
        read = read_edges(edges(tmp_path, "e", [("a", 100), ("a", 9), ("b", 9)]), table)
    assert "2 of 3 edges lead to no item and are left out, the first at" in caplog.text
    assert "e.txt:3" in caplog.text
    assert read.of(pa.array(["a", "b"]), "user")[0].tolist() == [0]
    nothing = read_edges(edges(tmp_path, "n", [("a", 9)]), table)
    assert nothing.of(pa.array(["a"]), "user")[1].tolist() == []


def test_faults_of_edges_are_named_by_file_and_line(tmp_path: Path) -> None:
    table = opened(items(tmp_path, [1]))
    (tmp_path / "e.txt").write_text(EDGES_HEADER + "a\t100\t1\n\t100\t1\n")
    with pytest.raises(DataError, match=r"e.txt:3: an edge from nowhere"):
        read_edges(EdgeTable(path=str(tmp_path / "e.txt")), table)
    (tmp_path / "e.txt").write_text("a\t100\nb\n")
    with pytest.raises(DataError, match=r"e.txt:2: 1 values where 2 columns are declared"):
        read_edges(EdgeTable(path=str(tmp_path / "e.txt")), table)
