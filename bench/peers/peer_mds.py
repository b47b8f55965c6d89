"""MosaicML Streaming: MDS shards. A sample is bytes and a label; no hashes, as it comes."""
from streaming import MDSWriter, StreamingDataset

from common import (RANDOM_BATCH, Job, cifar_rows, image_files, main, random_batches_of_items, random_items,
                    tree_bytes, version_of)

COLUMNS = {'image': 'bytes', 'label': 'int'}


def write(out, samples) -> int:
    count = 0
    with MDSWriter(out=str(out), columns=COLUMNS) as writer:
        for image, label in samples:
            writer.write({'image': image, 'label': label})
            count += 1
    return count


def pack(context, name: str, samples) -> Job:
    def run():
        out = context.fresh(name)
        out.rmdir()  # it insists on making the folder
        return write(out, samples(context)), tree_bytes(out)
    return Job(run, 'MDSWriter, no compression, no hashes, shards of 64 MB')


def read_cifar(context) -> Job:
    out = context.made('mds-cifar')
    data, size = opened(context, 512), tree_bytes(out)

    def run():
        return sum(1 for _ in data), size
    return Job(run, 'StreamingDataset, in order, one process')


def opened(context, batch: int) -> StreamingDataset:
    return StreamingDataset(local=str(context.made('mds-cifar')), batch_size=batch, shuffle=False)


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
        'read-cifar': read_cifar, 'random-cifar': random_cifar, 'random-batches': random_batches})
