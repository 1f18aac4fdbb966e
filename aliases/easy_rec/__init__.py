"""The commands of EasyRec, run by polyrec: `python -m easy_rec.python.train_eval` and so on."""
