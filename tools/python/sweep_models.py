# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The models that sweep.py tries: torchvision, timm and transformers with random weights and small inputs.

`MODELS` maps a name such as `tv/resnet18`, `timm/xcit_nano_12_p16_224` or `hf/bert` to a function that gives a module and a
dictionary of inputs by argument name. Nothing is downloaded: weights are random, configurations are shrunk."""
import torch
from torch import nn

BATCH = 2

TORCHVISION = """alexnet vgg11_bn resnet18 resnext50_32x4d wide_resnet50_2 densenet121 inception_v3 googlenet squeezenet1_1 mobilenet_v2
mobilenet_v3_small mobilenet_v3_large shufflenet_v2_x0_5 shufflenet_v2_x1_0 mnasnet0_5 efficientnet_b0 efficientnet_v2_s regnet_x_400mf
regnet_y_400mf convnext_tiny vit_b_32 swin_t swin_v2_t maxvit_t resnet50 densenet169 squeezenet1_0 regnet_y_800mf mnasnet1_0
efficientnet_b1""".split()
SEGMENTATION = "fcn_resnet50 deeplabv3_mobilenet_v3_large deeplabv3_resnet50 lraspp_mobilenet_v3_large".split()
DETECTION = """ssdlite320_mobilenet_v3_large ssd300_vgg16 fasterrcnn_mobilenet_v3_large_320_fpn retinanet_resnet50_fpn fcos_resnet50_fpn
maskrcnn_resnet50_fpn keypointrcnn_resnet50_fpn""".split()
VIDEO = "r3d_18 mc3_18 r2plus1d_18 s3d mvit_v1_b mvit_v2_s swin3d_t".split()

TIMM = """beit_base_patch16_224 botnet26t_256 halonet26t lambda_resnet26t bat_resnext26ts gcresnext26ts mobileone_s0 gernet_s cait_xxs24_224
coat_lite_tiny convit_tiny convmixer_768_32 convnext_atto convnextv2_atto crossvit_9_240 cspresnet50 cspdarknet53 cs3darknet_s davit_tiny
deit3_small_patch16_224 deit_tiny_distilled_patch16_224 densenetblur121d dla46_c dpn68 edgenext_xx_small efficientformer_l1
efficientformerv2_s0 tf_efficientnet_b0 tf_efficientnetv2_b0 mixnet_s efficientnet_lite0 efficientvim_m1 efficientvit_b0 efficientvit_m0
eva02_tiny_patch14_224 fasternet_t0 fastvit_t8 focalnet_tiny_srf gcvit_xxtiny ghostnet_050 ghostnetv2_100 hardcorenas_a hgnetv2_b0
hiera_tiny_224 sam2_hiera_tiny hrnet_w18_small iformer_t inception_next_atto inception_resnet_v2 inception_v4 levit_128s levit_256d
mambaout_femto coatnet_nano_rw_224 coatnext_nano_rw_224 maxvit_nano_rw_256 maxxvit_rmlp_nano_rw_256 poolformer_s12 caformer_s18
convformer_s18 mixer_s32_224 resmlp_12_224 gmlp_ti16_224 gmixer_12_224 lcnet_050 mobilenetv3_small_050 tf_mobilenetv3_large_minimal_100
fbnetv3_b mobilenetv4_conv_small mobilenetv4_hybrid_medium mobilevit_xxs mobilevitv2_050 mvitv2_tiny nest_tiny nextvit_small
dm_nfnet_f0 nf_regnet_b0 eca_nfnet_l0 nf_resnet26 pit_ti_224 pvt_v2_b0 pvt_v2_b2_li rdnet_tiny regnetx_002 regnetz_005 repghostnet_050
repvit_m0_9 res2net50_26w_4s resnest14d resnet18d seresnet18 resnetv2_50 resnetblur18 ecaresnet26t rexnet_100 selecsls42 legacy_seresnet18
sequencer2d_s shvit_s1 skresnet18 starnet_s050 swiftformer_xs swin_tiny_patch4_window7_224 swin_s3_tiny_224 swinv2_tiny_window8_256
swinv2_cr_tiny_224 tiny_vit_5m_224 tnt_s_patch16_224 tresnet_m twins_svt_small twins_pcpvt_small repvgg_a0 vgg11 visformer_tiny
vit_tiny_patch16_224 vit_small_patch16_36x1_224 flexivit_small vit_relpos_small_patch16_224 vit_relpos_base_patch16_rpn_224
samvit_base_patch16_224 vit_tiny_r_s16_p8_224 vitamin_small_224 volo_d1_224 ese_vovnet19b_dw legacy_xception xception41 xcit_nano_12_p16_224
spnasnet_100 mnasnet_small tinynet_e semnasnet_075 resnet50_gn crossvit_tiny_240 naflexvit_base_patch16_gap test_vit""".split()

# Smallest sizes that these accept; everything else is tried with 64, then with larger images, then with its own size.
IMAGE = {"inception_v3": 96, "inception_v4": 96, "inception_resnet_v2": 96, "maxvit_t": 224, "flexivit_small": 96}

TRANSFORMERS = """bert roberta albert distilbert electra deberta deberta-v2 mpnet xlnet t5 mt5 umt5 bart mbart pegasus blenderbot led m2m_100 marian
gpt2 gpt_neo gptj gpt_neox gpt_bigcode openai-gpt codegen opt bloom falcon llama mistral mixtral qwen2 qwen3 qwen2_moe qwen3_moe gemma gemma2
gemma3_text phi phi3 stablelm starcoder2 olmo olmo2 cohere granite granitemoe persimmon mamba mamba2 rwkv falcon_mamba recurrent_gemma jamba
whisper wav2vec2 hubert wavlm sew data2vec-audio unispeech audio-spectrogram-transformer vit deit beit swin swinv2 segformer detr
conditional_detr dab-detr deformable_detr rt_detr table-transformer yolos dpt glpn clip siglip blip clipseg convnext convnextv2 resnet
regnet mobilebert squeezebert funnel longformer big_bird reformer perceiver convbert camembert esm ernie fnet nystromformer xlm flaubert
rembert roformer layoutlm lxmert splinter megatron-bert ibert canine dinov2 dinov3_vit focalnet poolformer pvt pvt_v2 efficientnet mobilenet_v1
mobilenet_v2 mobilevit mobilevitv2 levit cvt bit vit_mae vit_msn vitdet videomae vivit timesformer ijepa hiera textnet swiftformer swin2sr
modernbert nomic_bert biogpt ctrl xglm imagegpt decision_transformer time_series_transformer autoformer informer patchtst patchtsmixer
speech_to_text deepseek_v3 deepseek_v2 glm glm4 gpt_oss helium dbrx nemotron exaone4 smollm3 switch_transformers longt5 prophetnet
pegasus_x bigbird_pegasus owlvit groupvit flava vilt visual_bert chinese_clip align encodec dac univnet vits musicgen
maskformer mask2former upernet superpoint depth_anything zoedepth sam""".split()

SMALL = {"vocab_size": 99, "text_vocab_size": 99, "hidden_size": 32, "d_model": 32, "dim": 32, "n_embd": 32, "embed_dim": 32,
         "embedding_size": 32, "num_hidden_layers": 2, "n_layer": 2, "n_layers": 2, "num_layers": 2, "encoder_layers": 2,
         "decoder_layers": 2, "num_decoder_layers": 2, "num_attention_heads": 4, "num_heads": 4, "n_head": 4, "n_heads": 4,
         "encoder_attention_heads": 4, "decoder_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 48, "d_ff": 48,
         "ffn_dim": 48, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "d_kv": 8, "head_dim": 8, "d_inner": 48, "hidden_dim": 48,
         "max_position_embeddings": 64, "n_positions": 64, "n_ctx": 64, "max_source_positions": 64, "max_target_positions": 64,
         "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1, "image_size": 64, "num_experts": 4,
         "num_local_experts": 4, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16, "projection_dim": 16,
         "sliding_window": 8, "rotary_dim": 8, "attention_window": 4, "use_cache": False, "cross_attention_hidden_size": None,
         "num_mel_bins": 16, "n_routed_experts": 4, "q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 4,
         "qk_nope_head_dim": 8, "v_head_dim": 8, "state_size": 8, "num_experts_per_tok": 2, "num_queries": 10, "word_embed_proj_dim": 32}

# What the shrinking above cannot guess: attributes by model type. `None` as the whole entry leaves the configuration alone.
SPECIAL = {
    "detr": {"use_pretrained_backbone": False, "use_timm_backbone": False}, "albert": {"embedding_size": 16},
    "mobilebert": {"embedding_size": 16, "true_hidden_size": 16, "intra_bottleneck_size": 16, "hidden_size": 32},
    "segformer": {"hidden_sizes": [8, 16, 24, 32], "decoder_hidden_size": 16, "num_attention_heads": [1, 2, 2, 4]},
    "swin": {"embed_dim": 16, "window_size": 2, "depths": [1, 1, 1, 1], "num_heads": [1, 2, 4, 8]},
    "swinv2": {"embed_dim": 16, "depths": [1, 1, 1, 1], "num_heads": [1, 2, 4, 8]},
    "funnel": {"block_sizes": [1, 1, 1], "d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 48, "hidden_dropout": 0.0},
    "perceiver": {"d_model": 32, "d_latents": 32, "num_latents": 8, "num_self_attends_per_block": 2, "num_self_attention_heads": 4,
                  "num_cross_attention_heads": 4},
    "reformer": {"axial_pos_shape": [4, 4], "axial_pos_embds_dim": [16, 16], "attn_layers": ["local", "local"], "feed_forward_size": 48,
                 "attention_head_size": 8, "lsh_attn_chunk_length": 8, "local_attn_chunk_length": 8},
    "longformer": {"attention_window": [4, 4]}, "led": {"attention_window": [4, 4]},
    "wav2vec2": {"conv_dim": [16] * 7, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2},
    "hubert": {"conv_dim": [16] * 7, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2},
    "wavlm": {"conv_dim": [16] * 7, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2},
    "unispeech": {"conv_dim": [16] * 7, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2},
    "data2vec-audio": {"conv_dim": [16] * 7, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]}, "gpt2": {}, "xlnet": {"d_head": 8},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "expert_layer_period": 2, "expert_layer_offset": 1},
    "mamba2": {"num_heads": 8, "head_dim": 8, "expand": 2, "n_groups": 1, "chunk_size": 8},
    "recurrent_gemma": {"lru_width": 32},
    "vitdet": {"window_block_indices": [0], "residual_block_indices": []},
    "speech_to_text": {"input_feat_per_channel": 16}, "imagegpt": {"n_embd": 32}, "canine": {"num_hash_buckets": 64},
    "dpt": {"hidden_size": 32, "backbone_out_indices": [0, 0, 1, 1], "neck_hidden_sizes": [8, 8, 8, 8], "fusion_hidden_size": 8},
    "efficientnet": {"width_coefficient": 0.25, "depth_coefficient": 0.3, "hidden_dim": 320}, "audio-spectrogram-transformer": {"max_length": 32},
    "deepseek_v3": {"n_group": 1, "topk_group": 1, "num_experts_per_tok": 2, "first_k_dense_replace": 1, "num_key_value_heads": 4},
    "deepseek_v2": {"n_group": 1, "topk_group": 1, "num_experts_per_tok": 2, "first_k_dense_replace": 1, "num_key_value_heads": 4},
    "convnext": {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 2, 1]}, "convnextv2": {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 2, 1]},
    "cvt": {"embed_dim": [8, 16, 32], "num_heads": [1, 2, 4], "depth": [1, 1, 2]}, "pvt": {"hidden_sizes": [8, 16, 24, 32], "num_attention_heads": [1, 2, 2, 4]},
    "pvt_v2": {"hidden_sizes": [8, 16, 24, 32], "num_attention_heads": [1, 2, 2, 4]}, "rwkv": {"attention_hidden_size": 32},
    "time_series_transformer": {"prediction_length": 4, "context_length": 8, "lags_sequence": [1, 2]},
    "autoformer": {"prediction_length": 4, "context_length": 8, "lags_sequence": [1, 2]},
    "informer": {"prediction_length": 4, "context_length": 8, "lags_sequence": [1, 2]},
    "levit": {"hidden_sizes": [16, 32, 48], "num_attention_heads": [2, 4, 6]}, "hiera": {"embed_dim": 16, "depths": [1, 1, 1, 1], "num_heads": [1, 2, 4, 8]},
    "mobilevit": {"hidden_sizes": [16, 24, 32], "neck_hidden_sizes": [8, 16, 16, 24, 32, 32, 48]}, "focalnet": {"embed_dim": 16, "hidden_sizes": [16, 32, 64, 128], "depths": [1, 1, 1, 1]},
    "bit": {"embedding_size": 16, "hidden_sizes": [32, 64], "depths": [1, 1]}, "resnet": {"embedding_size": 16, "hidden_sizes": [16, 32, 48, 64]},
    "regnet": {"embedding_size": 16, "hidden_sizes": [16, 32, 48, 64], "groups_width": 8}, "sew": {"conv_dim": (16,) * 13, "squeeze_factor": 2},
}


def seen(module):
    """Makes weights that a fresh model leaves at 0 or 1 count: affine parameters, layer scales, running statistics."""
    torch.manual_seed(1)
    with torch.no_grad():
        for p in module.parameters():
            if p.dtype.is_floating_point and p.numel() and bool((p == p.flatten()[0]).all()):
                p.add_(0.05 * torch.randn(p.shape))
        for m in module.modules():
            if isinstance(m, nn.modules.batchnorm._BatchNorm) and m.running_mean is not None:
                m.running_mean.normal_(0, 0.1)
                m.running_var.uniform_(0.7, 1.3)
    return module.eval()


class Flat(nn.Module):
    """Keeps the tensors of a model's outputs, whatever they are wrapped in."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, inputs):
        from torch.utils._pytree import tree_leaves
        out = self.model(**{n: inputs[n] for n in self.names})
        out = out.to_tuple() if hasattr(out, "to_tuple") else out
        kept, ids = [], set()
        for leaf in tree_leaves(out):
            if isinstance(leaf, torch.Tensor) and id(leaf) not in ids:
                kept.append(leaf), ids.add(id(leaf))
        return tuple(kept)


