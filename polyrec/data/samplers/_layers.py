"""One layer of a tree: for each row some of its nodes, each once and by weight, but not the row's own."""

from __future__ import annotations

import numpy as np

from polyrec.data.samplers._alias import AliasTable

ROUNDS = 12
"""Times that nodes which may not be drawn are drawn anew; after that all nodes of the layer are weighed."""
FEW = 4
"""A layer with so many nodes for each that a row gets is weighed as a whole at once."""
WEIGHED = 1 << 22
"""Numbers held at once while layers are weighed."""


class Layer:
    def __init__(self, weights: np.ndarray, nodes: np.ndarray) -> None:
        """`weights` of all nodes of the tree, `nodes` those of the layer in rising order."""
        self._nodes = nodes[weights[nodes] > 0]
        self._weights = weights[self._nodes]
        self._alias = AliasTable(self._weights) if len(self._nodes) else None

    @property
    def size(self) -> int:
        """Nodes that can be drawn."""
        return len(self._nodes)

    def draw(self, random: np.random.Generator, own: np.ndarray, count: int) -> np.ndarray:
        """int64 [rows, count]; a row whose own node is none of the layer's may get any."""
        places = np.searchsorted(self._nodes, own)
        is_here = (places < self.size) & (self._nodes[np.minimum(places, self.size - 1)] == own) if self.size else None
        own = np.full(len(own), -1) if is_here is None else np.where(is_here, places, -1)
        found = np.full((len(own), count), -1, np.int64)
        if not count:
            return found
        if self.size > FEW * count:
            self._draw_by_chance(random, own, found)
        open_rows = np.flatnonzero((found < 0).any(axis=1))
        step = max(1, WEIGHED // self.size)
        for start in range(0, len(open_rows), step):
            rows = open_rows[start : start + step]
            found[rows] = self._weighed(random, own[rows], found[rows])
        return self._nodes[found]

    def _draw_by_chance(self, random: np.random.Generator, own: np.ndarray, found: np.ndarray) -> None:
        """Fill the places of `found` that are -1, all but a few."""
        assert self._alias is not None
        for _ in range(ROUNDS):
            rows = np.flatnonzero((found < 0).any(axis=1))
            if not len(rows):
                return
            part = found[rows]
            gaps = part < 0
            part[gaps] = self._alias.draw(random, int(gaps.sum()))
            # Of equal nodes in a row the one that was there before stays, else the first.
            order = np.lexsort((gaps, part), axis=1)
            ordered = np.take_along_axis(part, order, axis=1)
            is_again = np.zeros(part.shape, bool)
            is_again[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
            wrong = np.zeros(part.shape, bool)
            np.put_along_axis(wrong, order, is_again, axis=1)
            part[wrong | (part == own[rows, None])] = -1
            found[rows] = part

    def _weighed(self, random: np.random.Generator, own: np.ndarray, found: np.ndarray) -> np.ndarray:
        """The same rows without gaps: what was found, then those that arrive first at rates that are their weights."""
        arrivals = random.standard_exponential((len(own), self.size)) / self._weights
        rows, places = np.nonzero(found >= 0)
        arrivals[rows, found[rows, places]] = -1
        has_own = np.flatnonzero(own >= 0)
        arrivals[has_own, own[has_own]] = np.inf
        count = found.shape[1]
        first = np.argpartition(arrivals, count - 1, axis=1)[:, :count]
        order = np.argsort(np.take_along_axis(arrivals, first, axis=1), axis=1, kind="stable")
        return np.take_along_axis(first, order, axis=1)
