"""A package from outside, as docs/plugins.md has it: every file there is run."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from commands import ROOT, Done, run
from sklearn.metrics import roc_auc_score

ROWS = 4000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the document holds, each under the name that its first line gives, and data."""
    folder = tmp_path_factory.mktemp("plugins")
    text = (ROOT / "docs/plugins.md").read_text(encoding="utf-8")
    for name, content in re.findall(r"```\w+\n# (\S+)\n(.*?)```", text, re.DOTALL):
        path = folder / ("packages" if name.endswith(".py") else "") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    command = re.search(r"`polyrec (demo data .*?--kind avazu.*?)`", text)
    assert command is not None
    words = command[1].split()
    words[words.index("--rows") + 1] = str(ROWS)
    assert run(folder, *words).answer["rows"] == ROWS
    return folder


def polyrec(folder: Path, *words: str | Path) -> Done:
    return run(folder, *words, "--plugins", "shop", modules=folder / "packages")


def test_a_package_adds_a_model_a_feature_an_operator_and_a_loss(folder: Path) -> None:
    checked = polyrec(folder, "check", "run.yaml", "--json").answer
    assert (checked["problems"], checked["notes"]) == ([], [])
    trained = polyrec(folder, "train", "run.yaml").answer
    assert trained["samples"] == 2 * ROWS
    assert set(trained["metrics"]) == {"auc", "focal"}
    assert trained["metrics"]["auc"] > 0.53
    exported = polyrec(folder, "export", "run.yaml", "--to", "export").answer
    assert exported["inputs"]["hour"] == "int64"
    assert "place" not in exported["inputs"], "it is made of others"
    predicted = polyrec(
        folder, "predict", "export", "--input", "data/avazu/eval", "--output", "predictions", "--reserve", "label,hour"
    ).answer
    assert predicted["rows"] == ROWS // 5
    rows = pq.read_table(folder / "predictions")
    auc = roc_auc_score(rows["label"].to_numpy(), rows["probs"].to_numpy())
    assert auc == pytest.approx(trained["metrics"]["auc"], abs=1e-6)
    assert len(np.unique(rows["probs"].to_numpy())) > 100, "the feature tells rows apart"


def test_show_and_schema_know_them(folder: Path) -> None:
    shown = polyrec(folder, "show", "run.yaml")
    assert shown.code == 0, shown.err
    (folder / "shown.yaml").write_text(shown.out, encoding="utf-8")
    assert polyrec(folder, "show", "shown.yaml").out == shown.out
    assert '"gated"' in polyrec(folder, "schema").out


def test_without_the_package_the_error_names_what_is_not_known(folder: Path) -> None:
    done = run(folder, "check", "run.yaml")
    assert done.code == 2
    assert "Traceback" not in done.err
    for kind in ("hour", "ends", "gated", "focal"):
        assert re.search(rf"run\.yaml:\d+:\d+: \S+: {kind} is not known", done.err), done.err
    done = run(folder, "show", "run.yaml", "--plugins", "shp", modules=folder / "packages")
    assert (done.code, done.out) == (2, "")
    assert "--plugins shp: no such package can be imported" in done.err