def works(model, inputs):
    try:
        with torch.no_grad():
            model(**inputs)
        return True
    except Exception:
        return False


def torchvision_model(name, kind):
    import torchvision.models as tv
    def build():
        if kind == "video":
            model = getattr(tv.video, name)()
            sizes = [(16, 224)] if name.startswith(("mvit", "swin")) else [(16, 64)] if name == "s3d" else [(8, 64)]
            return model, {"x": torch.randn(1, 3, *[(t, s, s) for t, s in sizes][0])}
        if kind == "flow":
            return tv.optical_flow.raft_small(), {"image1": torch.rand(1, 3, 128, 128), "image2": torch.rand(1, 3, 128, 128)}
        if kind == "segmentation":
            return getattr(tv.segmentation, name)(weights=None, weights_backbone=None), {"x": torch.randn(BATCH, 3, 64, 64)}
        if kind == "detection":
            model = getattr(tv.detection, name)(weights=None, weights_backbone=None).eval()
            class Detect(nn.Module):
                def __init__(self): super().__init__(); self.m = model
                def forward(self, x): return self.m([x[0]])
            return Detect(), {"x": torch.rand(1, 3, 96, 96)}
        kw = {"init_weights": False} if name in ("inception_v3", "googlenet") else {}
        size = IMAGE.get(name, 64)
        if name.startswith("vit"):
            kw["image_size"] = 64
        model = getattr(tv, name)(weights=None, **kw).eval()
        return model, {"x": torch.randn(BATCH, 3, size, size)}
    return build


