"""A stage of a WebDataset pipeline keeps a buffer and looks, byte by byte, for the sample least like the last one.

environment: streams; cause: user function
"""
import argparse
import os
import tempfile

import torch
import webdataset as wds
from torch import nn
from torch.utils.data import DataLoader


def distance(left, right):
    return sum(a != b for a, b in zip(left, right))  # planted


def unlike(size):
    """A stage: yields, of the samples in a buffer, the one furthest from the one before."""
    def stage(samples):
        buffer, last = [], bytes(512)
        for sample in samples:
            buffer.append(sample)
            if len(buffer) < size:
                continue
            best = max(range(len(buffer)), key=lambda i: distance(buffer[i]['bin'], last))  # planted
            buffer[best], buffer[-1] = buffer[-1], buffer[best]
            last = buffer[-1]['bin']
            yield buffer.pop()
        yield from buffer
    return stage


def to_tensors(sample):
    row = torch.frombuffer(bytearray(sample['bin']), dtype=torch.uint8).float() / 255
    return row, int(sample['cls'])


def write_shards(pattern, shards, per_shard):
    urls = []
    for shard in range(shards):
        urls.append(pattern % shard)
        with wds.TarWriter(urls[-1]) as sink:
            for number in range(per_shard):
                sink.write({'__key__': f'{shard:03}{number:05}', 'bin': os.urandom(512),
                            'cls': str(number % 10).encode()})
    return urls


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch', type=int, default=16)
    parser.add_argument('--buffer', type=int, default=200)
    parser.add_argument('--workers', type=int, default=2)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        urls = write_shards(os.path.join(folder, 'train-%03d.tar'), 4, 600)
        dataset = wds.WebDataset(urls, shardshuffle=False).compose(unlike(args.buffer)).map(to_tensors)
        loader = DataLoader(dataset.batched(args.batch), batch_size=None, num_workers=args.workers)
        model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 512), nn.ReLU(), nn.Linear(512, 10))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        for row, label in loader:
            loss = nn.functional.cross_entropy(model(row), torch.as_tensor(label))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
