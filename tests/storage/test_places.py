"""URLs in configs and flags: unknown stores are told of early, and passwords stay out of every text."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import own_form
import pytest
from easy_rec.python.saved import config_path

from polyrec.cli import main
from polyrec.dialects import load_text
from polyrec.errors import ConfigError
from polyrec.storage import copies
from polyrec.workflow import Workflow


def test_a_config_with_a_password_is_refused_without_showing_it() -> None:
    text = own_form.RUN.replace("out/run", "s3://me:pass-word@bucket/run").replace("data/b.csv", "s4://b/x")
    with pytest.raises(ConfigError) as caught:
        load_text(text, "run.yaml", "polyrec")
    found = str(caught.value)
    assert "run.yaml:2:12: model_dir: s3://***@bucket/run: a URL must not hold a name or password" in found
    assert "data.train[1]: s4://b/x: no store is known by s4://" in found
    assert "pass-word" not in found


@pytest.mark.parametrize(
    "words",
    [
        ["train", "CONFIG", "--model-dir", "s3://me:pass-word@bucket/x"],
        ["train", "CONFIG", "--train", "a.csv,s3://me:pass-word@bucket/x"],
        ["eval", "CONFIG", "--checkpoint", "s3://me:pass-word@bucket/x", "--evaluate", "EVAL"],
        ["export", "CONFIG", "--to", "s3://me:pass-word@bucket/x"],
        ["predict", "s3://me:pass-word@bucket/x", "--input", "a.csv", "--output", "y"],
        ["predict", "x", "--input", "odps://me:pass-word@shop/tables/x", "--output", "y"],
        ["predict", "x", "--input", "a.csv", "--output", "oss://me:pass-word@bucket/x"],
        ["checkpoint", "ls", "s3://me:pass-word@bucket/x"],
    ],
)
def test_flags_with_passwords(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import small_training

    small_training.data(tmp_path, 10, 10)
    config = tmp_path / "run.yaml"
    config.write_text(json.dumps({"polyrec": 1, **small_training.settings(tmp_path)}))
    places = {"CONFIG": str(config), "EVAL": str(tmp_path / "eval")}
    assert main([places.get(word, word) for word in words]) in (2, 4)
    output = capsys.readouterr()
    assert "a URL must not hold a name or password" in output.err
    assert "pass-word" not in output.err + output.out


def test_paddlerec_paths_may_be_urls() -> None:
    file = Path(__file__).parents[2] / "examples/paddlerec/rank/dnn/config.yaml"
    text = file.read_text().replace("{workspace}/data", "s3://clicks/data").replace('"demo/', '"s3://models/')
    config = load_text(text, str(file), "paddlerec").config
    assert isinstance(config, Workflow)
    assert {path for step in config.steps for path in (*step.run.data.train, *step.run.data.evaluate)} == {
        "s3://clicks/data/train",
        "s3://clicks/data/infer",
    }
    assert {step.run.model_dir for step in config.steps} == {"s3://models/paddlerec_dnn"}


def test_a_whole_run_from_the_command_line(bucket: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import small_training

    small_training.data(tmp_path, 300, 100)
    for file in sorted(tmp_path.rglob("*.parquet")):
        copies.send(file, f"{bucket}/{file.relative_to(tmp_path)}")
    config = tmp_path / "run.yaml"
    settings = small_training.settings(
        tmp_path, data__train=[f"{bucket}/train"], data__evaluate=[f"{bucket}/eval"], train__epochs=1
    )
    config.write_text(json.dumps({"polyrec": 1, **settings}))
    model, export = f"{bucket}/model", f"{bucket}/export"

    def answer(*words: str) -> dict:
        assert main([*words]) == 0, capsys.readouterr().err
        return json.loads(capsys.readouterr().out.splitlines()[-1])

    assert answer("check", str(config))["ok"]
    assert answer("train", str(config), "--model-dir", model)["checkpoint"] == f"{model}/model.ckpt-3"
    assert answer("eval", str(config), "--model-dir", model)["checkpoint"] == f"{model}/model.ckpt-3"
    assert answer("export", str(config), "--model-dir", model, "--to", export)["checkpoint"] == f"{model}/model.ckpt-3"
    assert answer("predict", export, "--input", f"{bucket}/eval", "--output", f"{bucket}/scores")["rows"] == 100
    saved = argparse.Namespace(model_dir=model, pipeline_config_path="other")
    assert config_path(saved, "eval") == f"{model}/pipeline.config"
    assert config_path(argparse.Namespace(model_dir=export, pipeline_config_path="other"), "eval") == "other"
    # The config that the run has saved stands for the whole run.
    assert answer("eval", f"{model}/pipeline.config")["checkpoint"] == f"{model}/model.ckpt-3"
    assert main(["eval", f"{model}/pipelin.config"]) == 2
    assert f"{model}/pipelin.config: cannot be read: " in capsys.readouterr().err
    assert main(["eval", str(config), "--model-dir", f"{bucket}/nothing"]) == 4
    assert f"{bucket}/nothing: holds no whole checkpoint" in capsys.readouterr().err
