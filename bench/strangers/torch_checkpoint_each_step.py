"""Writes a checkpoint after every step, and syncs it.

environment: vision; cause: host
"""
import os
import tempfile

import torch
from torch.utils.data import DataLoader, TensorDataset


def save(model, path):
    with open(path, 'wb') as file:
        torch.save(model.state_dict(), file)  # planted
        os.fsync(file.fileno())  # planted


def main():
    data = TensorDataset(torch.rand(960, 3 * 32 * 32), torch.arange(960) % 10)
    model = torch.nn.Sequential(torch.nn.Linear(3 * 32 * 32, 10), torch.nn.Linear(10, 10))
    model.register_buffer('history', torch.rand(4_000_000))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    path = os.path.join(tempfile.mkdtemp(), 'last.pt')
    for image, target in DataLoader(data, batch_size=8):
        loss = torch.nn.functional.cross_entropy(model(image), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        save(model, path)
    os.remove(path)


if __name__ == '__main__':
    main()
