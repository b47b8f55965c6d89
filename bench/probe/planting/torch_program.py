"""PyTorch training with a DataLoader."""
import contextlib
import gzip
import itertools
import os
import queue
import threading
import time

import torch
from torch.utils.data import DataLoader, Dataset

from python_program import Planted, burn, main, mean_step


PACKED = gzip.compress(bytes(range(256)) * 256, 1)


def decompress(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        gzip.decompress(PACKED)


class Items(Dataset):
    def __init__(self, planted: Planted):
        self.planted = planted

    def __len__(self) -> int:
        return (self.planted.steps + 8) * Planted.BATCH

    def __getitem__(self, position: int) -> torch.Tensor:
        planted = self.planted
        if planted.cause == 'training-thread':
            burn((planted.slowed - planted.seconds) / Planted.BATCH)
        elif seconds := planted.item_seconds(position):
            if planted.cause == 'decompression':
                decompress(seconds)
            else:
                time.sleep(seconds)
        return torch.full((16,), float(position % 7))


class Network(torch.nn.Module):
    """A model whose forward pass is the simulated device's work."""

    def __init__(self, planted: Planted):
        super().__init__()
        self.planted, self.layer = planted, torch.nn.Linear(16, 1)

    def forward(self, batch: torch.Tensor, step: int) -> torch.Tensor:
        self.planted.device_works(step)
        return self.layer(batch)


def fetched_by_a_thread(loader):
    """Fetches batches ahead in a thread and passes them through a queue."""
    batches, ended = queue.Queue(4), threading.Event()

    def fetch():
        for batch in loader:
            while not ended.is_set():
                try:
                    batches.put(batch, timeout=0.1)
                    break
                except queue.Full:
                    pass
            else:
                return

    threading.Thread(target=fetch).start()
    try:
        while True:
            yield batches.get()
    finally:
        ended.set()


@contextlib.contextmanager
def hog(wanted: bool):
    """Context in which a thread competes for the interpreter lock, if `wanted`."""
    ended = threading.Event()

    def compute():
        while not ended.is_set():
            sum(range(1000))

    if wanted:
        threading.Thread(target=compute).start()
    try:
        yield
    finally:
        ended.set()


def traced(model):
    """Returns TraceML's context manager for steps, which it requires; else a null context."""
    if os.environ.get('PLANTED_TRACEML') != '1':
        return contextlib.nullcontext
    import traceml_ai
    traceml_ai.init(mode='auto')
    return lambda: traceml_ai.trace_step(model)


def train(planted: Planted) -> float:
    torch.set_num_threads(1)
    model = Network(planted)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    workers = 0 if planted.cause in ('training-thread', 'none') else planted.workers
    loader = DataLoader(Items(planted), Planted.BATCH, num_workers=workers)

    mark = traced(model)

    def step(number, batch):
        with mark():
            optimizer.zero_grad()
            model(batch, number).sum().backward()
            optimizer.step()

    batches = fetched_by_a_thread(loader) if planted.cause == 'background' else loader
    if planted.removed:
        batches = itertools.repeat(torch.zeros(Planted.BATCH, 16))
    with hog(planted.cause == 'gil'):
        return mean_step(planted, batches, step)


if __name__ == '__main__':
    main(train)
