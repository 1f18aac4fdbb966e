"""The next items made in a thread while the last one is used."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from types import TracebackType
from typing import Generic, Self, TypeVar

T = TypeVar("T")


class Prefetch(Iterator[T]):
    """The items of `source`, up to `depth` of them made ahead by a thread of their own, as far as their memory goes.

    What goes wrong in the thread is raised where the item is taken. The thread ends with the items, at `close`, at the
    end of a `with` block, or when nobody holds the object any more.
    """

    def __init__(
        self,
        source: Iterable[T] | Callable[[], Iterable[T]],
        depth: int = 2,
        size: Callable[[T], int] | None = None,
        memory: int = 0,
    ) -> None:
        """With `size`, which gives the bytes of an item, those that wait take at most `memory`, or are just one."""
        assert depth > 0
        self._line: _Line[T] = _Line(depth, size, memory)
        # The thread must not hold `self`, or an abandoned object would never be collected.
        self._thread = threading.Thread(
            target=_produce, args=(source, self._line), daemon=True, name="polyrec-prefetch"
        )
        self._stop = weakref.finalize(self, self._line.stop)
        self._thread.start()

    def __next__(self) -> T:
        return self._line.take()

    def close(self, timeout: float = 10.0) -> None:
        """Stop the thread after the item it is making; waits for it this many seconds."""
        self._stop()
        self._thread.join(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class _Line(Generic[T]):
    """Items on their way from the thread to its consumer.

    As a context manager around the making of items it hands on what is raised there.
    """

    def __init__(self, depth: int, size: Callable[[T], int] | None, memory: int) -> None:
        self.depth = depth
        self.size = size
        self.memory = memory
        self.items: deque[T] = deque()
        self.sizes: deque[int] = deque()
        self.error: BaseException | None = None
        self.is_finished = False
        self.is_stopped = False
        self.changed = threading.Condition()

    def put(self, item: T) -> bool:
        """Wait for room; False when no more items are wanted."""
        size = 0 if self.size is None else self.size(item)
        with self.changed:
            self.changed.wait_for(lambda: self.is_stopped or self._has_room(size))
            if not self.is_stopped:
                self.items.append(item)
                self.sizes.append(size)
                self.changed.notify_all()
            return not self.is_stopped

    def _has_room(self, size: int) -> bool:
        return not self.items or (
            len(self.items) < self.depth and (self.size is None or sum(self.sizes) + size <= self.memory)
        )

    def take(self) -> T:
        with self.changed:
            self.changed.wait_for(lambda: self.items or self.is_finished or self.is_stopped)
            if self.items:
                self.changed.notify_all()
                self.sizes.popleft()
                return self.items.popleft()
            error, self.error = self.error, None
        if error is not None:
            raise error
        raise StopIteration

    def stop(self) -> None:
        with self.changed:
            self.is_stopped = True
            self.items.clear()
            self.sizes.clear()
            self.changed.notify_all()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> bool:
        with self.changed:
            self.error = error
            self.is_finished = True
            self.changed.notify_all()
        return True


def _produce(source: Iterable[T] | Callable[[], Iterable[T]], line: _Line[T]) -> None:
    with line:
        items = iter(source() if callable(source) else source)
        try:
            for item in items:
                if not line.put(item):
                    break
                del item  # else it stays alive here while the next one is made
        finally:
            if isinstance(items, Generator):
                items.close()
