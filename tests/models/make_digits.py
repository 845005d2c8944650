# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A trained model on real data for a first run: digits_cnn.pt2 (dynamic batch 1..2048, logits), .in = the 360 test images of the UCI digits set,
.out = logits, .labels.safetensors = "labels". Usage: python make_digits.py OUTDIR"""
import sys, torch, torch.nn as nn, torch.nn.functional as F
from torch.export import export, Dim
from safetensors.torch import save_file
import make_models as mm, make_training as mt
class Net(nn.Module):
    def __init__(s):
        super().__init__(); s.f = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 32, 3), nn.ReLU()); s.fc = nn.Linear(128, 10)
    def forward(s, images): return s.fc(s.f(images.view(-1, 1, 8, 8) / 16.0).flatten(1))
torch.manual_seed(0); x, y = mt.digits(); x = x.float(); p = torch.randperm(len(x)); tr, te = p[:-360], p[-360:]; m = Net(); opt = torch.optim.AdamW(m.parameters(), 2e-3); m.train()
for e in range(30):
    for i in torch.randperm(len(tr)).split(64): l = F.cross_entropy(m(x[tr[i]]), y[tr[i]]); opt.zero_grad(); l.backward(); opt.step()
m.eval(); out = sys.argv[1]
with torch.no_grad(): z = m(x[te]); print("test accuracy", (z.argmax(1) == y[te]).float().mean().item())
ep = export(m, (x[te],), dynamic_shapes={"images": {0: Dim("batch", max=2048)}}, strict=False); mm.relocate(ep.graph_module); torch.export.save(ep, f"{out}/digits_cnn.pt2")
save_file({"images": x[te].contiguous()}, f"{out}/digits_cnn.in.safetensors", {"order": '["images"]'}); save_file({"0": z}, f"{out}/digits_cnn.out.safetensors"); save_file({"labels": y[te].contiguous()}, f"{out}/digits_cnn.labels.safetensors")
