"""Short epochs whose workers start anew each time and build a large table before their first sample.

environment: vision; cause: worker restarts
"""
import argparse
import hashlib

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Entities(Dataset):
    def __init__(self, length):
        self.length = length
        self.table = None

    def build_table(self, entries):
        table = {}
        for number in range(entries):
            digest = hashlib.blake2s(b'entity%d' % number, digest_size=8).digest()  # planted
            table[digest] = number  # planted
        self.table = table

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        key = hashlib.blake2s(b'entity%d' % (index * 31), digest_size=8).digest()
        number = self.table[key]
        return torch.full((512,), number % 97 / 97), number % 10


def init_worker(worker_id):
    get_worker_info().dataset.build_table(350_000)  # planted


def train_one_epoch(model, loader, optimizer):
    total = 0.0
    for features, labels in loader:  # planted
        loss = nn.functional.cross_entropy(model(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', type=int, default=14)
    parser.add_argument('--batch-size', type=int, default=64)
    parser.add_argument('--workers', type=int, default=2)
    args = parser.parse_args()
    loader = DataLoader(Entities(6 * args.batch_size), args.batch_size, shuffle=True,  # planted
                        num_workers=args.workers, worker_init_fn=init_worker)  # planted
    model = nn.Sequential(nn.Linear(512, 1536), nn.ReLU(), nn.Linear(1536, 1024), nn.ReLU(), nn.Linear(1024, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for epoch in range(args.epochs):
        print(f'epoch {epoch}: {train_one_epoch(model, loader, optimizer):.3f}')


if __name__ == '__main__':
    main()
