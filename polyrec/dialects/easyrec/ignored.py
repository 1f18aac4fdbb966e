"""Fields of an EasyRec config that have no effect here, or that cannot be honoured, each with its reason."""

from __future__ import annotations

from polyrec.dialects.fields import Refusal, Unused

_LATER = "is not available yet"
_FEATURE = "feature_configs|features"
_UNREAD = "EasyRec itself never reads it"
_PROCESSES = "the launcher decides how many processes there are; they always step together"

IGNORED = {
    "train_config.sync_replicas": _PROCESSES,
    "train_config.train_distribute": _PROCESSES,
    "train_config.num_gpus_per_worker": _PROCESSES,
    "train_config.sparse_accumulator_type": "a setting of TensorFlow on PAI",
    "train_config.startup_delay_steps": _UNREAD,
    "train_config.protocol": _UNREAD,
    "train_config.tensor_fuse": _UNREAD,
    "train_config.save_summary_steps": "summaries are written with each progress line, log_step_count_steps",
    "train_config.inter_op_parallelism_threads": "PyTorch's own threads are used",
    "train_config.intra_op_parallelism_threads": "PyTorch's own threads are used; set OMP_NUM_THREADS",
    "train_config.write_graph": "there is no TensorFlow graph",
    "optimizer_config.moving_average_decay": "only use_moving_average would use it",
    "eval_config.eval_interval_secs": _UNREAD,
    "eval_config.max_evals": _UNREAD,
    "eval_config.save_graph": _UNREAD,
    "auc.num_thresholds": "this AUC is exact, not binned",
    "data_config.eval_batch_size": "EasyRec itself evaluates with batch_size",
    "data_config.prefetch_size": "a few batches are always read ahead",
    "data_config.num_parallel_calls": "rows are read by threads of the same process",
    "data_config.shard": _UNREAD,
    "data_config.file_shard": "rows are dealt to processes evenly, whatever the files",
    "data_config.chief_redundant": "all processes train",
    "data_config.pai_worker_queue": "rows are dealt to processes evenly, whatever the files",
    "data_config.pai_worker_slice_num": "rows are dealt to processes evenly, whatever the files",
    "feature_config.embedding_on_cpu": "where tables lie is planned and does not change what is learnt",
    f"{_FEATURE}.max_partitions": "where tables lie is planned and does not change what is learnt",
    "input_fields.input_dim": "a feature knows itself how many values its column holds",
    "input_fields.input_shape": "a feature knows itself how many values its column holds",
    "ev_params.use_cache": "where tables lie is planned and does not change what is learnt",
    "ev_params.init_capacity": "a table has its rows from the start",
    "mlp.add_to_outputs": "predictions are those of the tasks",
    "sequence_features|seq_att_groups.tf_summary": "summaries of weights are TensorFlow's",
    "sequence_features|seq_att_groups.allow_key_search": "a key is looked up whether or not its group has it",
    "negative_sampler_v2|hard_negative_sampler|hard_negative_sampler_v2.user_input_path": (
        "users are known by their edges"
    ),
    "model_config.model_name": _UNREAD,
    "deepfm.wide_regularization": "EasyRec itself does not use it",
    "export_config.exports_to_keep": "exports are made by polyrec export, into a folder of your choice",
    "export_config.batch_size": "exports take batches of any size",
    "export_config.multi_placeholder": "exports take columns by their names",
    "export_config.placeholder_named_by_input": "exports take columns by their names",
    "export_config.filter_inputs": "exports take the columns that features read",
    "export_config.multi_value_fields": "a feature knows itself whether its column holds several values",
    "export_config.auto_multi_value": "a feature knows itself whether its column holds several values",
    "export_config.max_check_steps": "only enable_early_stop would use it",
    "export_config.early_stop_func": "only enable_early_stop would use it",
    "export_config.early_stop_params": "only enable_early_stop would use it",
}

_PATHS = ["kafka", "datahub", "hive", "binary"]
_MESSAGES = [
    "model_params",
    "dummy",
    "wide_and_deep",
    "fm",
    "dcn",
    "autoint",
    "dlrm",
    "cmbf",
    "uniter",
    "multi_tower_recall",
    "dssm",
    "mind",
    "dropoutnet",
    "metric_learning",
    "pdn",
    "dssm_senet",
    "dat",
    "mmoe",
    "esmm",
    "dbmtl",
    "simple_multi_task",
    "ple",
    "rocket_launching",
]
_SCHEDULES = ["manual_step", "cosine_decay", "poly_decay", "transformer"]
_LOSS_PARTS = [
    "f1_reweighted_loss",
    "softmax_loss",
    "circle_loss",
    "multi_simi_loss",
    "binary_focal_loss",
    "pairwise_loss",
    "pairwise_focal_loss",
    "pairwise_logistic_loss",
    "jrc_loss",
    "pairwise_hinge_loss",
    "listwise_rank_loss",
    "listwise_distill_loss",
    "ziln_loss",
]
_METRICS = [
    "recall_at_topk",
    "max_f1",
    "root_mean_squared_error",
    "gauc",
    "session_auc",
    "recall",
    "precision",
    "precision_at_topk",
]

