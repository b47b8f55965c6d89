"""One worker alone reads tiles from a disk that answers late, where more workers would wait at the same time.

environment: vision; cause: too few workers, storage, user function
"""
import argparse
import os
import tempfile
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SEEK_SECONDS = 0.006


class SlowDisk:
    """Stands in for a network mount: each read waits a seek."""

    def __init__(self, root):
        self.root = root

    def read(self, name):
        time.sleep(SEEK_SECONDS)  # planted
        with open(os.path.join(self.root, name), 'rb') as tile:
            return tile.read()


class Tiles(Dataset):
    def __init__(self, root, length):
        self.disk = SlowDisk(root)
        self.names = sorted(os.listdir(root))
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        data = self.disk.read(self.names[index % len(self.names)])  # planted
        tile = np.frombuffer(data, np.uint8).astype(np.float32).reshape(3, 32, 32)
        return torch.from_numpy(tile).div_(255), index % 10


def train(model, loader, optimizer):
    model.train()
    running = 0.0
    for step, (tiles, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(tiles), labels)
        loss.backward()
        optimizer.step()
        running += loss.item()
        if step % 25 == 24:
            print(f'step {step + 1}: {running / 25:.3f}')
            running = 0.0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch-size', type=int, default=16)
    parser.add_argument('--steps', type=int, default=120)
    parser.add_argument('--num-workers', type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        for number in range(200):
            with open(os.path.join(root, f'{number:04}.tile'), 'wb') as tile:
                tile.write(os.urandom(3072))
        loader = DataLoader(Tiles(root, args.batch_size * args.steps), args.batch_size,
                            num_workers=args.num_workers)  # planted
        model = nn.Sequential(nn.Flatten(), nn.Linear(3072, 1024), nn.ReLU(), nn.Linear(1024, 10))
        train(model, loader, torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9))


if __name__ == '__main__':
    main()
