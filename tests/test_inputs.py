from __future__ import annotations

from typing import Any

import pytest
import torch
from pydantic import ValidationError

from polyrec.checks import check, notes
from polyrec.config import RunConfig
from polyrec.embedding import Embedding
from polyrec.inputs import InputLayers
from polyrec.networks import inputs_of
from polyrec.recommender import Recommender, build_layers

LEARNING = {"optimizer": {"kind": "sgd", "lr": 0.1}, "schedule": {"kind": "constant"}}
LINEAR = {"kind": "linear"}
AUTODIS = {"kind": "autodis", "width": 3, "channels": 2, "temperature": 0.5, "keep": 0.8}
PROJECTION = {"kind": "projection", "width": 5, "kernel": LINEAR}
MLP = {"hidden": [4], "activation": "relu", "kernel": LINEAR}
ATTENTION = {"kind": "target_attention", "mlp": MLP, "with_query": True}


def number(name: str, width: int = 1) -> dict[str, Any]:
    return {"kind": "raw", "name": name, "column": name, "size": width, "default": 0.0}


def settings() -> dict[str, Any]:
    """Numbers of every sort in two flat groups and a query; one sequence group, read twice."""
    bucket = {"kind": "identity", "rows": 9, "out_of_range": "error"}
    return {
        "model_dir": "out",
        "data": {"reader": {"kind": "parquet"}, "batch_size": 2, "eval_batch_size": 2},
        "features": [
            {"kind": "id", "name": "user", "column": "user", "bucket": bucket, "default": None},
            {"kind": "sequence_id", "name": "seen", "column": "seen", "bucket": bucket, "default": None},
            number("a"), number("b"), number("c"), number("pair", 2), number("plain"),
        ],
        "tables": [{"name": "t", "rows": 9, "width": 4, "init": {"kind": "constant", "value": 0.5}}],
        "groups": [
            {"name": "deep", "kind": "flat", "inputs": [
                {"feature": "a", "embedding": AUTODIS}, {"feature": "b", "embedding": AUTODIS},
                {"feature": "user", "table": "t"}, {"feature": "plain"}, {"feature": "c", "embedding": AUTODIS},
                {"feature": "pair", "embedding": PROJECTION},
            ], "readings": [
                {"group": "clicks", "encoder": ATTENTION},
                {"group": "clicks", "encoder": {"kind": "pooling", "by": "sum"}},
            ]},
            {"name": "other", "kind": "flat", "inputs": [
                {"feature": "c", "embedding": AUTODIS}, {"feature": "a", "embedding": AUTODIS},
            ]},
            {"name": "bare", "kind": "flat", "inputs": [{"feature": "a"}, {"feature": "user", "table": "t"}]},
            {"name": "clicks", "kind": "sequence", "inputs": [
                {"feature": "b", "embedding": AUTODIS}, {"feature": "seen", "table": "t"},
            ]},
        ],
        "model": {"kind": "multi_tower", "head": {"kernel": LINEAR},
                  "towers": [{"group": name, "mlp": MLP} for name in ("deep", "other", "bare")]},
        "tasks": [{"label": "y", "losses": [{"loss": {"kind": "binary_cross_entropy"}}]}],
        "optim": {"tables": LEARNING, "dense": LEARNING},
        "train": {"steps": 1},
    }  # fmt: skip


def given(rows: int = 6) -> dict[str, torch.Tensor]:
    torch.manual_seed(4)
    a, b, c, plain = torch.randn(4, rows, 1)
    pair, user = torch.randn(rows, 2), torch.randn(rows, 4)
    length = torch.arange(rows) % 4
    sequence = torch.randn(rows, 3, 4) * (torch.arange(3) < length.unsqueeze(1)).unsqueeze(2)
    return {
        "deep": torch.cat([a, b, user, plain, c, pair], dim=1),
        "other": torch.cat([c, a], dim=1),
        "bare": torch.cat([a, user], dim=1),
        "clicks.query": b,
        "clicks.sequence": sequence,
        "clicks.length": length,
    }


def test_a_sound_run_and_the_widths_that_models_get() -> None:
    config = RunConfig.model_validate(settings())
    assert check(config) == []
    assert notes(config) == []
    assert inputs_of(config).fields == {
        "deep": (3, 3, 4, 1, 3, 5, 4 + 3, 4),
        "other": (3, 3),
        "bare": (1, 4),
        "clicks.query": (3,),
        "clicks.sequence": (4,),
    }


