"""PyTorch training with a DataLoader and several planted causes at once."""
import functools
import gzip
import json
import time

import torch
from torch.utils.data import DataLoader, Dataset

from python_program import Planted, burn, flags, mean_step
from torch_program import Network

PACKED = gzip.compress(bytes(range(256)) * 64, 1)
_CALIBRATION = 200  # pieces


@functools.cache
def piece_seconds() -> float:
    """Returns the processor's time that a piece takes."""
    begin = time.thread_time()
    for _ in range(_CALIBRATION):
        gzip.decompress(PACKED)
    return (time.thread_time() - begin) / _CALIBRATION


def decompress(seconds: float) -> None:
    """Takes so much of a processor. Reads no clock: Linux settles at each reading of a thread's
    time whether another one is due, so that the thread would wait for a processor there."""
    for _ in range(round(seconds / piece_seconds())):
        gzip.decompress(PACKED)


SPEND = {'function': time.sleep, 'burn': burn, 'decompression': decompress}


class Items(Dataset):
    """`parts`: seconds of a worker for each sample, by cause."""

    def __init__(self, parts: dict[str, float], length: int):
        self.parts, self.length = parts, length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, position: int) -> torch.Tensor:
        for cause, seconds in self.parts.items():
            SPEND[cause](seconds)
        return torch.full((16,), float(position % 7))


def train(planted: Planted, parts: dict[str, float]) -> float:
    torch.set_num_threads(1)
    model = Network(planted)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    each = {cause: seconds * planted.workers / Planted.BATCH for cause, seconds in parts.items()}
    loader = DataLoader(Items(each, (planted.steps + 8) * Planted.BATCH), Planted.BATCH,
                        num_workers=planted.workers)

    def step(number, batch):
        optimizer.zero_grad()
        model(batch, number).sum().backward()
        optimizer.step()

    return mean_step(planted, loader, step)


def main() -> None:
    parser = flags()
    parser.add_argument('--also', default='none:0', help='CAUSE:MS,...: ms of each step')
    given = parser.parse_args()
    parts = {cause: float(ms) * 1e-3 for cause, ms in
             (part.split(':') for part in given.also.split(',')) if cause in SPEND}
    seconds = train(Planted(given), parts)
    with open(given.out, 'w', encoding='utf-8') as file:
        file.write(json.dumps({'step_seconds': seconds, 'odd_rank': 0}))


if __name__ == '__main__':
    main()
