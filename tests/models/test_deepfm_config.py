from __future__ import annotations

from polyrec.models.deepfm import DeepFMConfig


def test_groups_are_named_once_and_flat() -> None:
    config = DeepFMConfig.example()
    assert config.groups == {"wide": "flat", "deep": "flat"}
    assert config.model_copy(update={"wide": None, "fm": "pairs"}).groups == {"deep": "flat", "pairs": "flat"}
