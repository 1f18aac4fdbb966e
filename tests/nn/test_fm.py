from __future__ import annotations

import torch

from polyrec.nn import FM


def test_every_pair_once_by_hand() -> None:
    """Vectors (1, 2), (3, 4), (5, 6): 1*3 + 1*5 + 3*5 = 23 and 2*4 + 2*6 + 4*6 = 44."""
    out = FM(3, 2)(torch.tensor([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]))
    torch.testing.assert_close(out, torch.tensor([[23.0, 44.0]]))


def test_a_single_vector_has_no_pair_and_no_rows_give_none() -> None:
    assert FM(1, 2)(torch.tensor([[1.5, -2.0]])).tolist() == [[0.0, 0.0]]
    assert FM(3, 2)(torch.zeros(0, 6)).shape == (0, 2)
