"""A deep-equilibrium classifier on small feature maps: its input is light, its fixed point needs many iterations.

environment: vision; cause: model
"""
import argparse
import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class FeatureMaps(Dataset):
    def __init__(self, path, labels):
        self.maps = np.load(path, mmap_mode='r')
        self.labels = np.load(labels)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return torch.from_numpy(np.array(self.maps[index])), int(self.labels[index])


class Cell(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.GroupNorm(4, channels)

    def forward(self, z, x):
        return self.norm(torch.relu(z + self.conv2(x + torch.relu(self.conv1(z)))))


class DEQ(nn.Module):
    """Solves z = f(z, x) without gradients, then takes one step with them (a Jacobian-free backward)."""

    def __init__(self, channels=24, classes=10, max_iter=30, tol=1e-7):
        super().__init__()
        self.stem = nn.Conv2d(8, channels, 3, padding=1)
        self.f = Cell(channels)
        self.head = nn.Linear(channels, classes)
        self.max_iter, self.tol = max_iter, tol

    def solve(self, x):
        z = torch.zeros_like(x)
        for _ in range(self.max_iter):
            new = self.f(z, x)  # planted
            if (new - z).norm() < self.tol * new.norm():
                break
            z = new
        return z

    def forward(self, maps):
        x = self.stem(maps)
        with torch.no_grad():
            z = self.solve(x)
        z = self.f(z, x)
        return self.head(z.mean((2, 3)))


def accuracy(output, target):
    return (output.argmax(1) == target).float().mean().item()


def main():
    parser = argparse.ArgumentParser(description='DEQ training')
    parser.add_argument('--batch-size', type=int, default=16)
    parser.add_argument('--epochs', type=int, default=6)
    parser.add_argument('--lr', type=float, default=1e-3)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(0)
        np.save(os.path.join(folder, 'maps.npy'), rng.standard_normal((320, 8, 16, 16), np.float32))
        np.save(os.path.join(folder, 'labels.npy'), rng.integers(0, 10, 320))
        dataset = FeatureMaps(os.path.join(folder, 'maps.npy'), os.path.join(folder, 'labels.npy'))
        loader = DataLoader(dataset, batch_size=args.batch_size, shuffle=True, num_workers=1, persistent_workers=True)
        model = DEQ()
        criterion = nn.CrossEntropyLoss()
        optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
        for epoch in range(args.epochs):
            model.train()
            for step, (maps, target) in enumerate(loader):
                output = model(maps)
                loss = criterion(output, target)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                if step % 10 == 0:
                    print(f'epoch {epoch} step {step} loss {loss.item():.4f} acc {accuracy(output, target):.2f}')


if __name__ == '__main__':
    main()
