"""Upstream command lines and the polyrec command lines that they become."""

from __future__ import annotations

import importlib
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from polyrec.cli import main, upstream
from polyrec.errors import ConfigError

ROOT = Path(__file__).parents[2]

LINES = [
    (
        r"tzrec.train_eval --pipeline_config_path a.config --train_input_path 'data/\*.parquet' --eval_input_path b,c "
        "--model_dir out",
        r"train a.config --model-dir=out --train 'data/\*.parquet' --evaluate b,c",
    ),
    ("tzrec.train_eval --pipeline_config_path a --continue_train", "train a --resume"),
    ("tzrec.train_eval --pipeline_config_path a --continue_train True --model_dir=m", "train a --model-dir=m --resume"),
    ("tzrec.train_eval --pipeline_config_path a --continue_train=true", "train a --resume"),
    ("tzrec.train_eval --pipeline_config_path a --continue_train false", "train a"),
    (
        "tzrec.train_eval --pipeline_config_path a --fine_tune_checkpoint f --edit_config_json '{\"a.b\": 1}' "
        "--ignore_restore_optimizer",
        "train a --fine-tune=f '--edit={\"a.b\": 1}' --ignore-optimizer",
    ),
    ("tzrec.train_eval --pipeline_config_path a --eval_input_path ''", "train a --evaluate"),
    (
        "tzrec.eval --pipeline_config_path m/pipeline.config --checkpoint_path c --eval_input_path e "
        "--eval_result_filename r.txt",
        "eval m/pipeline.config --checkpoint=c --result-file=r.txt --evaluate e",
    ),
    (
        "tzrec.export --pipeline_config_path a --checkpoint_path c --export_dir x --asset_files p,q",
        "export a --to=x --checkpoint=c --assets=p,q",
    ),
    (
        "tzrec.predict --scripted_model_path x --predict_input_path i --predict_output_path o --reserved_columns "
        "ALL_COLUMNS --output_columns probs,logits --batch_size 64 --predict_threads 4 --writer_type CsvWriter",
        "predict x --output=o --reserve=ALL_COLUMNS --columns=probs,logits --batch-size=64 --format=csv "
        "--overwrite --input i",
    ),
    (
        "tzrec.predict --pipeline_config_path a --checkpoint_path c --predict_input_path i --predict_output_path o "
        "--predict_steps 3 --debug_level 0 --edit_config_json {}",
        "predict --config=a --checkpoint=c --edit={} --output=o --steps=3 --overwrite --input i",
    ),
    ("tzrec.tools.list_distcp_param --checkpoint_path c", "checkpoint ls c"),
    (
        "easy_rec.python.train_eval --pipeline_config_path a --train_input_path x y --eval_input_path z "
        "--train_config.num_steps 10 --model_dir out --continue_train",
        "train a --model-dir=out --edit=--train_config.num_steps=10 --resume --train x y --evaluate z",
    ),
    (
        "easy_rec.python.train_eval --pipeline_config_path a --edit_config_json '{\"k\": 1}' "
        "'--feature_config.features[feature_name=f].embedding_dim=8' --model_config.deepfm.dnn.hidden_units='[4,2]'",
        "train a '--edit={\"k\": 1}' '--edit=--feature_config.features[feature_name=f].embedding_dim=8' "
        "'--edit=--model_config.deepfm.dnn.hidden_units=[4,2]'",
    ),
    (
        "easy_rec.python.train_eval --pipeline_config_path a --selected_cols b,c",
        'train a \'--edit={"data_config.selected_cols": "b,c"}\'',
    ),
    (
        "easy_rec.python.eval --pipeline_config_path=a --eval_input_path=e --checkpoint_path c --eval_result_path r "
        "--nodistribute_eval --distribute_eval=False",
        "eval a --checkpoint=c --result-file=r --evaluate e",
    ),
    (
        "easy_rec.python.export --pipeline_config_path a --export_dir x --asset_files n:f --verbose",
        "export a --to=x --assets=n:f",
    ),
    (
        "easy_rec.python.predict --saved_model_dir x --input_path i --output_path o --reserved_cols a,b --output_cols "
        "ALL_COLUMNS",
        "predict x --output=o --reserve=a,b --batch-size=1024 --format=csv --overwrite --input i",
    ),
    (
        "easy_rec.python.predict --pipeline_config_path a --checkpoint_path c --input_path i --output_path o "
        "--output_cols probs --batch_size 5",
        "predict --config=a --checkpoint=c --output=o --reserve=ALL_COLUMNS --columns=probs --batch-size=5 "
        "--format=csv --overwrite --input i",
    ),
    ("paddlerec.run -m config.yaml", "run config.yaml"),
    ("paddlerec.run --model paddlerec.models.rank.dnn", "run paddlerec.models.rank.dnn"),
]

