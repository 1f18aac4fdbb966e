"""Which part of the package may know of which other part."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "polyrec"
FILES = sorted(file for file in PACKAGE.rglob("*.py") if "zoo" not in file.parts)

TORCHREC = ("polyrec/embedding/", "polyrec/distributed/", "polyrec/checkpoint/", "polyrec/data/batch.py")
"""The seam to TorchRec and FBGEMM."""
GUARDED_PICKLE = {
    "polyrec/checkpoint/tensors.py": "torch's checkpoint index is a pickle; read by an allow-list of classes"
}
"""Files that may import pickle, and why; none of them may load one freely."""
KNOWS_DIALECTS = ("polyrec/dialects/", "polyrec/cli/", "polyrec/api.py", "polyrec/__main__.py")


def path_of(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def imported(file: Path) -> Iterator[str]:
    """Every module that a file imports, wherever in it; `from a import b` gives `a` and `a.b`."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            yield node.module or ""
            yield from (f"{node.module}.{name.name}" for name in node.names)


def imports(file: Path, *modules: str) -> list[str]:
    return [name for name in imported(file) if any(name == m or name.startswith(f"{m}.") for m in modules)]


@pytest.mark.parametrize("file", FILES, ids=path_of)
def test_only_the_front_knows_dialects(file: Path) -> None:
    if not path_of(file).startswith(KNOWS_DIALECTS):
        assert not imports(file, "polyrec.dialects")


@pytest.mark.parametrize("file", FILES, ids=path_of)
def test_torchrec_and_fbgemm_stay_behind_their_seam(file: Path) -> None:
    if not path_of(file).startswith(TORCHREC):
        assert not imports(file, "torchrec", "fbgemm_gpu")


@pytest.mark.parametrize("file", FILES, ids=path_of)
def test_only_runtime_reads_the_environment(file: Path) -> None:
    if path_of(file) != "polyrec/runtime.py":
        assert not imports(file, "os.environ", "os.getenv")
        names = [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Attribute)]
        assert not [node.lineno for node in names if ast.unparse(node) in ("os.environ", "os.getenv", "os.putenv")]


@pytest.mark.parametrize("file", FILES, ids=path_of)
def test_no_text_is_run_as_code(file: Path) -> None:
    if path_of(file) not in GUARDED_PICKLE:
        assert not imports(file, "pickle")
    assert not imports(file, "cPickle", "dill", "cloudpickle", "marshal", "shelve")
    calls = [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)]
    forbidden = {"eval", "exec", "compile", "__import__", "pickle.load", "pickle.loads", "pickle.Unpickler"}
    assert not [(name, call.lineno) for call in calls if (name := ast.unparse(call.func)) in forbidden]


SERVING = [file for file in FILES if path_of(file).startswith(("polyrec/export/", "polyrec/predict", "polyrec/serve"))]


@pytest.mark.parametrize("file", SERVING, ids=path_of)
def test_exports_run_without_the_training_code(file: Path) -> None:
    assert not imports(file, "polyrec.train", "polyrec.optim")


@pytest.mark.parametrize("folder", sorted({file.parent for file in FILES}), ids=path_of)
def test_folders_are_named_for_what_they_hold(folder: Path) -> None:
    assert not {"utils", "util", "common", "helpers", "helper", "core", "base", "misc"} & set(folder.parts[-3:])


def test_nothing_else_imports_the_command_line() -> None:
    for file in FILES:
        if not path_of(file).startswith(("polyrec/cli/", "polyrec/__main__.py")):
            assert not imports(file, "polyrec.cli"), file


def without(module: str, code: str) -> None:
    """Run `code` in a fresh interpreter and see that it did not import `module`."""
    check = f"import sys\n{code}\nassert {module!r} not in sys.modules, 'it imports {module}'"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", ["polyrec.config", "polyrec.parts", "polyrec.catalog", "polyrec.networks"])
def test_the_contract_needs_no_torch(module: str) -> None:
    without("torch", f"import {module}")


def test_no_component_config_needs_torch() -> None:
    without(
        "torch",
        """
from polyrec import catalog, families
from polyrec.catalog import Component
found = [item for item in vars(families).values() if isinstance(item, type) and issubclass(item, Component)]
for family in found:
    if 'folder' in vars(family):
        for name in catalog.names(family):
            catalog.find(family, name).model_json_schema()
""",
    )


def modules_under(folder: str) -> list[str]:
    files = sorted((PACKAGE / folder).rglob("*.py"))
    names = [file.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".") for file in files]
    return [name.removesuffix(".__init__") for name in names if ".zoo." not in name]


@pytest.mark.parametrize("folder", ["dialects", "cli"])
def test_reading_and_checking_a_config_needs_no_torch(folder: str) -> None:
    without("torch", "\n".join(f"import {name}" for name in modules_under(folder)))


def test_the_rules_see_what_they_forbid(tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text("def f():\n    from polyrec.dialects import load\n    import torchrec.modules as m\n")
    assert imports(file, "polyrec.dialects") == ["polyrec.dialects", "polyrec.dialects.load"]
    assert imports(file, "torchrec") == ["torchrec.modules"]
    assert imports(file, "polyrec.dial") == []
