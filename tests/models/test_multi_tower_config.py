from __future__ import annotations

import pytest
from pydantic import ValidationError

from polyrec.models.multi_tower import MultiTowerConfig


def test_every_tower_reads_its_group() -> None:
    assert MultiTowerConfig.example().groups == {"user": "flat", "item": "flat"}


def test_without_towers_there_is_nothing_to_learn_from() -> None:
    with pytest.raises(ValidationError, match="towers"):
        MultiTowerConfig(towers=(), head=MultiTowerConfig.example().head)
