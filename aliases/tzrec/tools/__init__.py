"""Tools of TorchEasyRec, run by polyrec."""
