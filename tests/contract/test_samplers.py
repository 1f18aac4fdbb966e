"""What every sampler must do: say which columns are whose, and be read back from its text."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from polyrec import catalog
from polyrec.families import SamplerConfig

NAMES = catalog.names(SamplerConfig)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_read_back_from_its_text(name: str) -> None:
    example = catalog.find(SamplerConfig, name).example()
    assert example.kind == name
    assert TypeAdapter(SamplerConfig).validate_python(example.dump()) == example


@pytest.mark.parametrize("name", NAMES)
def test_it_says_which_columns_are_whose(name: str) -> None:
    example = catalog.find(SamplerConfig, name).example()
    assert example.adds in ("items", "rows")
    assert example.inputs
    assert example.item_columns
    assert len(set(example.item_columns)) == len(example.item_columns)