def timm_model(name):
    def build():
        import timm
        for size in [IMAGE.get(name, 64), 64, 96, 128, 192, 224, 256]:
            for kw in ({"img_size": size}, {}):
                try:
                    model = timm.create_model(name, pretrained=False, **kw).eval()
                except Exception:
                    continue
                inputs = {"x": torch.randn(BATCH, 3, size, size)}
                if works(model, inputs):
                    return model, inputs
        raise RuntimeError("no image size fits")
    return build


def shrink(config, kind, depth=0):
    for key, value in SMALL.items():
        if hasattr(config, key) and not isinstance(getattr(config, key), (list, tuple, dict)):
            try:
                setattr(config, key, value)
            except Exception:
                pass
    for key, value in SPECIAL.get(kind, {}).items():
        setattr(config, key, value)
    for key, value in list(vars(config).items()):
        if depth < 2 and hasattr(value, "model_type"):
            shrink(value, value.model_type, depth + 1)
    for key in ("layer_types", "mlp_layer_types"):
        types = getattr(config, key, None)
        if isinstance(types, list) and not isinstance(getattr(type(config), key, None), property):
            setattr(config, key, types[:2])
    return config


def transformers_inputs(kind, config, model):
    """Inputs by the names that the model's forward takes."""
    import inspect
    names = inspect.signature(model.forward).parameters
    text = getattr(config, "text_config", None) or config
    vocab = getattr(text, "vocab_size", None) or 99
    ids = lambda n=16: torch.randint(3, min(vocab, 99), (BATCH, n))
    mask = torch.ones(BATCH, 16, dtype=torch.int64)
    mask[1, 11:] = 0
    out = {}
    if "input_ids" in names:
        out["input_ids"] = ids()
        if "attention_mask" in names and kind not in ("rwkv", "xlnet", "mamba", "falcon_mamba", "recurrent_gemma", "reformer"):
            out["attention_mask"] = mask
    elif "inputs" in names and kind == "perceiver":
        out["inputs"] = torch.randn(BATCH, 12, config.d_model)
    if "decoder_input_ids" in names and kind not in ("detr",):
        out["decoder_input_ids"] = ids(8)
    vision = getattr(config, "vision_config", None) or config
    size = getattr(vision, "image_size", 64) or 64
    size = size if isinstance(size, int) else size[0]
    channels = getattr(vision, "num_channels", 3)
    if "pixel_values" in names:
        video = kind in ("videomae", "vivit", "timesformer")
        frames = (getattr(config, "num_frames", 8),) if video else ()
        out["pixel_values"] = torch.randn(BATCH, *frames, channels, size, size)
    if "input_values" in names:
        out["input_values"] = (torch.randn(BATCH, config.max_length, config.num_mel_bins) if kind == "audio-spectrogram-transformer"
                               else torch.randn(BATCH, 1, 2000) if kind in ("encodec", "dac") else torch.randn(BATCH, 2000))
    if "input_features" in names:
        out["input_features"] = torch.randn(BATCH, config.num_mel_bins, 128) if kind == "whisper" else torch.randn(BATCH, 40, 16)
    if "past_values" in names:
        n = (config.context_length + max(config.lags_sequence)) if hasattr(config, "lags_sequence") else config.context_length
        one = kind in ("patchtst", "patchtsmixer")
        out["past_values"] = torch.randn(BATCH, n, config.num_input_channels) if one else torch.randn(BATCH, n)
        if not one:
            out["past_time_features"] = torch.randn(BATCH, n, config.num_time_features)
            out["past_observed_mask"] = torch.ones(BATCH, n)
            out["future_time_features"] = torch.randn(BATCH, config.prediction_length, config.num_time_features)
            out["future_values"] = torch.randn(BATCH, config.prediction_length)
    if kind == "lxmert":
        out["visual_feats"], out["visual_pos"] = torch.randn(BATCH, 5, config.visual_feat_dim), torch.rand(BATCH, 5, 4)
    if kind == "visual_bert":
        out["visual_embeds"] = torch.randn(BATCH, 4, config.visual_embedding_dim)
    if kind == "layoutlm":
        out["bbox"] = torch.randint(0, 60, (BATCH, 16, 4)).sort(-1).values
    if kind == "decision_transformer":
        out = {"states": torch.randn(BATCH, 6, config.state_dim), "actions": torch.randn(BATCH, 6, config.act_dim),
               "rewards": torch.randn(BATCH, 6, 1), "returns_to_go": torch.randn(BATCH, 6, 1),
               "timesteps": torch.arange(6).expand(BATCH, 6), "attention_mask": torch.ones(BATCH, 6, dtype=torch.int64)}
    if kind == "vits":
        out.pop("attention_mask", None)
    return out


def transformers_model(kind):
    def build():
        from transformers import AutoConfig, AutoModel
        config = shrink(AutoConfig.for_model(kind), kind)
        model = AutoModel.from_config(config).eval().float()
        return model, transformers_inputs(kind, config, model)
    return build


MODELS = {f"tv/{n}": torchvision_model(n, "classification") for n in TORCHVISION}
MODELS.update({f"tv/{n}": torchvision_model(n, "segmentation") for n in SEGMENTATION})
MODELS.update({f"tv/{n}": torchvision_model(n, "video") for n in VIDEO})
MODELS.update({f"tv/{n}": torchvision_model(n, "detection") for n in DETECTION})
MODELS["tv/raft_small"] = torchvision_model("raft_small", "flow")
MODELS.update({f"timm/{n}": timm_model(n) for n in TIMM})
MODELS.update({f"hf/{n}": transformers_model(n) for n in TRANSFORMERS})
