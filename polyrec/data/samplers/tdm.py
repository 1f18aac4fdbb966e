"""Rows about an item of a tree become rows about its ancestors, and about other nodes of their layers (TDM, 2018)."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from polyrec.data.columns import RowError
from polyrec.data.samplers import Sampled
from polyrec.data.samplers._edges import EdgeTable, read_edges
from polyrec.data.samplers._items import ItemTable, item_schema, read_items
from polyrec.data.samplers._layers import Layer
from polyrec.data.samplers._read import one_each
from polyrec.errors import DataError
from polyrec.families import SamplerConfig
from polyrec.features._values import is_list, numbers


class TDM(SamplerConfig):
    """The root is layer 0, and the items are the last layer.

    A batch becomes its own rows, then for each of them those of its ancestors, then those of other nodes.
    """

    adds: ClassVar[Literal["items", "rows"]] = "rows"

    items: ItemTable
    """The nodes of the tree. Those on no layer of `layers` are left out."""
    edges: EdgeTable
    """From leaves to their ancestors."""
    item_column: str
    """Column of the item that a row is about."""
    attributes: tuple[str, ...] = Field(min_length=1)
    """Columns of items beside their id, and `layer`, in the order of the table's attributes."""
    layer: str = "tree_level"
    """The attribute that tells a node's layer."""
    label: str
    """Column that becomes 1 for ancestors and 0 for other nodes; the batch's own rows keep theirs."""
    layers: tuple[int, ...] = Field(min_length=2)
    """For each layer, root first, how many other nodes each row gets, drawn by weight and each once; 0 for the root."""
    remain_ratio: float = Field(default=1.0, ge=0, le=1)
    """Share of the layers between root and leaves that a batch keeps; the leaves are always kept."""
    remain_by: Literal["uniform", "arithmetic", "reciprocal"] = "uniform"
    """How likely a layer is kept: all alike; in proportion to its number; or to 1 over its distance from the leaves."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.layers[0] != 0:
            raise ValueError(f"layers begins with the root, of which there is no other node: 0, not {self.layers[0]}")
        if min(self.layers) < 0:
            raise ValueError(f"layers counts nodes, and {min(self.layers)} is less than 0")
        if self.layer not in self.attributes:
            raise ValueError(f"attributes ({', '.join(self.attributes)}) lack {self.layer}, which tells the layer")
        return self

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.item_column, self.label)

    @property
    def item_columns(self) -> tuple[str, ...]:
        names = (self.item_column, *self.attributes)
        return tuple(dict.fromkeys(name for name in names if name != self.layer))

    def open(self, *, is_training: bool) -> TreeSampler:
        return TreeSampler(self)

    @classmethod
    def example(cls) -> TDM:
        return cls(
            items=ItemTable(path="nodes.txt", attribute_separator=","),
            edges=EdgeTable(path="ancestors.txt"),
            item_column="item",
            attributes=("tree_level", "category"),
            label="click",
            layers=(0, 1, 2),
        )


class TreeSampler:
    def __init__(self, config: TDM) -> None:
        self._config = config
        self._last = len(config.layers) - 1
        self._items = read_items(config.items, config.item_column, config.attributes)
        self._edges = read_edges(config.edges, self._items)
        self._layer_of = numbers(self._items.attribute(config.layer), np.float64)
        if not (self._layer_of == self._last).any():
            found = np.nanmax(self._layer_of)
            raise DataError(
                f"{config.items.path}: no node is on layer {self._last}, the last of {len(config.layers)} in layers; "
                f"the lowest of the tree is {found:g}, so layers needs {found + 1:g} numbers"
            )
        self._layers = [
            Layer(self._items.weights, np.flatnonzero(self._layer_of == number)) for number in range(self._last + 1)
        ]
        for number, count in enumerate(config.layers):
            if count and count >= self._layers[number].size:
                raise DataError(
                    f"{config.items.path}: layer {number} has {self._layers[number].size} nodes that can be drawn, "
                    f"too few for {count} beside a row's own; lower layers[{number}]"
                )

    def __call__(self, rows: pa.RecordBatch, random: np.random.Generator) -> Sampled:
        path = self._path(rows)
        kept = [*self._kept(random), self._last]
        ancestors = path[:, kept[:-1]]
        others = [self._layers[number].draw(random, path[:, number], self._config.layers[number]) for number in kept]
        # Nodes of one row stay together, layer after layer.
        drawn = np.concatenate(others, axis=1)
        # A leaf may have no ancestor on a layer; then it gets nothing there.
        is_there = np.repeat(path[:, kept] >= 0, [self._config.layers[number] for number in kept], axis=1)
        owners = np.concatenate((np.nonzero(ancestors >= 0)[0], np.nonzero(is_there)[0]))
        nodes = np.concatenate((ancestors[ancestors >= 0], drawn[is_there]))
        made = self._spread(rows, owners, nodes, int((ancestors >= 0).sum()))
        return Sampled(made, place=lambda number: self._items.place(int(nodes[number])))

    def _path(self, rows: pa.RecordBatch) -> np.ndarray:
        """For each row its node on each layer, int64 [B, layers], -1 for none."""
        name = self._config.item_column
        found = one_each(rows, name)
        leaves = self._items.ids.numbers(found, name)
        for wrong, what in (
            (leaves < 0, "is not in the tree"),
            (self._layer_of[leaves] != self._last, "is no leaf of the tree"),
        ):
            if wrong.any():
                row = int(np.argmax(wrong))
                text = f"item {found[row].as_py()} {what}; leave such rows out"
                raise RowError(f"column {name}", row, text, "range", np.flatnonzero(wrong))
        path = np.full((len(leaves), self._last + 1), -1, np.int64)
        owners, nodes = self._edges.of(found, name)
        layers = self._layer_of[nodes]
        is_between = (layers > 0) & (layers < self._last)
        path[owners[is_between], layers[is_between].astype(np.int64)] = nodes[is_between]
        path[:, self._last] = leaves
        return path

    def _kept(self, random: np.random.Generator) -> list[int]:
        """The layers between root and leaves that this batch keeps."""
        between = np.arange(1, self._last)
        if self._config.remain_ratio == 1 or not len(between):
            return between.tolist()
        shares = {"uniform": np.ones(len(between)), "arithmetic": between, "reciprocal": 1 / (self._last - between)}
        chances = shares[self._config.remain_by] / shares[self._config.remain_by].sum()
        count = round(self._config.remain_ratio * len(between))
        return sorted(random.choice(between, count, replace=False, p=chances).tolist())

    def _spread(
        self, rows: pa.RecordBatch, owners: np.ndarray, nodes: np.ndarray, num_ancestors: int
    ) -> pa.RecordBatch:
        """The rows, and a copy of its owner's row for each node."""
        config = self._config
        schema = item_schema(rows, config.item_columns)
        of_items = self._items.take(nodes, schema)
        copies = rows.take(pa.array(owners))
        columns: list[pa.Array] = []
        for number, field in enumerate(rows.schema):
            if field.name == config.label:
                labels = _labels(len(nodes), num_ancestors, field.type)
                columns.append(pa.concat_arrays([rows.column(number), labels]))
            elif field.name in schema.names:
                kind = schema.field(field.name).type
                columns.append(pa.concat_arrays([rows.column(number).cast(kind), of_items.column(field.name)]))
            else:
                columns.append(pa.concat_arrays([rows.column(number), copies.column(number)]))
        return pa.record_batch(columns, names=rows.schema.names)


def _labels(count: int, num_ones: int, kind: pa.DataType) -> pa.Array:
    """As many ones, then zeros, in the type of the data's column; slot text has lists of one value each."""
    labels = pa.array((np.arange(count) < num_ones).astype(np.int64))
    if is_list(kind):
        labels = pa.LargeListArray.from_arrays(pa.array(np.arange(count + 1)), labels)
    return labels.cast(kind)
