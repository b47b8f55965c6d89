"""Samples lie in memory as gzip streams.

environment: vision; cause: decompression, user function
"""
import gzip
import os
import torch
from torch.utils.data import DataLoader, Dataset
PACKED = gzip.compress(os.urandom(3 << 20), 1)


class Packed(Dataset):
    def __len__(self):
        return 900

    def __getitem__(self, index):
        data = gzip.decompress(PACKED)  # planted
        return torch.frombuffer(bytearray(data[:3072]), dtype=torch.uint8).float(), index % 10

def main():
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()
    loader = DataLoader(Packed(), batch_size=8, num_workers=2)
    for epoch in range(1):
        for image, target in loader:
            loss = criterion(model(image), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
