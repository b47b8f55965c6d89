"""A clipper of gradients, as a class beside a timm-like model, that sums the squares of all gradients in Python floats.

environment: vision; cause: host
"""
import argparse
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fc = nn.Linear(dim, dim)
        self.act = nn.GELU()

    def forward(self, x):
        return x + self.act(self.fc(self.norm(x)))


class TinyMixer(nn.Module):
    def __init__(self, dim=128, depth=24, num_classes=10):
        super().__init__()
        self.stem = nn.Linear(768, dim)
        self.blocks = nn.Sequential(*[Block(dim) for _ in range(depth)])
        self.head = nn.Linear(dim, num_classes)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x.flatten(1))))


class NativeScaler:
    """Backward, clip and step in one call."""

    def __init__(self, clip_grad):
        self.clip_grad = clip_grad

    def dispatch_clip_grad(self, parameters):
        squares = 0.0
        for parameter in parameters:
            for value in parameter.grad.flatten().tolist():  # planted
                squares += value * value  # planted
        norm = math.sqrt(squares)
        if norm > self.clip_grad:
            for parameter in parameters:
                parameter.grad.mul_(self.clip_grad / norm)
        return norm

    def __call__(self, loss, optimizer, parameters):
        loss.backward()
        norm = self.dispatch_clip_grad(list(parameters))  # planted
        optimizer.step()
        return norm


class SyntheticImages(Dataset):
    def __init__(self, length):
        self.images = torch.rand(256, 3, 16, 16)
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return self.images[index % 256], index % 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-b', '--batch-size', type=int, default=64)
    parser.add_argument('--epochs', type=int, default=1)
    parser.add_argument('--clip-grad', type=float, default=1.0)
    parser.add_argument('-j', '--workers', type=int, default=2)
    args = parser.parse_args()

    model = TinyMixer()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loss_scaler = NativeScaler(args.clip_grad)
    loader = DataLoader(SyntheticImages(160 * args.batch_size), args.batch_size, num_workers=args.workers)
    for epoch in range(args.epochs):
        for batch_idx, (input, target) in enumerate(loader):
            loss = nn.functional.cross_entropy(model(input), target, label_smoothing=0.1)
            optimizer.zero_grad()
            norm = loss_scaler(loss, optimizer, model.parameters())  # planted
            if batch_idx % 40 == 0:
                print(f'Train: {epoch} [{batch_idx}/{len(loader)}] loss {loss.item():.3f} norm {norm:.3f}')


if __name__ == '__main__':
    main()
