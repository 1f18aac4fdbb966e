"""RunConfig: everything a run is, typed and frozen, whichever file it was read from. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from polyrec.catalog import Frozen
from polyrec.families import (
    EncoderConfig,
    FeatureConfig,
    InitConfig,
    ModelConfig,
    NumberEmbeddingConfig,
    OperatorConfig,
    OptimizerConfig,
    ReaderConfig,
    SamplerConfig,
    ScheduleConfig,
)
from polyrec.judging import Task as Task
from polyrec.judging import WeightedLoss as WeightedLoss
from polyrec.storage import mirror

CONFIG_VERSION = 1


Policy = Literal["fail", "skip", "default"]


class Faults(Frozen):
    """What becomes of values and rows that cannot be used."""

    policy: Policy = "fail"
    """fail: the run ends with an error. skip: the row is left out. default: a value that cannot be used counts as
    missing, and a row that is broken as a whole, or whose label, weight or cost cannot be used, is left out."""
    budget: int | None = Field(default=None, ge=0)
    """Faults of one process in one pass after which the run fails all the same; None for no limit."""


class Masking(Frozen):
    """Features that are hidden from the model in some rows of training, so that it learns to do without."""

    features: tuple[str, ...] = Field(min_length=1)
    """What is hidden: the column that the feature reads first counts as missing."""
    probability: float = Field(default=0.0, ge=0, le=1)
    """Share of rows."""
    negative_probability: float = Field(default=0.0, ge=0, le=1)
    """Share of what a sampler added: of its items, or of the rows that it made."""


class Data(Frozen):
    """Where rows come from and how they become batches."""

    train: tuple[str, ...] = ()
    """Files, folders, globs or tables to train on, by path or URL."""
    evaluate: tuple[str, ...] = ()
    """Files, folders, globs or tables to evaluate on; empty means no evaluation."""
    reader: ReaderConfig
    batch_size: int = Field(gt=0)
    """Rows per step of one process."""
    eval_batch_size: int = Field(gt=0)
    """Rows per batch in evaluation and prediction."""
    drop_remainder: bool = False
    """Leave out the last batch of a pass when it is not full."""
    shuffle_rows: int = Field(default=0, ge=0)
    """Rows that are shuffled together; 0 keeps the order of the data."""
    file_order: Literal["kept", "shuffled"] = "kept"
    """Whether each epoch takes files and row groups in another order."""
    dealing: Literal["end_to_end", "each_file"] = "end_to_end"
    """What processes share out: all files laid end to end, or each file, so that all of them read it at one time."""
    memory: int = Field(default=512 << 20, gt=0)
    """Bytes that rows read ahead may take in one process: half for the block of rows that is shuffled, which is made
    smaller than `shuffle_rows` where rows are long, and half for batches that wait."""
    cost_column: str | None = None
    """Column of what a row costs, which cuts batches together with `cost_limit`."""
    cost_limit: float | None = Field(default=None, gt=0)
    """Largest sum of costs in a training batch, which `batch_size` limits too; a dearer row is a batch of its own."""
    faults: Faults = Faults()
    masking: Masking | None = None
    sampler: SamplerConfig | None = None
    """Items that join each batch, for models that compare what was chosen with what was not."""

    @model_validator(mode="after")
    def _costs(self) -> Self:
        if (self.cost_column is None) != (self.cost_limit is None):
            raise ValueError("cost_column and cost_limit go together; give both or none")
        return self


class EachPosition(Frozen):
    """How an operator meets sequences: it makes a value for each position, from the values of all inputs there."""

    columns: tuple[str, ...] = Field(min_length=1)
    """Inputs that are sequences, equally long in a row; the others count at each position of their row."""
    separator: str | None = Field(default=None, min_length=1)
    """Stands between the positions of a text, None when a text is one position."""
    max_length: int | None = Field(default=None, gt=0)
    """Positions that are kept, from the first; None for all."""


class Derived(Frozen):
    """A column that is made of others; features and other derived columns read it like those of the data."""

    name: str
    """Unique name, none of the data's columns."""
    operator: OperatorConfig
    each_position: EachPosition | None = None
    """For sequences; None when the operator takes rows as they are."""


class Collisions(Frozen):
    """A table that gives each value a row of its own as long as there are any, and then evicts the least wanted.

    The last row is shared by all values that have none. Values are learnt in training alone.
    """

    eviction: Literal["lfu", "lru", "distance_lfu"]
    """Who goes first: what was seen least often, longest ago, or by count over age."""
    every_steps: int = Field(default=5, gt=0)
    """Training steps between evictions."""
    decay: float = 1.0
    """Power of the age in `lru` and `distance_lfu`; any above 0 has the same order in `lru`."""
    at_least: float | None = None
    """How often a value must be seen before it gets a row; None for once."""


