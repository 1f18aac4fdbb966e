"""Dealing by hand-worked numbers."""

from __future__ import annotations

import json

from polyrec.data.position import Position, Work, deal, remaining
from polyrec.data.readers import Span


def spans(parts: list[tuple[Work, ...]]) -> list[list[tuple[str, int, int]]]:
    return [[(span.path, span.start, span.stop) for work in part for span in work.spans] for part in parts]


def test_parts_are_cut_through_files() -> None:
    works = [Work((Span("a", 0, 4),)), Work((Span("b", 0, 6),))]
    assert spans(deal(works, 3)) == [[("a", 0, 3)], [("a", 3, 4), ("b", 0, 2)], [("b", 2, 6)]]


def test_more_ranks_than_units_leave_some_without() -> None:
    assert spans(deal([Work((Span("a", 0, 2),))], 4)) == [[], [("a", 0, 1)], [], [("a", 1, 2)]]


def test_a_span_with_rows_left_out_is_not_cut() -> None:
    works = [Work((Span("a", 0, 4, skip=1),)), Work((Span("a", 4, 8),))]
    assert spans(deal(works, 2)) == [[("a", 0, 4)], [("a", 4, 8)]]
    assert spans(deal(works, 8))[0] == [("a", 0, 4)]


def test_what_remains_is_the_block_the_piece_and_all_after() -> None:
    plan = (Work((Span("a", 0, 10),)), Work((Span("b", 0, 10),)), Work((Span("c", 0, 10),)))
    block = Work((Span("a", 8, 10), Span("b", 0, 2)), rows=4, key=(1, 2), given=3)
    position = Position(index=1, piece=Span("b", 0, 5, skip=2), block=block)
    assert remaining(plan, position) == [block, Work((Span("b", 0, 5, 2),)), Work((Span("b", 5, 10),)), plan[2]]


def test_nothing_is_lost_through_json() -> None:
    block = Work((Span("a", 8, 10),), rows=2, key=(1, 2), given=1)
    position = Position(3, 1, Span("b", 0, 5, 2), block, 7, (block, Work((Span("b", 0, 9),))), 99)
    assert Position.load(json.loads(json.dumps(position.dump()))) == position
