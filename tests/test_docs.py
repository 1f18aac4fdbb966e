"""What documents say can be followed: links lead somewhere, commands have known verbs and flags, tables are current."""

from __future__ import annotations

import importlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from polyrec.cli import VERBS, reference
from polyrec.config import RunConfig
from polyrec.errors import ConfigError
from polyrec.workflow import Workflow

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
EXAMPLES = sorted([*(ROOT / "examples").rglob("*.config"), *(ROOT / "examples").rglob("*.yaml")])
FENCE = re.compile(r"^ *```(\w*) *\n(.*?)^ *``` *$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:^|\s)polyrec (?P<words>.+)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))


def headings(text: str) -> list[str]:
    return re.findall(r"^(#+ .+)$", FENCE.sub("", text), re.MULTILINE)


def anchors(text: str) -> set[str]:
    """Headings as they are called in links."""
    titles = (heading.lstrip("# ").lower() for heading in headings(text))
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


def commands(text: str) -> Iterator[str]:
    """Lines to be typed: those of fences that are tagged as a shell's or not at all."""
    for language, lines in FENCE.findall(text):
        if language in ("", "sh", "bash"):
            for line in lines.replace("\\\n", " ").splitlines():
                yield from (found["words"] for found in [COMMAND.search(line)] if found)


def mentions(text: str) -> Iterator[str]:
    """Commands within sentences; these may leave things out."""
    for span in re.findall(r"`([^`\n]+)`", FENCE.sub("", text)):
        if span.startswith("polyrec ") or " -m polyrec " in span:
            yield span.partition("polyrec ")[2]


def words_of(command: str) -> list[str]:
    """What polyrec is given: no comment, no pipe and no redirection."""
    words = shlex.split(command, comments=True)
    stop = next((index for index, word in enumerate(words) if word in ("|", ">", ">>", "&&", ";")), len(words))
    return words[:stop]


def is_sketch(words: list[str]) -> bool:
    """Whether it shows the shape of a command rather than one."""
    return not words or words[0] in ("VERB", "...") or words[0].startswith("-")


def fault_of(command: str) -> str | None:
    """What the command line's own reader says of a command."""
    words = words_of(command)
    if is_sketch(words):
        return None
    if words[0] not in VERBS:
        return f"{words[0]} is not a verb"
    try:
        importlib.import_module(f"polyrec.cli.{words[0]}").flags().read(words[1:])
    except ConfigError as error:
        return str(error)
    return None


def unknown_in(mention: str) -> list[str]:
    """Verbs and flags that do not exist, in a command that may be incomplete."""
    words = mention.split()
    if is_sketch(words):
        return []
    verbs = words[0].split("|")
    unknown = [verb for verb in verbs if verb not in VERBS]
    if unknown:
        return unknown
    known = {flag for verb in verbs for flag in importlib.import_module(f"polyrec.cli.{verb}").flags().names}
    return [word for word in words[1:] if word.startswith("--") and word.partition("=")[0] not in known]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(without_code(text_of(page))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(text_of(target))):
            broken.append(link)
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_can_be_typed(page: Path) -> None:
    text = text_of(page)
    faults = {command: fault for command in commands(text) if (fault := fault_of(command))}
    faults |= {mention: str(unknown) for mention in mentions(text) if (unknown := unknown_in(mention))}
    assert not faults


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_every_command_in_a_comment_of_an_example_can_be_typed(example: Path) -> None:
    comments = re.findall(r"#.*?\bpolyrec (\w+ .+)", text_of(example))
    assert {comment: fault for comment in comments if (fault := fault_of(comment))} == {}


def test_the_table_of_fields_is_the_one_that_is_printed() -> None:
    printed = reference.page((RunConfig, Workflow))
    assert text_of(ROOT / "docs/fields.md") == printed, "run: polyrec schema --markdown > docs/fields.md"


def test_both_readmes_say_the_same() -> None:
    """The same sections in the same order, the same commands and the same places to go on."""
    english, chinese = text_of(ROOT / "README.md"), text_of(ROOT / "README.zh.md")

    def shape(text: str) -> list[int]:
        return [len(heading) - len(heading.lstrip("#")) for heading in headings(text)]

    def links(text: str) -> list[str]:
        return sorted(link for link in LINK.findall(without_code(text)) if not link.startswith("README"))

    assert shape(english) == shape(chinese)
    assert list(map(words_of, commands(english))) == list(map(words_of, commands(chinese)))
    assert links(english) == links(chinese)


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "README.zh.md"], ids=name_of)
def test_english_pages_are_plain_text(page: Path) -> None:
    assert text_of(page).isascii()


def test_the_reading_of_pages_finds_what_is_wrong() -> None:
    fence = "```\npolyrec tran x  # a comment\npolyrec train x --modeldir y\npolyrec show x > y\n```\n"
    text = f"{fence}and `polyrec eval --stp`\n"
    assert [bool(fault_of(command)) for command in commands(text)] == [True, True, False]
    assert [unknown_in(mention) for mention in mentions(text)] == [["--stp"]]
    assert anchors("## One file, per *addition*\n```\n# no\n```\n") == {"one-file-per-addition"}
