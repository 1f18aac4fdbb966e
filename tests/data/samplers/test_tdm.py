from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from item_tables import edges, random

from polyrec.data.columns import RowError
from polyrec.data.samplers._items import ItemTable
from polyrec.data.samplers._layers import FEW, Layer
from polyrec.data.samplers.tdm import TDM
from polyrec.errors import DataError

PARENTS = {11: 1, 12: 1, 21: 11, 22: 11, 23: 12, 24: 12, 100: 21, 101: 21, 102: 22, 103: 23, 104: 24, 105: 24}
"""A tree of 1, 2, 4 and 6 nodes on its layers."""
LAYERS = {1: 0, 11: 1, 12: 1, **dict.fromkeys((21, 22, 23, 24), 2), **dict.fromkeys(range(100, 106), 3)}


def path_of(leaf: int) -> list[int]:
    """Ancestors, from the root's children down."""
    found: list[int] = []
    while PARENTS[leaf] != 1:
        leaf = PARENTS[leaf]
        found.insert(0, leaf)
    return found


def tree(folder: Path, layers: tuple[int, ...] = (0, 1, 2, 3), **options: Any) -> TDM:
    lines = [f"{node}\t{1 + node % 2}\t{layer},{node},n{node}\n" for node, layer in LAYERS.items()]
    (folder / "nodes.txt").write_text("id:int64\tweight:float\tattrs:string\n" + "".join(lines) + "-1\t1\t-1,-1,none\n")
    ancestors = [(leaf, above) for leaf in range(100, 106) for above in [1, *path_of(leaf)]]
    return TDM(
        items=ItemTable(path=str(folder / "nodes.txt"), attribute_separator=","),
        edges=edges(folder, "ancestors", ancestors, "src_id:int64\tdst_id:int64\tweight:float\n"),
        item_column="item",
        attributes=("tree_level", "item", "name"),
        label="click",
        layers=layers,
        **options,
    )


def rows(own: list[int]) -> pa.RecordBatch:
    count = len(own)
    return pa.record_batch(
        {
            "user": [f"u{number}" for number in range(count)],
            "item": own,
            "name": [f"n{item}" for item in own],
            "history": [[number] * number for number in range(count)],
            "click": pa.array([1.0] * count, pa.float32()),
        }
    )


def test_rows_become_their_ancestors_and_other_nodes_of_each_layer(tmp_path: Path) -> None:
    """Three rows: 2 ancestors each, and 1 + 2 + 3 other nodes each."""
    own = [100, 103, 105]
    found = tree(tmp_path).open(is_training=True)(rows(own), random(1)).rows
    assert found.schema == rows(own).schema
    assert found.slice(0, 3) == rows(own)
    items, users = found["item"].to_pylist(), found["user"].to_pylist()
    assert users[3:9] == ["u0", "u0", "u1", "u1", "u2", "u2"]
    assert items[3:9] == [11, 21, 12, 23, 12, 24]
    assert users[9:] == ["u0"] * 6 + ["u1"] * 6 + ["u2"] * 6
    for row, leaf in enumerate(own):
        others = items[9 + 6 * row : 15 + 6 * row]
        assert [LAYERS[item] for item in others] == [1, 2, 2, 3, 3, 3]
        assert len(set(others)) == 6
        assert not set(others) & {*path_of(leaf), leaf}
    assert found["click"].to_pylist() == [1] * 9 + [0] * 18
    assert found["name"].to_pylist() == [f"n{item}" for item in items]
    assert found["history"].to_pylist() == [[int(user[1:])] * int(user[1:]) for user in users]


def test_labels_of_the_batch_s_own_rows_stay(tmp_path: Path) -> None:
    batch = rows([100, 101])
    batch = batch.set_column(4, "click", pa.array([0.0, 0.5], pa.float32()))
    assert tree(tmp_path).open(is_training=True)(batch, random(1)).rows["click"].to_pylist()[:4] == [0, 0.5, 1, 1]


def test_some_layers_remain(tmp_path: Path) -> None:
    """Of layers 1 and 2 one is kept by chance, the leaves always."""
    seen: Counter[tuple[int, ...]] = Counter()
    for remain, expected in (("uniform", 1 / 2), ("arithmetic", 1 / 3), ("reciprocal", 1 / 3)):
        sampler = tree(tmp_path, remain_ratio=0.5, remain_by=remain).open(is_training=True)
        seen.clear()
        for number in range(900):
            found = sampler(rows([100, 105]), random(number)).rows
            layers = tuple(LAYERS[item] for item in found["item"].to_pylist())
            seen[layers] += 1
        first, second = (3, 3, 1, 1, 1, 3, 3, 3, 1, 3, 3, 3), (3, 3, 2, 2, 2, 2, 3, 3, 3, 2, 2, 3, 3, 3)
        assert seen.keys() == {first, second}
        assert seen[first] == pytest.approx(900 * expected, abs=60)
    nothing = tree(tmp_path, remain_ratio=0.0).open(is_training=True)(rows([100]), random(1)).rows
    assert [LAYERS[item] for item in nothing["item"].to_pylist()] == [3] * 4