def test_vectors_stand_at_their_places_and_readings_follow() -> None:
    config = RunConfig.model_validate(settings())
    layers, groups = InputLayers(config), given()
    found = layers(groups)
    autodis, projection = layers.numbers["autodis_3"], layers.numbers["projection_5"]
    numbers = groups["deep"][:, [0, 1, 7]]
    a, b, c = autodis(numbers.unsqueeze(2)).unbind(1)
    pair = projection(groups["deep"][:, 8:].unsqueeze(1)).squeeze(1)
    attention, pooling = (layers.readings[f"deep-clicks-{kind}"] for kind in ("target_attention", "pooling"))
    clicks = (b, groups["clicks.sequence"], groups["clicks.length"])
    parts = [a, b, groups["deep"][:, 2:7], c, pair, attention(*clicks), pooling(*clicks)]
    expected = {
        **groups, "deep": torch.cat(parts, dim=1), "other": torch.cat([c, a], dim=1), "clicks.query": b,
    }  # fmt: skip
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value)
    for key, widths in inputs_of(config).fields.items():
        assert found[key].shape[-1] == sum(widths)


def test_a_batch_without_rows_gives_every_weight_a_gradient() -> None:
    layers = InputLayers(RunConfig.model_validate(settings()))
    found = layers(given(0))
    assert found["deep"].shape == (0, 30)
    torch.stack([value.sum() for value in found.values() if value.requires_grad]).sum().backward()
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in layers.parameters())


def test_the_kernel_penalty_counts_what_readings_learn() -> None:
    config, device = RunConfig.model_validate(settings()), torch.device("cpu")
    recommender = Recommender(config, Embedding(config, device=device), device)
    names = {id(weight): name for name, weight in recommender.dense().items()}
    found = [names[id(kernel)] for kernel in recommender.kernels()]
    attention = "inputs.readings.deep-clicks-target_attention.attention"
    assert found[:2] == [f"{attention}.mlp.layers.0.linear.weight", f"{attention}.score.weight"]
    assert {name.partition(".")[0] for name in found[2:]} == {"network"}


def test_alike_features_are_computed_together_and_each_once() -> None:
    layers = InputLayers(RunConfig.model_validate(settings()))
    assert sorted(layers.numbers) == ["autodis_3", "projection_5"]
    shapes = {name: tuple(weight.shape) for name, weight in layers.numbers.named_parameters()}
    assert shapes == {
        "autodis_3.first": (3, 2),
        "autodis_3.second": (3, 2, 2),
        "autodis_3.vectors": (3, 2, 3),
        "projection_5.weight": (1, 5, 2),
    }
    calls: list[tuple[int, ...]] = []
    layers.numbers["autodis_3"].register_forward_hook(lambda _, inputs, __: calls.append(tuple(inputs[0].shape)))
    layers(given())
    assert calls == [(6, 3, 1)]


def test_features_of_other_hyper_parameters_have_layers_of_their_own() -> None:
    data = settings()
    data["groups"][0]["inputs"][1]["embedding"] = {**AUTODIS, "temperature": 0.1}
    layers = InputLayers(RunConfig.model_validate(data))
    assert sorted(layers.numbers) == ["autodis_3", "autodis_3_2", "projection_5"]
    # b has both sorts: the query's is that of a and c.
    assert layers.numbers["autodis_3_2"].first.shape == (1, 2)
    assert layers(given())["deep"].shape == (6, 30)


def test_without_anything_to_learn_groups_pass_through_and_first_weights_stay() -> None:
    data = settings()
    plain = settings()
    for group in plain["groups"]:
        group["readings"] = []
        for item in group["inputs"]:
            item.pop("embedding", None)
    layers = InputLayers(RunConfig.model_validate(plain))
    groups = given()
    assert layers(groups) is groups
    assert layers.state_dict() == {}
    networks = [build_layers(RunConfig.model_validate(item), torch.device("cpu"))[0] for item in (data, plain)]
    bare = [network.state_dict()["towers.2.mlp.layers.0.linear.weight"].shape for network in networks]
    assert bare[0] == bare[1]


