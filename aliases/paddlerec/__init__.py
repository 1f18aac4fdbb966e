"""The command of PaddleRec 1.x, run by polyrec: `python -m paddlerec.run -m config.yaml`."""
