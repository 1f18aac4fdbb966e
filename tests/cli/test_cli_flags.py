from __future__ import annotations

import pytest

from polyrec.cli import upstream
from polyrec.cli.flags import Flags, names, paths
from polyrec.errors import ConfigError


def flags() -> Flags:
    found = Flags("polyrec try")
    found.add_argument("config")
    found.add_argument("--model-dir")
    found.add_argument("--train", nargs="*")
    found.add_argument("--steps", type=int)
    return found


def wrong(*words: str) -> str:
    with pytest.raises(ConfigError) as caught:
        flags().read(words)
    assert caught.value.exit_code == 2
    return str(caught.value)


def test_values() -> None:
    found = flags().read(["a.config", "--model-dir=out", "--train", "a", "b", "--steps", "-1"])
    assert (found.config, found.model_dir, found.train, found.steps) == ("a.config", "out", ["a", "b"], -1)


def test_unknown_flags_are_all_told_with_the_nearest() -> None:
    assert wrong("a", "--modl-dir=x", "--trian", "b") == (
        "polyrec try: --modl-dir: unknown flag; did you mean --model-dir?\n"
        "polyrec try: --trian: unknown flag; did you mean --train?"
    )


def test_no_abbreviations() -> None:
    assert "--model: unknown flag" in wrong("a", "--model", "x")


def test_what_no_flag_takes() -> None:
    assert wrong("a", "b") == "polyrec try: b: not expected here"
    assert "config" in wrong()
    assert "--steps: invalid int value: 'x'" in wrong("a", "--steps", "x")


def test_lists() -> None:
    assert paths(["a,b", "", "c"]) == ("a,b", "c")
    assert names("a, b,,") == ("a", "b")
    assert names(None) == ()


def upstream_flags() -> upstream.UpstreamFlags:
    found = upstream.UpstreamFlags("old")
    found.values("path")
    found.lists("input")
    found.switches("go")
    found.refuse({"odd": "not available yet"})
    found.ignore({"threads": "there are always enough"})
    return found


@pytest.mark.parametrize(
    ("words", "on"),
    [([], False), (["--go"], True), (["--go", "True"], True), (["--go=false"], False), (["--go", "--path=x"], True)],
)
def test_switches(words: list[str], on: bool) -> None:
    assert upstream.is_on(upstream_flags().read(words).go) is on


def test_a_switch_needs_true_or_false() -> None:
    with pytest.raises(ConfigError, match="needs true or false, not maybe"):
        upstream_flags().read(["--go=maybe"])


def test_refused_and_ignored_flags(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError, match="old: --odd: not available yet"):
        upstream_flags().read(["--odd", "3"])
    upstream_flags().read(["--odd=false", "--threads=3"])
    assert "--threads has no effect: there are always enough" in capsys.readouterr().err


def test_paths_may_be_repeated_and_be_none() -> None:
    found = upstream_flags().read(["--input", "a", "b", "--input=c"])
    assert upstream.path_options(found, {"input": "--train"}) == ["--train", "a", "b", "c"]
    found = upstream_flags().read(["--path="])
    assert upstream.path_options(found, {"path": "--evaluate", "input": "--train"}) == ["--evaluate"]
