"""What becomes of each character, as tables over all of Unicode."""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path

import numpy as np

from polyrec.errors import ConfigError

GONE = np.uint32(0xFFFFFFFF)
"""In place of a character that is taken out."""
ALL = 0x110000
CASED = 0x20000
"""No character from there on has a case, is punctuation or is a symbol."""
BLANK = np.uint32(ord(" "))
HAN = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))


@cache
def map_of(step: str) -> np.ndarray:
    """uint32 [ALL]: what each character becomes."""
    table = np.arange(ALL, dtype=np.uint32)
    if step == "half_width":
        table[0xFF01:0xFF5F] = np.arange(0x21, 0x7F)
        table[0x3000] = BLANK
    elif step == "simplified":
        for pair in _simplified():
            table[ord(pair[0])] = ord(pair[1])
    elif step == "remove_space":
        table[_spaces()] = GONE
    elif step == "filter":
        table[[code for code in range(CASED) if unicodedata.category(chr(code))[0] in "PS"]] = GONE
    else:
        change = str.upper if step == "upper" else str.lower
        # A letter of which another case would make two stays as it is.
        changed = [(code, new) for code in range(CASED) if len(new := change(chr(code))) == 1]
        table[[code for code, _ in changed]] = [ord(new) for _, new in changed]
    return table


@cache
def stop_map(file: str) -> np.ndarray:
    """The characters of a file taken out."""
    try:
        text = Path(file).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"{file}: no such file of stop characters") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read as UTF-8 text: {error}") from None
    table = np.arange(ALL, dtype=np.uint32)
    table[[ord(character) for character in text if character not in "\r\n"]] = GONE
    return table


def apart(points: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """With a blank between two neighbours of which one is Chinese and none white space."""
    if not len(points):
        return points, lengths
    chinese = np.logical_or.reduce([(points >= low) & (points <= high) for low, high in HAN])
    space = np.isin(points, _spaces())
    owners = np.repeat(np.arange(len(lengths)), lengths)
    before = np.zeros(len(points), bool)
    before[1:] = (chinese[1:] | chinese[:-1]) & ~space[1:] & ~space[:-1] & (owners[1:] == owners[:-1])
    out = np.repeat(points, 1 + before)
    out[np.flatnonzero(before) + np.arange(int(before.sum()))] = BLANK
    return out, lengths + np.bincount(owners[before], minlength=len(lengths))


@cache
def _spaces() -> np.ndarray:
    return np.array([code for code in range(0x3001) if chr(code).isspace()], np.uint32)


def _simplified() -> list[str]:
    """Pairs of a traditional character and its simplified form."""
    lines = Path(__file__).with_name("simplified.txt").read_text(encoding="utf-8").splitlines()
    return [pair for line in lines if not line.startswith("#") for pair in line.split()]
