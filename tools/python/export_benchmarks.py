# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the programs that tools/dev/bench times, with their inputs and, where PyTorch can convert them, ONNX files.

  export_benchmarks.py FOLDER [NAME...]

FOLDER/NAME.pt2, NAME.in.safetensors, NAME.onnx or NAME.onnx-error (one line: why there is none). What exists is kept.
Names: the chains and networks below (random weights), and every handed model of tests/models (converted to ONNX only).
"""
import pathlib
import sys

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional as F

HANDED = pathlib.Path(__file__).resolve().parents[2] / "tests" / "models"


class GeluResidualLayerNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(1024)

    def forward(self, x, residual):
        return self.norm(F.gelu(x) + residual)


class Softmax(nn.Module):
    def forward(self, x):
        return x.softmax(-1)


class RmsNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(1024))

    def forward(self, x):
        return F.rms_norm(x, (1024,), self.weight, 1e-6)


class MeanVariance(nn.Module):
    def forward(self, x):
        return x.mean(), x.var()


def resnet18():
    from torchvision.models import resnet18 as make
    return make(weights=None), {"x": torch.randn(1, 3, 224, 224)}


def bert_base():
    from transformers import BertConfig, BertModel

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = BertModel(BertConfig(), add_pooling_layer=False)

        def forward(self, input_ids, attention_mask):
            return self.bert(input_ids=input_ids, attention_mask=attention_mask, return_dict=False)[0]

    mask = torch.ones(1, 128, dtype=torch.int64)
    mask[:, 120:] = 0
    return Encoder(), {"input_ids": torch.randint(0, 30522, (1, 128)), "attention_mask": mask}


MAKERS = {
    "gelu_residual_layer_norm": lambda: (GeluResidualLayerNorm(), {"x": torch.randn(4096, 1024), "residual": torch.randn(4096, 1024)}),
    "softmax": lambda: (Softmax(), {"x": torch.randn(4096, 1024)}),
    "rms_norm": lambda: (RmsNorm(), {"x": torch.randn(4096, 1024)}),
    "mean_variance": lambda: (MeanVariance(), {"x": torch.randn(1 << 20)}),
    "resnet18": resnet18,
    "bert_base": bert_base,
}


def convert(program, inputs, path):
    try:
        torch.onnx.export(program, inputs, dynamo=True, verbose=False).save(str(path))
    except Exception as error:  # the exporter raises whatever it meets
        reason = [line for line in str(error).splitlines() if line.strip()]
        path.with_suffix(".onnx-error").write_text((reason[0] if reason else type(error).__name__)[:300] + "\n")


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    names = sys.argv[2:] or list(MAKERS) + sorted(path.stem for path in HANDED.glob("*.pt2") if not path.stem.startswith("ops_"))
    for name in names:
        torch.manual_seed(1)
        program_path = folder / f"{name}.pt2" if name in MAKERS else HANDED / f"{name}.pt2"
        onnx_path = folder / f"{name}.onnx"
        if name in MAKERS and not program_path.exists():
            module, inputs = MAKERS[name]()
            with torch.no_grad():
                program = torch.export.export(module.eval(), tuple(inputs.values()))
            save_file(inputs, folder / f"{name}.in.safetensors")
            torch.export.save(program, program_path)
        if not onnx_path.exists() and not onnx_path.with_suffix(".onnx-error").exists():
            print(f"converting {name}", flush=True)
            convert(torch.export.load(program_path), None, onnx_path)


if __name__ == "__main__":
    main()
