"""All that may be asked of the data at once, with each reader: faults, shuffling, costs, masking, derived columns and
samplers. Every good row comes once, and from any batch on a run goes on as if it had never stopped."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import small_training as small
import test_dssm as dssm
from test_sampling import tree

from polyrec import api, scripts
from polyrec.config import RunConfig
from polyrec.data.batch import Batch
from polyrec.data.position import Position
from polyrec.distributed import Ranks
from polyrec.runtime import World
from polyrec.train.source import Source

ROWS, FILES = 420, 3
BAD_ITEM, NO_LABEL, NO_COST, BROKEN = range(10, ROWS, 50), range(20, ROWS, 70), range(25, ROWS, 90), range(31, ROWS, 80)
UNREADABLE = range(42, ROWS, 60)
"""Rows that are spoilt, each in its way; none in two."""
WHOLE = [set(NO_LABEL), set(NO_COST), set(BROKEN)]
VALUES = [set(BAD_ITEM), set(UNREADABLE)]

SCRIPT = """
from paddlerec.core.reader import ReaderBase


class Reader(ReaderBase):
    def generate_sample(self, line):
        def read():
            pairs = [token.split(":") for token in line.split()]
            yield [(name, [value if name == "price" else int(value)]) for name, value in pairs]

        return read
"""


def values(row: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "row": row,
        "item": row % small.ITEMS,
        "kind": row % 3,
        "price": row / 8,
        "cost": 1 + row % 7,
    }
    if row in BAD_ITEM:
        found["item"] = 999
    if row in NO_LABEL:
        found["row"] = None
    if row in NO_COST:
        found["cost"] = -1
    if row in UNREADABLE:
        found["price"] = "x"
    return found


def csv_line(row: int) -> str:
    line = ",".join("" if value is None else str(value) for value in values(row).values())
    return line + ",too,many" if row in BROKEN else line


def slot_line(row: int) -> str:
    # A label that is left out is a padding of 0 in slot text, so one that is no number stands for it.
    line = " ".join(f"{name}:{'none' if value is None else value}" for name, value in values(row).items())
    return line + " nothing" if row in BROKEN else line


def write(folder: Path, kind: str) -> dict[str, Any]:
    """The same rows in every format, and their reader."""
    folder.mkdir(exist_ok=True)
    size = ROWS // FILES
    for number in range(FILES):
        rows = range(number * size, (number + 1) * size)
        if kind == "parquet":
            found = {name: [values(row)[name] for row in rows] for name in values(0)}
            # What is no number in text is no finite number here, and a broken row one without a label.
            for name, without in (("price", UNREADABLE), ("row", BROKEN)):
                found[name] = [None if row in without else values(row)[name] for row in rows]
            pq.write_table(pa.table(found), folder / f"part-{number}.parquet", row_group_size=37)
        else:
            line = csv_line if kind == "csv" else slot_line
            (folder / f"part-{number}.txt").write_text("".join(line(row) + "\n" for row in rows))
    if kind == "parquet":
        return {"kind": kind}
    if kind == "csv":
        types = {"row": "int", "item": "int", "kind": "int", "price": "float", "cost": "int"}
        columns = [{"name": name, "type": word} for name, word in types.items()]
        return {"kind": kind, "columns": columns, "header": False}
    slots = {"sparse": ["row", "item", "kind", "cost"], "dense": [{"name": "price", "size": 1}]}
    if kind == "slots":
        return {"kind": kind, **slots}
    script = folder.parent / "reader.py"
    script.write_text(SCRIPT)
    scripts.trust(script)
    return {"kind": kind, "script": str(script), **slots}


def config(folder: Path, reader: dict[str, Any], policy: str, **changes: Any) -> RunConfig:
    base = small.settings(
        folder,
        data__train=[str(folder / "data")],
        data__evaluate=[],
        data__reader=reader,
        data__batch_size=32,
        data__shuffle_rows=100,
        data__file_order="shuffled",
        data__cost_column="cost",
        data__cost_limit=90.0,
        data__faults={"policy": policy},
        data__masking={"features": ["cross", "price"], "probability": 0.3, "negative_probability": 0.6},
        derived=[
            {"name": "both", "operator": {"kind": "combo", "columns": ["item", "kind"], "separators": [None, None]}}
        ],
    )
    rows = {"kind": "identity", "rows": 200, "out_of_range": "error"}
    hashed = {"kind": "hash", "rows": 50, "function": "murmur64"}
    base["features"] = [
        {"kind": "id", "name": "item", "column": "item", "bucket": rows, "default": None},
        {"kind": "id", "name": "cross", "column": "both", "bucket": hashed, "default": None},
        {"kind": "raw", "name": "price", "column": "price", "default": 0.0},
    ]
    base["tables"] = [small.table_of("item", 200), small.table_of("cross", 50)]
    inputs = [{"feature": "item", "table": "item"}, {"feature": "cross", "table": "cross"}, {"feature": "price"}]
    base["groups"] = [{"name": "deep", "kind": "flat", "inputs": inputs}]
    base["model"] = {
        "kind": "multi_tower",
        "towers": [{"group": "deep", "mlp": small.MLP}],
        "final": small.MLP,
        "head": {"kernel": small.LINEAR},
    }
    base["tasks"] = [{"label": "row", "losses": [{"loss": {"kind": "squared_error"}}]}]
    for path, value in changes.items():
        base["data"][path] = value
    return RunConfig.model_validate(base)


def source(run: RunConfig, rank: int = 0, world: int = 1) -> Source:
    return Source(run, run.data.train, Ranks(World(rank=rank, size=world)), is_training=True)


def batches(found: Source, start: Position | None = None) -> list[tuple[Batch, Position]]:
    return list(found.loader.prepared(found._prepare(0), 0, start))


def told(batch: Batch) -> list[Any]:
    """All numbers of a batch."""
    ids = [part.tolist() for found in batch.ids.values() for part in (found.values(), found.lengths())]
    return [batch.labels["row"].tolist(), ids, {name: part.tolist() for name, part in batch.dense.items()}]


def good(kind: str, policy: str) -> set[int]:
    gone = set().union(*WHOLE)
    if policy == "skip":
        gone |= BAD_ITEM_AND_TEXT if kind != "parquet" else set(BAD_ITEM)
    return set(range(ROWS)) - gone


BAD_ITEM_AND_TEXT = set().union(*VALUES)


@pytest.mark.parametrize("policy", ["skip", "default"])
@pytest.mark.parametrize("kind", ["csv", "parquet", "slots", "script"])
def test_good_rows_come_once_and_every_position_goes_on(tmp_path: Path, kind: str, policy: str) -> None:
    run = config(tmp_path, write(tmp_path / "data", kind), policy)
    first = source(run)
    found = batches(first)
    rows = [int(row) for batch, _ in found for row in batch.labels["row"].tolist()]
    assert len(rows) == len(set(rows))
    assert set(rows) == good(kind, policy)
    assert rows != sorted(rows)
    for batch, _ in found:
        assert sum(1 + int(row) % 7 for row in batch.labels["row"].tolist()) <= 90
    hidden = sum(int((batch.dense["price"] == 0).sum()) for batch, _ in found)
    assert 0.15 * len(rows) < hidden < 0.5 * len(rows)
    assert first.loader.faults is not None
    assert first.loader.faults.all.left_out == ROWS - len(rows)
    for stop in (1, 4, len(found) - 2):
        again = batches(source(run), Position.load(found[stop - 1][1].dump()))
        assert [told(batch) for batch, _ in again] == [told(batch) for batch, _ in found[stop:]]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_another_number_of_ranks_goes_on_with_the_rest(tmp_path: Path, kind: str) -> None:
    run = config(tmp_path, write(tmp_path / "data", kind), "skip")
    ranks = [batches(source(run, rank, 2)) for rank in (0, 1)]
    every = [int(row) for found in ranks for batch, _ in found for row in batch.labels["row"].tolist()]
    assert sorted(every) == sorted(good(kind, "skip"))
    given = [found[: 2 + 3 * rank] for rank, found in enumerate(ranks)]
    alone = source(run)
    start = alone.resume([part[-1][1].dump() for part in given])
    rest = batches(alone, start)
    rows = [int(row) for part in (*given, rest) for batch, _ in part for row in batch.labels["row"].tolist()]
    assert sorted(rows) == sorted(good(kind, "skip"))


@pytest.mark.parametrize("kind", ["csv", "parquet", "slots"])
def test_rows_of_a_tree_come_from_good_rows_alone(tmp_path: Path, kind: str) -> None:
    """Some items are no leaves: such rows are left out, all those of a batch at once."""
    sampler = {**tree(tmp_path), "label": "row"}
    nodes = (tmp_path / "nodes.txt").read_text()
    (tmp_path / "nodes.txt").write_text(nodes.replace("\n7\t2\t", "\n207\t2\t"))
    run = config(tmp_path, write(tmp_path / "data", kind), "default", sampler=sampler)
    first = source(run)
    found = batches(first)
    size = 1 + 2 + 1 + 2 + 3
    rows = [int(row) for batch, _ in found for row in batch.labels["row"][: batch.size // size].tolist()]
    lost = set(BAD_ITEM) | {row for row in range(ROWS) if row % small.ITEMS == 7}
    assert sorted(rows) == sorted(good(kind, "default") - lost)
    assert first.loader.faults is not None
    assert first.loader.faults.all.counts["column item", "range"] >= len(lost - set().union(*WHOLE))
    again = batches(source(run), found[3][1])
    assert [told(batch) for batch, _ in again] == [told(batch) for batch, _ in found[4:]]


def test_rows_that_a_sampler_added_are_hidden_by_their_own_share(tmp_path: Path) -> None:
    masking = {"features": ["price"], "probability": 0.0, "negative_probability": 1.0}
    run = config(
        tmp_path, write(tmp_path / "data", "csv"), "skip", sampler={**tree(tmp_path), "label": "row"}, masking=masking
    )
    batch, _ = batches(source(run))[1]
    own = batch.size // 9
    assert (batch.dense["price"][:own] != 0).sum() >= own - 1
    assert not batch.dense["price"][own:].any()


def poisoned(folder: Path) -> None:
    """Items that are in no table, and what rows cost."""
    dssm.write(folder)
    table = pq.read_table(folder / "train.parquet")
    items = table.column("item").to_numpy().copy()
    items[5:3000:43] = 999
    table = table.set_column(table.schema.get_field_index("item"), "item", pa.array(items))
    cost = np.where(np.arange(table.num_rows) < table.num_rows // 2, 1, 3)
    pq.write_table(table.append_column("cost", pa.array(cost)), folder / "train.parquet", row_group_size=700)


def asked(config: RunConfig, **more: Any) -> RunConfig:
    """The run with faults, costs and masking."""
    masking = {"features": ("shade", "user"), "probability": 0.2, "negative_probability": 0.5}
    changes = {"faults": {"policy": "skip"}, "cost_column": "cost", "cost_limit": 300.0, "masking": masking, **more}
    return RunConfig.model_validate({**config.model_dump(), "data": {**config.model_dump()["data"], **changes}})


def test_sampled_items_beside_all_of_it(tmp_path: Path) -> None:
    poisoned(tmp_path)
    losses: dict[str, list[float]] = {"whole": [], "parts": []}

    def go(name: str, steps: int, *, resume: bool) -> None:
        config = asked(dssm.run(tmp_path, "hard_negative_v2", epochs=None, steps=steps, evaluate_after_save=False))
        config = config.model_copy(update={"model_dir": str(tmp_path / name)})
        api.train(config, resume=resume, on_step=lambda _, found: losses[name].append(found["total"]))

    go("whole", 12, resume=False)
    go("parts", 5, resume=False)
    go("parts", 12, resume=True)
    assert losses["parts"] == losses["whole"]
    assert len(losses["whole"]) == 12
    # An export of it predicts rows that hold such an item, and those alone are left out.
    run = asked(dssm.run(tmp_path, "hard_negative_v2")).model_copy(update={"model_dir": str(tmp_path / "parts")})
    api.export(run, str(tmp_path / "export"))
    pq.write_table(pq.read_table(tmp_path / "train.parquet").slice(0, 300), tmp_path / "some.parquet")
    found = api.predict(str(tmp_path / "export"), [str(tmp_path / "some.parquet")], str(tmp_path / "out"))
    assert (found["rows"], found["faults"]["rows_left_out"]) == (293, 7)


def test_sampled_items_are_hidden_by_their_own_share(tmp_path: Path) -> None:
    """With one share at 0 and the other at 1, the side that is hidden has no ids of the feature at all."""
    poisoned(tmp_path)

    def shades(own: float, sampled: float) -> tuple[int, int]:
        masking = {"features": ["shade"], "probability": own, "negative_probability": sampled}
        run = asked(dssm.run(tmp_path, "negative"), masking=masking)
        batch, _ = batches_of(source(run), 1)[0]
        (lengths,) = [found["shade/shade/sum/row"].lengths() for found in batch.ids.values() if _has(found)]
        return int(lengths[: batch.size].sum()), int(lengths[batch.size :].sum())

    rows, items = shades(0.0, 0.0)
    assert items == 40
    assert shades(1.0, 0.0) == (0, 40)
    assert shades(0.0, 1.0) == (rows, 0)


def _has(found: Any) -> bool:
    return "shade/shade/sum/row" in found.keys()  # noqa: SIM118


def batches_of(found: Source, count: int) -> list[tuple[Batch, Position]]:
    return list(islice(found.loader.prepared(found._prepare(0), 0), count))


def test_memory_of_a_batch_counts_what_is_kept_from_rows(tmp_path: Path) -> None:
    """Pairs of rows and items that do not count can be more than all ids."""
    poisoned(tmp_path)
    batch, _ = batches_of(source(asked(dssm.run(tmp_path, "hard_negative_v2"))), 1)[0]
    assert batch.sampled is not None
    assert batch.sampled.hidden.numel() > 0
    without = Batch(**{name: getattr(batch, name) for name in Batch.__dataclass_fields__ if name != "sampled"})
    assert batch.nbytes - without.nbytes == batch.sampled.hidden.nbytes + batch.sampled.owners.nbytes
