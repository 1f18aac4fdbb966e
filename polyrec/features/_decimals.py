"""Hashes of whole numbers, as of their decimal texts, without writing most of these texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import pyarrow as pa

from polyrec.features._hashing import BLOCK, SPARE, WORD, Packed, hash_texts

Function = Callable[[Packed], np.ndarray]

# Hashes of the numbers below are kept, a megabyte for each function: most ids of most columns are below.
FEW = 1 << 17
# Numbers below have at most the eight digits that fit in a word.
EIGHT_DIGITS = 10**8
POWERS = np.array([10**digits for digits in range(1, 8)], np.uint64)
_8, _16, _32 = np.uint64(8), np.uint64(16), np.uint64(32)


def hash_integers(numbers: np.ndarray, function: Function) -> np.ndarray:
    """uint64 [V]: `murmur64` or `farm64` of the decimal text of each integer."""
    if not len(numbers):
        return np.zeros(0, np.uint64)
    lowest, highest = int(numbers.min()), int(numbers.max())
    if lowest >= 0 and highest < FEW:
        return _few(function).take(numbers)
    out = np.empty(len(numbers), np.uint64)
    if lowest < 0 or highest >= EIGHT_DIGITS:
        written = (numbers < 0) | (numbers >= EIGHT_DIGITS)
        out[written] = hash_texts(pa.array(numbers[written]).cast(pa.string()), function)
        out[~written] = hash_integers(numbers[~written], function)
        return out
    for start in range(0, len(out), BLOCK):
        out[start : start + BLOCK] = function(_texts(numbers[start : start + BLOCK].astype(np.uint64)))
    return out


@lru_cache(maxsize=2)
def _few(function: Function) -> np.ndarray:
    return hash_texts(pa.array(np.arange(FEW)).cast(pa.string()), function)


def _texts(numbers: np.ndarray) -> Packed:
    """The decimal texts of uint64 numbers of at most eight digits, each in a word of its own."""
    lengths = np.ones(len(numbers), np.int8)
    for power in POWERS[: len(str(int(numbers.max()))) - 1]:
        lengths += numbers >= power
    lengths = lengths.astype(np.int64)
    data = np.zeros(numbers.nbytes + SPARE, np.uint8)
    unused = (8 - lengths << 3).view(np.uint64)
    np.right_shift(_digits(numbers), unused, out=data[: numbers.nbytes].view(WORD))
    return Packed.of(data, np.arange(len(numbers)) * 8, lengths, 8)


def _digits(numbers: np.ndarray) -> np.ndarray:
    """The eight digits of each number below 10 ** 8 as the bytes of a word, the first digit in the lowest byte.

    Halves become quarters, and quarters digits, all in the same word: multiplying by 10486 / 2 ** 20 divides numbers
    below 10 ** 4 by 100, and by 103 / 2 ** 10 those below 100 by 10.
    """
    upper = numbers // np.uint64(10_000)
    parts = numbers - upper * np.uint64(10_000)
    parts <<= _32
    parts |= upper
    for factor, shift, mask, base, width in (
        (10_486, 20, 0x0000007F_0000007F, 100, _16),
        (103, 10, 0x000F000F_000F000F, 10, _8),
    ):
        upper = parts * np.uint64(factor)
        upper >>= np.uint64(shift)
        upper &= np.uint64(mask)
        parts -= upper * np.uint64(base)
        parts <<= width
        parts |= upper
    parts += np.uint64(0x30303030_30303030)
    return parts
