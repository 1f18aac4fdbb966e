"""Two 64-bit hashes of text, bit for bit those of the upstreams, over a whole Arrow column at once.

murmur64 is what `std::hash<std::string>` of libstdc++ computes on 64-bit machines (Murmur2-64A, mixed a little
differently); farm64 is FarmHash's Fingerprint64. Both read a text as little-endian words of its UTF-8 bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

WORD = np.dtype("<u8")

# Texts hashed together: their words and what is computed from them stay in a core's cache.
BLOCK = 16384


@dataclass(frozen=True, slots=True)
class Packed:
    """Texts one after another, and where each begins."""

    bytes: np.ndarray
    """uint8, with eight bytes to spare at the end."""
    words: np.ndarray
    """uint64 [N], the word that begins at each byte; the same memory as `bytes`."""
    starts: np.ndarray
    """int64 [V]."""
    lengths: np.ndarray
    """int64 [V], in bytes."""

    def part(self, which: slice | np.ndarray) -> Packed:
        return Packed(self.bytes, self.words, self.starts[which], self.lengths[which])

    def word(self, at: int | np.ndarray) -> np.ndarray:
        """The word `at` bytes after each start."""
        return self.words[self.starts + at]

    def word_before_end(self, distance: int) -> np.ndarray:
        return self.words[self.starts + (self.lengths - distance)]


def text_offsets(texts: pa.Array) -> np.ndarray:
    """Where each text of a string or large_string array begins and ends in its data, [V + 1]."""
    width = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    buffer = texts.buffers()[1]
    if buffer is None or not len(texts):
        return np.zeros(1, width)
    return np.frombuffer(buffer, dtype=width, count=len(texts) + 1, offset=texts.offset * np.dtype(width).itemsize)


def pack(texts: pa.Array) -> Packed:
    """The bytes of a string or large_string array without nulls, copied so that reading past an end is safe."""
    offsets = text_offsets(texts)
    first, last = int(offsets[0]), int(offsets[-1])
    data = np.zeros(last - first + WORD.itemsize, np.uint8)
    if last > first:
        data[: last - first] = np.frombuffer(texts.buffers()[2], np.uint8, count=last - first, offset=first)
    words = np.ndarray((last - first + 1,), WORD, data, 0, (1,))
    starts = offsets[:-1].astype(np.int64) - first
    return Packed(data, words, starts, np.diff(offsets).astype(np.int64))


def hash_texts(texts: pa.Array, function: Callable[[Packed], np.ndarray]) -> np.ndarray:
    """uint64 [V]: `murmur64` or `farm64` of each text of a string or large_string array without nulls."""
    packed = pack(texts)
    out = np.empty(len(texts), np.uint64)
    for start in range(0, len(out), BLOCK):
        block = slice(start, start + BLOCK)
        out[block] = function(packed.part(block))
    return out


# -- murmur64

MURMUR = np.uint64(0xC6A4A7935BD1E995)
MURMUR_SEED = np.uint64(0xC70F6907)
# Keeps the low n bytes of a word.
LOW_BYTES = np.array([(1 << (8 * n)) - 1 for n in range(8)], np.uint64)
_3, _7, _47 = np.uint64(3), np.uint64(7), np.uint64(47)


def murmur64(texts: Packed) -> np.ndarray:
    """uint64 [V]."""
    tails = texts.lengths & 7
    words = texts.lengths >> 3
    hashes = texts.lengths.astype(np.uint64) * MURMUR ^ MURMUR_SEED
    longest = int(words.max(initial=0))
    if longest and int(words.min()) == longest:
        for word in range(longest):
            _murmur_word(hashes, texts.word(8 * word))
    elif longest:
        _murmur_words(texts, words, hashes)
    rest = texts.word(texts.lengths - tails) & LOW_BYTES[tails]
    np.multiply(hashes ^ rest, MURMUR, out=hashes, where=tails != 0)
    hashes ^= hashes >> _47
    hashes *= MURMUR
    hashes ^= hashes >> _47
    return hashes


def _murmur_word(hashes: np.ndarray, data: np.ndarray) -> None:
    """Mix a whole word into each hash, in place."""
    data *= MURMUR
    data ^= data >> _47
    data *= MURMUR
    hashes ^= data
    hashes *= MURMUR


def _murmur_words(texts: Packed, words: np.ndarray, hashes: np.ndarray) -> None:
    """The whole words of texts of several lengths, in place: fewer texts take part in each round."""
    active = np.flatnonzero(words)
    word = 0
    while len(active):
        part = hashes[active]
        _murmur_word(part, texts.words[texts.starts[active] + 8 * word])
        hashes[active] = part
        word += 1
        active = active[words[active] > word]


# -- farm64

FARM_0 = np.uint64(0xC3A5C85C97CB3127)
FARM_1 = np.uint64(0xB492B66FBE98F273)
FARM_2 = np.uint64(0x9AE16A3B2F90404F)
LOW_4_BYTES = np.uint64(0xFFFFFFFF)
# The longest text of each way to hash, in bytes; longer ones go by chunks of 64.
FARM_CLASSES = np.array([0, 3, 7, 16, 32, 64])


def farm64(texts: Packed) -> np.ndarray:
    """uint64 [V]."""
    ways = (_farm_empty, _farm_to_3, _farm_to_7, _farm_to_16, _farm_to_32, _farm_to_64, _farm_long)
    shortest, longest = int(texts.lengths.min(initial=65)), int(texts.lengths.max(initial=0))
    first, last = (int(way) for way in np.searchsorted(FARM_CLASSES, [shortest, longest]))
    if first >= last:
        return ways[last](texts)
    classes = np.searchsorted(FARM_CLASSES, np.arange(66)).astype(np.uint8)[np.minimum(texts.lengths, 65)]
    out = np.empty(len(texts.lengths), np.uint64)
    for way in range(first, last + 1):
        which = np.flatnonzero(classes == way)
        if len(which):
            out[which] = ways[way](texts.part(which))
    return out


def _rotate(values: np.ndarray, bits: int) -> np.ndarray:
    """Each word turned right by `bits`."""
    return (values >> np.uint64(bits)) | (values << np.uint64(64 - bits))


def _shift_mix(values: np.ndarray) -> np.ndarray:
    return values ^ (values >> _47)


def _mix(first: np.ndarray, second: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Two words into one."""
    mixed = _shift_mix((first ^ second) * factor)
    return _shift_mix((second ^ mixed) * factor) * factor


