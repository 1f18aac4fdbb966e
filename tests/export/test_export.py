from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import small_training as small
from safetensors.numpy import load_file, save_file
from sklearn.metrics import roc_auc_score

from polyrec import api
from polyrec.checkpoint import folder as whole
from polyrec.config import RunConfig
from polyrec.errors import ConfigError, DataError, ExportError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = small.data(tmp_path_factory.mktemp("data"))
    api.train(small.config(folder))
    return folder


@pytest.fixture(scope="module")
def config(folder: Path) -> RunConfig:
    return small.config(folder)


@pytest.fixture(scope="module")
def exported(config: RunConfig, folder: Path) -> Path:
    api.export(config, str(folder / "export"))
    return folder / "export"


def copied(exported: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(exported, tmp_path / "export"))


def seal(folder: Path) -> None:
    """Make the manifest agree with the files again, as someone who tampers with both would."""
    facts: Any = whole.manifest(folder)
    for name, entry in facts["files"].items():
        entry.update(bytes=(folder / name).stat().st_size, sha256=whole.digest(folder / name))
    (folder / whole.MANIFEST).write_text(json.dumps(facts))


def test_predictions_are_those_of_evaluation_in_the_order_of_the_rows(
    config: RunConfig, exported: Path, folder: Path, tmp_path: Path
) -> None:
    evaluated = api.evaluate(config)["metrics"]["auc"]
    result = api.predict(str(exported), [str(folder / "eval")], str(tmp_path / "out"), reserve=["row", "click"])
    found = pq.read_table(tmp_path / "out")
    rows = pq.read_table(folder / "eval")
    assert result["rows"] == rows.num_rows == found.num_rows
    assert found["row"].equals(rows["row"])
    assert roc_auc_score(found["click"], found["probs"]) == pytest.approx(evaluated, abs=1e-9)


def test_checkpoint_and_export_predict_the_same(
    config: RunConfig, exported: Path, folder: Path, tmp_path: Path
) -> None:
    inputs = [str(folder / "eval" / "part-0.parquet")]
    api.predict(str(exported), inputs, str(tmp_path / "a"))
    api.predict_checkpoint(config, inputs, str(tmp_path / "b"))
    left, right = (pq.read_table(tmp_path / name)["probs"].to_numpy() for name in "ab")
    assert np.allclose(left, right, atol=1e-6)


def test_one_row_at_a_time_gives_the_same(exported: Path, folder: Path, tmp_path: Path) -> None:
    inputs = [str(folder / "eval" / "part-0.parquet")]
    api.predict(str(exported), inputs, str(tmp_path / "many"))
    api.predict(str(exported), inputs, str(tmp_path / "single"), batch_size=1, steps=40)
    many, single = (pq.read_table(tmp_path / name)["probs"].to_numpy() for name in ("many", "single"))
    assert len(single) == 40
    assert np.allclose(many[:40], single, atol=1e-6)


def test_predictions_as_csv_with_chosen_columns(exported: Path, folder: Path, tmp_path: Path) -> None:
    inputs = [str(folder / "eval" / "*.parquet")]
    api.predict(
        str(exported), inputs, str(tmp_path / "out"), columns=["probs"], reserve=["ALL_EFFECTIVE_COLUMNS"], format="csv"
    )
    table = pa.csv.read_csv(tmp_path / "out" / "part-0.csv")
    assert table.column_names == ["probs", "color", "item", "price", "history"]
    assert table.num_rows == 500


