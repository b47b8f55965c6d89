"""LitData: Lightning's chunks. A sample is bytes and a label."""
import dataclasses
import os
import pathlib

from litdata import StreamingDataLoader, StreamingDataset
from litdata.streaming.writer import BinaryWriter

from common import (Job, cifar_rows, fastest, image_files, in_processes, main, random_batches_of_items,
                    random_items, tree_bytes, version_of)

ONE_BY_ONE = 'dataset[i], batch_decode=0'
WINDOWS = ('all', 'auto', 0)  # of samples that are deserialised at once


def write(out: pathlib.Path, samples) -> int:
    """By the writer that optimize() uses in its workers, which would first have to be given the
    samples one by one."""
    count = write_part(out, samples)
    writer_of(out).merge()
    return count


def writer_of(out: pathlib.Path) -> BinaryWriter:
    return BinaryWriter(str(out), chunk_bytes='64MB')


def write_part(out: pathlib.Path, samples, rank: int = 0) -> int:
    os.environ['DATA_OPTIMIZER_GLOBAL_RANK'] = str(rank)  # as optimize() tells its workers
    writer, count = writer_of(out), 0
    for image, label in samples:
        writer[count] = {'image': image, 'label': label}
        count += 1
    writer.done()
    del os.environ['DATA_OPTIMIZER_GLOBAL_RANK']
    return count


def pack(context, name: str, samples) -> Job:
    def run():
        out = context.fresh(name)
        count = in_processes(context, lambda i, part: write_part(out, samples(context, part), i))
        writer_of(out).merge(context.threads)
        return count, tree_bytes(out)
    return Job(run, f'BinaryWriter in {context.threads} processes, no compression, chunks of 64 MB')


def opened(context, window) -> StreamingDataset:
    return StreamingDataset(str(context.made('litdata-cifar')), shuffle=False, batch_decode=window)


def read_cifar(context) -> Job:
    from torch_readers import by_workers
    size = tree_bytes(context.made('litdata-cifar'))

    def alone(window) -> Job:
        data = opened(context, window)
        return Job(lambda: (sum(1 for _ in data), size),
                   f'StreamingDataset, in order, batch_decode={window}, one process')

    def workers(window) -> Job:
        return by_workers(opened(context, window), context.threads, size, StreamingDataLoader)
    return fastest(context, lambda way, window: way(window), (alone, workers), WINDOWS)


def parse_cifar(context) -> Job:
    from torch_readers import by_workers, worker_counts
    size = tree_bytes(context.made('litdata-cifar'))

    def way(window, workers: int) -> Job:
        job = by_workers(opened(context, window), workers, size, StreamingDataLoader)
        return dataclasses.replace(job, config=f'{job.config}, batch_decode={window}')
    return fastest(context, way, WINDOWS, worker_counts(context.threads))


def random_cifar(context) -> Job:
    """A sample at a time: by default it would deserialise a window of 256 for each."""
    data = opened(context, 0)
    return random_items(data, len(data), ONE_BY_ONE)


def random_batches(context) -> Job:
    data = opened(context, 0)
    return random_batches_of_items(data, len(data), ONE_BY_ONE)


if __name__ == '__main__':
    main('litdata', version_of('litdata'), {
        'pack-cifar': lambda context: pack(context, 'litdata-cifar', cifar_rows),
        'pack-files': lambda context: pack(context, 'litdata-files', image_files),
        'read-cifar': read_cifar, 'parse-cifar': parse_cifar, 'random-cifar': random_cifar, 'random-batches': random_batches})