def _factor(texts: Packed) -> np.ndarray:
    return FARM_2 + texts.lengths.astype(np.uint64) * np.uint64(2)


def _farm_empty(texts: Packed) -> np.ndarray:
    return np.full(len(texts.lengths), FARM_2, np.uint64)


def _farm_to_3(texts: Packed) -> np.ndarray:
    lengths = texts.lengths
    first, middle, last = (
        texts.bytes[texts.starts + at].astype(np.uint64) for at in (np.zeros_like(lengths), lengths >> 1, lengths - 1)
    )
    y = first + (middle << np.uint64(8))
    z = lengths.astype(np.uint64) + (last << np.uint64(2))
    return _shift_mix(y * FARM_2 ^ z * FARM_0) * FARM_2


def _farm_to_7(texts: Packed) -> np.ndarray:
    first = texts.word(0) & LOW_4_BYTES
    last = texts.words[texts.starts + (texts.lengths - 4)] & LOW_4_BYTES
    return _mix(texts.lengths.astype(np.uint64) + (first << _3), last, _factor(texts))


def _farm_to_16(texts: Packed) -> np.ndarray:
    factor = _factor(texts)
    a = texts.word(0) + FARM_2
    b = texts.word_before_end(8)
    return _mix(_rotate(b, 37) * factor + a, (_rotate(a, 25) + b) * factor, factor)


