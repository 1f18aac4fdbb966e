"""Sampled items on their way through batches and tables, beside the same lookups without any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pytest
import torch
from item_tables import items, random, rows
from small_training import settings, table_of

from polyrec import checks
from polyrec.config import Group, RunConfig
from polyrec.data.batch import Batch, Collator
from polyrec.data.columns import RowError
from polyrec.data.samplers import Sampled
from polyrec.data.samplers.negative import Negative
from polyrec.embedding import Embedding
from polyrec.families import ModelConfig
from polyrec.inputs import InputLayers
from polyrec.learning import Optim

HASHED = {"kind": "hash", "rows": 30, "function": "murmur64"}
PROJECTED = {"kind": "projection", "width": 3, "kernel": {"kind": "linear"}}


class TakesItems(ModelConfig):
    takes_sampled_items: ClassVar[bool] = True

    @property
    def groups(self) -> Mapping[str, Literal["flat", "sequence"]]:
        return {"user": "flat", "item": "flat"}


def config(folder: Path, sampler: Negative | None, *, same_table: bool = True) -> RunConfig:
    """Ids of both sides, one table for the item and the history, numbers embedded alike on both sides."""
    seen = "item" if same_table else "seen"
    changes: dict[str, Any] = {
        "features": [
            *({"kind": "id", "name": n, "column": n, "bucket": HASHED, "default": None} for n in ("user", "item")),
            {"kind": "id", "name": "category", "column": "category", "bucket": HASHED, "default": None},
            {"kind": "raw", "name": "age", "column": "age", "default": 0.0},
            {"kind": "raw", "name": "price", "column": "price", "default": 0.0},
            {"kind": "sequence_id", "name": "history", "column": "history", "bucket": HASHED, "default": None},
            {"kind": "id", "name": "tags", "column": "history", "bucket": HASHED, "default": None},
        ],
        "tables": [table_of(name, 30, 4) for name in ("user", "item", "seen", "category")],
        "groups": [
            {
                "name": "user",
                "kind": "flat",
                "inputs": [
                    {"feature": "user", "table": "user"},
                    {"feature": "age", "embedding": PROJECTED},
                    {"feature": "tags", "table": "category", "pooling": "mean"},
                ],
            },
            {
                "name": "clicks",
                "kind": "sequence",
                "inputs": [{"feature": "user", "table": "user"}, {"feature": "history", "table": seen}],
            },
            {
                "name": "item",
                "kind": "flat",
                "inputs": [
                    {"feature": "price", "embedding": PROJECTED},
                    {"feature": "item", "table": "item"},
                    {"feature": "category", "table": "category"},
                ],
            },
        ],
    }
    found = settings(folder, **changes)
    found["model"] = TakesItems()
    if sampler is not None:
        found["tasks"] = [{"label": "click", "losses": [{"loss": {"kind": "sampled_softmax"}}]}]
    made = RunConfig.model_validate(found)
    return made.model_copy(update={"data": made.data.model_copy(update={"sampler": sampler})})


def batch_of(own: list[int]) -> pa.RecordBatch:
    found = rows(own)
    found = found.append_column("age", pa.array(np.arange(len(own), dtype=np.float32)))
    return found.append_column("history", pa.array([list(range(number)) for number in range(len(own))]))


@pytest.fixture
def sampler(tmp_path: Path) -> Negative:
    return Negative(
        items=items(tmp_path, [1] * 20), item_column="item", attributes=("category", "price"), count=7, eval_count=3
    )


@pytest.fixture
def sampled(sampler: Negative) -> Sampled:
    return sampler.open(is_training=True)(batch_of([100, 103, 103]), random(1))


def looked_up(run: RunConfig, found: pa.RecordBatch | Sampled, *, with_labels: bool = True) -> dict[str, torch.Tensor]:
    batch = Collator(run, with_labels=with_labels)(found)
    torch.manual_seed(3)
    layers = InputLayers(run)
    embedding = Embedding(run, device=torch.device("cpu"))
    return layers(embedding(batch).groups)


@pytest.mark.parametrize("same_table", [True, False])
def test_each_side_has_what_it_would_have_alone(
    tmp_path: Path, sampler: Negative, sampled: Sampled, same_table: bool
) -> None:
    """Tables are pooled by FBGEMM, or as single rows when a sequence shares them."""
    assert sampled.items is not None
    found = looked_up(config(tmp_path, sampler, same_table=same_table), sampled)
    plain = config(tmp_path, None, same_table=same_table)
    own = batch_of([100, 103, 103])
    together = {name: own[name].to_pylist() + sampled.items[name].to_pylist() for name in sampled.items.schema.names}
    others = {name: [own[name][0].as_py()] * 10 for name in own.schema.names if name not in together}
    expected = looked_up(plain, own)
    of_items = looked_up(plain, pa.record_batch({**together, **others}))
    assert [tuple(found[name].shape) for name in ("user", "item", "clicks.query")] == [(3, 11), (10, 11), (3, 4)]
    for name in ("user", "clicks.query", "clicks.sequence", "clicks.length"):
        torch.testing.assert_close(found[name], expected[name])
    # The layers that embed numbers are drawn in another order when the two sides are apart.
    torch.testing.assert_close(found["item"][:, 3:], of_items["item"][:, 3:])
    torch.testing.assert_close(found["item"][:3, 3:], expected["item"][:, 3:])
    assert found["sample.owners"].tolist() == []
    assert found["sample.hidden"].shape == (2, 0)


def test_a_batch_knows_its_sampled_items(tmp_path: Path, sampler: Negative, sampled: Sampled) -> None:
    batch = Collator(config(tmp_path, sampler), with_labels=True)(sampled)
    assert (batch.size, batch.places) == (3, 10)
    assert batch.sampled is not None
    assert batch.sampled.count == 7
    assert batch.labels["click"].shape == (3,)
    for ids in batch.ids.values():
        assert ids.stride() == 10
        assert all(length.sum() == 0 for key, length in lengths_of(ids) if key.startswith(("user", "tags")))
    moved: Batch = batch.to(torch.device("meta"))
    assert moved.sampled is not None
    assert moved.sampled.owners.device.type == "meta"


def lengths_of(ids: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Lengths of each lookup in the places of sampled items."""
    for key, lengths in zip(ids.keys(), ids.lengths().view(len(ids.keys()), -1), strict=True):
        yield key, lengths[3:]