@pytest.mark.parametrize(
    ("remain", "expected"),
    [
        ("uniform", [1 / 4, 1 / 4, 1 / 4, 1 / 4]),
        ("arithmetic", [1 / 10, 2 / 10, 3 / 10, 4 / 10]),
        ("reciprocal", [3 / 25, 4 / 25, 6 / 25, 12 / 25]),
    ],
)
def test_how_likely_layers_remain(tmp_path: Path, remain: str, expected: list[float]) -> None:
    """Four layers between root and leaves, of which one remains; the shares 1/4, 1/3, 1/2 and 1 add up to 25/12."""
    sampler = tree(tmp_path, remain_ratio=0.25, remain_by=remain).open(is_training=True)
    sampler._last = 5
    random_numbers = random(3)
    found = Counter(tuple(sampler._kept(random_numbers)) for _ in range(4000))
    counts = np.array([found[(layer,)] for layer in (1, 2, 3, 4)])
    assert ((counts - 4000 * np.array(expected)) ** 2 / (4000 * np.array(expected))).sum() < 16.3


@pytest.mark.parametrize("count", [1, 3, 20])
def test_nodes_of_a_layer_are_drawn_by_weight_and_each_once(count: int) -> None:
    """Pearson's statistic of the first of several draws, and that of one, against weights without the own node."""
    weights = np.array([0.0, 5, 1, 2, 3, 0, 4, *[1.0] * 18])
    layer = Layer(weights, np.arange(1, len(weights)))
    assert (layer.size > FEW * count) == (count < 20)
    own = np.full(20_000, 3)
    found = layer.draw(np.random.default_rng(1), own, count)
    ordered = np.sort(found, axis=1)
    assert (ordered[:, 1:] != ordered[:, :-1]).all()
    assert not np.isin(found, [0, 3, 5]).any()
    if count == 1:
        expected = 20_000 * np.where(np.arange(25) == 3, 0, weights) / (weights.sum() - 2)
        drawn = np.bincount(found[:, 0], minlength=25)
        assert ((drawn - expected)[expected > 0] ** 2 / expected[expected > 0]).sum() < 46.8  # 21 degrees of freedom


def test_both_ways_to_draw_a_layer_are_as_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of four nodes, by chance and by weighing all, against chances of pairs worked out by hand."""
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    expected = {
        (a, b): weights[a] / 10 * weights[b] / (10 - weights[a]) + weights[b] / 10 * weights[a] / (10 - weights[b])
        for a in range(4)
        for b in range(a + 1, 4)
    }
    for few in (0, 100):
        monkeypatch.setattr("polyrec.data.samplers._layers.FEW", few)
        found = Layer(weights, np.arange(4)).draw(np.random.default_rng(few), np.full(30_000, -1), 2)
        counts = Counter(map(tuple, np.sort(found, axis=1).tolist()))
        statistic = sum((counts[pair] - 30_000 * share) ** 2 / (30_000 * share) for pair, share in expected.items())
        assert statistic < 20.5


def test_a_layer_is_weighed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyrec.data.samplers._layers.WEIGHED", 7)
    found = Layer(np.ones(5), np.arange(5)).draw(np.random.default_rng(1), np.array([0, 1, 2, 3, 4, 9]), 4)
    assert [sorted(row) for row in found.tolist()[:5]] == [[n for n in range(5) if n != own] for own in range(5)]


def test_what_is_no_leaf_is_named(tmp_path: Path) -> None:
    sampler = tree(tmp_path).open(is_training=True)
    for item, what in ((99, "is not in the tree"), (21, "is no leaf of the tree")):
        with pytest.raises(RowError, match=rf"column item: row 1: item {item} {what}; leave such rows out"):
            sampler(rows([100, item]), random(1))


def test_layers_that_do_not_fit_the_tree(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no node is on layer 4, .* lowest of the tree is 3, so layers needs 4 numb"):
        tree(tmp_path, (0, 1, 1, 1, 1)).open(is_training=True)
    with pytest.raises(DataError, match=r"layer 2 has 4 nodes that can be drawn, too few for 4 .*lower layers\[2\]"):
        tree(tmp_path, (0, 1, 4, 1)).open(is_training=True)
    with pytest.raises(ValueError, match="begins with the root"):
        tree(tmp_path, (1, 1, 4, 1))
    with pytest.raises(ValueError, match="lack depth"):
        tree(tmp_path, layer="depth")
