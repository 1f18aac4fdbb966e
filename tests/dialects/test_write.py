from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from own_form import RUN

from polyrec import catalog, dialects
from polyrec.config import RunConfig
from polyrec.dialects import schema
from polyrec.families import FeatureConfig, InitConfig, ModelConfig, OptimizerConfig, ScheduleConfig
from polyrec.features.raw import RawFeature
from polyrec.learning import Learning

NUMBERS = st.floats(allow_nan=False)


@pytest.fixture(scope="module")
def run() -> RunConfig:
    config = dialects.load_text(RUN, "run.yaml").config
    assert isinstance(config, RunConfig)
    return config


def again(config: RunConfig) -> object:
    return dialects.load_text(dialects.dump(config), "again.yaml").config


@settings(max_examples=60, deadline=None)
def with_default(run: RunConfig, number: float) -> tuple[FeatureConfig, ...]:
    """The features, with a number of any size in the one of numbers."""
    first, raw, *others = run.features
    return (first, raw.model_copy(update={"default": number}), *others)


@given(
    text=st.text(alphabet=st.characters(codec="utf-8")),
    paths=st.lists(st.text(alphabet=st.characters(codec="utf-8"))),
    number=NUMBERS,
)
def test_what_is_written_reads_back_the_same(run: RunConfig, text: str, paths: list[str], number: float) -> None:
    changed = run.model_copy(
        update={
            "model_dir": text,
            "data": run.data.model_copy(update={"train": tuple(paths)}),
            "features": with_default(run, number),
        }
    )
    assert again(changed) == changed


@pytest.mark.parametrize(
    "text", ["1e3", "null", "yes", "1:30", "2024-01-01", "- a", "a: b", "#x", "\n", "~", "=", "<<", "1_0", ".5"]
)
def test_texts_that_look_like_something_else_stay_texts(run: RunConfig, text: str) -> None:
    changed = run.model_copy(update={"model_dir": text})
    assert again(changed) == changed


@pytest.mark.parametrize("number", [1e-7, 1e300, float("inf"), 0.1, -0.0, 5e-324, 1e16, 123456789.123])
def test_numbers_keep_every_digit(run: RunConfig, number: float) -> None:
    found = again(run.model_copy(update={"features": with_default(run, number)}))
    assert isinstance(found, RunConfig)
    assert isinstance(found.features[1], RawFeature)
    assert repr(found.features[1].default) == repr(number)


@pytest.mark.parametrize("name", catalog.names(OptimizerConfig))
@pytest.mark.parametrize("schedule", catalog.names(ScheduleConfig))
def test_every_optimizer_and_schedule_reads_back(run: RunConfig, name: str, schedule: str) -> None:
    learning = Learning(
        optimizer=catalog.find(OptimizerConfig, name).example(),
        schedule=catalog.find(ScheduleConfig, schedule).example(),
    )
    changed = run.model_copy(update={"optim": run.optim.model_copy(update={"tables": learning})})
    assert again(changed) == changed


@pytest.mark.parametrize(
    "name", [name for name in catalog.names(InitConfig) if not catalog.find(InitConfig, name).is_by_shape]
)
def test_every_init_reads_back(run: RunConfig, name: str) -> None:
    table = run.tables[0].model_copy(update={"init": catalog.find(InitConfig, name).example()})
    changed = run.model_copy(update={"tables": (table,)})
    assert again(changed) == changed


def test_shows_where_each_value_was_read(run_text: str) -> None:
    loaded = dialects.load_text(run_text, "run.yaml", settings={"data.batch_size": 7})
    lines = dialects.show(loaded, origins=True).splitlines()
    assert "model_dir: out/run  # run.yaml:2:12" in lines
    assert "  train: [data/a.csv, data/b.csv]  # run.yaml:4:11" in lines
    assert "  batch_size: 7  # --set data.batch_size:1:1" in lines
    assert "    std: 0.01  # run.yaml:22:29" in lines
    assert "  shuffle_rows: 0" in lines
    assert dialects.load_text("\n".join(lines), "shown.yaml").config == loaded.config
    assert dialects.show(loaded) == dialects.dump(loaded.config)


def test_the_schema_describes_the_own_form() -> None:
    found = schema()
    run, workflow = (found["$defs"][name] for name in ("RunConfig", "Workflow"))
    assert {"model_dir", "features", "model"} <= set(run["properties"])
    assert "steps" in workflow["properties"]
    assert run["additionalProperties"] is False
    models = [one["properties"]["kind"]["const"] for one in run["properties"]["model"]["anyOf"]]
    assert models == list(catalog.names(ModelConfig))
    assert run["properties"]["model_dir"]["description"].startswith("Folder for checkpoints")
    tower = next(one for one in run["properties"]["model"]["anyOf"] if one["properties"]["kind"]["const"] == "deepfm")
    assert all("description" in field for name, field in tower["properties"].items() if name in ("deep", "fm"))


def test_every_reference_of_the_schema_leads_somewhere() -> None:
    found = schema()
    names = set(re.findall(r'"#/\$defs/([^"]+)"', json.dumps(found)))
    assert names == set(found["$defs"])
