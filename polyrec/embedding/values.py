"""Values of a batch to rows, for the tables that share their rows out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor
from torchrec.sparse.jagged_tensor import KeyedJaggedTensor

from polyrec.config import Table
from polyrec.data.lookups import Stack
from polyrec.embedding.collisions import KnownValues

Gather = Callable[[Tensor], list[Tensor]]
"""A list of whole numbers of each rank, on every rank."""


class ValueTables:
    """All tables with collisions of a run. Every rank knows all values of them, and learns from all ranks' batches."""

    def __init__(self, stacks: tuple[Stack, ...], device: torch.device) -> None:
        self._tables = {
            stack.name: [(table, _keys_of(stack, table)) for table in stack.tables if table.collisions]
            for stack in stacks
            if any(table.collisions for table in stack.tables)
        }
        self._trained = {stack.name for stack in stacks if stack.is_trained}
        self.known = {table.name: KnownValues(table) for tables in self._tables.values() for table, _ in tables}
        self._device = device

    def state(self) -> dict[str, Tensor]:
        """`table.known.values` and so on, as the live tensors; they are in the host's memory whatever the device."""
        return {
            f"{name}.{part}": torch.from_numpy(array)
            for name, known in self.known.items()
            for part, array in known.state().items()
        }

    def learn(
        self, ids: Mapping[str, KeyedJaggedTensor], step: int, gather: Gather | None
    ) -> Iterator[tuple[str, Table, Tensor]]:
        """Take in a batch; stack, table and rows that start anew because they changed hands."""
        tables = [(stack, *item) for stack, items in self._tables.items() if stack in self._trained for item in items]
        if not tables:
            return
        found = [_counted(_part(ids[stack], keys)) for stack, _, keys in tables]
        if gather is not None:
            found = _of_all_ranks(found, gather)
        for (stack, table, _), (values, counts) in zip(tables, found, strict=True):
            rows = self.known[table.name].learn(values.cpu().numpy(), counts.cpu().numpy(), step)
            if rows.size:
                yield stack, table, torch.from_numpy(rows).to(self._device)

    def rows(self, ids: Mapping[str, KeyedJaggedTensor]) -> Mapping[str, KeyedJaggedTensor]:
        """The same lookups with rows for values."""
        return {**ids, **{stack: self._stack_rows(tables, ids[stack]) for stack, tables in self._tables.items()}}

    def _stack_rows(self, tables: list[tuple[Table, slice]], ids: KeyedJaggedTensor) -> KeyedJaggedTensor:
        values = ids.values().clone()
        for table, keys in tables:
            rows = self.known[table.name].rows_of(_part(ids, keys).cpu().numpy())
            values[_span(ids, keys)] = torch.from_numpy(rows).to(values.device)
        return KeyedJaggedTensor(
            keys=ids.keys(),
            values=values,
            weights=ids.weights_or_none(),
            lengths=ids.lengths(),
            stride=ids.stride(),
        )


def _keys_of(stack: Stack, table: Table) -> slice:
    """The table's lookups, which stand side by side."""
    places = [place for place, lookup in enumerate(stack.lookups) if lookup.table == table.name]
    return slice(places[0], places[-1] + 1)


def _span(ids: KeyedJaggedTensor, keys: slice) -> slice:
    counts = ids.length_per_key()
    start = sum(counts[: keys.start])
    return slice(start, start + sum(counts[keys]))


def _part(ids: KeyedJaggedTensor, keys: slice) -> Tensor:
    return ids.values()[_span(ids, keys)]


def _counted(values: Tensor) -> tuple[Tensor, Tensor]:
    """Distinct values in order, and how often each occurs."""
    distinct, counts = torch.unique(values, return_counts=True)
    return distinct, counts


def _of_all_ranks(found: list[tuple[Tensor, Tensor]], gather: Gather) -> list[tuple[Tensor, Tensor]]:
    """The ranks' distinct values together, with the sums of their counts."""
    sizes = [len(values) for values, _ in found]
    device = found[0][0].device
    message = [torch.tensor(sizes, dtype=torch.int64, device=device), *(part for pair in found for part in pair)]
    parts: list[list[tuple[Tensor, ...]]] = []
    for received in gather(torch.cat(message)):
        lengths = received[: len(found)].tolist()
        pieces = received[len(found) :].split([length for size in lengths for length in (size, size)])
        parts.append(list(zip(pieces[::2], pieces[1::2], strict=True)))
    return [_added(list(of_ranks)) for of_ranks in zip(*parts, strict=True)]


def _added(pairs: list[tuple[Tensor, ...]]) -> tuple[Tensor, Tensor]:
    values, counts = (torch.cat(parts) for parts in zip(*pairs, strict=True))
    distinct, places = torch.unique(values, return_inverse=True)
    return distinct, torch.zeros_like(distinct).index_add_(0, places, counts)
