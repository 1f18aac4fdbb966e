"""The families of components: what each named part of a config must offer. Imports no torch."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from pydantic import Field

from polyrec.catalog import Component

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    import torch
    from torch import Tensor, nn

    from polyrec.data.columns import Column
    from polyrec.data.readers import Span
    from polyrec.data.samplers import Sampled
    from polyrec.networks import Inputs
    from polyrec.optim.rows import RowRule


class ReaderConfig(Component):
    """A file format: what a file holds, how it is cut into spans, and how a span becomes record batches."""

    folder: ClassVar[str] = "data.readers"
    has_sessions: ClassVar[bool] = False
    """Whether the order of rows is known only within a session that all processes must share."""

    @abstractmethod
    def suffixes(self) -> tuple[str, ...]:
        """File endings taken from a folder; empty takes every file that is not hidden."""

    @abstractmethod
    def arrow_schema(self, path: str) -> pa.Schema:
        """Columns of one file, without reading its rows."""

    @abstractmethod
    def length(self, path: str) -> int:
        """Size of the file in the units of its spans: rows, or bytes for text."""

    def shared(self, files: Sequence[str], columns: Sequence[str]) -> list[str]:
        """Names under which every process finds the same rows of the files in the same order; one process asks."""
        return list(files)

    def is_there(self, files: Sequence[str]) -> bool:
        """Whether shared names still stand for the rows that they stood for."""
        return True

    def release(self, files: Sequence[str]) -> None:
        """Shared names are not needed any more."""

    def rows_per_unit(self, path: str) -> float | None:
        """About how many rows a unit of the file's length holds, for the time left; None when that is not known."""
        return None

    def pieces(self, path: str) -> tuple[Span, ...]:
        """The whole file as spans, in order, each cheap to begin at; shuffling files reorders these."""
        from polyrec.data.readers import Span

        return (Span(path, 0, self.length(path)),)

    @abstractmethod
    def read(self, span: Span, columns: tuple[str, ...]) -> Iterator[tuple[Span, pa.RecordBatch]]:
        """Batches of the span in order, each with what part of the file it is, so a reader can begin there again.

        No columns named means all of them.
        """

    def read_encoded(self, span: Span, columns: tuple[str, ...]) -> Iterator[tuple[Span, pa.RecordBatch]]:
        """As `read`, but a column of text may come as a dictionary of its words, in some batches and not in others."""
        return self.read(span, columns)

    def read_marked(self, span: Span, columns: tuple[str, ...]) -> Iterator[tuple[Span, pa.RecordBatch]]:
        """As `read_encoded`, of files that may hold lines or values that cannot be read: those are rows and nulls too.

        The column `faults.MARKS` tells of them. The rows of a file are the same whoever reads it which way.
        """
        from polyrec.data.faults import unmarked

        for piece, rows in self.read_encoded(span, columns):
            yield piece, unmarked(rows)

    def place(self, span: Span, row: int) -> str:
        """Where a row stands, for errors: `span` came with a batch that holds it, `row` is its number there.

        Rows of a file count from 0.
        """
        return f"{span.path}: row {span.start + span.skip + row}"


class BucketConfig(Component):
    """How a value of a categorical column becomes a row of a table."""

    folder: ClassVar[str] = "features.buckets"

    rows: int = Field(gt=0, lt=2**63)
    """Number of table rows that ids may name."""

    @abstractmethod
    def rows_of(self, values: pa.Array) -> np.ndarray:
        """One int64 row per value, -1 for a value that has none; `values` holds no nulls."""


class NormalizerConfig(Component):
    """How a number is scaled before a model sees it."""

    folder: ClassVar[str] = "features.normalizers"

    @abstractmethod
    def apply(self, values: np.ndarray) -> np.ndarray:
        """float32 of the same shape; `values` are float32 and none is missing."""