WRONG = [
    (
        "tzrec.train_eval --pipeline_config_pth a",
        "--pipeline_config_pth: unknown flag; did you mean --pipeline_config_path?",
    ),
    ("tzrec.train_eval --model_dir a", "--pipeline_config_path is required"),
    ("tzrec.train_eval --pipeline_config_path a b", "b: not expected here"),
    ("tzrec.export --pipeline_config_path a --export_dir x --additional_export_config {1}", "not available yet"),
    ("tzrec.predict --predict_input_path i --predict_output_path o", "needs either --scripted_model_path or"),
    (
        "tzrec.predict --scripted_model_path x --predict_input_path i --predict_output_path o --debug_level 1",
        "not available",
    ),
    (
        "tzrec.predict --scripted_model_path x --predict_input_path i --predict_output_path o --writer_type CsvWritr",
        "did you mean CsvWriter?",
    ),
    ("tzrec.predict --scripted_model_path x --predict_ouput_path o", "did you mean --predict_output_path?"),
    ("easy_rec.python.train_eval --pipeline_config_path a --hpo_param_path h", "--hpo_param_path: not available yet"),
    ("easy_rec.python.train_eval --pipeline_config_path a --check_mode", "polyrec check"),
    ("easy_rec.python.train_eval --pipeline_config_path a --trian_config.x=1", "did you mean --train_config.x?"),
    ("easy_rec.python.train_eval --train_config.num_steps --model_dir m", "--train_config.num_steps: needs a value"),
    ("easy_rec.python.train_eval --pipeline_config_path a --train_config.num_steps", "write --train_config.num_steps="),
    ("easy_rec.python.eval --pipeline_config_path a --distribute_eval", "torchrun"),
    ("easy_rec.python.export --pipeline_config_path a", "--export_dir is required"),
    ("easy_rec.python.export --pipeline_config_path a --export_dir x --redis_url r", "--redis_url: not available yet"),
    ("easy_rec.python.predict --saved_model_dir x --model_dir m --input_path i --output_path o", "does not go with"),
    ("paddlerec.run -m c -b backend.yaml", "--backend: clusters are not available yet"),
    ("paddlerec.run --modle c", "did you mean --model?"),
]


@pytest.fixture(autouse=True)
def _with_aliases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "aliases")


def translate(line: str) -> list[str]:
    module, *words = shlex.split(line)
    return importlib.import_module(module).command(words)


@pytest.mark.parametrize(("line", "ours"), LINES, ids=[line for line, _ in LINES])
def test_a_command_becomes_ours(line: str, ours: str) -> None:
    assert translate(line) == shlex.split(ours)


@pytest.mark.parametrize(("line", "ours"), LINES, ids=[line for line, _ in LINES])
def test_ours_is_a_command_that_polyrec_takes(line: str, ours: str) -> None:
    verb, *words = shlex.split(ours)
    importlib.import_module(f"polyrec.cli.{verb}").flags().read(words)


@pytest.mark.parametrize(("line", "message"), WRONG, ids=[line for line, _ in WRONG])
def test_what_cannot_be_done_is_an_error(line: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        translate(line)
    assert message in str(caught.value)


@pytest.mark.parametrize("command", ["eval", "export --export_dir x", "predict --input_path i --output_path o"])
def test_a_config_saved_in_the_model_folder_wins(command: str, tmp_path: Path) -> None:
    line = f"easy_rec.python.{command} --pipeline_config_path a --model_dir {tmp_path}"
    assert str(tmp_path / "pipeline.config") not in " ".join(translate(line))
    (tmp_path / "pipeline.config").write_text("", encoding="utf-8")
    assert str(tmp_path / "pipeline.config") in " ".join(translate(line))


def test_forward_runs_what_the_command_becomes(capsys: pytest.CaptureFixture[str]) -> None:
    ran: list[list[str]] = []
    run = importlib.import_module("paddlerec.run")
    assert upstream.forward(run.command, ["-m", "c"], lambda words: ran.append(list(words)) or 7) == 7
    assert ran == [["run", "c"]]
    assert upstream.forward(run.command, ["--modle", "c"], main) == 2
    assert capsys.readouterr().err == "paddlerec.run: --modle: unknown flag; did you mean --model?\n"
    assert upstream.forward(run.command, ["--help"], main) == 0


@pytest.mark.parametrize("line", sorted({line.split()[0] for line, _ in LINES}))
def test_each_module_runs_as_a_program(line: str) -> None:
    paths = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'aliases')!r}]; sys.argv = ['x', '--oops']; "
    code = paths + f"import runpy; runpy.run_module({line!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{line}: --oops: unknown flag")


@pytest.mark.parametrize("quote", ["", '"'])
def test_quotes_around_the_value_of_an_extend_arg_are_dropped(quote: str) -> None:
    line = "easy_rec.python.train_eval --pipeline_config_path a "
    line += f"--train_config.x='{quote}say \"hi\"{quote}'"
    [edit] = [word for word in translate(line) if word.startswith("--edit=")]
    assert edit == """--edit=--train_config.x=say "hi\""""
