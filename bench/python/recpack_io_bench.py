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
from recipes import CIFAR_BATCH, CROP_BATCH, CROP_SAMPLES, IMAGENET_MEAN, IMAGENET_STD, SIDE  # noqa: E402

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


def own_function(kind: str, workers: int):
    """Functions of the user on each photo: torchvision's whole recipe on the decoded photo, as of the peers, or NumPy's
    normalisation of what the loader has cropped."""
    def job(context) -> Job:
        import numpy as np
        import torch
        from recpack_io.torch import Loader
        from torchvision.transforms import v2
        torch.set_num_threads(1)
        if kind == 'torchvision':
            transform = v2.Compose([v2.RandomResizedCrop(SIDE, antialias=True), v2.RandomHorizontalFlip(),
                                    v2.ToDtype(torch.float32), v2.Normalize(IMAGENET_MEAN, IMAGENET_STD)])
            image = recpack_io.Image(height=SIDE, width=SIDE, then=transform, given='torch', type='f32')
        else:
            mean, scale = np.array(IMAGENET_MEAN, 'f'), 1 / np.array(IMAGENET_STD, 'f')

            def normalise(sample):
                return {'image': ((sample.image - mean) * scale).transpose(2, 0, 1)}
            cropped = recpack_io.Image(height=SIDE, width=SIDE, crop='random-resized', flip=0.5)
            image = recpack_io.Function(normalise, {'image': ('float32', (3, SIDE, SIDE))}, image=cropped)
        label = recpack_io.recipe('imagenet-train')[1]
        made = Loader(recpack_io.open(context.work / 'loader/sample'), fields=[image, label], batch_size=CROP_BATCH,
                      threads=context.threads, prefetch=PREFETCH, workers=workers, multiprocessing_context='fork')
        called = f'in {workers} processes' if workers else f'on {context.threads} threads, one at a time'
        return batches_of(made, CROP_SAMPLES, of_torch, f'{kind}, called {called}, batch {CROP_BATCH}, prefetch {PREFETCH}')
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
          **{f'{kind}-{workers}': own_function(kind, workers) for kind in ('torchvision', 'numpy') for workers in (0, 2)},
          'record': record, 'feature': feature, 'pread': pread, 'random-batches': random_batches})
