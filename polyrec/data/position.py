"""Who reads what, and where in it a rank stands: plain values that a checkpoint keeps as JSON."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from polyrec.data.readers import Span


@dataclass(frozen=True, slots=True)
class Work:
    """Spans to be read one after another, in the order of the file or mixed as one block."""

    spans: tuple[Span, ...]
    rows: int = 0
    """Rows of the block; 0 for a whole span in the order of the file."""
    key: tuple[int, ...] = ()
    """Seeds of the order in which the block's rows are given out."""
    given: int = 0
    """Rows of the block that have been given out."""

    @property
    def units(self) -> int:
        return sum(span.stop - span.start for span in self.spans)

    @property
    def is_whole(self) -> bool:
        """Whether one rank must take all of it: rows left out or mixed are counted from its beginning."""
        return self.rows > 0 or self.spans[0].skip > 0


@dataclass(frozen=True, slots=True)
class Position:
    """Where the next row of one rank is."""

    epoch: int = 0
    index: int = 0
    """Place in the rank's plan of the work to go on with."""
    piece: Span | None = None
    """Where in that work reading goes on; None at its beginning."""
    block: Work | None = None
    """A shuffled block that is given out first."""
    number: int = 0
    """Blocks shuffled so far in this epoch."""
    plan: tuple[Work, ...] | None = None
    """The rank's work after the number of ranks changed; None when it follows from files, rank and seed."""
    data: int = 0
    """Checksum of the names and sizes of the files that this is a position in."""
    batches: int = 0
    """Batches given out so far in this epoch; what is drawn for a batch goes by its number."""
    files: tuple[str, ...] = ()
    """Names of what is read, where the names of files do not say which rows in which order."""

    def dump(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    @classmethod
    def load(cls, values: dict[str, Any]) -> Position:
        plan = values["plan"]
        return cls(
            epoch=values["epoch"],
            index=values["index"],
            piece=None if values["piece"] is None else Span(**values["piece"]),
            block=None if values["block"] is None else _work(values["block"]),
            number=values["number"],
            plan=None if plan is None else tuple(_work(work) for work in plan),
            data=values["data"],
            batches=values.get("batches", 0),
            files=tuple(values.get("files", ())),
        )


def _work(values: dict[str, Any]) -> Work:
    spans = tuple(Span(**span) for span in values["spans"])
    return Work(spans, values["rows"], tuple(values["key"]), values["given"])


def remaining(plan: Sequence[Work], position: Position) -> list[Work]:
    """All that one rank has not given out."""
    left = [] if position.block is None else [position.block]
    index = position.index
    if position.piece is not None:
        piece, end = position.piece, plan[index].spans[0].stop
        left.append(Work((piece,)))
        if piece.stop < end:
            left.append(Work((Span(piece.path, piece.stop, end),)))
        index += 1
    return [*left, *plan[index:]]


def deal(works: Iterable[Work], world: int) -> list[tuple[Work, ...]]:
    """Cut the works, laid end to end, into `world` parts whose sizes differ by at most one unit.

    Work that cannot be cut goes to the rank that its first unit falls to.
    """
    works = [work for work in works if work.units > 0]
    total = sum(work.units for work in works)
    cuts = [rank * total // world for rank in range(world + 1)]
    parts: list[list[Work]] = [[] for _ in range(world)]
    at = 0
    for work in works:
        if work.is_whole:
            parts[bisect_right(cuts, at) - 1].append(work)
            at += work.units
            continue
        span = work.spans[0]
        begin = span.start
        while begin < span.stop:
            rank = bisect_right(cuts, at) - 1
            end = min(span.stop, begin + cuts[rank + 1] - at)
            parts[rank].append(Work((replace(span, start=begin, stop=end),)))
            at += end - begin
            begin = end
    return [tuple(part) for part in parts]
