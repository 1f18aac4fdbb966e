"""Tasks that read what earlier ones have found (DBMTL, Wang et al., 2019, arXiv:1902.09154)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from polyrec.families import ModelConfig
from polyrec.inits.linear import Linear
from polyrec.parts import MLP, Experts, Head, Masks, TaskTower, tower_faults

if TYPE_CHECKING:
    from polyrec.networks import Inputs


class RelatedTower(TaskTower):
    """A tower that may read those of other tasks before it."""

    reads: tuple[str, ...] = ()
    """Tasks whose towers stand before this one."""
    relation: MLP | None = None
    """Layers over the tower's own output and what is read; None when nothing is."""


class DBMTL(ModelConfig):
    group: str
    """Group that everything is made of."""
    masks: Masks | None = None
    """Blocks at the bottom; None for none."""
    bottom: MLP | None = None
    """Layers over that; None for none."""
    experts: Experts | None = None
    """Experts over that; None gives all tasks the same."""
    towers: tuple[RelatedTower, ...] = Field(min_length=1)
    """One for each task."""
    head: Head

    @property
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        return {self.group: "flat"}

    def faults(self, inputs: Inputs) -> Iterable[tuple[str, str]]:
        yield from tower_faults(self.towers, inputs.tasks)
        before: list[str] = []
        for index, tower in enumerate(self.towers):
            for place, name in enumerate(tower.reads):
                if name not in before:
                    known = ", ".join(before) or "none"
                    yield f"towers[{index}].reads[{place}]", f"no tower {name} stands before this one; before: {known}"
            if tower.reads and tower.relation is None:
                yield f"towers[{index}].reads", "needs layers that join what is read with the tower's own output"
            before.append(tower.task)

    @classmethod
    def example(cls) -> DBMTL:
        kernel = Linear()
        layers = MLP(hidden=(16, 8), activation="relu", kernel=kernel)
        return cls(
            group="all",
            bottom=layers,
            experts=Experts(count=2, mlp=layers, gate=layers, kernel=kernel),
            towers=(
                RelatedTower(task="click", mlp=layers),
                RelatedTower(task="buy", mlp=layers, reads=("click",), relation=layers),
            ),
            head=Head(kernel=kernel),
        )