class Table(Frozen):
    """Rows of trained weights that ids look up."""

    name: str
    """Unique name; groups refer to it, and checkpoints call its weight `tables.<name>.weight`."""
    rows: int = Field(gt=0)
    """Number of rows, at least as many as its features have ids if it has no `collisions`."""
    width: int = Field(gt=0)
    """Numbers per row."""
    init: InitConfig
    """How rows start."""
    trainable: bool = True
    """Whether rows move; a frozen table keeps what it starts with or is restored to."""
    precision: Literal["fp32", "fp16"] = "fp32"
    """How each number is stored."""
    collisions: Collisions | None = None
    """For ids of any size: how they share the rows. None when ids are rows."""

    @model_validator(mode="after")
    def _starts(self) -> Self:
        if self.init.is_by_shape:
            raise ValueError(f"init: {self.init.kind} is for layers; write the limits out, as uniform or normal")
        if self.collisions is not None and self.rows < 2:
            raise ValueError("a table with collisions needs 2 rows, as values without one share the last")
        return self


class GroupInput(Frozen):
    """A feature's place in a group."""

    feature: str
    """Name of the feature."""
    table: str | None = None
    """Table that its ids look up; None for a feature of numbers."""
    pooling: Literal["sum", "mean", "sqrtn"] = "sum"
    """How the rows of several ids become one vector."""
    embedding: NumberEmbeddingConfig | None = None
    """For a feature of numbers: how they become a vector; None hands them on as they are."""


class Reading(Frozen):
    """A sequence group, read into one vector."""

    group: str
    """Name of the sequence group."""
    encoder: EncoderConfig


class Group(Frozen):
    """Features that a model takes together, in this order."""

    name: str
    """Unique name; the model refers to it."""
    kind: Literal["flat", "sequence"]
    """flat: one vector per row. sequence: a query vector and a sequence of vectors per row."""
    inputs: tuple[GroupInput, ...] = ()
    """What is concatenated, in this order; in a sequence group the sequences stand apart from the rest, the query. None
    for a flat group that only reads sequences."""
    readings: tuple[Reading, ...] = ()
    """For a flat group: what is read from sequence groups, concatenated after its inputs."""

    @model_validator(mode="after")
    def _holds_something(self) -> Self:
        if not self.inputs and not self.readings:
            raise ValueError("needs inputs, or readings")
        return self


class Learning(Frozen):
    optimizer: OptimizerConfig
    schedule: ScheduleConfig
    clip_gradient: float | None = Field(default=None, gt=0)
    """Largest global norm of the gradient, None for no clipping; tables cannot be clipped."""


class Optim(Frozen):
    tables: Learning
    """For the rows of tables: only rows of the batch are touched."""
    dense: Learning
    """For every other weight."""

    @model_validator(mode="after")
    def _clipped(self) -> Self:
        if self.tables.clip_gradient is not None:
            raise ValueError(
                "tables.clip_gradient: rows of tables move as soon as their gradient is known, before a global norm "
                "is; remove it, or clip the dense weights alone with dense.clip_gradient"
            )
        return self


class Saving(Frozen):
    """When checkpoints are written and what their folders are called."""

    every_steps: int | None = Field(default=None, gt=0)
    """Steps between checkpoints."""
    every_epochs: int | None = Field(default=None, gt=0)
    """Epochs between checkpoints."""
    every_seconds: int | None = Field(default=None, gt=0)
    """Seconds between checkpoints."""
    at_start: bool = False
    """Also before the first step."""
    keep: int | None = Field(default=None, gt=0)
    """Newest checkpoints that stay, None for all."""
    folder: str = "model.ckpt-{step}"
    """Name of a checkpoint's folder; `{step}` and `{epoch}` are filled in."""
    on_existing: Literal["refuse", "replace"] = "refuse"
    """What a new run does when the folder already holds checkpoints: stop with an error, or overwrite as it goes."""
    first_step: Literal[0, 1] = 1
    """What the first step is called in names and logs: 0 when the count is of the last finished step's index."""


