# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Golden training runs. For each NAME in TRAIN: NAME.pt2 (forward ending in a scalar loss, output "0"), NAME.train.json (what to do),
NAME.batches.safetensors (keys "STEP.INPUT"), NAME.golden.safetensors: "loss" [steps] f64 (eager float64), "loss_eager" [steps] (eager in the
run's own precision), "grad.PARAM" (gradient at step 0, float64), "final.PARAM" / "final.BUFFER" (after the last step, run's own precision),
and for loss scaling "scale" [steps] and "skipped" [steps].
digits.safetensors: the UCI optical digits set as scikit-learn ships it: images u8 [1797, 64] (0..16), labels i64 [1797].
Usage: python make_training.py OUTDIR"""
import copy, json, os, sys
import torch, torch.nn as nn, torch.nn.functional as F
from torch.export import export
from safetensors.torch import save_file
import make_models as mm
TRAIN = {}
def train(f): TRAIN[f.__name__] = f; return f
class WithLoss(nn.Module):
    def __init__(s, m): super().__init__(); s.m = m
    def forward(s, x, target): y = s.m(x); return F.cross_entropy(y, target), y
class LmLoss(nn.Module):
    def __init__(s, m): super().__init__(); s.m = m
    def forward(s, input_ids): y = s.m(input_ids); return F.cross_entropy(y[:, :-1].flatten(0, 1), input_ids[:, 1:].flatten())
def digits():
    from sklearn.datasets import load_digits
    d = load_digits(); return torch.tensor(d.images.reshape(-1, 64)).to(torch.uint8), torch.tensor(d.target)
def digit_batches(n, b, shape=(64,)):
    x, y = digits(); p = torch.randperm(len(x))[: n * b].view(n, b); return [(x[i].float().view(b, *shape) / 16, y[i]) for i in p]
class DigitNet(nn.Module):
    def __init__(s): super().__init__(); s.net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.LayerNorm(128), nn.Linear(128, 10))
    def forward(s, x): return s.net(x)
class Cnn(nn.Module):
    def __init__(s): super().__init__(); s.f = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.BatchNorm2d(16), nn.ReLU()); s.fc = nn.Linear(64, 10)
    def forward(s, x): return s.fc(s.f(x).flatten(1))
@train
def digits_sgd(): return WithLoss(DigitNet()), digit_batches(20, 64), dict(optimizer=dict(name="sgd", lr=0.1, momentum=0.9, weight_decay=1e-4, nesterov=True))
@train
def digits_adamw(): return WithLoss(DigitNet()), digit_batches(20, 64), dict(optimizer=dict(name="adamw", lr=3e-3, betas=[0.9, 0.99], eps=1e-8, weight_decay=0.01), clip_grad_norm=1.0)
@train
def digits_accumulate(): return WithLoss(DigitNet()), digit_batches(20, 16), dict(optimizer=dict(name="adam", lr=1e-3, betas=[0.9, 0.999], eps=1e-8), accumulate=4)
@train
def cnn_batchnorm(): return WithLoss(Cnn()), digit_batches(10, 32, (1, 8, 8)), dict(optimizer=dict(name="sgd", lr=0.05, momentum=0.9))
@train
def digits_bf16(): return WithLoss(DigitNet()), digit_batches(20, 64), dict(optimizer=dict(name="sgd", lr=0.1), autocast="bfloat16")
@train
def digits_f16_scaler(): return WithLoss(DigitNet()), digit_batches(20, 64), dict(optimizer=dict(name="sgd", lr=0.1), autocast="float16", loss_scale=dict(init=2.0**24, growth=2.0, backoff=0.5, growth_interval=4))
@train
def gpt2_adamw(): return LmLoss(mm.MODELS["gpt2_mini"]()[0]), [(torch.randint(0, 128, (2, 16)),) for _ in range(5)], dict(optimizer=dict(name="adamw", lr=1e-3, betas=[0.9, 0.95], eps=1e-8, weight_decay=0.1), clip_grad_norm=1.0)
@train
def llama_sgd():
    m = mm.Decoder(); 
    class L(nn.Module):                 # mean squared distance of hidden products; gradients through rotary embedding, grouped attention, tied embedding
        def __init__(s): super().__init__(); s.m = m
        def forward(s, x, pos): y = s.m(x, pos); return F.cross_entropy(y[:, :-1].flatten(0, 1), x[:, 1:].flatten())
    return L(), [(torch.randint(0, 96, (1, 9)), torch.arange(9)) for _ in range(4)], dict(optimizer=dict(name="sgd", lr=0.05))
def make_opt(spec, ps):
    o = dict(spec); n = o.pop("name"); o["betas"] = tuple(o["betas"]) if "betas" in o else None; o = {k: v for k, v in o.items() if v is not None}
    return {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[n](ps, **o)
def run(m, batches, spec, dtype):
    m = copy.deepcopy(m).to(dtype); opt = make_opt(spec["optimizer"], m.parameters()); acc = spec.get("accumulate", 1); losses, g0, scales, skipped = [], None, [], []
    ls = spec.get("loss_scale"); scale, good = (ls["init"], 0) if ls else (1.0, 0)
    for i, b in enumerate(batches):
        if "m.kc0" in dict(m.named_buffers()): 
            for k, v in m.named_buffers(): 
                if ".kc" in k or ".vc" in k: v.detach_()
        b = [t.to(dtype) if t.is_floating_point() else t for t in b]
        with torch.autocast("cpu", dtype=getattr(torch, spec["autocast"])) if "autocast" in spec and dtype != torch.float64 else torch.no_grad() if False else __import__("contextlib").nullcontext(): out = m(*b); loss = (out[0] if isinstance(out, tuple) else out)
        losses.append(loss.item()); (loss.float() * scale / acc if dtype != torch.float64 else loss / acc).backward()
        if (i + 1) % acc: continue
        if ls and dtype != torch.float64:
            scales.append(scale); bad = any(not torch.isfinite(p.grad).all() for p in m.parameters() if p.grad is not None); skipped.append(bad)
            for p in m.parameters(): p.grad.div_(scale)
        else: bad = False
        if g0 is None and not bad: g0 = {k: p.grad.clone() for k, p in m.named_parameters() if p.grad is not None}
        if "clip_grad_norm" in spec: torch.nn.utils.clip_grad_norm_(m.parameters(), spec["clip_grad_norm"])
        if not bad: opt.step()
        if ls: 
            if bad: scale, good = scale * ls["backoff"], 0
            else:
                good += 1
                if good == ls["growth_interval"]: scale, good = scale * ls["growth"], 0
        opt.zero_grad()
    return losses, g0, m, scales, skipped
if __name__ == "__main__":
    out = sys.argv[1]; os.makedirs(out, exist_ok=True); x, y = digits(); save_file({"images": x, "labels": y}, f"{out}/digits.safetensors")
    for name, f in TRAIN.items():
        torch.manual_seed(sum(map(ord, name))); m, batches, spec = f(); m.train()
        for k in m.modules():
            if isinstance(k, nn.Dropout): k.p = 0.0
        ep = export(m, batches[0], strict=False); mm.relocate(ep.graph_module); torch.export.save(ep, f"{out}/{name}.pt2"); names = [a for a in ep.graph_signature.user_inputs]
        l64, g64, _, _, _ = run(m, batches, spec, torch.float64); l32, _, m32, sc, sk = run(m, batches, spec, torch.float32)
        gold = {"loss": torch.tensor(l64, dtype=torch.float64), "loss_eager": torch.tensor(l32, dtype=torch.float64)}
        gold |= {f"grad.{k}": v.contiguous() for k, v in g64.items()} | {f"final.{k}": v.detach().clone().contiguous() for k, v in m32.state_dict().items()}
        if sc: gold |= {"scale": torch.tensor(sc, dtype=torch.float64), "skipped": torch.tensor(sk)}
        save_file(gold, f"{out}/{name}.golden.safetensors"); save_file({f"{i}.{n}": t.contiguous() for i, b in enumerate(batches) for n, t in zip(names, b)}, f"{out}/{name}.batches.safetensors")
        json.dump(dict(loss="0", steps=len(batches), **spec), open(f"{out}/{name}.train.json", "w"), indent=1); print(name, "%.4f -> %.4f" % (l32[0], l32[-1]), "f64 %.4f" % l64[-1], os.path.getsize(f"{out}/{name}.pt2"), sum(sk))