REFUSED = {
    **{
        f"{kind}_{part}_input": Refusal(f"input from {kind} {_LATER}; use train_input_path and eval_input_path")
        for kind in _PATHS
        for part in ("train", "eval")
    },
    "fg_json_path": Refusal("features from an FG file are not available yet; write input_fields and features", ("",)),
    "train_config.gradient_clipping_by_norm": Refusal(
        "a norm of all gradients, those of tables too, is not available yet; leave it out", (0, 0.0)
    ),
    "train_config.force_restore_shape_compatible": Refusal("restoring parts of tables " + _LATER, (False,)),
    "train_config.summary_model_vars": Refusal("summaries of all weights are not available yet", (False,)),
    "train_config.freeze_gradient": Refusal("frozen weights are not available yet"),
    "train_config.incr_save_config": Refusal("saving of changed rows " + _LATER),
    "train_config.enable_oss_stop_signal": Refusal("a stop file " + _LATER + "; send SIGTERM", (False,)),
    "train_config.dead_line": Refusal("a deadline " + _LATER + "; send SIGTERM", ("",)),
    "optimizer_config.use_moving_average": Refusal("averaged weights are not available yet", (False,)),
    "optimizer_config.embedding_learning_rate_multiplier": Refusal(
        "write two optimizer_config instead: the first is for tables", (1, 1.0)
    ),
    "optimizer_config.rms_prop_optimizer": Refusal("rms_prop " + _LATER + "; use adam_optimizer"),
    "optimizer_config.momentumw_optimizer": Refusal("momentumw " + _LATER + "; use momentum_optimizer"),
    "optimizer_config.adamw_optimizer": Refusal(
        "its weight_decay is not scaled by the learning rate, which is not available yet; use adam_optimizer"
    ),
    "optimizer_config.adam_asyncw_optimizer": Refusal("adam_asyncw " + _LATER + "; use lazy_adam_optimizer"),
    "optimizer_config.ftrl_optimizer": Refusal("ftrl " + _LATER + "; use adagrad_optimizer"),
    **{
        f"learning_rate.{name}_learning_rate": Refusal(f"{name} {_LATER}; use exponential_decay_learning_rate")
        for name in _SCHEDULES
    },
    "eval_config.eval_online": Refusal("metrics of training batches are not available yet", (False,)),
    "export_config.enable_early_stop": Refusal("stopping early " + _LATER, (False,)),
    "export_config.export_features": Refusal("exporting features' values " + _LATER, (False,)),
    "export_config.export_rtp_outputs": Refusal("outputs for RTP are not available yet", (False,)),
    "export_config.asset_files": Refusal("name such files on the command line: polyrec export --assets"),
    "data_config.label_sep": Refusal("labels of several numbers are not available yet"),
    "data_config.label_dim": Refusal("labels of several numbers are not available yet", (1,)),
    "data_config.extra_label_func": Refusal("labels computed from others are not available yet"),
    "data_config.selected_cols": Refusal("RTP columns are not available yet; name input_fields", ("",)),
    "data_config.selected_col_types": Refusal("RTP columns are not available yet; name input_fields", ("",)),
    "data_config.rtp_separator": Refusal("RTP columns are not available yet; name input_fields", (";",)),
    "data_config.data_compression_type": Refusal("compressed records are not available yet", ("",)),
    "data_config.n_data_batch_tfrecord": Refusal("TFRecord files are not available yet", (0,)),
    "data_config.feature_fields": Refusal("DataHub input " + _LATER),
    "input_fields.user_define_fn": Refusal("functions from files are not run; compute the column beforehand", ("",)),
    "input_fields.user_define_fn_path": Refusal(
        "functions from files are not run; compute the column beforehand", ("",)
    ),
    "input_fields.user_define_fn_res_type": Refusal("functions from files are not run; compute the column beforehand"),
    "input_fields.ignore_val": Refusal("a value that stands for none " + _LATER + "; leave the field empty", ("",)),
    "mlp.use_bn_after_activation": Refusal("a norm after the activation " + _LATER, (False,)),
    "feature_groups.negative_sampler": Refusal("negative sampling " + _LATER, (False,)),
    **{f"model_config.{name}": Refusal(f"{name} {_LATER}; available: deepfm, multi_tower") for name in _MESSAGES},
    "model_config.kd": Refusal("distillation " + _LATER),
    "model_config.restore_filters": Refusal("restoring parts of a checkpoint " + _LATER),
    "model_config.variational_dropout": Refusal("variational dropout " + _LATER),
    "model_config.backbone": Refusal("models built from blocks are not available yet; use DeepFM or MultiTower"),
    "multi_tower.bst_towers": Refusal("bst_towers are not available yet; use din_towers"),
    "losses.learn_loss_weight": Refusal("learnt weights of losses are not available yet; set weight", (False,)),
    **{f"losses.{name}": Refusal(f"{name} {_LATER}") for name in _LOSS_PARTS},
    **{
        f"metrics_set.{name}": Refusal(
            f"{name} {_LATER}; available: auc, mean_absolute_error, mean_squared_error, accuracy"
        )
        for name in _METRICS
    },
}

UNUSED = Unused(IGNORED, REFUSED)