def test_a_table_of_both_sides_is_updated_once(tmp_path: Path, sampler: Negative, sampled: Sampled) -> None:
    """Rate 1 without momentum: each row moves by the sum of the gradients of all its lookups, on either side."""
    settings_of: dict[str, Any] = {"optimizer": {"kind": "sgd", "lr": 1.0}, "schedule": {"kind": "constant"}}
    run = config(tmp_path, sampler)
    run = run.model_copy(update={"optim": Optim.model_validate({"tables": settings_of, "dense": settings_of})})
    batch = Collator(run, with_labels=True)(sampled)
    embedding = Embedding(run, device=torch.device("cpu"))
    before = embedding.weights()["item.weight"].clone()
    groups = embedding(batch).groups
    sum(groups[name].sum() for name in ("item", "clicks.sequence")).backward()
    counts = torch.zeros(30)
    for key in ("item/item/sum/row", "history/item/none/position"):
        ids = next(found for found in batch.ids.values() if key in found.keys())[key].values()  # noqa: SIM118
        counts += torch.bincount(ids, minlength=30)
    assert counts.sum() == 10 + 3
    torch.testing.assert_close(before - embedding.weights()["item.weight"], counts[:, None].expand(-1, 4))


def test_without_a_sampler_at_work_batches_are_as_ever(tmp_path: Path, sampler: Negative) -> None:
    """Prediction and exports draw nothing, and need no table of items."""
    Path(sampler.items.path).unlink()
    found = looked_up(config(tmp_path, sampler), batch_of([100, 101]), with_labels=False)
    assert found["item"].shape == (2, 11)
    assert "sample.owners" not in found


