"""The tables that groups look up, and the inputs of groups that do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from polyrec.dialects.easyrec.feature import Feature, start
from polyrec.dialects.fields import mapped
from polyrec.dialects.node import Node, Value


@dataclass(frozen=True)
class Place:
    """Where a feature is taken, for messages and for the names of tables."""

    node: Node
    field: str
    prefix: str
    """What the names of tables begin with; those of another group are other tables."""
    wide: Value[int] | None = None
    """Width of all vectors in a WIDE group."""

    def problem(self, name: Value[str], message: str) -> None:
        self.node.report.problem(name.origin, self.node.at(self.field), message)


@dataclass
class Tables:
    shared: set[str]
    """Names that two features or more give their embeddings."""
    drafts: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, features: Iterable[Feature]) -> Tables:
        uses = Counter(feature.embedding_name.value for feature in features if feature.embedding_name)
        return cls({name for name, number in uses.items() if number > 1})

    def take(self, place: Place, name: Value[str], feature: Feature) -> tuple[dict[str, Any], int] | None:
        """The input of a group, and how wide it is there; None when the group cannot have it."""
        if feature.draft is None:
            return place.problem(name, f"{name.value} is a PassThroughFeature, which groups do not take")
        draft: dict[str, Any] = {"feature": name, "table": None, "pooling": "sum"}
        if feature.embedding_dim is None:
            if place.wide is not None:
                return place.problem(name, f"{name.value} holds numbers; give it boundaries")
            return draft, feature.width
        width = place.wide or feature.embedding_dim
        if feature.embedding_dim.value == 0 and place.wide is None:
            message = f"{feature.name.value} is in the group {place.prefix} and needs embedding_dim"
            place.node.report.problem(feature.embedding_dim.origin, f"feature {feature.name.value}", message)
            return None
        if not feature.has_table:
            return self._vectors(place, name, feature, width)
        table = self._table(place, name, feature, width)
        # The ids of a wide group are always summed.
        pooling = Value("sum", name.origin) if place.wide is not None else feature.pooling
        return {**draft, "table": Value(table, name.origin), "pooling": pooling}, width.value

    def _vectors(
        self, place: Place, name: Value[str], feature: Feature, width: Value[int]
    ) -> tuple[dict[str, Any], int] | None:
        """Numbers that become a vector."""
        if feature.embedding_name and feature.embedding_name.value in self.shared:
            message = f"{feature.embedding_name.value} is shared, and embedded numbers have no table to share"
            feature_path = f"feature {feature.name.value}"
            place.node.report.problem(feature.embedding_name.origin, feature_path, message)
        kernel = start(feature, feature.width, width.value)
        embedding = {"kind": "projection", "width": width, "kernel": kernel}
        return {"feature": name, "table": None, "pooling": "sum", "embedding": embedding}, width.value

    def _table(self, place: Place, name: Value[str], feature: Feature, width: Value[int]) -> str:
        """A table, new or known; features that share one must agree on it."""
        assert feature.rows is not None
        table = f"{place.prefix}/{name.value}"
        if feature.embedding_name and feature.embedding_name.value in self.shared:
            table = feature.embedding_name.value
        table += "_wide" if place.wide is not None else ""
        draft: dict[str, Any] = {
            "name": table,
            "rows": feature.rows,
            "width": width,
            "init": mapped(width, lambda number: start(feature, _plain(feature.rows), number)),
            "trainable": True,
        }
        if feature.collisions is not None:
            draft["collisions"] = feature.collisions
        first = self.drafts.setdefault(table, draft)
        for what in ("rows", "width", "init", "collisions"):
            before, now = _plain(first.get(what)), _plain(draft.get(what))
            if before != now:
                message = f"shares the table {table} with another feature, but its {what} is {now}, not {before}"
                value = draft.get(what)
                origin = value.origin if isinstance(value, Value) and what != "init" else feature.name.origin
                place.node.report.problem(origin, f"feature {feature.name.value}", message)
        return table


def _plain(value: Any) -> Any:
    if isinstance(value, Value):
        return _plain(value.value)
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, Mapping) else value
