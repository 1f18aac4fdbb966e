"""The commands of TorchEasyRec, run by polyrec: `python -m tzrec.train_eval` and so on."""
