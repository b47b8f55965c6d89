"""PyTorch training with DistributedDataParallel, in several processes started by torchrun."""
import itertools
import json

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from python_program import Planted, flags, mean_step
from torch_program import Items, Network


def train(planted: Planted, suffers: bool) -> float:
    """Returns the mean step of this rank, which the exchange makes equal on all ranks."""
    torch.set_num_threads(1)
    planted.cause = 'function' if suffers else 'none'
    model = DistributedDataParallel(Network(planted))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    batches = DataLoader(Items(planted), Planted.BATCH,
                         num_workers=planted.workers if suffers else 0)
    if planted.removed:
        batches = itertools.repeat(torch.zeros(Planted.BATCH, 16))

    def step(number, batch):
        optimizer.zero_grad()
        loss = model(batch, number).sum()
        loss.backward()  # gradients are exchanged
        optimizer.step()

    return mean_step(planted, batches, step)


def main() -> None:
    given = flags().parse_args()
    distributed.init_process_group('gloo')
    rank, odd = distributed.get_rank(), given.seed % distributed.get_world_size()
    planted = Planted(given)
    planted.seed = f'{given.seed} {rank}'
    seconds = train(planted, given.cause == 'slow-rank-input' and rank == odd)
    if rank == 0:
        with open(given.out, 'w', encoding='utf-8') as file:
            file.write(json.dumps({'step_seconds': seconds, 'odd_rank': odd}))
    distributed.barrier()
    distributed.destroy_process_group()


if __name__ == '__main__':
    main()
