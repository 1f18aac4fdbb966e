"""Fields of a TorchEasyRec config that have no effect here, or that cannot be honoured, each with its reason."""

from __future__ import annotations

from polyrec.dialects.fields import Refusal, Unused

_KINDS = (
    "id_feature",
    "raw_feature",
    "combo_feature",
    "combine_feature",
    "lookup_feature",
    "match_feature",
    "expr_feature",
    "overlap_feature",
    "tokenize_feature",
    "kv_dot_product",
    "bool_mask_feature",
    "custom_feature",
)


def _of(*kinds: str) -> str:
    return "|".join(f"{start}{kind}" for start in ("", "sequence_") for kind in kinds)


_TYPED = ("id_feature", "lookup_feature", "match_feature", "bool_mask_feature")
_WITH_IDS = (*_TYPED, "combo_feature", "custom_feature")
_LATER = "is not available yet"

IGNORED = {
    "train_config.cudnn_allow_tf32": "PyTorch's own setting, which is true, is kept",
    "train_config.cuda_matmul_allow_tf32": "PyTorch's own setting, which is false, is kept",
    "train_config.global_embedding_constraints": "where tables lie is planned and does not change what is learnt",
    "export_config.cudnn_allow_tf32": "PyTorch's own setting, which is true, is kept",
    "export_config.cuda_matmul_allow_tf32": "PyTorch's own setting, which is false, is kept",
    "data_config.fg_threads": "features are made for a whole batch at a time, in the thread that reads",
    "data_config.num_workers": "rows are read by threads of the same process",
    "data_config.pin_memory": "batches are made where they are used",
    "data_config.in_order": "batches always come in the order of the data",
    "data_config.force_base_data_group": "all features belong to one data group",
    "negative_sampler_v2|hard_negative_sampler|hard_negative_sampler_v2.user_input_path": (
        "users are known by their edges"
    ),
    "tdm_sampler.predict_edge_input_path": "only retrieval walks down the tree",
    "tdm_sampler.num_eval_sample": "layer_num_sample holds in evaluation too",
    "model_config.kernel": "only HSTU models choose kernels",
    f"{_of(*_KINDS)}.embedding_constraints": "where tables lie is planned and does not change what is learnt",
    f"{_of(*_TYPED)}.fg_value_type": "whole numbers are hashed as their decimal text, whatever the column's type",
    f"{_of('custom_feature')}.is_op_thread_safe": "operators here keep nothing between batches",
    "din_encoder|pooling_encoder.name": "encoders are told apart by what they read",
    "extraction_networks.network_name": "layers are told apart by their order",
    "sequence_feature.sequence_pk": "only a server that keeps sequences by key needs it",
    "sgd_optimizer|adagrad_optimizer|adam_optimizer|adamw_optimizer.fused": "a speed setting of CUDA optimizers",
    "sgd_optimizer|adagrad_optimizer|rowwise_adagrad_optimizer|adam_optimizer.max_gradient": (
        "only gradient_clipping would use it"
    ),
    "auc|multiclass_auc.thresholds": "this AUC is exact, not binned",
    "xauc.sample_ratio": "all pairs of rows count, none is drawn",
    "xauc.max_pairs": "all pairs of rows count, none is drawn",
    "xauc.in_batch": "all pairs of rows count, wherever they stand",
    "grouped_xauc.max_pairs_per_group": "all pairs of a group count, none is drawn",
    "normalized_entropy.eta": "labels that are all alike have no normalized entropy",
}

_MODELS = [
    "dc2vr",
    "dlrm_hstu",
    "pepnet",
    "ultra_hstu",
    "dssm_v2",
    "dat",
    "hstu_match",
    "mind",
    "tdm",
    "rocket_launching",
    "sid_rqvae",
    "sid_rqkmeans",
]

_AVAILABLE = (
    "deepfm, multi_tower, multi_tower_din, dssm, wide_and_deep, dlrm, dcn_v1, dcn_v2, xdeepfm, mask_net, wukong, "
    "simple_multi_task, mmoe, ple, dbmtl"
)

