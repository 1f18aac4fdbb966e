from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from item_tables import edges, items, random, rows

from polyrec.data.samplers import Sampled
from polyrec.data.samplers.hard_negative import HardNegative
from polyrec.data.samplers.hard_negative_v2 import HardNegativeV2
from polyrec.data.samplers.negative import Negative
from polyrec.data.samplers.negative_v2 import NegativeV2
from polyrec.errors import DataError

COLUMNS: dict[str, Any] = {"item_column": "item", "attributes": ("category", "price")}


def drawn(sampled: Sampled) -> list[int]:
    """The items that stand against all rows."""
    assert sampled.items is not None
    return sampled.items["item"].to_pylist()[: sampled.items.num_rows - len(sampled.owners)]


def hard(sampled: Sampled) -> list[tuple[int, int]]:
    """The others, each with its row."""
    assert sampled.items is not None
    found = sampled.items["item"].to_pylist()
    return list(zip(sampled.owners.tolist(), found[len(found) - len(sampled.owners) :], strict=True))


def test_exactly_so_many_items_come_with_their_attributes_in_the_types_of_the_data(tmp_path: Path) -> None:
    sampler = Negative(items=items(tmp_path, [1] * 50), count=8, **COLUMNS).open(is_training=True)
    found = sampler(rows([100, 101]), random(1))
    assert found.items is not None
    assert found.items.schema == pa.schema([("item", pa.int64()), ("category", pa.string()), ("price", pa.float32())])
    for row in found.items.to_pylist():
        assert row["category"] == f"c{row['item'] % 3}"
        assert row["price"] == pytest.approx(row["item"] / 10)
    assert found.items.num_rows == 8
    assert found.rows == rows([100, 101])
    assert [found.place(number) for number in range(8)] == [
        f"{tmp_path}/items.txt:{item - 98}" for item in drawn(found)
    ]


def test_draws_follow_the_weights_and_leave_out_the_batch(tmp_path: Path) -> None:
    """Pearson's statistic of 60,000 draws against the weights without the batch's items; 99.9 % quantile of 3: 16.3."""
    weights = [5, 1, 2, 0, 3, 4]
    for distinct in (False, True):
        config = Negative(items=items(tmp_path, weights), count=1, is_distinct=distinct, **COLUMNS)
        sampler = config.open(is_training=True)
        found = np.bincount([drawn(sampler(rows([100]), random(3, n)))[0] - 100 for n in range(4000)], minlength=6)
        expected = 4000 * np.array([0, 1, 2, 0, 3, 4]) / 10
        assert (found[[0, 3]] == 0).all()
        assert ((found - expected)[[1, 2, 4, 5]] ** 2 / expected[[1, 2, 4, 5]]).sum() < 16.3


def test_evenly_means_without_weights(tmp_path: Path) -> None:
    config = Negative(items=items(tmp_path, [1000, 0, 1, 1]), count=4000, draw_by="evenly", kept_from="row", **COLUMNS)
    found = np.bincount(np.array(drawn(config.open(is_training=True)(rows([100]), random(5)))) - 100)
    assert ((found - 1000) ** 2 / 1000).sum() < 16.3


def test_distinct_items_are_drawn_as_one_after_another(tmp_path: Path) -> None:
    """Of weights 1, 2, 3 the pairs without order have chances by hand: 1/6*2/5 + 2/6*1/4 and so on."""
    sampler = Negative(items=items(tmp_path, [1, 2, 3]), count=2, is_distinct=True, kept_from="row", **COLUMNS).open(
        is_training=True
    )
    pairs = [frozenset(drawn(sampler(rows([100]), random(9, n)))) for n in range(6000)]
    expected = {
        frozenset({100, 101}): 1 / 6 * 2 / 5 + 2 / 6 * 1 / 4,
        frozenset({100, 102}): 1 / 6 * 3 / 5 + 3 / 6 * 1 / 3,
        frozenset({101, 102}): 2 / 6 * 3 / 4 + 3 / 6 * 2 / 3,
    }
    assert sum(expected.values()) == pytest.approx(1)
    statistic = sum((pairs.count(pair) - 6000 * chance) ** 2 / (6000 * chance) for pair, chance in expected.items())
    assert statistic < 13.8  # 99.9 % quantile of 2 degrees of freedom


