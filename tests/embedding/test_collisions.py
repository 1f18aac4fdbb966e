"""Which value has which row, beside the same rules worked through value by value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from small_runs import table

from polyrec.config import Collisions
from polyrec.embedding.collisions import NONE, KnownValues

POLICIES = ("lfu", "lru", "distance_lfu")


def known_of(rows: int, **policy: object) -> KnownValues:
    return KnownValues(table("t", rows, 4, collisions=Collisions.model_validate(policy)))


def learn(known: KnownValues, values: list[int], step: int) -> list[int]:
    distinct, counts = np.unique(np.array(values, np.int64), return_counts=True)
    return known.learn(distinct, counts.astype(np.int64), step).tolist()


def rows_of(known: KnownValues, *values: int) -> list[int]:
    return known.rows_of(np.array(values, np.int64)).tolist()


class ByHand:
    """The rules of `Collisions` with dicts and sorts."""

    def __init__(self, rows: int, policy: Collisions) -> None:
        self.limit, self.most, self.policy = rows, rows - 1, policy
        self.at_least = policy.at_least or 1
        self.rows: dict[int, int] = {}
        self.facts: dict[int, tuple[int, int]] = {}

    def wanted(self, value: int, step: int) -> float:
        count, seen = self.facts[value]
        recent = (step - seen + 1) ** -self.policy.decay
        return {"lfu": count, "lru": recent, "distance_lfu": count * recent}[self.policy.eviction]

    def waiting(self) -> list[int]:
        return [value for value in self.facts if value not in self.rows]

    def best_first(self, values: list[int], step: int) -> list[int]:
        return sorted(values, key=lambda value: (-self.wanted(value, step), -self.facts[value][1], value))

    def worst_first(self, values: list[int], step: int, tie: dict[int, int]) -> list[int]:
        return sorted(values, key=lambda value: (self.wanted(value, step), self.facts[value][1], tie[value]))

    def learn(self, values: list[int], step: int) -> list[int]:
        distinct = sorted(set(values))
        for value in distinct:
            self.facts[value] = (self.facts.get(value, (0, 0))[0] + values.count(value), step)
        if self.at_least <= 1:
            for value in sorted(set(distinct) - set(self.rows), key=lambda item: (-values.count(item), item)):
                if len(self.rows) < self.most:
                    self.rows[value] = len(self.rows)
        self.forget(step)
        changed = self.round(step) if step % self.policy.every_steps == 0 else []
        self.forget(step)
        return changed

    def round(self, step: int) -> list[int]:
        worthy = [value for value in self.waiting() if self.facts[value][0] >= self.at_least]
        best = self.best_first(worthy, step)
        while best and len(self.rows) < self.most:
            self.rows[best.pop(0)] = len(self.rows)
        worst = self.worst_first(list(self.rows), step, self.rows)[: len(best)]
        changed = []
        for winner, loser in zip(best, worst, strict=False):
            if self.wanted(winner, step) > self.wanted(loser, step):
                changed.append(self.rows[loser])
                self.rows[winner] = self.rows.pop(loser)
        return changed

    def forget(self, step: int) -> None:
        waiting = self.waiting()
        if len(waiting) > self.limit:
            ordered = self.worst_first(waiting, step, {value: value for value in waiting})
            for value in ordered[: len(waiting) - (self.limit + 1) // 2]:
                del self.facts[value]


@settings(max_examples=150, deadline=None)
@given(
    steps=st.lists(st.lists(st.integers(0, 30), max_size=14), min_size=1, max_size=25),
    rows=st.integers(2, 9),
    policy=st.builds(
        Collisions,
        eviction=st.sampled_from(POLICIES),
        every_steps=st.integers(1, 4),
        decay=st.sampled_from([0.5, 1.0, 2.0]),
        at_least=st.sampled_from([None, 1.0, 2.0, 3.5]),
    ),
)
def test_rows_go_as_the_rules_say(steps: list[list[int]], rows: int, policy: Collisions) -> None:
    known, by_hand = known_of(rows, **policy.model_dump()), ByHand(rows, policy)
    for step, values in enumerate(steps, 1):
        assert learn(known, values, step) == by_hand.learn(values, step)
        expected = [by_hand.rows.get(value, rows - 1) for value in range(31)]
        assert rows_of(known, *range(31)) == expected
        if step % 3 == 0:  # looking at the state changes nothing
            state = known.state()
            held = {int(value): row for row, value in enumerate(state["known.values"]) if value != NONE}
            assert held == by_hand.rows
            waits = state["waiting.values"]
            assert sorted(by_hand.waiting()) == waits[waits != NONE].tolist()


def test_values_take_rows_as_they_come_and_strangers_share_the_last() -> None:
    known = known_of(4, eviction="lfu", every_steps=100)
    assert rows_of(known, 7, 2**63 - 2, 0) == [3, 3, 3]
    learn(known, [7, 2**63 - 2, 2**63 - 2], 1)
    assert rows_of(known, 7, 2**63 - 2, 0) == [1, 0, 3]
    learn(known, [5, 5, 6], 2)
    assert rows_of(known, 7, 2**63 - 2, 5, 6) == [1, 0, 2, 3]


@pytest.mark.parametrize(
    ("eviction", "loser"),
    # Worth of 1, 2, 3 at step 6, seen 9 times at 1, 2 at 3, 1 at 5: count; 1 / age; count / age = 9/6, 2/4, 1/2.
    [("lfu", 3), ("lru", 1), ("distance_lfu", 2)],
)
def test_the_least_wanted_gives_its_row_up(eviction: str, loser: int) -> None:
    known = known_of(4, eviction=eviction, every_steps=6)
    for step, values in enumerate([[1] * 9, [], [2, 2], [], [3], [8] * 4], 1):
        before = rows_of(known, loser)
        changed = learn(known, values, step)
    assert changed == before
    assert rows_of(known, 8) == before
    assert rows_of(known, loser) == [3]
    assert 3 not in rows_of(known, *({1, 2, 3} - {loser}))


def test_a_value_must_be_seen_often_enough_across_steps() -> None:
    known = known_of(8, eviction="lfu", every_steps=2, at_least=3)
    for step, values in enumerate([[1, 1, 2], [2], [1], [9]], 1):
        assert learn(known, values, step) == []
        assert rows_of(known, 1, 2, 9) == ([7, 7, 7] if step < 4 else [0, 7, 7])
    learn(known, [2, 9, 9], 5)
    learn(known, [], 6)
    assert rows_of(known, 1, 2, 9) == [0, 1, 2]


def test_a_tie_leaves_rows_where_they_are() -> None:
    known = known_of(3, eviction="lfu", every_steps=1)
    learn(known, [1, 2], 1)
    assert learn(known, [3, 4], 2) == []
    assert rows_of(known, 1, 2, 3, 4) == [0, 1, 2, 2]


def test_what_waits_is_bounded() -> None:
    known = known_of(10, eviction="lfu", every_steps=1000)
    for step in range(1, 200):
        learn(known, list(range(100 * step, 100 * step + 60)), step)
        assert len(known._waiting) == 10
        assert known._num_waiting + sum(map(len, known._fresh)) <= 10


def test_state_restored_goes_on_alike() -> None:
    random = np.random.default_rng(3)
    batches = [random.zipf(1.3, 40) % 300 for _ in range(40)]
    whole, first, second = (known_of(20, eviction="distance_lfu", every_steps=3) for _ in range(3))
    for step, values in enumerate(batches[:17], 1):
        learn(whole, values.tolist(), step)
        learn(first, values.tolist(), step)
    rows_of(second, 5)  # what was looked up before must not stay
    for name, array in second.state().items():
        array[:] = first.state()[name]
    for step, values in enumerate(batches[17:], 18):
        assert learn(whole, values.tolist(), step) == learn(second, values.tolist(), step)
    assert rows_of(whole, *range(300)) == rows_of(second, *range(300))
    for name, array in second.state().items():
        assert np.array_equal(array, whole.state()[name]), name


def test_steps_that_begin_again_do_no_harm() -> None:
    known = known_of(3, eviction="distance_lfu", every_steps=1)
    learn(known, [1, 2], 1000)
    assert len(learn(known, [3, 3, 3], 1)) == 1
    assert 2 not in rows_of(known, 3)


def test_a_table_with_collisions_has_two_rows_at_least() -> None:
    with pytest.raises(ValidationError, match="needs 2 rows"):
        known_of(1, eviction="lfu")
