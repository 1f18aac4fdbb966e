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

# Texts hashed together: few enough that what is computed from them stays in a core's cache, and that the memory for it
# is not taken from the operating system anew each time.
BLOCK = 8192

# Bytes behind the last text, so that words after the end of a text can be read and thrown away.
SPARE = 32


@dataclass(frozen=True, slots=True)
class Packed:
    """Texts in memory, and where each begins."""

    bytes: np.ndarray
    """uint8, with `SPARE` bytes at the end that belong to no text."""
    words: np.ndarray
    """uint64 [N], the word that begins at each byte; the same memory as `bytes`."""
    starts: np.ndarray
    """int64 [V]."""
    lengths: np.ndarray
    """int64 [V], in bytes."""
    stride: int = 0
    """Bytes from each start to the next, 0 when they differ. Words at equal distances are read without looking up
    where each is, several times faster."""

    @classmethod
    def of(cls, data: np.ndarray, starts: np.ndarray, lengths: np.ndarray, stride: int = 0) -> Packed:
        """`data` has `SPARE` bytes at the end that belong to no text."""
        return cls(data, np.ndarray((len(data) - WORD.itemsize + 1,), WORD, data, 0, (1,)), starts, lengths, stride)

    @classmethod
    def even(cls, data: np.ndarray, count: int, size: int) -> Packed:
        """`count` texts of `size` bytes each with nothing between them."""
        return cls.of(data, np.arange(0, count * size, size), np.broadcast_to(np.int64(size), count), size)

    def part(self, which: slice | np.ndarray) -> Packed:
        stride = self.stride if isinstance(which, slice) else 0
        return Packed(self.bytes, self.words, self.starts[which], self.lengths[which], stride)

    def word(self, at: int | np.ndarray) -> np.ndarray:
        """The word `at` bytes after each start."""
        if self.stride and isinstance(at, int) and len(self.starts):
            first = int(self.starts[0]) + at
            return np.ndarray((len(self.starts),), WORD, self.bytes, first, (self.stride,)).copy()
        return self.words[self.starts + at]

    def word_before_end(self, distance: int) -> np.ndarray:
        if self.stride and self._is_even:
            return self.word(int(self.lengths[0]) - distance)
        return self.words[self.starts + (self.lengths - distance)]

    @property
    def shortest(self) -> int:
        return int(self.lengths[0]) if self._is_even else int(self.lengths.min(initial=2**62))

    @property
    def longest(self) -> int:
        return int(self.lengths[0]) if self._is_even else int(self.lengths.max(initial=0))

    @property
    def _is_even(self) -> bool:
        """Whether all are known to be equally long, one length standing for all."""
        return self.lengths.strides == (0,) and len(self.lengths) > 0


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
    data = np.empty(last - first + SPARE, np.uint8)
    data[last - first :] = 0
    if last > first:
        data[: last - first] = np.frombuffer(texts.buffers()[2], np.uint8, count=last - first, offset=first)
    lengths = np.subtract(offsets[1:], offsets[:-1], dtype=np.int64)
    size = int(lengths[0]) if len(lengths) else 0
    if size and size * len(lengths) == last - first and bool((lengths == size).all()):
        return Packed.even(data, len(lengths), size)
    return Packed.of(data, np.subtract(offsets[:-1], first, dtype=np.int64), lengths)


def hash_texts(texts: pa.Array, function: Callable[[Packed], np.ndarray]) -> np.ndarray:
    """uint64 [V]: `murmur64` or `farm64` of each text of a string or large_string array without nulls."""
    if len(texts) <= BLOCK:
        return function(pack(texts))
    out = np.empty(len(texts), np.uint64)
    for start in range(0, len(out), BLOCK):
        out[start : start + BLOCK] = function(pack(texts.slice(start, BLOCK)))
    return out


# -- murmur64

MURMUR = np.uint64(0xC6A4A7935BD1E995)
MURMUR_SEED = np.uint64(0xC70F6907)
# Keeps the low n bytes of a word.
LOW_BYTES = np.array([(1 << (8 * n)) - 1 for n in range(8)], np.uint64)
_1, _2, _3, _4, _8, _47 = (np.uint64(number) for number in (1, 2, 3, 4, 8, 47))
# When fewer than one in this many texts have a word, those are hashed apart from the others.
RARE = 4


