"""What a run draws: the same after it was resumed, another in each epoch, on each rank and in evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from small_training import ITEMS, config, data

from polyrec import api
from polyrec.config import RunConfig
from polyrec.data.position import Position
from polyrec.distributed import Ranks
from polyrec.runtime import World
from polyrec.train.source import Source, Turn


def tree(folder: Path) -> dict[str, Any]:
    """Items 0 to 19 in groups of five below two nodes; nodes have ids from 100, so the table of items has 200 rows."""
    nodes = ["100\t1\t0,100\n", *(f"{101 + n}\t1\t1,{101 + n}\n" for n in range(2))]
    nodes += [f"{110 + n}\t1\t2,{110 + n}\n" for n in range(4)]
    nodes += [f"{n}\t{1 + n % 2}\t3,{n}\n" for n in range(ITEMS)]
    (folder / "nodes.txt").write_text("".join(nodes))
    above = [(n, node) for n in range(ITEMS) for node in (110 + n // 5, 101 + n // 10)]
    (folder / "edges.txt").write_text("".join(f"{leaf}\t{node}\t1\n" for leaf, node in above))
    return {
        "kind": "tdm",
        "items": {"path": str(folder / "nodes.txt"), "attribute_separator": ","},
        "edges": {"path": str(folder / "edges.txt")},
        "item_column": "item",
        "attributes": ["tree_level", "item"],
        "label": "click",
        "layers": [0, 1, 2, 3],
    }


@pytest.fixture
def run(tmp_path: Path) -> RunConfig:
    made = config(data(tmp_path, 640, 200), data__batch_size=64, data__shuffle_rows=100, data__eval_batch_size=64)
    settings = made.model_dump()
    settings["data"]["sampler"] = tree(tmp_path)
    for feature in settings["features"]:
        if feature["name"] in ("item", "history"):
            feature["bucket"]["rows"] = 200
    for table in settings["tables"]:
        table["rows"] = 200
    return RunConfig.model_validate(settings)


def items(turn: Turn) -> list[int]:
    """The item of each row, own and drawn ones."""
    (ids,) = [found[key] for found in turn.batch.ids.values() for key in found.keys() if key == "item/item/sum/row"]  # noqa: SIM118
    return ids.values().tolist()


def turns(run: RunConfig, *, rank: int = 0, world: int = 1, is_training: bool = True) -> tuple[Source, Iterator[Turn]]:
    paths = run.data.train if is_training else run.data.evaluate
    source = Source(run, paths, Ranks(World(rank=rank, size=world)), is_training=is_training)
    return source, source.turns()


def test_rows_become_those_of_the_tree(run: RunConfig) -> None:
    first = next(turns(run)[1])
    found = np.array(items(first))
    assert first.batch.size == len(found) == 64 * (1 + 2 + 1 + 2 + 3)
    assert first.rows_everywhere == first.batch.size
    nodes = found[64 : 3 * 64].reshape(64, 2)
    assert (nodes[:, 0] == 101 + found[:64] // 10).all()
    assert (nodes[:, 1] == 110 + found[:64] // 5).all()
    assert first.batch.labels["click"][64:].tolist() == [1] * 128 + [0] * 384


def test_a_resumed_run_draws_the_same(run: RunConfig) -> None:
    source, every = turns(run)
    found = list(every)
    assert len(found) == 10
    for stop in (1, 4, 9):
        position = found[stop - 1].position
        assert position is not None
        assert position.batches == stop
        again = source.turns(0, Position.load(position.dump()))
        assert [items(turn) for turn in again] == [items(turn) for turn in found[stop:]]


def test_epochs_ranks_and_evaluation_draw_for_themselves(run: RunConfig) -> None:
    same = run.model_copy(update={"data": run.data.model_copy(update={"shuffle_rows": 0, "evaluate": run.data.train})})
    source, first = turns(same)
    batch = items(next(first))
    own, others = batch[: 3 * 64], batch[3 * 64 :]
    drawn = {
        "epoch": items(next(source.turns(1))),
        "evaluation": items(next(turns(same, is_training=False)[1])),
        "seed": items(next(turns(seeded(same, 5))[1])),
    }
    for found in drawn.values():
        assert found[: 3 * 64] == own
        assert found[3 * 64 :] != others
    assert items(next(turns(same)[1])) == batch
    assert items(next(turns(same, is_training=False)[1])) == drawn["evaluation"]


def seeded(run: RunConfig, seed: int) -> RunConfig:
    return run.model_copy(update={"train": run.train.model_copy(update={"seed": seed})})


def test_ranks_draw_for_themselves(run: RunConfig, tmp_path: Path) -> None:
    """Two ranks that read equal rows."""
    part = pq.read_table(tmp_path / "train" / "part-0.parquet")
    for number in (0, 1):
        pq.write_table(part, tmp_path / "train" / f"part-{number}.parquet")
    same = run.model_copy(update={"data": run.data.model_copy(update={"shuffle_rows": 0})})
    first, second = (items(next(turns(same, rank=rank, world=2)[1])) for rank in (0, 1))
    assert first[: 3 * 64] == second[: 3 * 64]
    assert first[3 * 64 :] != second[3 * 64 :]


def test_a_run_that_stopped_learns_what_one_does_that_went_on(run: RunConfig, tmp_path: Path) -> None:
    losses: dict[str, list[float]] = {"whole": [], "parts": []}

    def go(name: str, steps: int, *, resume: bool) -> dict[str, Any]:
        train = run.train.model_copy(update={"steps": steps, "epochs": None})
        made = run.model_copy(update={"model_dir": str(tmp_path / name), "train": train})
        return api.train(made, resume=resume, on_step=lambda _, found: losses[name].append(found["total"]))

    go("whole", 14, resume=False)
    go("parts", 4, resume=False)
    result = go("parts", 14, resume=True)
    assert losses["parts"] == losses["whole"]
    assert len(losses["whole"]) == 14
    assert result["metrics"]["auc"] > 0.5


def test_a_row_whose_item_is_no_leaf_is_named_by_its_place(run: RunConfig, tmp_path: Path) -> None:
    (tmp_path / "nodes.txt").write_text((tmp_path / "nodes.txt").read_text().replace("\n7\t2\t", "\n207\t2\t"))
    with pytest.raises(Exception, match=r"part-\d.parquet: row \d+: column item: item 7 is not in the tree"):
        list(islice(turns(run)[1], 10))


def test_a_node_that_a_feature_refuses_is_named_by_its_table(run: RunConfig, tmp_path: Path) -> None:
    (tmp_path / "nodes.txt").write_text((tmp_path / "nodes.txt").read_text().replace("1,102\n", "1,999\n"))
    with pytest.raises(Exception, match=r"nodes.txt:3: column item: id 999 is outside 0 to 199"):
        next(turns(run)[1])
