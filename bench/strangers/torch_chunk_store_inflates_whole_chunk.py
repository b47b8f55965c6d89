"""Windows of a weather archive in compressed chunks (as Zarr keeps them): each window inflates the chunk it lies in.

environment: vision; cause: decompression, user function
"""
import argparse
import functools
import json
import os
import tempfile
import zlib

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def inflate(raw, shape, dtype, wbits=zlib.MAX_WBITS):
    data = zlib.decompress(raw, wbits)  # planted
    return np.frombuffer(data, dtype).reshape(shape)


class ChunkedArray:
    """An array of (time, station) in files of `chunks` rows."""

    def __init__(self, root):
        self.root = root
        with open(os.path.join(root, '.zarray'), encoding='utf-8') as file:
            meta = json.load(file)
        self.shape, self.rows = tuple(meta['shape']), meta['chunks'][0]
        self.codec = functools.partial(inflate, shape=tuple(meta['chunks']), dtype=np.dtype(meta['dtype']))

    def chunk(self, number):
        with open(os.path.join(self.root, f'{number}.0'), 'rb') as file:
            return self.codec(file.read())

    def __getitem__(self, rows):
        parts = []
        for number in range(rows.start // self.rows, (rows.stop - 1) // self.rows + 1):
            first = number * self.rows
            parts.append(self.chunk(number)[max(rows.start - first, 0):rows.stop - first])
        return np.concatenate(parts)


class WindowDataset(Dataset):
    def __init__(self, array, context=48, horizon=6):
        self.array, self.context, self.horizon = array, context, horizon

    def __len__(self):
        return self.array.shape[0] - self.context - self.horizon

    def __getitem__(self, start):
        window = self.array[start:start + self.context + self.horizon].astype(np.float32) / 100
        return torch.from_numpy(window[:self.context]), torch.from_numpy(window[self.context:])


class Forecaster(nn.Module):
    def __init__(self, stations, hidden=64, horizon=6):
        super().__init__()
        self.rnn = nn.GRU(stations, hidden, batch_first=True)
        self.head = nn.Linear(hidden, stations * horizon)
        self.horizon = horizon

    def forward(self, x):
        _, state = self.rnn(x)
        return self.head(state[-1]).unflatten(1, (self.horizon, -1))


def write_archive(root, hours=12288, rows=4096, stations=128):
    rng = np.random.default_rng(0)
    steps = rng.integers(-12, 13, (hours, stations)).cumsum(0).astype(np.int16)
    for number in range(hours // rows):
        with open(os.path.join(root, f'{number}.0'), 'wb') as file:
            file.write(zlib.compress(steps[number * rows:(number + 1) * rows].tobytes(), 1))
    with open(os.path.join(root, '.zarray'), 'w', encoding='utf-8') as file:
        json.dump({'shape': [hours, stations], 'chunks': [rows, stations], 'dtype': '<i2'}, file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=8)
    parser.add_argument('--max_steps', type=int, default=120)
    args = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        write_archive(folder)
        dataset = WindowDataset(ChunkedArray(folder))
        loader = DataLoader(dataset, batch_size=args.batch_size, shuffle=True)
        model = Forecaster(stations=128)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for step, (x, y) in zip(range(args.max_steps), loader):
            loss = nn.functional.l1_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 25 == 0:
                print(f'step {step}: mae {loss.item():.3f}')


if __name__ == '__main__':
    main()
