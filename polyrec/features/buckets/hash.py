"""A text becomes its hash, modulo the number of rows: no list of words is needed, and unlike words may share a row."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
from pyarrow import types

from polyrec.families import BucketConfig
from polyrec.features._decimals import hash_integers
from polyrec.features._hashing import farm64, hash_texts, murmur64
from polyrec.features._values import as_text

FUNCTIONS = {"murmur64": murmur64, "farm64": farm64}


class HashBucket(BucketConfig):
    function: Literal["murmur64", "farm64"]
    """murmur64 is `std::hash<std::string>` of libstdc++, farm64 is FarmHash's Fingerprint64. Both are taken unsigned.
    Values that are not text are hashed as text: whole numbers in base 10, bool as true and false, floats as the
    shortest decimal text, so that 3.0 and 3 agree."""

    def rows_of(self, values: pa.Array) -> np.ndarray:
        function = FUNCTIONS[self.function]
        if types.is_integer(values.type):
            hashes = hash_integers(values.to_numpy(zero_copy_only=False), function)
        else:
            hashes = hash_texts(as_text(values), function)
        return self.rows_of_hashes(hashes)

    def rows_of_hashes(self, hashes: np.ndarray) -> np.ndarray:
        """int64 [V]; the hashes are overwritten."""
        rows = np.uint64(self.rows)
        # Several times faster than `%`, which NumPy does not vectorise.
        hashes -= hashes // rows * rows
        return hashes.view(np.int64)

    @classmethod
    def example(cls) -> HashBucket:
        return cls(rows=10, function="murmur64")
