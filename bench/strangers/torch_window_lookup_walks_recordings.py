"""Forecaster on household meter readings whose data set walks over all the series to find the one that holds a window.

environment: vision; cause: user function
"""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

CONFIG = {
    "meters": 6000,
    "context": 72,
    "horizon": 24,
    "stride": 8,
    "batch_size": 64,
    "hidden": 32,
    "lr": 2e-3,
    "steps": 160,
}


def simulate_meters(count, seed=5):
    rng = np.random.default_rng(seed)
    meters = []
    for _ in range(count):
        length = int(rng.integers(150, 400))
        hours = np.arange(length)
        load = 1.0 + 0.5 * np.sin(2 * np.pi * (hours + rng.integers(24)) / 24)
        meters.append((load + 0.1 * rng.standard_normal(length)).astype(np.float32))
    return meters


class WindowDataset(Dataset):
    """Every window of context + horizon hours, over all the meters."""

    def __init__(self, meters, context, horizon, stride):
        self.meters = meters
        self.context = context
        self.span = context + horizon
        self.stride = stride

    def windows_in(self, series):
        return max(0, (len(series) - self.span) // self.stride + 1)  # planted

    def __len__(self):
        return sum(self.windows_in(series) for series in self.meters)

    def locate(self, index):
        for series in self.meters:  # planted
            count = self.windows_in(series)  # planted
            if index < count:  # planted
                return series, index * self.stride
            index -= count  # planted
        raise IndexError(index)

    def __getitem__(self, index):
        series, start = self.locate(index)
        window = torch.from_numpy(series[start : start + self.span])
        mean = window[: self.context].mean()
        window = window - mean
        return window[: self.context], window[self.context :]


class Forecaster(nn.Module):
    def __init__(self, hidden, horizon):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, horizon)

    def forward(self, x):
        _, last = self.rnn(x.unsqueeze(-1))
        return self.head(last[-1])


def main(cfg):
    torch.set_num_threads(1)
    torch.manual_seed(5)
    meters = simulate_meters(cfg["meters"])
    windows = WindowDataset(meters, cfg["context"], cfg["horizon"], cfg["stride"])
    order = torch.randperm(len(windows)).tolist()
    train = Subset(windows, order[: int(0.9 * len(order))])
    loader = DataLoader(train, batch_size=cfg["batch_size"], shuffle=True, drop_last=True)

    model = Forecaster(cfg["hidden"], cfg["horizon"])
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    print(f"{len(meters)} meters, {len(order)} windows")
    for step, (past, future) in zip(range(cfg["steps"]), loader):
        loss = nn.functional.l1_loss(model(past), future)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step:4d}  mae {loss.item():.4f}")


if __name__ == "__main__":
    main(CONFIG)
