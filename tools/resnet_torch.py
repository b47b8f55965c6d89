#!/usr/bin/env python3
"""Loads the weights of a rectrain ResNet into PyTorch and compares what both make of one batch.

    resnet_torch.py CHECKPOINT [SAMPLES] [--tolerance T]

CHECKPOINT: safetensors of rectrain's model `resnet`; width, classes and channels are read off its
arrays. Every array of the network has to be there and no other, but for the optimizer's.
SAMPLES: safetensors with `input` (N x C x H x W, f32) and the `logits` (N x classes, f32) that rectrain
gave for them in evaluation. Without it, the names and shapes are compared alone.

Prints the differences of the logits. Exits 0 where none is above T (default 0.001) times the largest
logit, 1 where one is, 2 where the files do not fit. Needs the packages torch and safetensors.
"""
import argparse
import sys

import torch
from torch import nn
from torch.nn import functional as F


class BasicBlock(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                            nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.downsample(x))


class ResNet18(nn.Module):
    """The 18-layer network for small pictures: a stem of 3x3 without pooling, widths w to 8w."""

    def __init__(self, width: int, classes: int, channels: int = 3):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.layer1 = self._stage(width, width, 1)
        self.layer2 = self._stage(width, 2 * width, 2)
        self.layer3 = self._stage(2 * width, 4 * width, 2)
        self.layer4 = self._stage(4 * width, 8 * width, 2)
        self.fc = nn.Linear(8 * width, classes)

    @staticmethod
    def _stage(inputs: int, outputs: int, stride: int):
        return nn.Sequential(BasicBlock(inputs, outputs, stride), BasicBlock(outputs, outputs, 1))

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


def fail(reason: str):
    print(f'resnet_torch: {reason}', file=sys.stderr)
    sys.exit(2)


def read(path: str) -> dict:
    # Only here: the network alone needs no more than torch.
    from safetensors import SafetensorError
    from safetensors.torch import load_file
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        fail(f'{path}: {error}')


def differences(there: dict, wanted: dict) -> list[str]:
    """What keeps arrays from being those of the network, in words."""
    found = [f'missing {name}' for name in wanted if name not in there]
    found += [f'surplus {name}' for name in there if name not in wanted]
    for name, array in wanted.items():
        if name in there and there[name].shape != array.shape:
            found.append(f'{name} is {tuple(there[name].shape)}, not {tuple(array.shape)}')
    return found


def load(path: str) -> ResNet18:
    weights = {name: array.float() for name, array in read(path).items()
               if not name.startswith('optimizer.')}
    for name in ('conv1.weight', 'fc.weight'):
        if name not in weights:
            fail(f'{path}: has no {name}: no ResNet of rectrain')
    width, channels = weights['conv1.weight'].shape[:2]
    network = ResNet18(width, weights['fc.weight'].shape[0], channels)
    # PyTorch counts batches for each batch norm; nothing depends on it where momentum is given.
    wanted = {name: array for name, array in network.state_dict().items()
              if not name.endswith('.num_batches_tracked')}
    found = differences(weights, wanted)
    if found:
        more = f' and {len(found) - 10} more' if len(found) > 10 else ''
        fail(f"{path}: does not fit a ResNet of width {width}: {', '.join(found[:10])}{more}")
    network.load_state_dict(weights, strict=False)
    return network.eval()


def compare(network: ResNet18, path: str, tolerance: float) -> bool:
    samples = read(path)
    if set(samples) != {'input', 'logits'}:
        fail(f"{path}: has to hold `input` and `logits`, and holds {', '.join(sorted(samples)[:10])}")
    expected = samples['logits']
    with torch.no_grad():
        logits = network(samples['input'])
    if logits.shape != expected.shape:
        fail(f'{path}: the logits are {tuple(expected.shape)}, not {tuple(logits.shape)}')
    off = (logits - expected).abs()
    scale = expected.abs().max().item()
    agree = (logits.argmax(1) == expected.argmax(1)).sum().item()
    print(f'largest logit {scale:.6g}; difference: largest {off.max().item():.3g}, '
          f'mean {off.mean().item():.3g}; same class for {agree} of {len(logits)}')
    return off.max().item() <= tolerance * scale


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('checkpoint')
    parser.add_argument('samples', nargs='?')
    parser.add_argument('--tolerance', type=float, default=1e-3)
    options = parser.parse_args()
    network = load(options.checkpoint)
    count = sum(array.numel() for array in network.parameters())
    print(f'ResNet-18 of width {network.conv1.out_channels}: {count} parameters, all found')
    if options.samples is None:
        return 0
    return 0 if compare(network, options.samples, options.tolerance) else 1


if __name__ == '__main__':
    sys.exit(main())
