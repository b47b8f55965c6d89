"""MosaicML Streaming: MDS shards. A sample is bytes and a label; no hashes, as it comes."""
import pathlib

from streaming import MDSWriter, StreamingDataset
from streaming.base.util import merge_index

from common import (RANDOM_BATCH, Job, cifar_rows, fastest, image_files, in_processes, main,
                    random_batches_of_items, random_items, tree_bytes, version_of)

COLUMNS = {'image': 'bytes', 'label': 'int'}  # bytes are the encoding that costs least to decode
ALL_AHEAD = 1 << 30  # predownload: shards are local


def write(out: pathlib.Path, samples) -> int:
    count = 0
    with MDSWriter(out=str(out), columns=COLUMNS) as writer:
        for image, label in samples:
            writer.write({'image': image, 'label': label})
            count += 1
    return count


def pack(context, name: str, samples) -> Job:
    def run():
        out = context.fresh(name)
        count = in_processes(context, lambda i, part: write(out / str(i), samples(context, part)))
        merge_index(str(out))
        return count, tree_bytes(out)
    return Job(run, f'MDSWriter in {context.threads} processes, merge_index, no compression, no hashes, shards of 64 MB')


def opened(context, batch: int, **more) -> StreamingDataset:
    return StreamingDataset(local=str(context.made('mds-cifar')), batch_size=batch, shuffle=False, **more)


def read_cifar(context) -> Job:
    from torch_readers import Indexed, by_workers
    size = tree_bytes(context.made('mds-cifar'))
    data = opened(context, 512, predownload=ALL_AHEAD)

    def indexed() -> Job:
        return Job(lambda: (sum(1 for i in range(data.size) if data[i]), size), 'dataset[i] in order, one process')

    def iterated() -> Job:
        return Job(lambda: (sum(1 for _ in data), size),
                   'StreamingDataset, in order, all counts as loaded ahead, one process')

    def workers() -> Job:
        return by_workers(Indexed(data), context.threads, size)
    return fastest(context, lambda way: way(), (indexed, iterated, workers))


def parse_cifar(context) -> Job:
    from torch_readers import Indexed, by_workers, worker_counts
    size = tree_bytes(context.made('mds-cifar'))
    data = opened(context, 512, predownload=ALL_AHEAD)

    def indexed(workers: int) -> Job:
        return by_workers(Indexed(data), workers, size)
    return fastest(context, indexed, worker_counts(context.threads))


def random_cifar(context) -> Job:
    data = opened(context, 1)
    return random_items(data, data.size)


def random_batches(context) -> Job:
    data = opened(context, RANDOM_BATCH)
    return random_batches_of_items(data, data.size)


if __name__ == '__main__':
    main('mds', version_of('mosaicml-streaming'), {
        'pack-cifar': lambda context: pack(context, 'mds-cifar', cifar_rows),
        'pack-files': lambda context: pack(context, 'mds-files', image_files),
        'read-cifar': read_cifar, 'parse-cifar': parse_cifar, 'random-cifar': random_cifar, 'random-batches': random_batches})