class Train(Frozen):
    steps: int | None = Field(default=None, gt=0)
    """Steps to train for; with `epochs`, whichever ends first."""
    epochs: int | None = Field(default=None, gt=0)
    """Passes over the training data."""
    log_every: int = Field(default=100, gt=0)
    """Steps between progress lines, which are at least a second apart."""
    saving: Saving = Saving()
    evaluate_after_save: bool = True
    """Evaluate after each save during training."""
    fine_tune_from: str | None = None
    """Checkpoint, or folder of checkpoints whose newest is taken, that weights start from."""
    name_map: str | None = None
    """File of lines `new<TAB>old`: weights that have another name in that checkpoint."""
    profile: bool = False
    """Write a trace of ten steps into the model folder."""
    tensorboard: bool = True
    """Write TensorBoard events into the model folder."""
    seed: int = 0
    """Decides first weights, dropout and the order of shuffled rows."""
    output_penalty: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """Half of this times the squared looked-up vectors of the batch is added to the loss."""
    kernel_penalty: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """Half of this times the squared kernels that the model names is added to the loss."""

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.steps is None and self.epochs is None:
            raise ValueError("needs steps or epochs, else it never ends")
        return self


class Evaluate(Frozen):
    steps: int | None = Field(default=None, gt=0)
    """Batches to evaluate, None for all."""
    log_every: int = Field(default=10, gt=0)
    history: str = "train_eval_result.txt"
    """File in the model folder with one JSON line for each evaluation during training."""
    result: str = "eval_result.txt"
    """File in the model folder for `polyrec eval`."""
    result_form: Literal["line", "document"] = "line"
    """line: append one JSON line. document: one indented JSON object, overwritten."""


class Export(Frozen):
    choose: Literal["latest", "best"] = "latest"
    """Which checkpoint is exported when none is named."""
    metric: str = "auc"
    """Metric that `best` goes by."""
    larger_is_better: bool = True


class RunConfig(Frozen):
    """Everything a run is."""

    polyrec: Literal[1] = CONFIG_VERSION
    """Version of this layout."""
    name: str = ""
    """Name of the run in a workflow of several."""
    model_dir: str
    """Folder for checkpoints, logs and results, by path or URL."""
    data: Data
    derived: tuple[Derived, ...] = ()
    """Columns made of others, in any order."""
    features: tuple[FeatureConfig, ...] = Field(min_length=1)
    tables: tuple[Table, ...] = ()
    groups: tuple[Group, ...] = Field(min_length=1)
    model: ModelConfig
    tasks: tuple[Task, ...] = Field(min_length=1)
    optim: Optim
    train: Train
    evaluate: Evaluate = Evaluate()
    export: Export = Export()

    @property
    def feature_names(self) -> Mapping[str, FeatureConfig]:
        return {feature.name: feature for feature in self.features}

    @property
    def table_names(self) -> Mapping[str, Table]:
        return {table.name: table for table in self.tables}

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that training reads, each once."""
        names = [*self.feature_columns, *(task.label for task in self.tasks)]
        names += [task.sample_weight for task in self.tasks if task.sample_weight]
        names += self.columns_behind(self.group_columns)
        names += self.data.sampler.inputs if self.data.sampler else ()
        return tuple(dict.fromkeys(names))

    @property
    def group_columns(self) -> tuple[str, ...]:
        """Columns by whose values losses and metrics take rows together, of the data or derived, each once."""
        return tuple(dict.fromkeys(name for task in self.tasks for name in task.group_columns))

    @property
    def feature_columns(self) -> tuple[str, ...]:
        """Columns that prediction reads, each once."""
        return self.columns_behind(name for feature in self.features for name in feature.inputs)

    def columns_behind(self, names: Iterable[str]) -> tuple[str, ...]:
        """Columns of the data that these are made of, each once."""
        derived = {item.name: item for item in self.derived}
        wanted = list(names)[::-1]
        found: dict[str, None] = {}
        opened: set[str] = set()
        while wanted:
            name = wanted.pop()
            if name not in derived:
                found[name] = None
            elif name not in opened:
                opened.add(name)
                wanted += reversed(derived[name].operator.inputs)
        return tuple(found)

    @property
    def item_features(self) -> frozenset[str]:
        """Features that sampled items have: those made of columns that belong to items."""
        sampler = self.data.sampler
        if sampler is None or sampler.adds == "rows":
            return frozenset()
        columns = set(sampler.item_columns)
        behind = {feature.name: self.columns_behind(feature.inputs) for feature in self.features}
        return frozenset(name for name, found in behind.items() if found and columns.issuperset(found))

    def in_model_dir(self, name: str) -> Path:
        """A file of the model folder, on this machine; what is written of a folder in a store is sent there later."""
        return mirror.file_in(self.model_dir, name)
