"""WebDataset: tar shards, a record in a member.

A CIFAR record is its label and 3072 bytes, as in CIFAR-10's own binary files: a member more for the
label would take as long again.
"""
import functools
import pathlib
from typing import Iterable

import webdataset

from common import Job, cifar_rows, fastest, image_files, in_processes, main, tree_bytes, version_of

RECORD = 1 + 3072


def write(out: pathlib.Path, samples: Iterable[dict[str, bytes]], most: int = 15_000, name: str = '') -> int:
    """Samples {file ending: bytes}, `most` in a shard."""
    count = 0
    with webdataset.ShardWriter(str(out / f'{name}%05d.tar'), maxcount=most, maxsize=1 << 40, verbose=0,
                                encoder=False) as writer:
        for sample in samples:
            writer.write({'__key__': f'{name}{count:08d}', **sample})
            count += 1
    return count


def record_of(row: tuple[bytes, int]) -> bytes:
    image, label = row
    return bytes([label]) + image


def cifar_samples(context, part: slice):
    return ({'bin': record_of(row)} for row in cifar_rows(context, part))


def file_samples(context, part: slice):
    return ({'jpg': photo, 'cls': str(label).encode()} for photo, label in image_files(context, part))


def pack(context, name: str, samples) -> Job:
    def run():
        out = context.fresh(name)
        count = in_processes(context, lambda i, part: write(out, samples(context, part), name=f'{i}-'))
        return count, tree_bytes(out)
    return Job(run, f'ShardWriter in {context.threads} processes, bytes as they are')


def batch_of(samples: list[dict]):
    import torch
    joined = bytearray().join(sample['bin'] for sample in samples)
    records = torch.frombuffer(joined, dtype=torch.uint8).view(-1, RECORD)
    return records[:, 1:], records[:, 0]


def opened(context) -> webdataset.WebDataset:
    tars = context.made('webdataset-cifar').glob('*.tar')
    return webdataset.WebDataset(sorted(map(str, tars)), shardshuffle=False)


def by_workers(context, workers: int) -> Job:
    from torch_readers import BATCH, of_loader
    batches = opened(context).batched(BATCH, collation_fn=batch_of)
    loader = webdataset.WebLoader(batches, batch_size=None, num_workers=workers, persistent_workers=workers > 0)
    return of_loader(loader, f'WebLoader, batches of {BATCH}, {workers} workers',
                     tree_bytes(context.made('webdataset-cifar')))


def read_cifar(context) -> Job:
    data, size = opened(context), tree_bytes(context.made('webdataset-cifar'))

    def workers() -> Job:
        return by_workers(context, context.threads)

    def alone() -> Job:
        return Job(lambda: (sum(1 for _ in data), size), 'WebDataset, one process')
    return fastest(context, lambda way: way(), (workers, alone))


def parse_cifar(context) -> Job:
    from torch_readers import worker_counts
    return fastest(context, functools.partial(by_workers, context), worker_counts(context.threads))


if __name__ == '__main__':
    main('webdataset', version_of('webdataset'), {
        'pack-cifar': lambda context: pack(context, 'webdataset-cifar', cifar_samples),
        'pack-files': lambda context: pack(context, 'webdataset-files', file_samples),
        'read-cifar': read_cifar, 'parse-cifar': parse_cifar})
