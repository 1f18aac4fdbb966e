from __future__ import annotations

from polyrec.models.multi_tower_din import MultiTowerDINConfig


def test_attention_towers_read_sequences() -> None:
    assert MultiTowerDINConfig.example().groups == {"user": "flat", "clicks": "sequence"}
