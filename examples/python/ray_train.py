"""Trains under Ray Train: after a fault it goes on, with as many workers as there are, and each epoch has every sample once.

    python examples/python/ray_train.py SHARDS --workers 2 --storage FOLDER

Ray Train starts the workers anew when one is lost, from the last checkpoint that all have reported. The loader's state in
it may be resumed by any number of workers: run it again with the same FOLDER and other --workers, and it goes on in the
middle of the epoch. The global batch stays the same. The audit proves at the end of each epoch that no sample was lost
or came twice.
"""
import argparse
import pathlib
import tempfile

import ray.train
import ray.train.torch
import recpack_io
import torch
from recpack_io.torch import Loader
from torch import distributed


def report(state: dict, said: dict) -> None:
    """All workers call it; the first one's checkpoint counts."""
    if distributed.get_rank() > 0:
        ray.train.report(said)
        return
    with tempfile.TemporaryDirectory() as folder:
        torch.save(state, pathlib.Path(folder) / 'state.pt')
        ray.train.report(said, checkpoint=ray.train.Checkpoint.from_directory(folder))


def train(options: dict) -> None:
    rank, world = distributed.get_rank(), distributed.get_world_size()  # Ray Train has made the process group
    dataset = recpack_io.open(options['shards'])
    # Filled up, so that the last step of an epoch has all that is left, for any number of workers.
    loader = Loader(dataset, 'cifar10-train', batch_size=options['global_batch'] // world, seed=1, last_batch='pad')
    torch.manual_seed(0)
    model = ray.train.torch.prepare_model(torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    epoch, before = 0, ''
    if checkpoint := ray.train.get_checkpoint():
        with checkpoint.as_directory() as folder:
            saved = torch.load(pathlib.Path(folder) / 'state.pt', weights_only=True)
        getattr(model, 'module', model).load_state_dict(saved['model'])
        optimizer.load_state_dict(saved['optimizer'])
        loader.load_state_dict(saved['loader'] | {'audit': ''})
        epoch, before = saved['epoch'], saved['audit']

    def state(epoch: int, audit: str) -> dict:
        return {'model': getattr(model, 'module', model).state_dict(), 'optimizer': optimizer.state_dict(),
                'loader': loader.state_dict(), 'audit': audit, 'epoch': epoch}

    for epoch in range(epoch, options['epochs']):
        for step, batch in enumerate(loader, 1):
            losses = torch.nn.functional.cross_entropy(model(batch.image), batch.label, reduction='none')
            loss = (losses * batch.mask).sum() / options['global_batch'] * world  # DDP takes the mean over workers
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % options['save_every'] == 0:
                report(state(epoch, str(loader.gather_audit(before))), {'epoch': epoch, 'step': step})
        audit = loader.gather_audit(before).check(dataset)
        before = ''
        if rank == 0:
            print(f'epoch {epoch}: {world} workers at its end, {audit.samples} of {audit.epoch_samples} samples, '
                  f'each once: {audit.complete}', flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('shards')
    parser.add_argument('--storage', required=True, help='folder or URL for checkpoints, which all workers see')
    parser.add_argument('--workers', type=int, default=2)
    parser.add_argument('--gpus', action='store_true', help='a GPU a worker')
    parser.add_argument('--epochs', type=int, default=2)
    parser.add_argument('--global-batch', type=int, default=64)
    parser.add_argument('--save-every', type=int, default=20, help='steps')
    parser.add_argument('--retries', type=int, default=3, help='after faults')
    options = vars(parser.parse_args())
    for name in 'shards', 'storage':  # workers run in folders of their own
        if '://' not in options[name]:
            options[name] = str(pathlib.Path(options[name]).absolute())

    ray.train.torch.TorchTrainer(
        train, train_loop_config=options,
        scaling_config=ray.train.ScalingConfig(num_workers=options['workers'], use_gpu=options['gpus']),
        run_config=ray.train.RunConfig(name='recpack', storage_path=options['storage'],
                                       failure_config=ray.train.FailureConfig(max_failures=options['retries'])),
    ).fit()


if __name__ == '__main__':
    main()