REFUSED = {
    "train_config.save_checkpoints_timestamp_interval": Refusal("saving by event time " + _LATER, (0,)),
    "train_config.save_checkpoints_timestamps": Refusal("saving by event time " + _LATER),
    "train_config.save_checkpoints_timestamp_quorum": Refusal("saving by event time " + _LATER, (0.5,)),
    "train_config.mixed_precision": Refusal("mixed precision " + _LATER + "; leave it empty", ("",)),
    "train_config.grad_scaler": Refusal("mixed precision " + _LATER + "; leave it out"),
    "train_config.gradient_accumulation_steps": Refusal(
        "gradient accumulation " + _LATER + "; use a larger batch_size", (0, 1)
    ),
    "train_config.delta_embedding_dump_config": Refusal("dumping changed rows " + _LATER),
    "grad_clipping.enable_global_grad_clip": Refusal(
        "clipping the gradients of tables " + _LATER + "; those of all other weights are clipped", (False,)
    ),
    "sparse_optimizer|dense_optimizer|part_optimizers.adadelta_optimizer": Refusal("adadelta " + _LATER),
    "sparse_optimizer|dense_optimizer|part_optimizers.rmsprop_optimizer": Refusal("rmsprop " + _LATER),
    "sparse_optimizer.lamb_optimizer": Refusal("lamb " + _LATER + "; use adam_optimizer"),
    "sparse_optimizer.partial_rowwise_lamb_optimizer": Refusal("lamb " + _LATER + "; use adam_optimizer"),
    "sparse_optimizer.partial_rowwise_adam_optimizer": Refusal("row-wise adam " + _LATER + "; use adam_optimizer"),
    "sparse_optimizer.lars_sgd_optimizer": Refusal("lars " + _LATER + "; use sgd_optimizer"),
    "sparse_optimizer|dense_optimizer.manual_step_learning_rate": Refusal(
        "manual steps " + _LATER + "; use exponential_decay_learning_rate"
    ),
    "sparse_optimizer|dense_optimizer.cosine_annealing_learning_rate": Refusal(
        "cosine annealing " + _LATER + "; use exponential_decay_learning_rate"
    ),
    "sparse_optimizer|dense_optimizer.cosine_annealing_warm_restarts_learning_rate": Refusal(
        "warm restarts " + _LATER + "; use exponential_decay_learning_rate"
    ),
    "sgd_optimizer|adagrad_optimizer|rowwise_adagrad_optimizer|adam_optimizer.gradient_clipping": Refusal(
        "clipping the gradients of tables " + _LATER, (False,)
    ),
    "rowwise_adagrad_optimizer.weight_decay": Refusal("weight decay of row-wise adagrad " + _LATER, (0, 0.0)),
    "rowwise_adagrad_optimizer.weight_decay_mode": Refusal("weight decay of row-wise adagrad " + _LATER, ("NONE", 0)),
    "adam_optimizer|adamw_optimizer.amsgrad": Refusal("amsgrad " + _LATER, (False,)),
    "dense_optimizer.part_optimizers": Refusal("optimizers for parts of the dense weights " + _LATER),
    "dense_optimizer.ema": Refusal("averaged weights " + _LATER),
    "eval_config.use_dense_ema": Refusal("averaged weights " + _LATER, (False,)),
    "export_config.use_dense_ema": Refusal("averaged weights " + _LATER, (False,)),
    "export_config.mixed_precision": Refusal("mixed precision " + _LATER + "; leave it empty", ("",)),
    f"{_of(*_WITH_IDS)}.dynamicemb": Refusal("tables that grow " + _LATER + "; use zch or hash_bucket_size"),
    **{
        f"sequence_encoders.{name}": Refusal(f"{name} {_LATER}; available: din_encoder, pooling_encoder")
        for name in ("simple_attention", "self_attention_encoder", "multi_window_din_encoder")
    },
    **{f"model_config.{name}": Refusal(f"model {name} {_LATER}; available: {_AVAILABLE}") for name in _MODELS},
    "dssm.in_batch_negative": Refusal("negatives of the batch are not available yet; use a sampler", (False,)),
    "task_towers.task_space_indicator_label": Refusal(
        "weights by a task's space " + _LATER + "; use sample_weight_name"
    ),
    "task_towers.in_task_space_weight": Refusal("weights by a task's space " + _LATER, (1, 1.0)),
    "task_towers.out_task_space_weight": Refusal("weights by a task's space " + _LATER, (1, 1.0)),
    "task_towers.pareto_min_loss_weight": Refusal("Pareto weights of losses " + _LATER, (0, 0.0)),
    "model_config.variational_dropout": Refusal("variational dropout " + _LATER),
    "model_config.use_pareto_loss_weight": Refusal("Pareto weights of losses " + _LATER, (False,)),
    "losses.recon_loss": Refusal("recon_loss " + _LATER),
    "losses.commitment_loss": Refusal("commitment_loss " + _LATER),
    "losses.contrastive_loss": Refusal("contrastive_loss " + _LATER),
}

UNUSED = Unused(IGNORED, REFUSED)
