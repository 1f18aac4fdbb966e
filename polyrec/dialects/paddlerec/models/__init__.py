"""PaddleRec's models, one file each: `rank_dnn` is models/rank/dnn.

Each file has `read(node)`, which reads `hyper_parameters`, and `draft(hyper, slots)`, which returns the part of a
RunConfig that depends on the model: features, tables, groups, model, tasks and optim.
"""
