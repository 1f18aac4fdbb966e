"""Feature groups to tables and tensors. TorchRec and FBGEMM are known here and in `data/batch.py` alone."""

from polyrec.embedding.assemble import Lookups
from polyrec.embedding.tables import Embedding

__all__ = ["Embedding", "Lookups"]