def test_few_items_are_found_among_many_that_are_kept_away(tmp_path: Path) -> None:
    """When nearly all weight lies on the batch's items, the rest is weighed as a whole, by its weights."""
    weights = [1e12, *[1.0] * 3, 3.0]
    for distinct in (False, True):
        config = Negative(items=items(tmp_path, weights), count=3, is_distinct=distinct, **COLUMNS)
        found = [drawn(config.open(is_training=True)(rows([100]), random(n)))[0] for n in range(600)]
        assert set(found) == {101, 102, 103, 104}
        assert found.count(104) == pytest.approx(300, abs=50)


def test_too_few_items_are_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    config = Negative(items=items(tmp_path, [1] * 3), count=3, is_distinct=True, **COLUMNS)
    with pytest.raises(DataError, match=r"items.txt: only 2 of 3 items .* lower the count .* or set kept_from to row"):
        config.open(is_training=True)(rows([100]), random(1))
    config = Negative(items=items(tmp_path, [1, 0]), count=1, **COLUMNS)
    with pytest.raises(DataError, match=r"only 0 of 2 items"):
        config.open(is_training=True)(rows([100]), random(1))


def test_evaluation_has_a_count_of_its_own(tmp_path: Path) -> None:
    table = items(tmp_path, [1] * 9)
    config = Negative(items=table, count=3, eval_count=5, **COLUMNS)
    assert [len(drawn(config.open(is_training=on)(rows([100]), random(1)))) for on in (True, False)] == [3, 5]
    config = Negative(items=table, count=3, **COLUMNS)
    assert len(drawn(config.open(is_training=False)(rows([100]), random(1)))) == 3


def test_items_that_the_table_lacks_keep_nothing_away(tmp_path: Path) -> None:
    sampler = Negative(items=items(tmp_path, [1, 1]), count=50, **COLUMNS).open(is_training=True)
    assert set(drawn(sampler(rows([7, None, 101]), random(1)))) == {100}


@pytest.mark.parametrize("own", [["100;103", "102"], [["100", "103"], ["102"]], [[100, 103], [102]]])
def test_a_row_may_be_about_several_items(tmp_path: Path, own: list[object]) -> None:
    config = Negative(items=items(tmp_path, [1] * 6), count=100, item_column="item", id_separator=";")
    found = config.open(is_training=True)(pa.record_batch({"item": own}), random(1))
    assert found.items is not None
    numbers = {int(value[0] if isinstance(value, list) else value) for value in found.items["item"].to_pylist()}
    assert numbers == {101, 104, 105}


# -- what a user has chosen


CHOSEN = [(n, 100 + (n * 7 + k) % 40) for n in range(20) for k in range(6)]
PASSED = [(n, 100 + (n * 7 + k) % 40) for n in range(20) for k in range(4, 14)]
USERS = [3, 8, 3, 19, 77]
OWN = [139, 100, 101, 120, 102]


def v2(folder: Path, count: int, **options: Any) -> NegativeV2:
    table, chosen = items(folder, [1 + n % 3 for n in range(40)]), edges(folder, "chosen", CHOSEN)
    return NegativeV2(items=table, count=count, user_column="user", positive_edges=chosen, **COLUMNS, **options)


def test_what_users_of_the_batch_have_chosen_is_never_drawn(tmp_path: Path) -> None:
    away = {item for user, item in CHOSEN if user in USERS} | set(OWN)
    sampler = v2(tmp_path, 500).open(is_training=True)
    found = sampler(rows(OWN, USERS), random(1))
    assert set(drawn(found)) == set(range(100, 140)) - away
    assert len(found.hidden_rows) == len(found.owners) == 0


def test_or_it_does_not_count_against_their_rows(tmp_path: Path) -> None:
    sampler = v2(tmp_path, 500, kept_from="row").open(is_training=True)
    found = sampler(rows(OWN, USERS), random(1))
    shared = drawn(found)
    assert set(shared) == set(range(100, 140))
    expected = {
        (row, place)
        for row, (user, own) in enumerate(zip(USERS, OWN, strict=True))
        for place, item in enumerate(shared)
        if item == own or (user, item) in CHOSEN
    }
    assert set(zip(found.hidden_rows.tolist(), found.hidden_items.tolist(), strict=True)) == expected


