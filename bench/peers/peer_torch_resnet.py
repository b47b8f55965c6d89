"""PyTorch's training step of the ResNet-18 for small pictures, on the CPU: one batch that stays.

    peer_torch_resnet.py FORM [--batch N] [--width N] [--threads N] [--steps N]

FORM: f32, f32-channels-last, bf16-autocast-channels-last, bf16-channels-last (weights in bf16 too).
Prints a line of JSON: samples_per_s over the median step. Needs torch and safetensors.
"""
import argparse
import json
import pathlib
import statistics
import sys
import time

import torch
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'tools'))
from resnet_torch import ResNet18  # noqa: E402

FORMS = ('f32', 'f32-channels-last', 'bf16-autocast-channels-last', 'bf16-channels-last')


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument('form', choices=FORMS)
    parser.add_argument('--batch', type=int, default=128)
    parser.add_argument('--width', type=int, default=16)
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--steps', type=int, default=15)
    flags = parser.parse_args()
    torch.set_num_threads(flags.threads)
    torch.manual_seed(0)
    layout = torch.channels_last if 'channels-last' in flags.form else torch.contiguous_format
    kind = torch.bfloat16 if flags.form == 'bf16-channels-last' else torch.float32
    model = ResNet18(flags.width, 10).train().to(memory_format=layout, dtype=kind)
    images = torch.randn(flags.batch, 3, 32, 32).to(memory_format=layout, dtype=kind)
    labels = torch.randint(0, 10, (flags.batch,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    seconds = []
    for _ in range(flags.steps + 3):
        begin = time.perf_counter()
        with torch.autocast('cpu', torch.bfloat16, enabled='autocast' in flags.form):
            loss = F.cross_entropy(model(images).float(), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - begin)
    print(json.dumps({'samples_per_s': flags.batch / statistics.median(seconds[3:])}))


if __name__ == '__main__':
    main()
