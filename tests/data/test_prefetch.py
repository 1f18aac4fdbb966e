"""Order, errors and endings of items made in a thread."""

from __future__ import annotations

import gc
import threading
import time
import traceback
from collections.abc import Callable, Iterator

import pytest

from polyrec.data.prefetch import Prefetch
from polyrec.errors import DataError


def eventually(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + 5
    while not holds() and time.monotonic() < end:
        time.sleep(0.005)
    return holds()


def test_all_items_in_order() -> None:
    assert list(Prefetch(range(100), depth=3)) == list(range(100))
    assert list(Prefetch(lambda: iter("abc"))) == ["a", "b", "c"]


def test_no_more_than_depth_items_are_made_ahead() -> None:
    made: list[int] = []

    def source() -> Iterator[int]:
        for number in range(100):
            made.append(number)
            yield number

    with Prefetch(source, depth=2) as items:
        assert eventually(lambda: len(made) == 3)  # two that wait, and one in hand
        time.sleep(0.05)
        assert len(made) == 3
        next(items)
        assert eventually(lambda: len(made) == 4)


def test_an_error_comes_after_the_items_before_it_with_its_traceback() -> None:
    def broken_source() -> Iterator[int]:
        yield 1
        raise DataError("row 2")

    items = Prefetch(broken_source)
    assert next(items) == 1
    with pytest.raises(DataError, match="row 2") as caught:
        next(items)
    assert "broken_source" in "".join(traceback.format_exception(caught.value))
    with pytest.raises(StopIteration):
        next(items)


def test_closing_early_ends_the_thread_and_the_source() -> None:
    ended = threading.Event()

    def endless() -> Iterator[int]:
        try:
            while True:
                yield 0
        finally:
            ended.set()

    items = Prefetch(endless)
    next(items)
    items.close()
    assert ended.is_set()
    assert not items._thread.is_alive()
    with pytest.raises(StopIteration):
        next(items)


def test_a_consumer_that_walks_away_leaves_no_thread() -> None:
    items = Prefetch(iter(int, 1))
    thread = items._thread
    next(items)
    del items
    gc.collect()
    assert eventually(lambda: not thread.is_alive())


def test_what_waits_is_bounded_by_its_memory() -> None:
    made: list[int] = []

    def source() -> Iterator[int]:
        for size in (4, 4, 4, 30, 1, 1):
            made.append(size)
            yield size

    with Prefetch(source, depth=5, size=lambda size: size, memory=10) as items:
        # Two wait, and a third is made, for which there is no room yet.
        assert eventually(lambda: len(made) == 3)
        time.sleep(0.05)
        assert len(made) == 3
        assert next(items) == 4
        assert eventually(lambda: len(made) == 4)
        # One that is larger than the memory waits alone.
        assert list(items) == [4, 4, 30, 1, 1]