@pytest.mark.parametrize(
    ("group", "change", "found"),
    [
        (0, ("inputs", 5, "embedding", AUTODIS),
         ("groups[0].inputs[5].embedding", "autodis takes 1 number, pair has 2")),
        (0, ("inputs", 2, "embedding", AUTODIS),
         ("groups[0].inputs[2].embedding", "user is a feature of ids, which tables make vectors of")),
        (3, ("inputs", 1, "embedding", AUTODIS),
         ("groups[3].inputs[1].embedding", "seen is a feature of ids, which tables make vectors of")),
        (0, ("readings", 0, "group", "click"),
         ("groups[0].readings[0].group", "no group is called click; did you mean clicks?")),
        (0, ("readings", 0, "group", "other"),
         ("groups[0].readings[0].group", "other is a flat group; only sequence groups are read")),
        (3, ("readings", None, None, [{"group": "clicks", "encoder": {"kind": "pooling", "by": "sum"}}]),
         ("groups[3].readings[0]", "clicks is a sequence group; flat groups have readings")),
        (0, ("readings", 0, "encoder", {**ATTENTION, "transform": MLP | {"hidden": [9]}}),
         ("groups[0].readings[0].encoder",
          "clicks: transform makes the query 9 wide, but its positions are 4")),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit(group: int, change: tuple[Any, ...], found: tuple[str, str]) -> None:
    data = settings()
    part, index, field, value = change
    if index is None:
        data["groups"][group][part] = value
    else:
        data["groups"][group][part][index][field] = value
    assert check(RunConfig.model_validate(data)) == [found]


@pytest.mark.parametrize("embedding", [AUTODIS, PROJECTION])
def test_numbers_of_a_sequence_are_embedded_position_by_position(embedding: dict[str, Any]) -> None:
    data = settings()
    data["features"].append({"kind": "sequence_raw", "name": "gaps", "column": "gaps", "separator": ";",
                             "max_length": 3, "default": 0.0})  # fmt: skip
    data["groups"][3]["inputs"].insert(1, {"feature": "gaps", "embedding": embedding})
    config = RunConfig.model_validate(data)
    assert check(config) == []
    width = embedding["width"]
    assert inputs_of(config).fields["clicks.sequence"] == (width, 4)
    layers, groups = InputLayers(config), given()
    gaps = torch.randn(6, 3, 1)
    groups["clicks.sequence"] = torch.cat([gaps, groups["clicks.sequence"]], dim=2)
    found = layers(groups)["clicks.sequence"]
    assert found.shape == (6, 3, width + 4)
    torch.testing.assert_close(found[:, :, width:], groups["clicks.sequence"][:, :, 1:])
    made = layers.numbers[f"gaps-{embedding['kind']}_{width}"]
    for row, length in enumerate(groups["clicks.length"].tolist()):
        for place in range(3):
            vector = made(gaps[row, place].view(1, 1, 1)).view(-1) if place < length else torch.zeros(width)
            torch.testing.assert_close(found[row, place, :width], vector)
    assert layers(dict(zip(groups, given(0).values(), strict=False)) | {
        "clicks.sequence": torch.zeros(0, 1, 5)})["clicks.sequence"].shape == (0, 1, width + 4)  # fmt: skip


def test_a_sequence_group_that_nothing_reads_is_still_a_note() -> None:
    data = settings()
    data["groups"][0]["readings"] = []
    assert notes(RunConfig.model_validate(data)) == [("groups[3].name", "multi_tower does not read the group clicks")]


def test_a_flat_group_may_hold_nothing_but_readings() -> None:
    data = settings()
    data["groups"][0]["inputs"] = []
    config = RunConfig.model_validate(data)
    assert check(config) == []
    assert inputs_of(config).fields["deep"] == (4 + 3, 4)
    layers, groups = InputLayers(config), given()
    assert layers({**groups, "deep": torch.zeros(6, 0)})["deep"].shape == (6, 11)
    data["groups"][0]["readings"] = []
    with pytest.raises(ValidationError, match="needs inputs, or readings"):
        RunConfig.model_validate(data)


def test_encoders_have_required_fields() -> None:
    data = settings()
    data["groups"][0]["readings"][1]["encoder"] = {"kind": "pooling"}
    with pytest.raises(ValidationError, match="by"):
        RunConfig.model_validate(data)
