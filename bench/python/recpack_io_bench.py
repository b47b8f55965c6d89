"""recpack_io as a Python user sees it: loops in Python, arrays ready for NumPy or PyTorch. Jobs and
command line as those of bench/peers (common.py).

Random records are those that the peers of bench/records.py read: CIFAR-10 with 3,072 bytes each.
"""
import importlib.metadata
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'peers'))
from common import (RANDOM_BATCH, RANDOM_BATCHES, Job, main, random_batches_of,  # noqa: E402
                    random_ordinals)
from recipes import CIFAR_BATCH, CROP_BATCH, CROP_SAMPLES  # noqa: E402

import recpack_io  # noqa: E402

# Batches in a repetition. More than the peers', which are so much slower.
CIFAR_SAMPLES = 614_400
TAKE = 20_000
BATCHES = 20 * RANDOM_BATCHES
PREFETCH = 4


def batches_of(loader, samples: int, arrays, config: str) -> Job:
    """So many, epoch after epoch. `arrays(batch)` gives what a user would take. What was made while
    others had their turn is used up outside the time, as bench/loader/loader_bench.cc does."""
    def forever():
        while True:
            yield from loader
    made = forever()

    def settle():
        for _ in range(PREFETCH + 1):
            next(made)

    def run():
        size = count = 0
        while count < samples:
            taken = arrays(next(made))
            count += len(taken[0])
            size += sum(array.nbytes for array in taken)
        return count, size
    return Job(run, config, settle)


def of_numpy(batch) -> list:
    return [batch[name] for name in ('image', 'label')]


def of_torch(batch) -> list:
    return [batch['image'], batch['label']]


def loading(kind: str, framework: str):
    name, recipe, batch_size, samples = {
        'cifar': ('shards/cifar', 'cifar10-train', CIFAR_BATCH, CIFAR_SAMPLES),
        'crop': ('loader/sample', 'imagenet-train', CROP_BATCH, CROP_SAMPLES),
        'crop-tile': ('loader/sample-tile', 'imagenet-train', CROP_BATCH, CROP_SAMPLES)}[kind]

    def job(context) -> Job:
        loader, arrays = recpack_io.Loader, of_numpy
        if framework == 'torch':
            from recpack_io.torch import Loader
            loader, arrays = Loader, of_torch
        made = loader(recpack_io.open(context.work / name), recipe, batch_size=batch_size,
                      threads=context.threads, prefetch=PREFETCH)
        return batches_of(made, samples, arrays, f'{recipe}, {context.threads} threads, batch '
                          f'{batch_size}, prefetch {PREFETCH}')
    return job


def record(context) -> Job:
    """Read, checked, and held for a moment; its features are views that are made when asked for."""
    dataset = recpack_io.open(context.made('recpack-cifar'), split='train')
    ordinals = random_ordinals(TAKE, len(dataset))
    size = TAKE * (dataset.nbytes // len(dataset))

    def run():
        for ordinal in ordinals:
            dataset[ordinal]
        return TAKE, size
    return Job(run, 'dataset[i]')


def feature(context) -> Job:
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
    files = [os.open(shard, os.O_RDONLY) for shard in shards]
    there = [(file, offset) for file, shard in zip(files, shards)
             for offset in range(0, shard.stat().st_size, stride)]
    ordinals = random_ordinals(TAKE, len(dataset))
    places = [there[ordinal] for ordinal in ordinals]
    for ordinal, (file, offset) in zip(ordinals[:100], places):
        if dataset[ordinal]['image'].tobytes() not in os.pread(file, stride, offset):
            raise SystemExit(f'record {ordinal} is not where it was reckoned to be')

    def run():
        for file, offset in places:
            os.pread(file, stride, offset)
        return TAKE, TAKE * stride
    return Job(run, 'os.pread(file, bytes, offset)')


def random_batches(context) -> Job:
    dataset = recpack_io.open(context.made('recpack-cifar'), split='train')
    batches = random_batches_of(len(dataset), BATCHES)

    def run():
        return BATCHES * RANDOM_BATCH, sum(len(record['image']) for batch in batches
                                           for record in dataset[batch])
    return Job(run, 'dataset[128 ordinals]')


if __name__ == '__main__':
    main('recpack_io', f"recpack-io {importlib.metadata.version('recpack-io')}",
         {**{f'{kind}-{framework}': loading(kind, framework)
             for kind in ('cifar', 'crop', 'crop-tile') for framework in ('numpy', 'torch')},
          'record': record, 'feature': feature, 'pread': pread, 'random-batches': random_batches})
