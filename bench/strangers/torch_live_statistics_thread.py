"""Contrastive pair encoder with a background thread that sums up the loss history in Python all the time.

environment: vision; cause: interpreter lock
"""
import threading
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LiveStatistics(threading.Thread):
    """Keeps a smoothed loss and its spread up to date for the status line."""

    def __init__(self, window=2000):
        super().__init__(daemon=True)
        self.history = [0.0] * window
        self.mean = self.spread = 0.0
        self.stopped = threading.Event()

    def add(self, value):
        self.history.append(value)

    def run(self):
        while not self.stopped.is_set():
            recent = self.history[-2000:]
            total = square = 0.0
            for weight, value in enumerate(recent):  # planted
                total += weight * value  # planted
                square += weight * value * value  # planted
            scale = sum(range(len(recent)))
            self.mean = total / scale
            self.spread = max(0.0, square / scale - self.mean**2) ** 0.5


class Encoder(nn.Module):
    def __init__(self, features=128, out=64):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(features, 256), nn.BatchNorm1d(256), nn.ReLU(),
            nn.Linear(256, 256), nn.BatchNorm1d(256), nn.ReLU(),
            nn.Linear(256, out),
        )

    def forward(self, x):
        return F.normalize(self.layers(x), dim=1)


def info_nce(a, b, temperature=0.1):
    logits = a @ b.t() / temperature
    target = torch.arange(len(a))
    return 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target))


def make_pairs(n, features):
    base = torch.randn(n, features)
    left = base + 0.3 * torch.randn(n, features)
    right = base + 0.3 * torch.randn(n, features)
    return TensorDataset(left, right)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(make_pairs(256 * 40, 128), batch_size=256, shuffle=True, drop_last=True)
    model = Encoder()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    statistics = LiveStatistics()
    statistics.start()
    started = time.time()
    for epoch in range(8):
        for left, right in loader:
            loss = info_nce(model(left), model(right))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            statistics.add(loss.item())
        print(f"epoch {epoch}  loss {statistics.mean:.4f} +- {statistics.spread:.4f}  {time.time() - started:.1f}s")
    statistics.stopped.set()
    statistics.join()


if __name__ == "__main__":
    main()
