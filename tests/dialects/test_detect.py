from __future__ import annotations

import pytest

from polyrec import dialects
from polyrec.dialects.detect import detect
from polyrec.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "file", "dialect"),
    [
        ("train_config { sparse_optimizer { } }", "a.config", "torcheasyrec"),
        ("train_config { dense_optimizer { } }", "a.config", "torcheasyrec"),
        ('model_config { model_class: "DeepFM" }', "a.config", "easyrec"),
        ('{"modelConfig": {"modelClass": "DeepFM"}}', "a.json", "easyrec"),
        ('{"model_config": {"model_class": "DeepFM"}}', "a.json", "easyrec"),
        ("runner:\n- name: a\n", "a.yaml", "paddlerec"),
        ("polyrec: 1\n", "a.yaml", "polyrec"),
        ("polyrec: 1\n", "anything", "polyrec"),
        ('{"polyrec_workflow": 1}', "a", "polyrec"),
        # A misspelling hides the sign; the other fields still tell.
        ("data_config { dataset_type: X }\ntrain_confg { sparse_optimizer { } }", "a.config", "torcheasyrec"),
        ("model_config { model_clas: 1 }\ntrain_config { optimizer_config { } }", "a.config", "easyrec"),
        ("runer:\n- name: a\nphase: []\nworkspace: x\n", "a.yaml", "paddlerec"),
        ("polrec: 1\ntasks: [x]\n", "a.yaml", "polyrec"),
    ],
)
def test_tells_a_dialect_from_its_fields(text: str, file: str, dialect: str) -> None:
    assert detect(dialects.read_text(text, file)) == dialect


def test_two_dialects_or_none_ask_for_the_flag() -> None:
    both = 'model_config { model_class: "A" } train_config { dense_optimizer { } }'
    with pytest.raises(ConfigError, match=r"^a:1:1: could be torcheasyrec or easyrec; say which with --dialect$"):
        detect(dialects.read_text(both, "a"))
    with pytest.raises(
        ConfigError, match=r"^a:1:1: has the fields of no known dialect; say which it is with --dialect"
    ):
        detect(dialects.read_text("x: 1", "a"))


def test_detecting_reads_nothing() -> None:
    node = dialects.read_text("polyrec: 1\nruner: 2", "a.yaml")
    detect(node)
    node.check_unread()
    assert len(node.report.problems) == 2
