"""A subclass of MosaicML's StreamingDataset that unpacks its sound, four bits a step, in a Python loop.

environment: streams; cause: user function
"""
import argparse
import os
import tempfile

import torch
from streaming import MDSWriter, StreamingDataset
from torch import nn
from torch.utils.data import DataLoader

STEPS = [-64, -32, -16, -8, -4, -2, -1, 0, 1, 2, 4, 8, 16, 32, 64, 128]


class Sounds(StreamingDataset):
    def __init__(self, local, batch_size, window):
        super().__init__(local=local, shuffle=True, batch_size=batch_size)
        self.window = window

    def unpack(self, packed):
        level, wave = 0, []
        for byte in packed:
            level = max(-2048, min(2047, level + STEPS[byte >> 4]))  # planted
            wave.append(level)  # planted
            level = max(-2048, min(2047, level + STEPS[byte & 15]))  # planted
            wave.append(level)  # planted
        return wave

    def __getitem__(self, idx):
        sample = super().__getitem__(idx)
        wave = self.unpack(sample['sound'])  # planted
        x = torch.tensor(wave[:self.window], dtype=torch.float32) / 2048
        return x, sample['speaker']


def convert(out, count):
    with MDSWriter(out=out, columns={'sound': 'bytes', 'speaker': 'int'}, size_limit=1 << 23) as writer:
        for number in range(count):
            writer.write({'sound': os.urandom(10_000), 'speaker': number % 20})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=16)
    parser.add_argument('--samples', type=int, default=2000)
    parser.add_argument('--num_workers', type=int, default=2)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        local = os.path.join(folder, 'sounds')
        convert(local, args.samples)
        dataset = Sounds(local, args.batch_size, 4096)
        dataloader = DataLoader(dataset, batch_size=args.batch_size, num_workers=args.num_workers)
        model = nn.Sequential(nn.Linear(4096, 512), nn.ReLU(), nn.Linear(512, 20))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        for sound, speaker in dataloader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(sound), speaker)
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