def test_a_sampled_item_that_a_feature_refuses_has_the_row_after_the_batch_s(tmp_path: Path, sampler: Negative) -> None:
    run = config(tmp_path, sampler)
    found = sampler.open(is_training=True)(batch_of([100, 103]), random(1))
    assert found.items is not None
    broken = found.items.set_column(2, "price", pa.array(["1"] * 4 + ["x"] * 3))
    with pytest.raises(RowError) as caught:
        Collator(run, with_labels=True)(Sampled(batch_of([100, 103]), broken, place=found.place))
    assert caught.value.row == 2 + 4
    assert found.place(4).startswith(f"{tmp_path}/items.txt:")


# -- checks


def faults(run: RunConfig) -> list[tuple[str, str]]:
    return [(path, what) for path, what in checks.check(run) if "ampl" in what or "items" in what]


def test_a_model_must_take_sampled_items(tmp_path: Path, sampler: Negative) -> None:
    run = config(tmp_path, sampler)
    assert faults(run) == []
    model = RunConfig.model_validate(settings(tmp_path)).model
    found = faults(run.model_copy(update={"model": model}))
    assert found == [("data.sampler", "multi_tower_din takes no sampled items; remove the sampler")]


def test_features_and_groups_are_of_one_side(tmp_path: Path, sampler: Negative) -> None:
    both = config(tmp_path, sampler)
    groups = [both.groups[0].model_copy(update={"inputs": (*both.groups[0].inputs, both.groups[2].inputs[1])})]
    assert faults(both.model_copy(update={"groups": (*groups, *both.groups[1:])})) == [
        (
            "groups[0]",
            "user has features of items (item) and of rows (age, tags, user), which a sampler keeps apart; make two "
            "groups of it",
        )
    ]
    query = Group.model_validate(
        {
            "name": "clicks",
            "kind": "sequence",
            "inputs": [{"feature": "item", "table": "item"}, {"feature": "history", "table": "item"}],
        }
    )
    assert [
        path for path, _ in faults(both.model_copy(update={"groups": (both.groups[0], query, both.groups[2])}))
    ] == ["groups[1]"]
    derived = both.model_copy(update={"data": both.data.model_copy(update={"sampler": sampler.model_copy(
        update={"item_column": "nobody", "attributes": ()})})})  # fmt: skip
    assert faults(derived) == [("data.sampler", "no feature is made of the columns of its items: nobody")]


def test_a_feature_of_both_sides_is_an_error(tmp_path: Path, sampler: Negative) -> None:
    run = config(tmp_path, sampler)
    made = run.model_dump()
    made["derived"] = [{"name": "pair", "operator": {"kind": "combo", "columns": ["user", "item"]}}]
    made["model"] = TakesItems()
    made["features"] = [*made["features"], {"kind": "id", "name": "pair", "column": "pair", "bucket": HASHED,
                                            "default": None}]  # fmt: skip
    made["groups"][0]["inputs"] = [*made["groups"][0]["inputs"], {"feature": "pair", "table": "seen"}]
    found = faults(RunConfig.model_validate(made))
    assert found[0] == (
        "features[7]",
        "pair is made of item, which sampled items have, and of user, which they do not have; keep the two apart",
    )


def test_losses_and_metrics_fit_a_sampler_or_none(tmp_path: Path, sampler: Negative) -> None:
    drawing, plain = config(tmp_path, sampler), config(tmp_path, None)
    auc = drawing.model_copy(update={"tasks": plain.tasks})
    assert [path for path, _ in faults(auc)] == ["tasks[0].losses[0].loss", "tasks[0].metrics[0]"]
    alone = plain.model_copy(update={"tasks": drawing.tasks})
    assert faults(alone) == [
        (
            "tasks[0].losses[0].loss",
            "softmax_cross_entropy compares with sampled items; set data.sampler, or choose another",
        )
    ]


def test_the_sampler_s_columns_are_read_and_looked_for(tmp_path: Path, sampler: Negative) -> None:
    run = config(tmp_path, sampler.model_copy(update={"item_column": "thing"}))
    assert "thing" in run.columns
    assert "thing" not in run.feature_columns
    found = checks.check_columns(run, ["user", "item", "category", "age", "price", "history", "click"])
    assert found[0][0] == "data.sampler"
    assert "the data has no column thing" in found[0][1]