class OperatorConfig(Component):
    """A column made of others: of each row alone, a whole record batch at a time."""

    folder: ClassVar[str] = "features.operators"

    @property
    @abstractmethod
    def inputs(self) -> tuple[str, ...]:
        """Columns that it reads."""

    @abstractmethod
    def apply(self, rows: pa.RecordBatch) -> pa.Array:
        """One value, or one list of values, for each row; null where there is none."""


class FeatureConfig(Component):
    """Columns to ids or numbers, a whole record batch at a time."""

    folder: ClassVar[str] = "features"

    name: str
    """Unique name; groups refer to it."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[str, ...]:
        """Columns that it reads."""

    @property
    def rows(self) -> int | None:
        """Size of the id space, None for a feature of numbers."""
        return None

    @property
    def width(self) -> int:
        """Numbers per row (or per position of a sequence), 0 for a feature of ids."""
        return 0

    @property
    def is_sequence(self) -> bool:
        return False

    @property
    def has_bags(self) -> bool:
        """Whether the positions of a sequence of ids may hold several each."""
        return False

    @abstractmethod
    def transform(self, rows: pa.RecordBatch) -> Column:
        """The feature's value for each row; depends on nothing but the row itself."""

    @classmethod
    def transform_all(cls, features: Sequence[Any], rows: pa.RecordBatch) -> list[Column]:
        """What `transform` of each feature of this kind makes; a kind may do at once what costs less so."""
        return [feature.transform(rows) for feature in features]


class SamplerConfig(Component):
    """Items that join a batch though nobody chose them, so that a model learns what they are not."""

    folder: ClassVar[str] = "data.samplers"
    adds: ClassVar[Literal["items", "rows"]] = "items"
    """items: they stand beside the rows, for a model that takes them. rows: each row becomes several, with labels."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[str, ...]:
        """Columns that it reads, beside those that it fills."""

    @property
    @abstractmethod
    def item_columns(self) -> tuple[str, ...]:
        """Columns that belong to items; all others belong to rows."""

    @abstractmethod
    def open(self, *, is_training: bool) -> Sampler:
        """With its tables read; they are read again only when their files have changed."""


class Sampler(Protocol):
    """A sampler at work. What it draws depends on nothing but the rows and the random numbers."""

    def __call__(self, rows: pa.RecordBatch, random: np.random.Generator) -> Sampled: ...


class NumberEmbeddingConfig(Component):
    """How the numbers of a feature become a vector by weights that are learnt."""

    folder: ClassVar[str] = "number_embeddings"
    most_numbers: ClassVar[int | None] = None
    """Numbers that a feature may have at most; None for any."""

    width: int = Field(gt=0)
    """Numbers of the vector."""

    @abstractmethod
    def build(self, features: int, numbers: int) -> nn.Module:
        """Several features at once, [B, features, numbers] to [B, features, width]; each has weights of its own."""


class EncoderConfig(Component):
    """How a sequence group is read into one vector for each row."""

    folder: ClassVar[str] = "encoders"

    @abstractmethod
    def width(self, query: int, sequence: int) -> int:
        """Numbers of the vector, from the widths of the group's query and of a position."""

    def fault(self, query: int, sequence: int) -> str | None:
        """Why a group of these widths cannot be read, None when it can."""
        return None

    @abstractmethod
    def build(self, query: int, sequence: int) -> Encoder:
        """The layers, from the query [B, query], the sequence [B, T, sequence] and its lengths [B]."""


class Encoder(Protocol):
    """Layers that read a sequence group; an `nn.Module`."""

    def __call__(self, query: Tensor, sequence: Tensor, length: Tensor) -> Tensor: ...
    def kernels(self) -> list[Tensor]: ...


class InitConfig(Component):
    """How a weight starts."""

    folder: ClassVar[str] = "inits"
    is_by_shape: ClassVar[bool] = False
    """Whether the values depend on the weight's shape, which the blocks that tables are filled in do not have."""

    @abstractmethod
    def fill(self, weight: Tensor, generator: torch.Generator | None = None) -> None:
        """Overwrite `weight` in place. Tables come in blocks of rows, so its shape says nothing of their size."""