def passed_over(user: int, own: int, chosen: Sequence[tuple[int, int]]) -> set[int]:
    return {item for other, item in PASSED if other == user and item != own and (user, item) not in chosen}


def test_hard_negatives_belong_to_their_rows(tmp_path: Path) -> None:
    table, passed = items(tmp_path, [1] * 40), edges(tmp_path, "passed", [*PASSED, *PASSED])
    options: dict[str, Any] = {"items": table, "count": 4, "user_column": "user", "hard_edges": passed, **COLUMNS}
    own = [107, 100, 120, 120]
    users = [1, 8, 19, 77]
    for most in (100, 3):
        found = HardNegative(hard_count=most, **options).open(is_training=True)(rows(own, users), random(1))
        assert len(drawn(found)) == 4
        assert not set(drawn(found)) & set(own)
        pairs = hard(found)
        assert found.owners.tolist() == sorted(found.owners)
        assert len(set(pairs)) == len(pairs)
        for row, (user, item) in enumerate(zip(users, own, strict=True)):
            wanted = passed_over(user, item, [])
            mine = {other for place, other in pairs if place == row}
            assert mine <= wanted
            assert len(mine) == min(most, len(wanted))


def test_of_many_hard_negatives_each_is_as_likely(tmp_path: Path) -> None:
    """10 items, 3 of them each time: 900 times each on average of 3,000 batches; 99.9 % quantile of 9: 27.9."""
    table, passed = items(tmp_path, [1 + n for n in range(40)]), edges(tmp_path, "passed", PASSED)
    config = HardNegative(items=table, count=1, user_column="user", hard_edges=passed, hard_count=3, **COLUMNS)
    sampler = config.open(is_training=True)
    found = [item for n in range(3000) for _, item in hard(sampler(rows([139], [0]), random(n)))]
    counts = np.array([found.count(item) for item in sorted(set(found))])
    assert len(counts) == 10
    assert ((counts - 900) ** 2 / 900).sum() < 27.9


def test_both_exclusions_hold_together(tmp_path: Path) -> None:
    table, chosen, passed = items(tmp_path, [1] * 40), edges(tmp_path, "c", CHOSEN), edges(tmp_path, "p", PASSED)
    config = HardNegativeV2(
        items=table, count=300, user_column="user", positive_edges=chosen, hard_edges=passed, hard_count=50, **COLUMNS
    )
    found = config.open(is_training=True)(rows(OWN, USERS), random(2))
    away = {item for user, item in CHOSEN if user in USERS} | set(OWN)
    assert set(drawn(found)) == set(range(100, 140)) - away
    for row, (user, own) in enumerate(zip(USERS, OWN, strict=True)):
        mine = {item for place, item in hard(found) if place == row}
        assert mine == passed_over(user, own, CHOSEN)


def test_the_same_random_numbers_draw_the_same(tmp_path: Path) -> None:
    sampler = v2(tmp_path, 20, kept_from="row").open(is_training=True)
    batches = [drawn(sampler(rows(OWN, USERS), random(*seed))) for seed in ((1, 2), (1, 2), (1, 3))]
    assert batches[0] == batches[1] != batches[2]


def test_texts_are_ids_as_well_as_numbers(tmp_path: Path) -> None:
    table = tmp_path / "words.txt"
    table.write_text("id:string\tweight:float\tattrs:string\n" + "".join(f"w{n}\t1\t{n}\n" for n in range(6)))
    chosen = edges(tmp_path, "c", [("ann", "w1"), ("ann", "w2"), ("bob", "w3"), ("bob", "w9")])
    config = NegativeV2(
        items=items(tmp_path, [1]).model_copy(update={"path": str(table)}),
        item_column="item", attributes=("size",), count=200, user_column="user", positive_edges=chosen,
    )  # fmt: skip
    for words in (["w0", "w0"], pa.array(["w0", "w0"]).dictionary_encode(), pa.array(["w0", "w0"], pa.large_string())):
        batch = pa.record_batch({"item": words, "size": [1, 2], "user": ["ann", "cid"]})
        found = config.open(is_training=True)(batch, random(1))
        assert set(drawn(found)) == {"w3", "w4", "w5"}
