"""Which ids look up which tables, and which tables are stored and looked up together. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from polyrec.config import Group, GroupInput, RunConfig, Table

Pooling = Literal["sum", "mean", "sqrtn", "none"]


@dataclass(frozen=True, slots=True)
class Lookup:
    """Ids of a feature in a table, and how their rows become vectors."""

    feature: str
    table: str
    pooling: Pooling
    """`none` gives each id a vector of its own."""
    per: Literal["row", "position"]
    """What gets one vector."""

    @property
    def key(self) -> str:
        return f"{self.feature}/{self.table}/{self.pooling}/{self.per}"


@dataclass(frozen=True, slots=True)
class Stack:
    """Tables of one width and precision that are stored one after another and looked up in one call."""

    name: str
    width: int
    is_pooled: bool
    """Whether the lookup itself sums the rows of each bag; else it returns a row for each id."""
    is_trained: bool
    precision: Literal["fp32", "fp16"]
    tables: tuple[Table, ...]
    lookups: tuple[Lookup, ...]
    """By table, in the order of `tables`."""

    @property
    def keys(self) -> list[str]:
        return [lookup.key for lookup in self.lookups]


def lookup_of(config: RunConfig, group: Group, item: GroupInput) -> Lookup | None:
    """What the input looks up; None for numbers."""
    if item.table is None:
        return None
    feature = config.feature_names[item.feature]
    if group.kind != "sequence" or not feature.is_sequence:
        return Lookup(item.feature, item.table, item.pooling, "row")
    return Lookup(item.feature, item.table, item.pooling if feature.has_bags else "none", "position")


def stacks(config: RunConfig) -> tuple[Stack, ...]:
    """All tables in use; a lookup that several groups ask for is in it once.

    Tables stand in the order of the groups, so that a group's vectors lie side by side as they are looked up.
    """
    lookups = [lookup for group in config.groups for item in group.inputs if (lookup := lookup_of(config, group, item))]
    by_table: dict[str, list[Lookup]] = {}
    for lookup in dict.fromkeys(lookups):
        by_table.setdefault(lookup.table, []).append(lookup)
    members: dict[tuple[bool, bool, int, Literal["fp32", "fp16"]], list[Table]] = {}
    for name, users in by_table.items():
        table = config.table_names[name]
        is_pooled = all(lookup.per == "row" for lookup in users)
        members.setdefault((is_pooled, table.trainable, table.width, table.precision), []).append(table)
    return tuple(
        Stack(
            name="_".join(
                ["pooled" if is_pooled else "rows", str(width), *([] if is_trained else ["frozen"])]
                + ([] if precision == "fp32" else [precision])
            ),
            width=width,
            is_pooled=is_pooled,
            is_trained=is_trained,
            precision=precision,
            tables=tuple(tables),
            lookups=tuple(lookup for table in tables for lookup in by_table[table.name]),
        )
        for (is_pooled, is_trained, width, precision), tables in members.items()
    )
