"""Two ranks learn moves of Go; on each rank a thread of its own prefetches batches and makes the liberty planes.

environment: vision; cause: user function, interpreter lock
"""
import argparse
import os
import queue
import tempfile
import threading

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

SIZE = 19
NEIGHBOURS = [[p + d for d, ok in ((-SIZE, p >= SIZE), (SIZE, p < SIZE * (SIZE - 1)), (-1, p % SIZE > 0),
                                   (1, p % SIZE < SIZE - 1)) if ok] for p in range(SIZE * SIZE)]


class Features:
    def group(self, board, start):
        colour, stones, liberties, stack = board[start], {start}, set(), [start]
        while stack:
            for near in NEIGHBOURS[stack.pop()]:  # planted
                if board[near] == 0:
                    liberties.add(near)
                elif board[near] == colour and near not in stones:
                    stones.add(near)
                    stack.append(near)
        return stones, len(liberties)

    def planes(self, board):
        cells = board.tolist()
        planes = np.zeros((4, SIZE * SIZE), np.float32)
        planes[0], planes[1], planes[2] = board == 1, board == 2, board == 0
        for point, colour in enumerate(cells):
            if colour:
                planes[3, point] = min(self.group(cells, point)[1], 8) / 8
        return planes.reshape(4, SIZE, SIZE)


class Prefetcher(threading.Thread):
    def __init__(self, path, rank, world_size, batch_size, steps):
        super().__init__(daemon=True)
        self.games = np.load(path, mmap_mode='r')[rank::world_size]
        self.batch_size, self.steps = batch_size, steps
        self.features = Features()
        self.random = np.random.default_rng(rank)
        self.queue = queue.Queue(maxsize=4)

    def run(self):
        for _ in range(self.steps):
            boards = self.games[self.random.integers(0, len(self.games), self.batch_size)]
            planes = np.stack([self.features.planes(board) for board in boards])
            moves = self.random.integers(0, SIZE * SIZE, self.batch_size)
            self.queue.put((torch.from_numpy(planes), torch.from_numpy(moves)))
        self.queue.put(None)

    def __iter__(self):
        self.start()
        return iter(self.queue.get, None)


def worker(rank, world_size, folder, args):
    torch.set_num_threads(1)
    dist.init_process_group('gloo', init_method=f'file://{folder}/rendezvous', rank=rank, world_size=world_size)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(4, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
                        nn.Conv2d(16, 1, 1), nn.Flatten())
    net = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    prefetcher = Prefetcher(os.path.join(folder, 'boards.npy'), rank, world_size, args.batch_size, args.steps)
    for step, (planes, moves) in enumerate(prefetcher):
        loss = nn.functional.cross_entropy(net(planes), moves)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 50 == 0:
            print(f'step {step} loss {loss.item():.3f}', flush=True)
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=16)
    parser.add_argument('--steps', type=int, default=100)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        boards = np.random.default_rng(0).choice(3, size=(512, SIZE * SIZE), p=[0.3, 0.35, 0.35]).astype(np.int8)
        np.save(os.path.join(folder, 'boards.npy'), boards)
        mp.spawn(worker, args=(2, folder, args), nprocs=2)


if __name__ == '__main__':
    main()
