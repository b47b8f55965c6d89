#!/usr/bin/env python3
"""Trains rectrain's ResNet in PyTorch on CIFAR-10 with the recipe and the schedule of `rectrain train`.

    torch_accuracy.py DIR [--epochs 3] [--dtype f32|bf16] [--seed 0]

DIR has cifar-10-batches-py. Prints a line of JSON an epoch. Needs the packages torch and numpy.
"""
import argparse
import json
import math
import pathlib
import pickle
import sys

import numpy as np
import torch
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'tools'))
from resnet_torch import ResNet18  # noqa: E402

# Those of `rectrain train --model resnet`, and of the recipe cifar10-train.
BATCH, WIDTH, RATE, DECAY, MOMENTUM, WARMUP_EPOCHS, PAD = 128, 16, 0.1, 5e-4, 0.9, 0.5, 4
MEAN, STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)


def read(folder: pathlib.Path, names: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    batches = [pickle.loads((folder / name).read_bytes(), encoding='bytes') for name in names]
    pixels = np.concatenate([batch[b'data'] for batch in batches]).reshape(-1, 3, 32, 32)
    images = torch.from_numpy(pixels).float().div_(255)
    images.sub_(torch.tensor(MEAN).view(3, 1, 1)).div_(torch.tensor(STD).view(3, 1, 1))
    return images, torch.tensor([label for batch in batches for label in batch[b'labels']])


def augmented(images: torch.Tensor) -> torch.Tensor:
    """A crop of the padded picture, and every other one mirrored; padding is black, as the recipe's."""
    count, line = len(images), torch.arange(32)
    black = (-torch.tensor(MEAN) / torch.tensor(STD)).view(1, 3, 1, 1)
    padded = F.pad(images - black, (PAD,) * 4) + black
    y, x = torch.randint(0, 2 * PAD + 1, (2, count, 1))
    columns = torch.where(torch.rand(count, 1) < 0.5, x + 31 - line, x + line)
    return padded[torch.arange(count).view(-1, 1, 1, 1), torch.arange(3).view(1, 3, 1, 1),
                  (y + line).view(count, 1, 32, 1), columns.view(count, 1, 1, 32)]


def rate(step: int, steps: int, warmup: int) -> float:
    if step < warmup:
        return RATE * (step + 1) / warmup
    return RATE * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))


def accuracy(model, images, labels, kind) -> float:
    model.eval()
    right = 0
    with torch.no_grad(), torch.autocast('cpu', torch.bfloat16, enabled=kind == 'bf16'):
        for at in range(0, len(labels), 500):
            batch = images[at:at + 500].to(memory_format=torch.channels_last)
            right += (model(batch).argmax(1) == labels[at:at + 500]).sum().item()
    return right / len(labels)


def begin(model) -> None:
    """As rectrain's variables begin: He's convolutions; the dense layer is as PyTorch makes it."""
    for module in model.modules():
        if isinstance(module, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(module.weight)


def groups(model) -> list[dict]:
    """Weights decay; biases and normalisation do not."""
    whole = list(model.parameters())
    return [{'params': [p for p in whole if p.ndim > 1], 'weight_decay': DECAY},
            {'params': [p for p in whole if p.ndim <= 1], 'weight_decay': 0}]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('data', type=pathlib.Path)
    parser.add_argument('--epochs', type=int, default=3)
    parser.add_argument('--dtype', choices=('f32', 'bf16'), default='f32')
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    folder = options.data / 'cifar-10-batches-py'
    images, labels = read(folder, [f'data_batch_{i}' for i in range(1, 6)])
    test = read(folder, ['test_batch'])
    model = ResNet18(WIDTH, 10).to(memory_format=torch.channels_last)
    begin(model)
    optimizer = torch.optim.SGD(groups(model), lr=RATE, momentum=MOMENTUM)
    per_epoch = len(labels) // BATCH
    steps, warmup = options.epochs * per_epoch, round(WARMUP_EPOCHS * per_epoch)
    for epoch in range(options.epochs):
        model.train()
        order = torch.randperm(len(labels))
        for at in range(per_epoch):
            chosen = order[at * BATCH:(at + 1) * BATCH]
            for group in optimizer.param_groups:
                group['lr'] = rate(epoch * per_epoch + at, steps, warmup)
            batch = augmented(images[chosen]).to(memory_format=torch.channels_last)
            with torch.autocast('cpu', torch.bfloat16, enabled=options.type == 'bf16'):
                loss = F.cross_entropy(model(batch).float(), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(json.dumps({'epoch': epoch, 'accuracy': accuracy(model, *test, options.type)}),
              flush=True)


if __name__ == '__main__':
    main()
