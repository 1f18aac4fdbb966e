from __future__ import annotations

from pathlib import Path

import pytest
import small_training as small
from pydantic import ValidationError

from polyrec.config import RunConfig, Table
from polyrec.inits.glorot_uniform import GlorotUniform


def test_json_and_back_is_the_same_run(tmp_path: Path) -> None:
    config = small.config(tmp_path)
    assert RunConfig.model_validate_json(config.model_dump_json()) == config


def test_a_run_must_end() -> None:
    with pytest.raises(ValidationError, match="needs steps or epochs, else it never ends"):
        small.config(Path(), train__epochs=None)


def test_a_table_cannot_start_by_its_shape() -> None:
    """Its rows are filled block by block, so that shards start alike."""
    with pytest.raises(ValidationError, match="glorot_uniform is for layers; write the limits out"):
        Table(name="t", rows=3, width=2, init=GlorotUniform())


def test_tables_cannot_be_clipped() -> None:
    """Their rows have moved before a norm of all gradients could be known."""
    learning = small.settings(Path())["optim"]["tables"]
    with pytest.raises(ValidationError, match=r"clip the dense weights alone with dense\.clip_gradient"):
        small.config(Path(), optim__tables={**learning, "clip_gradient": 5.0})
    assert small.config(Path(), optim__dense__clip_gradient=5.0).optim.dense.clip_gradient == 5.0


def test_columns_are_named_once_in_the_order_of_use() -> None:
    config = small.config(Path())
    assert config.feature_columns == ("color", "item", "price", "history")
    assert config.columns == (*config.feature_columns, "click")
