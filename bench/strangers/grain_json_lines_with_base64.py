"""A Grain pipeline, on threads, over lines of JSON that hold a picture as base64 and long lists of outlines.

environment: streams; cause: user function, parse, interpreter lock
"""
import argparse
import base64
import json
import os
import tempfile

import grain.python as grain
import numpy as np
import torch
from torch import nn


class Lines:
    """A random-access source: the offsets of the lines of one file."""

    def __init__(self, path):
        self.path = path
        self.offsets = [0]
        with open(path, 'rb') as file:
            for line in file:
                self.offsets.append(self.offsets[-1] + len(line))

    def __len__(self):
        return len(self.offsets) - 1

    def __getitem__(self, index):
        start, end = self.offsets[index], self.offsets[index + 1]
        with open(self.path, 'rb') as file:
            file.seek(start)
            return file.read(end - start)


class ParseRecord(grain.MapTransform):
    def map(self, line):
        record = json.loads(line)  # planted
        pixels = np.frombuffer(base64.b64decode(record['image']), np.uint8).astype(np.float32) / 255
        outline = np.asarray(record['outline'][:512], np.float32)
        return {'x': np.concatenate([pixels, outline]), 'y': record['label']}


def write_lines(path, count):
    random = np.random.default_rng(0)
    with open(path, 'w', encoding='utf-8') as file:
        for number in range(count):
            json.dump({'image': base64.b64encode(random.integers(0, 255, 1536, np.uint8).tobytes()).decode(),
                       'outline': random.random(100_000).round(5).tolist(), 'label': number % 10}, file)
            file.write('\n')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=8)
    parser.add_argument('--epochs', type=int, default=30)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'train.jsonl')
        write_lines(path, 32)
        dataset = (grain.MapDataset.source(Lines(path)).shuffle(seed=1).repeat(args.epochs)
                   .map(ParseRecord()).batch(args.batch_size, drop_remainder=True)
                   .to_iter_dataset(grain.ReadOptions(num_threads=3, prefetch_buffer_size=6)))
        model = nn.Sequential(nn.Linear(2048, 768), nn.ReLU(), nn.Linear(768, 10))
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for batch in dataset:
            logits = model(torch.from_numpy(batch['x']))
            loss = nn.functional.cross_entropy(logits, torch.from_numpy(np.asarray(batch['y'])))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
