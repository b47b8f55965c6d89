"""A Grain pipeline for contrastive learning, whose batch_fn weighs each pair of a batch by the tags they share.

environment: streams; cause: batch function, user function, interpreter lock
"""
import argparse
import functools
import os
import pickle
import tempfile

import grain.python as grain
import numpy as np
import torch
from torch import nn


class PickledRecords:
    """A random-access source: one pickle a record in one file."""

    def __init__(self, path, offsets):
        self.path, self.offsets = path, offsets

    def __len__(self):
        return len(self.offsets)

    def __getitem__(self, index):
        with open(self.path, 'rb') as file:
            file.seek(self.offsets[index])
            return pickle.load(file)


class Jitter(grain.RandomMapTransform):
    def random_map(self, record, rng):
        noise = rng.normal(0, 0.05, record['embedding'].shape).astype(np.float32)
        return {**record, 'view': record['embedding'] + noise}


def overlaps(tags, floor):
    weights = np.zeros((len(tags), len(tags)), np.float32)
    for row, first in enumerate(tags):
        for column, second in enumerate(tags):
            weights[row, column] = len(first & second) / len(first | second)  # planted
    return np.maximum(weights - floor, 0)


def collate(records, floor):
    return {'anchor': np.stack([record['embedding'] for record in records]),
            'view': np.stack([record['view'] for record in records]),
            'weights': overlaps([set(record['tags']) for record in records], floor)}


def write_records(path, count):
    rng = np.random.default_rng(0)
    offsets = []
    with open(path, 'wb') as file:
        for _ in range(count):
            offsets.append(file.tell())
            pickle.dump({'embedding': rng.standard_normal(256, np.float32),
                         'tags': [f'tag{number}' for number in rng.integers(0, 2000, 150)]}, file)
    return offsets


class Projector(nn.Module):
    def __init__(self, width=256, out=64):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(256, width), nn.ReLU(), nn.Linear(width, out))

    def forward(self, x):
        return nn.functional.normalize(self.layers(x), dim=-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=64)
    parser.add_argument('--epochs', type=int, default=10)
    args = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'records.pkl')
        source = PickledRecords(path, write_records(path, 512))
        dataset = (grain.MapDataset.source(source).seed(3).shuffle().repeat(args.epochs).random_map(Jitter())
                   .batch(args.batch_size, drop_remainder=True, batch_fn=functools.partial(collate, floor=0.02))
                   .to_iter_dataset(grain.ReadOptions(num_threads=2, prefetch_buffer_size=4)))
        model = Projector()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        for step, batch in enumerate(dataset):
            anchor, view = model(torch.from_numpy(batch['anchor'])), model(torch.from_numpy(batch['view']))
            target = torch.from_numpy(batch['weights']) + torch.eye(len(anchor))
            loss = nn.functional.cross_entropy(anchor @ view.T / 0.1, target / target.sum(1, keepdim=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 20 == 0:
                print(f'step {step} loss {loss.item():.3f}')


if __name__ == '__main__':
    main()