def _farm_to_32(texts: Packed) -> np.ndarray:
    factor = _factor(texts)
    a = texts.word(0) * FARM_1
    b = texts.word(8)
    c = texts.word_before_end(8) * factor
    d = texts.word_before_end(16) * FARM_2
    return _mix(_rotate(a + b, 43) + _rotate(c, 30) + d, a + _rotate(b + FARM_2, 18) + c, factor)


def _farm_to_64(texts: Packed) -> np.ndarray:
    factor = _factor(texts)
    a = texts.word(0) * FARM_2
    b = texts.word(8)
    c = texts.word_before_end(8) * factor
    d = texts.word_before_end(16) * FARM_2
    y = _rotate(a + b, 43) + _rotate(c, 30) + d
    z = _mix(y, a + _rotate(b + FARM_2, 18) + c, factor)
    e = texts.word(16) * factor
    f = texts.word(24)
    g = (y + texts.word_before_end(32)) * factor
    h = (z + texts.word_before_end(24)) * factor
    return _mix(_rotate(e + f, 43) + _rotate(g, 30) + h, e + _rotate(f + a, 18) + g, factor)


def _mix_32(words: np.ndarray, at: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The 32 bytes at `at` of each text into two words."""
    last = words[at + 24]
    first = first + words[at]
    total = first + words[at + 8] + words[at + 16]
    return total + last, _rotate(second + first + last, 21) + _rotate(total, 44) + first


def _mix_64(words: np.ndarray, at: np.ndarray, state: np.ndarray, factor: np.ndarray, weight: int) -> np.ndarray:
    """The 64 bytes at `at` of each text into its state [7, V]; `weight` is 9 for the last 64 bytes, 1 before."""
    x, y, z, v0, v1, w0, w1 = state
    times = np.uint64(weight)
    x = _rotate(x + y + v0 + words[at + 8], 37) * factor ^ w1 * times
    y = _rotate(y + v1 + words[at + 48], 42) * factor + v0 * times + words[at + 40]
    z = _rotate(z + w0, 33) * factor
    v0, v1 = _mix_32(words, at, v1 * factor, x + w0)
    w0, w1 = _mix_32(words, at + 32, z + w1, y + words[at + 16])
    return np.stack([z, y, x, v0, v1, w0, w1])


def _farm_long(texts: Packed) -> np.ndarray:
    starts, lengths = texts.starts, texts.lengths
    seed = np.full(len(lengths), 81, np.uint64)
    state = np.zeros((7, len(lengths)), np.uint64)
    state[0] = seed * FARM_2 + texts.word(0)
    state[1] = seed * FARM_1 + np.uint64(113)
    state[2] = _shift_mix(state[1] * FARM_2 + np.uint64(113)) * FARM_2
    chunks = (lengths - 1) >> 6
    active, chunk = np.arange(len(lengths)), 0
    while len(active):
        factor = np.full(len(active), FARM_1)
        state[:, active] = _mix_64(texts.words, starts[active] + 64 * chunk, state[:, active], factor, 1)
        chunk += 1
        active = active[chunks[active] > chunk]
    factor = FARM_1 + ((state[2] & np.uint64(0xFF)) << np.uint64(1))
    state[5] += ((lengths - 1) & 63).astype(np.uint64)
    state[3] += state[5]
    state[5] += state[3]
    x, y, z, v0, v1, w0, w1 = _mix_64(texts.words, starts + lengths - 64, state, factor, 9)
    return _mix(_mix(v0, w0, factor) + _shift_mix(y) * FARM_0 + z, _mix(v1, w1, factor) + x, factor)


# -- crosses


def cross64(key: int, parts: Sequence[np.ndarray]) -> np.ndarray:
    """uint64 [V]: hashes of values that stand side by side as TensorFlow's `sparse_cross_hashed` makes one of them;
    the order of the parts counts."""
    crossed = np.full(len(parts[0]), key, np.uint64)
    for part in parts:
        crossed ^= MURMUR
        crossed ^= _shift_mix(part * MURMUR) * MURMUR
        crossed *= MURMUR
        crossed = _shift_mix(_shift_mix(crossed) * MURMUR)
    return crossed