def test_training_code_is_not_needed(exported: Path, folder: Path, tmp_path: Path) -> None:
    """Neither the loop nor any network: what the export needs of the model is in its graph."""
    program = f"""
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        blocked = ("polyrec.train", "polyrec.nn", "polyrec.networks.", "polyrec.dialects", "polyrec.optim.build")
        if name.startswith(blocked):
            raise ImportError(name + " is not there")
sys.meta_path.insert(0, Blocker())
from polyrec.predict import predict
print(predict({str(exported)!r}, [{str(folder / "eval")!r}], {str(tmp_path / "out")!r})["rows"])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip() == "500", done.stderr


def test_the_training_data_is_not_needed(folder: Path, tmp_path: Path) -> None:
    away = small.config(folder, data__train=[str(tmp_path / "gone")], data__evaluate=[])
    assert api.export(away, str(tmp_path / "export"))["outputs"] == ["logits", "probs"]


def test_assets_travel_along_under_their_new_name(config: RunConfig, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("a\n")
    assets = [str(tmp_path / "words.txt"), f"inner/other.txt:{tmp_path / 'words.txt'}"]
    api.export(config, str(tmp_path / "export"), assets=assets)
    assert (tmp_path / "export" / "assets" / "words.txt").read_text() == "a\n"
    assert (tmp_path / "export" / "assets" / "inner" / "other.txt").read_text() == "a\n"
    with pytest.raises(ExportError, match="outside of the export"):
        api.export(config, str(tmp_path / "two"), assets=[f"../../x:{tmp_path / 'words.txt'}"])
    assert not (tmp_path / "two").exists()


def test_an_export_is_not_written_over(config: RunConfig, exported: Path) -> None:
    with pytest.raises(ExportError, match="already exists"):
        api.export(config, str(exported))


def test_a_changed_file_is_refused(exported: Path, tmp_path: Path) -> None:
    folder = copied(exported, tmp_path)
    content = bytearray((folder / "tables.safetensors").read_bytes())
    content[-1] ^= 1
    (folder / "tables.safetensors").write_bytes(content)
    with pytest.raises(ExportError, match=r"tables\.safetensors: its content is not what was saved"):
        api.predict(str(folder), ["x.parquet"], str(tmp_path / "out"))


def test_other_weights_under_a_right_manifest_are_refused(exported: Path, tmp_path: Path) -> None:
    folder = copied(exported, tmp_path)
    tables = load_file(folder / "tables.safetensors")
    save_file({**tables, "item.weight": tables["item.weight"] * 3}, folder / "tables.safetensors")
    seal(folder)
    with pytest.raises(ExportError, match=r"gives (logits|probs) .* but gave .* when the export was made"):
        api.predict(str(folder), ["x.parquet"], str(tmp_path / "out"))


def test_a_graph_with_code_in_it_is_refused(exported: Path, tmp_path: Path) -> None:
    folder = copied(exported, tmp_path)
    with zipfile.ZipFile(exported / "graph.pt2") as source, zipfile.ZipFile(folder / "graph.pt2", "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith("models/model.json"):
                content = content.replace(b"Symbol(", b"__import__('os').getcwd() or Symbol(", 1)
            target.writestr(name, content)
    seal(folder)
    with pytest.raises(ExportError, match="is not a size"):
        api.predict(str(folder), ["x.parquet"], str(tmp_path / "out"))


def test_what_is_asked_for_must_exist(exported: Path, folder: Path, tmp_path: Path) -> None:
    inputs = [str(folder / "eval")]
    with pytest.raises(DataError, match=r"has no column clikc to keep; did you mean click\?"):
        api.predict(str(exported), inputs, str(tmp_path / "out"), reserve=["clikc"])
    with pytest.raises(ConfigError, match=r"prob: is not an output; did you mean probs\?"):
        api.predict(str(exported), inputs, str(tmp_path / "out"), columns=["prob"])
    assert not list(tmp_path.glob("out/part-*"))
    with pytest.raises(ExportError, match=r"no such export folder; did you mean export\?"):
        api.predict(str(exported.parent / "exprt"), inputs, str(tmp_path / "out"))
    with pytest.raises(ExportError, match="is a checkpoint, not an export"):
        api.predict(str(folder / "model" / "model.ckpt-40"), inputs, str(tmp_path / "out"))


def test_a_wrong_wish_leaves_what_was_predicted_before(exported: Path, folder: Path, tmp_path: Path) -> None:
    inputs, out = [str(folder / "eval")], tmp_path / "out"
    config = small.config(folder)
    api.predict(str(exported), inputs, str(out), reserve=["click"])
    before = (out / "part-0.parquet").read_bytes()
    with pytest.raises(ConfigError, match=r"prob: is not an output; did you mean probs\?"):
        api.predict(str(exported), inputs, str(out), columns=["prob"], overwrite=True)
    with pytest.raises(ConfigError, match=r"prob: is not an output; did you mean probs\?"):
        api.predict_checkpoint(config, inputs, str(out), columns=["prob"], overwrite=True)
    assert (out / "part-0.parquet").read_bytes() == before
    with pytest.raises(ConfigError, match=r"prob: is not an output"):
        api.predict(str(exported), inputs, str(tmp_path / "other"), columns=["prob"])
    assert not (tmp_path / "other").exists()


def test_the_best_checkpoint_is_exported_when_asked(folder: Path, tmp_path: Path) -> None:
    config = small.config(folder, export={"choose": "best", "metric": "auc"})
    lines = (folder / "model" / "train_eval_result.txt").read_text().splitlines()
    best = max(map(json.loads, lines), key=lambda line: line["auc"])["global_step"]
    assert Path(api.export(config, str(tmp_path / "export"))["checkpoint"]).name == f"model.ckpt-{best}"