def murmur64(texts: Packed) -> np.ndarray:
    """uint64 [V]."""
    lengths = texts.lengths
    hashes = lengths.astype(np.uint64)
    hashes *= MURMUR
    hashes ^= MURMUR_SEED
    shortest, longest = texts.shortest, texts.longest
    for word in range(longest >> 3):
        end = 8 * word + 8
        if end <= shortest:
            hashes = _murmur_word(hashes, texts.word(8 * word))
            continue
        active = lengths >= end
        if end > SPARE or np.count_nonzero(active) * RARE < len(active):
            _murmur_rest(texts, word, np.flatnonzero(active), hashes)
            break
        hashes = np.where(active, _murmur_word(hashes, texts.word(8 * word)), hashes)
    if shortest < longest or longest & 7:
        hashes = _murmur_tails(texts, hashes, longest)
    hashes ^= hashes >> _47
    hashes *= MURMUR
    hashes ^= hashes >> _47
    return hashes


def _murmur_word(hashes: np.ndarray, data: np.ndarray) -> np.ndarray:
    """The hashes with a whole word mixed into each; `data` is overwritten."""
    data *= MURMUR
    data ^= data >> _47
    data *= MURMUR
    data ^= hashes
    data *= MURMUR
    return data


def _murmur_rest(texts: Packed, word: int, active: np.ndarray, hashes: np.ndarray) -> None:
    """Whole words from the given one on of a few texts, in place."""
    starts, words = texts.starts[active], texts.lengths[active] >> 3
    part = hashes[active]
    while len(active):
        part = _murmur_word(part, texts.words[starts + 8 * word])
        hashes[active] = part
        word += 1
        more = words > word
        active, starts, words, part = active[more], starts[more], words[more], part[more]


def _murmur_tails(texts: Packed, hashes: np.ndarray, longest: int) -> np.ndarray:
    """The hashes with the up to seven bytes after the last whole word mixed in."""
    tails = texts.lengths & 7
    rest = texts.word(0 if longest <= 8 else texts.lengths - tails)
    rest &= LOW_BYTES.take(tails)
    rest ^= hashes
    rest *= MURMUR
    return np.where(tails > 0, rest, hashes)


# -- farm64

FARM_0 = np.uint64(0xC3A5C85C97CB3127)
FARM_1 = np.uint64(0xB492B66FBE98F273)
FARM_2 = np.uint64(0x9AE16A3B2F90404F)
LOW_BYTE, LOW_4_BYTES = np.uint64(0xFF), np.uint64(0xFFFFFFFF)
# The longest text of each way to hash, in bytes; longer ones go by chunks of 64.
FARM_CLASSES = np.array([0, 3, 7, 16, 32, 64])
# The last way that may be tried on any text: it looks at most eight bytes before a text that is too short for it.
FARM_TRIED = 3
# Number of the way to hash a text of so many bytes; the last one counts for all that are longer.
FARM_WAYS = np.searchsorted(FARM_CLASSES, np.arange(66)).astype(np.uint8)


def farm64(texts: Packed) -> np.ndarray:
    """uint64 [V]."""
    ways = (_farm_empty, _farm_to_3, _farm_to_7, _farm_to_16, _farm_to_32, _farm_to_64, _farm_long)
    first, last = (int(FARM_WAYS[min(length, 65)]) for length in (texts.shortest, texts.longest))
    if first >= last:
        return ways[last](texts)
    classes = FARM_WAYS.take(texts.lengths, mode="clip")
    members = {way: classes == way for way in range(first, last + 1)}
    counts = {way: int(np.count_nonzero(chosen)) for way, chosen in members.items()}
    usual = max(counts, key=lambda way: counts[way])
    if usual <= FARM_TRIED and 2 * counts[usual] >= len(classes):
        # Hashing all texts in the way of most costs less than picking out those, and the others are overwritten.
        out = ways[usual](texts)
        del members[usual]
    else:
        out = np.empty(len(classes), np.uint64)
    for way, chosen in members.items():
        if counts[way]:
            which = np.flatnonzero(chosen)
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
    lengths = texts.lengths.astype(np.uint64)
    word = texts.word(0)
    middle = (word >> (lengths >> _1 << _3)) & LOW_BYTE
    last = (word >> (lengths - _1 << _3)) & LOW_BYTE
    y = (word & LOW_BYTE) + (middle << _8)
    z = lengths + (last << _2)
    return _shift_mix(y * FARM_2 ^ z * FARM_0) * FARM_2


def _farm_to_7(texts: Packed) -> np.ndarray:
    lengths = texts.lengths.astype(np.uint64)
    word = texts.word(0)
    last = (word >> (lengths - _4 << _3)) & LOW_4_BYTES
    return _mix(lengths + ((word & LOW_4_BYTES) << _3), last, _factor(texts))


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