class ModelConfig(Component):
    """A network: named groups of tensors to logits of each task."""

    folder: ClassVar[str] = "models"
    takes_sampled_items: ClassVar[bool] = False
    """Whether the network reads `sample.owners` and `sample.hidden`, and groups of items with more places than rows."""

    @property
    @abstractmethod
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        """The groups it reads, and the shape it needs of each."""

    @property
    def equally_wide(self) -> tuple[str, ...]:
        """Flat groups whose inputs must all have one width."""
        return ()

    def faults(self, inputs: Inputs) -> Iterable[tuple[str, str]]:
        """Fields of the config, and why they do not go with these inputs, whose groups are as it needs them."""
        return ()

    def build(self, inputs: Inputs) -> nn.Module:
        """The network of the same name in `polyrec.networks`; a plug-in's file may override this and hold both."""
        from polyrec.networks import build

        return build(self, inputs)


class LossConfig(Component):
    """Logits and labels to one loss per row; also names what such logits predict."""

    folder: ClassVar[str] = "losses"
    of_sampled_items: ClassVar[bool] = False
    """Whether it compares a row's own item with sampled ones, not a logit with a label."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The name in logs and result files."""

    @abstractmethod
    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Loss of each row, [B]; logits are [B, classes]."""

    @abstractmethod
    def outputs(self, logits: Tensor) -> dict[str, Tensor]:
        """What prediction writes: `logits`, `probs` and so on."""


class GroupedLossConfig(LossConfig):
    """A loss that takes rows of a batch together."""

    group: str = Field(min_length=1)
    """Column whose first value tells which rows belong together, in the batch of a process; rows without one do."""

    @abstractmethod
    def __call__(self, logits: Tensor, labels: Tensor, groups: Tensor | None = None) -> Tensor:
        """Loss of each row, [B]; `groups` is int64 [B], None when all rows belong together."""


class Meter(Protocol):
    """A metric under way. `state` is a flat list of tensors; `merge` takes the states of all ranks."""

    def update(self, scores: Tensor, labels: Tensor) -> None: ...
    def state(self) -> list[Tensor]: ...
    def merge(self, states: list[list[Tensor]]) -> None: ...
    def compute(self) -> float: ...


class MetricConfig(Component):
    folder: ClassVar[str] = "metrics"
    of_sampled_items: ClassVar[bool] = False
    """Whether it takes the scores of a row's own item and of sampled ones."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The name in logs and result files."""

    @abstractmethod
    def meter(self) -> Meter: ...


class GroupedMeter(Meter, Protocol):
    """`groups` is int64 [B], None when all rows belong together."""

    def update(self, scores: Tensor, labels: Tensor, groups: Tensor | None = None) -> None: ...


class GroupedMetricConfig(MetricConfig):
    """A metric that takes rows together, wherever they stand in the data."""

    group: str = Field(min_length=1)
    """Column whose first value tells which rows belong together; rows without one do."""

    @abstractmethod
    def meter(self) -> GroupedMeter: ...


class OptimizerConfig(Component):
    folder: ClassVar[str] = "optim.optimizers"

    lr: float = Field(ge=0, allow_inf_nan=False)
    """Learning rate that the schedule starts from."""

    @abstractmethod
    def dense(self, parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
        """A torch optimizer that does exactly this update."""

    @abstractmethod
    def rows_rule(self) -> RowRule:
        """The same update for the touched rows of a table."""


class ScheduleConfig(Component):
    folder: ClassVar[str] = "optim.schedules"

    by: Literal["step", "epoch"] = "step"
    """What the schedule counts."""

    @abstractmethod
    def rate(self, base: float, progress: int) -> float:
        """Learning rate after `progress` whole steps (or epochs), from the optimizer's own rate."""
