"""Trains with DistributedDataParallel on two processes, where one thing is slow: on one rank, or on all.

    torchrun --nproc-per-node 2 bench/ranks/training.py CAUSE [--tool TOOL]

Comments `# planted: CAUSE` mark the lines. TOOL adds to the loop what that tool's manual asks for (tools.py beside this).
"""
import argparse
import gzip
import os
import socket
import threading
import time

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

import tools

SLOW_RANK = 1
BATCH, WIDTH = 16, 256
STEPS, FEW_STEPS = 300, 5  # of an epoch and rank
SECONDS = 14  # of training
DEVICE = 0.012  # seconds of a step: two ranks and their workers share two processors


class Slow:
    """What is slow in this process."""

    def __init__(self, cause: str, rank: int):
        self.here = cause if rank == SLOW_RANK else ''
        self.everywhere = cause


def distance(one: str, other: str) -> int:
    """Levenshtein's distance, as tokenizers and cleaners compute it."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))  # planted: transform
    return row[-1]


class Records(Dataset):
    def __init__(self, slow: Slow, samples: int):
        self.slow, self.samples = slow, samples
        # A file server that takes its time.
        self.ours, self.theirs = socket.socketpair()

    def __len__(self):
        return self.samples

    def read(self):
        self.ours.settimeout(0.006)
        try:
            self.ours.recv(1)  # planted: storage
        except TimeoutError:
            pass

    def __getitem__(self, number):
        if self.slow.here == 'transform':
            distance('the quick brown fox jumps' * 8, 'over the lazy dog again' * 4)
        if self.slow.here == 'storage':
            self.read()
        return torch.full((WIDTH,), number / self.samples)


class Collate:
    def __init__(self, slow: Slow):
        self.slow = slow

    def __call__(self, samples):
        if self.slow.everywhere == 'collate':
            order = [sum(float(value) ** power for value in sample for power in range(1, 16)) for sample in samples]  # planted: collate
            samples = [sample for _, sample in sorted(zip(order, samples), key=lambda pair: pair[0])]
        return torch.stack(samples)


class Costly(torch.autograd.Function):
    """A layer whose backward pass is slow: an operation that falls back to a loop."""

    @staticmethod
    def forward(_, values):
        return values

    @staticmethod
    def backward(_, gradient):
        for _ in range(60):
            gradient.repeat(20, 1).sort(dim=1)  # planted: backward
        return gradient


class Network(nn.Module):
    def __init__(self, slow: Slow, width: int):
        super().__init__()
        self.slow, self.layers = slow, nn.Sequential(nn.Linear(WIDTH, width), nn.ReLU(), nn.Linear(width, WIDTH), nn.ReLU())
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, batch):
        time.sleep(DEVICE)  # an accelerator computes
        hidden = self.layers(batch)
        if self.slow.here == 'forward':
            for _ in range(60):
                hidden.detach().repeat(20, 1).sort(dim=1)  # planted: forward
        if self.slow.here == 'backward':
            hidden = Costly.apply(hidden)
        return self.head(hidden)


def watch() -> None:
    """Statistics of a monitoring thread that never rests."""
    while True:
        sum(number * number for number in range(10_000))  # planted: thread


def train(cause: str, tool: tools.Tool) -> None:
    torch.set_num_threads(1)
    slow = Slow(cause, distributed.get_rank())
    # With `exchange` the gradients are large, and their exchange takes most of a step.
    model = DistributedDataParallel(Network(slow, 12_000 if cause == 'exchange' else 800))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    # With `restarts` each short epoch starts its workers anew.
    steps = FEW_STEPS if cause == 'restarts' else STEPS
    records = Records(slow, steps * BATCH * distributed.get_world_size())
    loader = DataLoader(records, BATCH, sampler=DistributedSampler(records), num_workers=1, collate_fn=Collate(slow),  # planted: restarts
                        persistent_workers=cause != 'restarts')
    kept = []
    if slow.here == 'thread':
        threading.Thread(target=watch, daemon=True).start()
    end, step, ended = time.monotonic() + SECONDS, 0, torch.zeros(1)
    tool.begin(model)
    while not ended.item():
        for batch in tool.batches(loader):
            if slow.here == 'lengths':
                batch = batch.repeat(30, 1)
            with tool.step():
                with tool.part('forward'):
                    loss = model(batch).mean()
                with tool.part('backward'):
                    optimizer.zero_grad()
                    loss.backward()
                with tool.part('optimizer'):
                    optimizer.step()
            step += 1
            if slow.here == 'metrics':
                [float(value) ** power for value in batch.reshape(-1) for power in (1, 2, 3)]  # planted: metrics
            if slow.here == 'memory':
                kept.append(batch.repeat(20, 1))  # planted: memory
            if slow.here == 'checkpoint' and step % 10 == 0:
                with gzip.open(os.devnull, 'wb') as file:
                    torch.save(model.module.state_dict(), file)  # planted: checkpoint
            if slow.everywhere == 'gather':
                distributed.all_gather_object([None] * 2, {'loss': loss.item(), 'norms': list(range(100_000))})  # planted: gather
            if slow.here == 'hang' and step == 150:
                pair = socket.socketpair()
                pair[0].recv(1)  # planted: hang
        # All ranks end with the same epoch.
        ended.fill_(float(time.monotonic() > end))
        distributed.all_reduce(ended, op=distributed.ReduceOp.MAX)
    tool.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('cause')
    parser.add_argument('--tool', default='none')
    given = parser.parse_args()
    distributed.init_process_group('gloo')
    train(given.cause, tools.find(given.tool))
    distributed.barrier()
    distributed.destroy_process_group()


if __name__ == '__main__':
    main()
