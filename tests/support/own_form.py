"""A small run in the project's own form."""

from __future__ import annotations

RUN = """\
polyrec: 1
model_dir: out/run
data:
  train: [data/a.csv, data/b.csv]
  reader: {kind: parquet}
  batch_size: 32
  eval_batch_size: 64
features:
- kind: id
  name: user
  column: user_id
  bucket: {kind: hash, rows: 100, function: murmur64}
  default: null
- kind: raw
  name: price
  column: price
  default: 0.0
tables:
- name: user
  rows: 100
  width: 4
  init: {kind: normal, std: 1e-2}
groups:
- name: deep
  kind: flat
  inputs:
  - {feature: user, table: user}
- name: all
  kind: flat
  inputs:
  - {feature: user, table: user}
  - {feature: price}
model:
  kind: deepfm
  deep: all
  fm: deep
  mlp: {hidden: [8, 4], activation: relu, kernel: {kind: linear}}
  head: {kernel: {kind: linear}}
tasks:
- label: clicked
  losses:
  - loss: {kind: binary_cross_entropy}
  metrics:
  - {kind: auc}
optim:
  tables: &learning
    optimizer: {kind: adagrad, lr: 0.1, initial_accumulator: 0.1, eps: 1e-7}
    schedule: {kind: constant}
  dense:
    <<: *learning
    clip_gradient: 5
train:
  epochs: 1
"""
