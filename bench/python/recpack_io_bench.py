"""recpack_io as a Python user sees it: loops in Python, arrays ready for NumPy or PyTorch. Jobs and
command line as those of bench/peers (common.py).

Random records are those that the peers of bench/records.py read: CIFAR-10 with 3,072 bytes each.
"""
import importlib.metadata
import itertools
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'peers'))
from common import (RANDOM_BATCH, RANDOM_BATCHES, Job, main, random_batches_of,  # noqa: E402
                    random_ordinals)
from recipes import CIFAR_BATCH, CIFAR_SAMPLES, CROP_BATCH, CROP_SAMPLES  # noqa: E402

import recpack_io  # noqa: E402

TAKE = 1000


def batches_of(loader, batches: int, arrays) -> Job:
    """So many, epoch after epoch. `arrays(batch)` gives what a user would take."""
    def forever():
        while True:
            yield from loader
    made = forever()

    def run():
        size = count = 0
        for batch in itertools.islice(made, batches):
            taken = arrays(batch)
            count += len(taken[0])
            size += sum(array.nbytes for array in taken)
        return count, size
    return Job(run, 'for batch in loader')


def of_numpy(batch) -> list:
    return [batch[name] for name in ('image', 'label')]


def of_torch(batch) -> list:
    return [batch['image'], batch['label']]


def loading(kind: str, framework: str):
    def job(context) -> Job:
        loader, arrays = recpack_io.Loader, of_numpy
        if framework == 'torch':
            import recpack_io.torch
            loader, arrays = recpack_io.torch.Loader, of_torch
        if kind == 'cifar':
            dataset = recpack_io.open(context.work / 'shards' / 'cifar')
            made = loader(dataset, 'cifar10-train', batch_size=CIFAR_BATCH, threads=context.threads)
            return batches_of(made, CIFAR_SAMPLES // CIFAR_BATCH, arrays)
        dataset = recpack_io.open(context.work / 'loader' / 'sample')
        made = loader(dataset, 'imagenet-train', batch_size=CROP_BATCH, threads=context.threads)
        return batches_of(made, CROP_SAMPLES // CROP_BATCH, arrays)
    return job


def record(context) -> Job:
    dataset = recpack_io.open(context.made('recpack-cifar'), split='train')
    ordinals = random_ordinals(TAKE, len(dataset))

    def run():
        return TAKE, sum(len(dataset[ordinal]['image']) for ordinal in ordinals)
    return Job(run, "dataset[i]['image']")


def pread(context) -> Job:
    """The same bytes, at places that nobody has to look up."""
    shards = sorted(context.made('recpack-cifar').glob('train-*.tfrecord'))
    dataset = recpack_io.open(context.made('recpack-cifar'), split='train')
    total = sum(shard.stat().st_size for shard in shards)
    stride, rest = divmod(total, len(dataset))
    if rest:
        raise SystemExit('records differ in size: their places are not known')
    places = []
    files = [(os.open(shard, os.O_RDONLY), shard.stat().st_size // stride) for shard in shards]
    for ordinal in random_ordinals(TAKE, len(dataset)):
        for file, records in files:
            if ordinal < records:
                places.append((file, ordinal * stride))
                break
            ordinal -= records

    def run():
        return TAKE, sum(len(os.pread(file, stride, offset)) for file, offset in places)
    return Job(run, 'os.pread(file, bytes, offset)')


def random_batches(context) -> Job:
    dataset = recpack_io.open(context.made('recpack-cifar'), split='train')
    batches = random_batches_of(len(dataset))

    def run():
        return RANDOM_BATCHES * RANDOM_BATCH, sum(len(record['image']) for batch in batches
                                    for record in dataset[batch])
    return Job(run, 'dataset[128 ordinals]')


if __name__ == '__main__':
    main('recpack_io', f"recpack-io {importlib.metadata.version('recpack-io')}",
         {**{f'{kind}-{framework}': loading(kind, framework)
             for kind in ('cifar', 'crop') for framework in ('numpy', 'torch')},
          'record': record, 'pread': pread, 'random-batches': random_batches})
