"""Losses and metrics of groups in whole runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import small_training as small
from sklearn.metrics import log_loss, roc_auc_score
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from polyrec import api
from polyrec.checks import check, check_columns
from polyrec.config import RunConfig
from polyrec.train.progress import ProgressReport

JRC: dict[str, Any] = {
    "label": "click",
    "classes": 2,
    "losses": [{"loss": {"kind": "jrc", "group": "color"}}],
    "metrics": [
        {"kind": "auc"},
        {"kind": "grouped_auc", "group": "both"},
        {"kind": "normalized_entropy"},
        {"kind": "calibration"},
        {"kind": "multiclass_auc"},
    ],
    "train_metrics": [{"metric": {"kind": "auc"}, "every_steps": 5, "decay": 0.5}],
}
BOTH = {"name": "both", "operator": {"kind": "combo", "columns": ["color", "item"]}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small.data(tmp_path_factory.mktemp("data"))


def of(folder: Path, model: Path, **changes: Any) -> RunConfig:
    return small.config(folder, model_dir=str(model), tasks=[JRC], derived=[BOTH], **changes)


def test_a_run_with_sessions_learns_and_its_metrics_are_those_of_its_predictions(folder: Path, tmp_path: Path) -> None:
    losses: list[float] = []
    config = of(folder, tmp_path / "model")
    result = api.train(config, on_step=lambda step, named: losses.append(named["jrc_loss"]))
    assert np.mean(losses[-10:]) < np.mean(losses[:10]) - 0.05
    assert result["metrics"]["auc"] > 0.7
    assert 0.6 < result["train_metrics"]["auc"] < 1
    api.export(config, str(tmp_path / "export"))
    api.predict(str(tmp_path / "export"), [str(folder / "eval")], str(tmp_path / "out"))
    table, metrics = pq.read_table(folder / "eval"), result["metrics"]
    scores = pq.read_table(tmp_path / "out")["probs1"].to_numpy().astype(np.float64)
    clicks, colors, items = (table[name].to_numpy() for name in ("click", "color", "item"))
    aucs = []
    for color in set(colors.tolist()):
        for item in set(items.tolist()):
            chosen = (colors == color) & (items == item)
            if 0 < clicks[chosen].sum() < chosen.sum():
                aucs.append(roc_auc_score(clicks[chosen], scores[chosen]))
    assert len(aucs) > 20
    expected = np.mean(aucs)
    assert metrics["grouped_auc"] == pytest.approx(expected, abs=1e-5)
    assert metrics["multiclass_auc"] == pytest.approx(metrics["auc"], abs=1e-5)
    assert metrics["calibration"] == pytest.approx(scores.sum() / clicks.sum(), abs=1e-5)
    base = log_loss(clicks, np.full(len(clicks), clicks.mean()))
    assert metrics["normalized_entropy"] == pytest.approx(log_loss(clicks, scores) / base, abs=1e-5)


def test_metrics_of_training_are_on_the_board(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Lines are a second apart, which this run is over before.
    monkeypatch.setattr(ProgressReport, "is_due", lambda _: True)
    changes = {"data__evaluate": [], "train__epochs": 1, "train__tensorboard": True, "train__log_every": 1}
    api.train(of(folder, tmp_path / "model", **changes))
    events = EventAccumulator(str(tmp_path / "model"))
    events.Reload()
    assert {"loss/jrc_loss", "loss/total"} <= set(events.Tags()["scalars"])
    assert [event.step for event in events.Scalars("metric/auc")] == list(range(5, 21))


def test_a_session_that_the_data_lacks_is_told(folder: Path) -> None:
    config = small.config(
        folder, tasks=[{**JRC, "metrics": [], "losses": [{"loss": {"kind": "jrc", "group": "sesion"}}]}]
    )
    assert check(config) == []
    [(path, text)] = check_columns(config, ["session", "color", "item", "price", "history", "click"])
    assert (path, text.split(";")[0]) == ("tasks[0]", "the data has no column sesion")
