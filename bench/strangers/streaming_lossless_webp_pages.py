"""Scanned pages in MDS shards (mosaicml-streaming), kept as lossless WebP of which only a small part is used.

environment: streams; cause: decode, user function
"""
import argparse
import io
import os
import tempfile

import numpy as np
import torch
from PIL import Image
from streaming import MDSWriter, StreamingDataset
from torch import nn
from torch.utils.data import DataLoader


class PageReader:
    def __init__(self, size):
        self.size = size

    def open(self, raw):
        page = Image.open(io.BytesIO(raw))
        page.load()  # planted
        return page

    def cut(self, page, rng):
        left = int(rng.integers(0, page.width - self.size))
        top = int(rng.integers(0, page.height - self.size))
        return page.crop((left, top, left + self.size, top + self.size))

    def __call__(self, raw, rng):
        part = np.asarray(self.cut(self.open(raw), rng), np.float32)
        return torch.from_numpy(part).permute(2, 0, 1) / 255


class PageDataset(StreamingDataset):
    def __init__(self, local, batch_size, crop, **kwargs):
        super().__init__(local=local, batch_size=batch_size, **kwargs)
        self.reader = PageReader(crop)
        self.random = np.random.default_rng(0)

    def __getitem__(self, index):
        sample = super().__getitem__(index)
        return self.reader(sample['page'], self.random), sample['language']


def write_pages(folder, count):
    rng = np.random.default_rng(0)
    with MDSWriter(out=folder, columns={'page': 'bytes', 'language': 'int'}, size_limit=1 << 22) as writer:
        for number in range(count):
            letters = rng.integers(0, 2, (44, 60, 1), np.uint8).repeat(8, 0).repeat(8, 1) * 200
            page = letters + rng.integers(0, 24, (352, 480, 3), np.uint8)
            buffer = io.BytesIO()
            Image.fromarray(page.astype(np.uint8)).save(buffer, 'WEBP', lossless=True, quality=10, method=0)
            writer.write({'page': buffer.getvalue(), 'language': number % 5})


def build_model():
    return nn.Sequential(nn.Conv2d(3, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 5))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=8)
    parser.add_argument('--crop', type=int, default=64)
    parser.add_argument('--epochs', type=int, default=16)
    args = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        local = os.path.join(folder, 'pages')
        write_pages(local, 48)
        dataset = PageDataset(local, args.batch_size, args.crop, shuffle=True, shuffle_seed=7)
        loader = DataLoader(dataset, batch_size=args.batch_size, drop_last=True)
        model = build_model()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        for epoch in range(args.epochs):
            for pages, languages in loader:
                loss = nn.functional.cross_entropy(model(pages), languages)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            print(f'epoch {epoch} loss {loss.item():.3f}')


if __name__ == '__main__':
    main()
