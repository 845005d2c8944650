# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports the handed models: NAME.pt2 (torch.export archive), NAME.in.safetensors (keys: input names), NAME.out.safetensors
(keys "0", "1", ... : flattened outputs, as eager PyTorch computes them), and for dynamic models .in2/.out2 with other sizes.
NAME.state.safetensors holds buffers that the call mutated (keys: buffer names), where it mutates any.
Usage: python make_models.py OUTDIR [NAME...]      (PyTorch 2.15, transformers 5.24, torchvision 0.29; CPU is enough)"""
import inspect, math, sys, json, os
import torch, torch.nn as nn, torch.nn.functional as F
from torch.export import Dim, export
from safetensors.torch import save_file

MODELS = {}
def model(f): MODELS[f.__name__] = f; return f

# ---- plain feed-forward ------------------------------------------------------------------------------------------
class Mlp(nn.Module):
    def __init__(s, d=64, h=256):
        super().__init__(); s.norm = nn.LayerNorm(d); s.up = nn.Linear(d, h); s.down = nn.Linear(h, d); s.head = nn.Linear(d, 10)
    def forward(s, x):
        x = x + s.down(F.gelu(s.up(s.norm(x))))
        return F.log_softmax(s.head(x), -1)
@model
def mlp(): return Mlp(), (torch.randn(32, 64),), None, None
@model
def mlp_dynamic():                      # any batch from 1 up; sizes 0/1 are not special
    b = Dim("batch", min=1, max=4096)
    return Mlp(), (torch.randn(7, 64),), {"x": {0: b}}, (torch.randn(1, 64),)

# ---- recurrent -----------------------------------------------------------------------------------------------------
class Lstm(nn.Module):
    def __init__(s):
        super().__init__(); s.rnn = nn.LSTM(24, 32, num_layers=2, bidirectional=True, batch_first=True); s.out = nn.Linear(64, 5)
    def forward(s, x):
        y, (h, c) = s.rnn(x); return s.out(y[:, -1]), h, c
@model
def lstm(): return Lstm(), (torch.randn(3, 11, 24),), None, None
class LstmCellLoop(nn.Module):          # the seed's example: a cell stepped by the program; pointwise gates must become one kernel a step
    def __init__(s): super().__init__(); s.cell = nn.LSTMCell(16, 32)
    def forward(s, x, h, c):
        ys = []
        for t in range(x.shape[0]):
            h, c = s.cell(x[t], (h, c)); ys.append(h)
        return torch.stack(ys), c
@model
def lstm_cell_loop(): return LstmCellLoop(), (torch.randn(6, 4, 16), torch.zeros(4, 32), torch.zeros(4, 32)), None, None

# ---- convolutional ---------------------------------------------------------------------------------------------------
class Basic(nn.Module):
    def __init__(s, i, o, stride):
        super().__init__()
        s.c1 = nn.Conv2d(i, o, 3, stride, 1, bias=False); s.b1 = nn.BatchNorm2d(o)
        s.c2 = nn.Conv2d(o, o, 3, 1, 1, bias=False); s.b2 = nn.BatchNorm2d(o)
        s.sk = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o)) if stride != 1 or i != o else nn.Identity()
    def forward(s, x): return F.relu(s.b2(s.c2(F.relu(s.b1(s.c1(x))))) + s.sk(x))
class Resnet(nn.Module):
    def __init__(s):
        super().__init__()
        s.stem = nn.Sequential(nn.Conv2d(3, 16, 7, 2, 3, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        s.body = nn.Sequential(Basic(16, 16, 1), Basic(16, 32, 2), Basic(32, 64, 2)); s.fc = nn.Linear(64, 10)
    def forward(s, x): return s.fc(torch.flatten(F.adaptive_avg_pool2d(s.body(s.stem(x)), 1), 1))
def _seen(m):                           # batch-norm statistics that are not 0 and 1
    for k in m.modules():
        if isinstance(k, nn.modules.batchnorm._BatchNorm): k.running_mean.normal_(0, .2); k.running_var.uniform_(.5, 1.5); k.weight.data.uniform_(.5, 1.5); k.bias.data.normal_(0, .1)
    return m
@model
def resnet_small(): return _seen(Resnet()), (torch.randn(2, 3, 64, 64),), None, None
class Inverted(nn.Module):
    def __init__(s, c, e, k, act):
        super().__init__()
        s.f = nn.Sequential(nn.Conv2d(c, e, 1, bias=False), nn.BatchNorm2d(e), act(), nn.Conv2d(e, e, k, 1, k//2, groups=e, bias=False), nn.BatchNorm2d(e), act())
        s.se = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(e, e//4, 1), nn.ReLU(), nn.Conv2d(e//4, e, 1), nn.Hardsigmoid()); s.p = nn.Sequential(nn.Conv2d(e, c, 1, bias=False), nn.BatchNorm2d(c))
    def forward(s, x): y = s.f(x); return x + s.p(y * s.se(y))
class Mobile(nn.Module):
    def __init__(s):
        super().__init__(); s.f = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.Hardswish(), Inverted(16, 48, 3, nn.ReLU), Inverted(16, 64, 5, nn.Hardswish)); s.fc = nn.Linear(16, 8)
    def forward(s, x): return s.fc(s.f(x).mean((2, 3)))
@model
def mobile_small():
    d = {"x": {0: Dim("batch", max=64), 2: Dim("h", min=16, max=256), 3: Dim("w", min=16, max=256)}}
    return _seen(Mobile()), (torch.randn(2, 3, 48, 40),), d, (torch.randn(1, 3, 33, 70),)
class Unet(nn.Module):
    def __init__(s, c=16):
        super().__init__()
        blk = lambda i, o: nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(4, o), nn.SiLU(), nn.Conv2d(o, o, 3, padding=1), nn.GroupNorm(4, o), nn.SiLU())
        s.d1, s.d2, s.mid = blk(4, c), blk(c, 2*c), blk(2*c, 4*c); s.up2 = nn.ConvTranspose2d(4*c, 2*c, 2, 2); s.u2 = blk(4*c, 2*c); s.u1 = blk(3*c, c); s.out = nn.Conv2d(c, 4, 1); s.t = nn.Linear(32, 4*c)
    def forward(s, x, t):
        f = torch.exp(-math.log(10000.) * torch.arange(16) / 16); e = torch.cat([torch.sin(t[:, None] * f), torch.cos(t[:, None] * f)], -1)
        a = s.d1(x); b = s.d2(F.avg_pool2d(a, 2)); m = s.mid(F.max_pool2d(b, 2)) + s.t(e)[:, :, None, None]
        u = s.u2(torch.cat([s.up2(m), b], 1)); u = s.u1(torch.cat([F.interpolate(u, scale_factor=2, mode="bilinear", align_corners=False), a], 1)); return s.out(u)
@model
def unet_small(): return Unet(), (torch.randn(1, 4, 32, 32), torch.tensor([17.])), None, None

# ---- transformers ----------------------------------------------------------------------------------------------------
@model
def bert_mini():
    from transformers import BertConfig, BertModel
    m = BertModel(BertConfig(vocab_size=200, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, max_position_embeddings=64, attn_implementation="sdpa"))
    class W(nn.Module):
        def __init__(s): super().__init__(); s.m = m
        def forward(s, input_ids, attention_mask): o = s.m(input_ids=input_ids, attention_mask=attention_mask); return o.last_hidden_state, o.pooler_output
    ids = torch.randint(0, 200, (2, 16)); mask = torch.ones(2, 16, dtype=torch.long); mask[1, 11:] = 0
    return W(), (ids, mask), None, None
@model
def gpt2_mini():                        # batch and sequence both dynamic
    from transformers import GPT2Config, GPT2LMHeadModel
    m = GPT2LMHeadModel(GPT2Config(vocab_size=128, n_positions=64, n_embd=64, n_layer=2, n_head=4, attn_implementation="sdpa"))
    class W(nn.Module):
        def __init__(s): super().__init__(); s.m = m
        def forward(s, input_ids): return s.m(input_ids=input_ids, use_cache=False).logits
    return W(), (torch.randint(0, 128, (2, 12)),), {"input_ids": {0: Dim("batch", max=16), 1: Dim("seq", min=2, max=64)}}, (torch.randint(0, 128, (1, 33)),)
class RmsNorm(nn.Module):
    def __init__(s, d): super().__init__(); s.w = nn.Parameter(torch.rand(d) + .5)
    def forward(s, x): return (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * s.w
class Decoder(nn.Module):               # rotary embedding, grouped-query attention, SwiGLU, static key/value cache kept in buffers
    def __init__(s, L=2, d=64, h=4, kv=2, ctx=32, vocab=96):
        super().__init__(); s.h, s.kv, s.hd, s.L = h, kv, d//h, L; s.emb = nn.Embedding(vocab, d)
        s.n1 = nn.ModuleList(RmsNorm(d) for _ in range(L)); s.n2 = nn.ModuleList(RmsNorm(d) for _ in range(L)); lin = lambda i, o: nn.ModuleList(nn.Linear(i, o, bias=False) for _ in range(L))
        s.q, s.k, s.v, s.o = lin(d, d), lin(d, kv*s.hd), lin(d, kv*s.hd), lin(d, d); s.g, s.u, s.dn = lin(d, 2*d), lin(d, 2*d), lin(2*d, d); s.nf = RmsNorm(d)
        for i in range(L): s.register_buffer(f"kc{i}", torch.zeros(1, kv, ctx, s.hd)); s.register_buffer(f"vc{i}", torch.zeros(1, kv, ctx, s.hd))
        s.register_buffer("inv", 1. / 10000 ** (torch.arange(0, s.hd, 2) / s.hd))
    def rope(s, x, pos):
        a = pos[:, None].float() * s.inv; c, n = torch.cat([a, a], -1).cos(), torch.cat([a, a], -1).sin(); x1, x2 = x.chunk(2, -1); return x * c + torch.cat([-x2, x1], -1) * n
    def forward(s, tokens, pos):
        B, T = tokens.shape; x = s.emb(tokens); ctx = s.kc0.shape[2]; mask = torch.arange(ctx)[None, :] <= pos[:, None]
        for i in range(s.L):
            y = s.n1[i](x); sp = lambda t, n: t.view(B, T, n, s.hd).transpose(1, 2)
            q, k, v = s.rope(sp(s.q[i](y), s.h), pos), s.rope(sp(s.k[i](y), s.kv), pos), sp(s.v[i](y), s.kv)
            kc, vc = getattr(s, f"kc{i}"), getattr(s, f"vc{i}"); kc.index_copy_(2, pos, k); vc.index_copy_(2, pos, v)
            a = F.scaled_dot_product_attention(q, kc, vc, attn_mask=mask, enable_gqa=True); x = x + s.o[i](a.transpose(1, 2).reshape(B, T, -1))
            y = s.n2[i](x); x = x + s.dn[i](F.silu(s.g[i](y)) * s.u[i](y))
        return F.linear(s.nf(x), s.emb.weight)
@model
def llama_decode(): return Decoder(), (torch.tensor([[5]]), torch.tensor([3])), None, None        # one token; caches mutate
@model
def llama_prefill(): return Decoder(), (torch.randint(0, 96, (1, 9)), torch.arange(9)), None, None
class Vit(nn.Module):
    def __init__(s, d=48, L=2):
        super().__init__(); s.p = nn.Conv2d(3, d, 8, 8); s.cls = nn.Parameter(torch.randn(1, 1, d)); s.pos = nn.Parameter(torch.randn(1, 17, d) * .02)
        s.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 96, 0., F.gelu, batch_first=True, norm_first=True), L, enable_nested_tensor=False); s.fc = nn.Linear(d, 10)
    def forward(s, x): x = s.p(x).flatten(2).transpose(1, 2); x = torch.cat([s.cls.expand(x.shape[0], -1, -1), x], 1) + s.pos; return s.fc(s.enc(x)[:, 0])
@model
def vit_small(): return Vit(), (torch.randn(2, 3, 32, 32),), None, None
class Moe(nn.Module):                   # top-2 routing, gather, one-hot weights, index_add
    def __init__(s, d=32, e=4): super().__init__(); s.gate = nn.Linear(d, e); s.w1 = nn.Parameter(torch.randn(e, d, 64) * .1); s.w2 = nn.Parameter(torch.randn(e, 64, d) * .1)
    def forward(s, x):
        p, i = torch.topk(F.softmax(s.gate(x), -1), 2); p = p / p.sum(-1, keepdim=True); h = F.silu(torch.einsum("nd,nkdh->nkh", x, s.w1[i])); y = torch.einsum("nkh,nkhd->nkd", h, s.w2[i])
        load = torch.zeros(4).index_add(0, i.flatten(), torch.ones(i.numel())); return (y * p[..., None]).sum(1), load
@model
def moe(): return Moe(), (torch.randn(24, 32),), None, None

# ---- control flow, state, types -----------------------------------------------------------------------------------------
class Control(nn.Module):
    def __init__(s): super().__init__(); s.a = nn.Linear(8, 8); s.b = nn.Linear(8, 8)
    def forward(s, x, n):
        y = torch.cond(x.sum() > 0, lambda t: s.a(t).relu(), lambda t: s.b(t).sin(), (x,))
        from torch._higher_order_ops.while_loop import while_loop
        i, z = while_loop(lambda i, z: i < n, lambda i, z: (i + 1, torch.tanh(s.a(z)) + y), (torch.zeros((), dtype=torch.int64), y)); return z, i
@model
def control_flow(): return Control(), (torch.randn(5, 8), torch.tensor(4)), {"x": {0: Dim("rows", max=64)}, "n": {}}, (-torch.rand(9, 8), torch.tensor(0))
class BnTrain(nn.Module):               # mutates running statistics and a counter
    def __init__(s): super().__init__(); s.c = nn.Conv2d(3, 8, 3); s.bn = nn.BatchNorm2d(8); s.register_buffer("seen", torch.zeros((), dtype=torch.int64))
    def forward(s, x): s.seen.add_(x.shape[0]); return F.relu(s.bn(s.c(x)))
@model
def batchnorm_train(): return BnTrain().train(), (torch.randn(4, 3, 10, 10),), None, None
class Types(nn.Module):                 # promotion, integer division, comparison, where, masked fill, shifts, casts that saturate nowhere
    def forward(s, f, h, i, b):
        return (f * i, h + 1.5, i // 3, i % 5, torch.div(i, -3, rounding_mode="trunc"), torch.where(b, f, h), f.masked_fill(b, -1e9), i.to(torch.uint8), (i << 2) ^ 7, torch.clamp(f, -0.5, 0.5).round(), f.cumsum(1),
                torch.argmax(f, 1), torch.sort(f, stable=True, dim=1)[1], (f > 0).sum(0), f.amax(1), f.std(1), i.float().prod(1), torch.tril(f), f.roll(2, 1), f.flip(0), h.float().softmax(0), torch.isnan(f / f.relu()))
@model
def dtypes(): return Types(), (torch.randn(6, 6), torch.randn(6, 6).half(), torch.arange(-18, 18).view(6, 6), torch.rand(6, 6) > .5), None, None
class Views(nn.Module):                 # in-place writes through views; aliased outputs
    def forward(s, x):
        y = x.clone(); y[1:3, ::2] += 1; v = y.view(-1); v[3] = 7.; y.t()[0].mul_(2); z = y.expand(2, -1, -1); return y, z, y.as_strided((3, 2), (2, 3), 1), x
@model
def views_inplace(): return Views(), (torch.randn(4, 6),), None, None
class Half(nn.Module):
    def __init__(s): super().__init__(); s.m = Mlp().to(torch.bfloat16); s.c = nn.Conv1d(64, 32, 3, padding=1)
    def forward(s, x):
        y = s.m(x.to(torch.bfloat16))
        with torch.autocast("cpu", dtype=torch.bfloat16): z = s.c(x.t()[None])
        with torch.no_grad(): w = (x * 2).sum(1)
        return y, z, w
@model
def bf16_autocast(): return Half(), (torch.randn(8, 64),), None, None
class Recommend(nn.Module):
    def __init__(s): super().__init__(); s.bags = nn.ModuleList(nn.EmbeddingBag(50, 16, mode="sum") for _ in range(3)); s.bot = nn.Linear(13, 16); s.top = nn.Linear(16 + 6, 1); s.register_buffer("li", torch.tril_indices(4, 4, -1))
    def forward(s, dense, i0, i1, i2):
        d = F.relu(s.bot(dense)); e = torch.stack([d] + [b(i) for b, i in zip(s.bags, (i0, i1, i2))], 1); z = torch.bmm(e, e.transpose(1, 2)); return torch.sigmoid(s.top(torch.cat([d, z[:, s.li[0], s.li[1]]], 1)))
@model
def recommend(): return Recommend(), (torch.randn(6, 13),) + tuple(torch.randint(0, 50, (6, 4)) for _ in range(3)), None, None
class Detect(nn.Module):
    def forward(s, boxes, scores):
        sc, lab = scores.sigmoid().max(-1); k, idx = sc.topk(5, 1); b = boxes.gather(1, idx[..., None].expand(-1, -1, 4)); cx, cy, w, h = b.unbind(-1); xy = torch.stack([cx - w/2, cy - h/2, cx + w/2, cy + h/2], -1).clamp(0, 1)
        tl = torch.maximum(xy[:, :, None, :2], xy[:, None, :, :2]); br = torch.minimum(xy[:, :, None, 2:], xy[:, None, :, 2:]); inter = (br - tl).clamp(min=0).prod(-1); a = (xy[..., 2:] - xy[..., :2]).prod(-1); return xy, lab.gather(1, idx), inter / (a[:, :, None] + a[:, None] - inter + 1e-6)
@model
def detect_head(): return Detect(), (torch.rand(2, 12, 4), torch.randn(2, 12, 7)), None, None

def relocate(gm):                       # source lines stay useful, without the folders of whoever exported
    import re
    for g in gm.modules():
        if not isinstance(g, torch.fx.GraphModule): continue
        for n in g.graph.nodes:
            t = n.meta.get("stack_trace")
            if t: n.meta["stack_trace"] = re.sub(r'File "[^"]*/(site-packages/)?(?=[^"]*")', lambda k: 'File "' , re.sub(r'File "[^"]*/site-packages/([^"]*)"', lambda k: 'File "' + k[1].replace("/", "\0") + '"', t)).replace("\0", "/")

# ---- write -----------------------------------------------------------------------------------------------------------
def flat(o): return [t for t in torch.utils._pytree.tree_leaves(o) if t is not None]
def write(out, name):
    torch.manual_seed(sum(map(ord, name))); m, args, dyn, args2 = MODELS[name]()
    if name != "batchnorm_train": m = m.eval()
    for p in m.parameters(): p.requires_grad_(True)
    ep = export(m, args, dynamic_shapes=dyn, strict=False)
    relocate(ep.graph_module); torch.export.save(ep, f"{out}/{name}.pt2")
    names = [a for a in ep.graph_signature.user_inputs if isinstance(a, str)]
    for tag, a in (("", args), ("2", args2)):
        if a is None: continue
        state0 = {k: v.clone() for k, v in m.state_dict().items()}
        ins = {n: t.detach().clone().contiguous() for n, t in zip(names, flat(a))}
        with torch.no_grad(): y = flat(m(*[t.clone() for t in a]))
        save_file(ins, f"{out}/{name}.in{tag}.safetensors", {"order": json.dumps(names)})
        save_file({str(i): t.detach().clone().contiguous() for i, t in enumerate(y)}, f"{out}/{name}.out{tag}.safetensors")
        changed = {k: v.detach().clone().contiguous() for k, v in m.state_dict().items() if not torch.equal(v, state0[k])}
        if changed: save_file(changed, f"{out}/{name}.state{tag}.safetensors")
        m.load_state_dict(state0)
    return sum(n.op == "call_function" for n in ep.graph.nodes)
if __name__ == "__main__":
    out = sys.argv[1]; os.makedirs(out, exist_ok=True)
    for n in sys.argv[2:] or MODELS:
        try: print(f"{n}: {write(out, n)} calls, {os.path.getsize(f'{out}/{n}.pt2')} bytes")
        except Exception as e: print(f"{n}: FAILED {type(e).__name__}: {str(e)[:300]}")
