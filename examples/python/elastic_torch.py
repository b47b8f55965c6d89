"""Trains under torchrun's elastic agents: ranks may die or join, and each epoch still has every sample once.

    export TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1  # PyTorch 2.15: otherwise agents that join later wait in vain
    torchrun --nnodes 1:4 --nproc-per-node 2 --max-restarts 100 --rdzv-backend c10d --rdzv-endpoint HOST:29500 \\
        examples/python/elastic_torch.py SHARDS --checkpoint FILE

When a rank is lost, torchrun starts the others anew, as many as there are. They go on from the last checkpoint: the
loader's state may be resumed by any number of ranks. The global batch stays the same. An audit, saved with the
checkpoint, proves at the end of each epoch that no sample was lost or came twice.
"""
import argparse
import datetime
import os
import pathlib
import time

import recpack_io
import torch
from recpack_io.torch import Loader
from torch import distributed
from torch.nn.parallel import DistributedDataParallel


def save(path: pathlib.Path, state: dict) -> None:
    """Atomic: a rank may be killed while it writes."""
    if distributed.get_rank() == 0:
        torch.save(state, path.with_suffix('.part'))
        os.replace(path.with_suffix('.part'), path)
    distributed.barrier()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('shards')
    parser.add_argument('--checkpoint', type=pathlib.Path, required=True)
    parser.add_argument('--epochs', type=int, default=2)
    parser.add_argument('--global-batch', type=int, default=64)
    parser.add_argument('--save-every', type=int, default=20, help='steps')
    parser.add_argument('--step-seconds', type=float, default=0, help='sleep so long a step')
    parser.add_argument('--timeout', type=float, default=120, help='seconds: the most that ranks wait for one that hangs')
    options = parser.parse_args()

    distributed.init_process_group('gloo', timeout=datetime.timedelta(seconds=options.timeout))
    world = distributed.get_world_size()
    dataset = recpack_io.open(options.shards)
    # Filled up, so that the last step of an epoch has all that is left, for any number of ranks.
    loader = Loader(dataset, 'cifar10-train', batch_size=options.global_batch // world, seed=1, last_batch='pad')
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    epoch, before = 0, ''
    if options.checkpoint.exists():
        saved = torch.load(options.checkpoint, weights_only=True)
        model.module.load_state_dict(saved['model'])
        optimizer.load_state_dict(saved['optimizer'])
        loader.load_state_dict(saved['loader'] | {'audit': ''})
        epoch, before = saved['epoch'], saved['audit']

    for epoch in range(epoch, options.epochs):
        for step, batch in enumerate(loader, 1):
            losses = torch.nn.functional.cross_entropy(model(batch.image), batch.label, reduction='none')
            loss = (losses * batch.mask).sum() / options.global_batch * world  # DDP takes the mean over ranks
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            time.sleep(options.step_seconds)
            if step % options.save_every == 0:
                audit = str(loader.gather_audit(before))
                save(options.checkpoint, {'model': model.module.state_dict(), 'optimizer': optimizer.state_dict(),
                                          'loader': loader.state_dict(), 'audit': audit, 'epoch': epoch})
        report = loader.gather_audit(before).check(dataset)
        before = ''
        if distributed.get_rank() == 0:
            print(f'epoch {epoch}: {world} ranks at its end, {report.samples} of {report.epoch_samples} samples, '
                  f'each once: {report.complete}', flush=True)
    distributed.destroy_process_group()


if __name__ == '__main__':
    main()
