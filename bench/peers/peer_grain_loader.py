"""Grain on the loaders' recipes: ArrayRecord with a group for each record, as it asks for, and torchvision."""
import struct

import grain
import numpy as np
import torch

from common import cifar_rows, fastest, files_of, main, version_of
from peer_array_record import write
from recipes import CIFAR_BATCH, CROP_BATCH, cifar_jobs, crop_jobs, live_cifar, live_crop, made_once
from torch_readers import of_loader, worker_counts
from torch_recipes import CropAndFlip, CropBatch, crop_transform, decoded

torch.set_num_threads(1)


def made(context, name: str, samples):
    path = made_once(context.work / 'loader' / f'{name}.array_record',
                     lambda part: write(part, samples, 'group_size:1,uncompressed'))
    return grain.sources.ArrayRecordDataSource([str(path)])


def endless(data, threads: int):
    options = grain.MultiprocessingOptions(num_workers=threads, per_worker_buffer_size=2)
    running = iter(data.to_iter_dataset(grain.ReadOptions(num_threads=1, prefetch_buffer_size=4)).mp_prefetch(options))

    def batches():
        while True:
            yield len(next(running)[1])
    return batches


def parse_cifar(context):
    """Batches of (3072 bytes, label), in order."""
    def collate(records):
        rows = np.frombuffer(b''.join(records), np.uint8).reshape(len(records), -1)
        return rows[:, 8:], rows[:, :8].copy().view('<i8')[:, 0]

    def way(together, workers):
        path = made_once(context.work / 'loader' / f'grain-cifar-{together}.array_record',
                         lambda part: write(part, cifar_rows(context), f'group_size:{together},uncompressed'))
        data = grain.MapDataset.source(grain.sources.ArrayRecordDataSource([str(path)])).batch(CIFAR_BATCH, batch_fn=collate)
        loader = data.to_iter_dataset(grain.ReadOptions(num_threads=1, prefetch_buffer_size=4))
        if workers:
            loader = loader.mp_prefetch(grain.MultiprocessingOptions(num_workers=workers, per_worker_buffer_size=2))
        return of_loader(loader, f'group_size:{together}, batches of {CIFAR_BATCH}, {workers} workers', path.stat().st_size)
    return fastest(context, way, (1, 8, 64), worker_counts(context.threads))


def label_of(record: bytes) -> int:
    return struct.unpack_from('<q', record)[0]


def cifar(context, floats: bool):
    augment = CropAndFlip(floats)

    def collate(records):
        return (augment.of_rows([record[8:] for record in records]).numpy(),
                np.array([label_of(record) for record in records]))
    source = made(context, 'grain-cifar', cifar_rows(context))
    data = grain.MapDataset.source(source).shuffle(seed=1).repeat().batch(
        CIFAR_BATCH, drop_remainder=True, batch_fn=collate)
    return live_cifar(endless(data, context.threads),
                      f'shuffled, whole batches in numpy, NCHW, mp_prefetch of {context.threads} workers', 8, floats)


def crop(job):
    transform, batch_of = crop_transform(job), CropBatch(job)

    def sample(record):
        return transform(decoded(record[8:])), label_of(record)

    def collate(samples):
        return tuple(part.numpy() for part in batch_of(samples))
    source = made(job.context, f'grain-{job.kind}', files_of(job.files))
    data = grain.MapDataset.source(source).shuffle(seed=1).repeat().map(sample).batch(
        CROP_BATCH, drop_remainder=True, batch_fn=collate)
    return live_crop(endless(data, job.context.threads), job, 'decode_jpeg, transforms.v2, whole batches normalised, '
                     f'NCHW, mp_prefetch of {job.context.threads} workers', 8)


if __name__ == '__main__':
    main('grain', version_of('grain', 'array_record', 'torchvision'), {
        'parse-cifar': parse_cifar, **cifar_jobs(cifar), **crop_jobs(crop)})
