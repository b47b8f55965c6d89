"""MosaicML Streaming: MDS shards. A sample is bytes and a label; no hashes, as it comes."""
from streaming import MDSWriter, StreamingDataset

from common import (RANDOM_BATCH, RANDOM_BATCHES, Job, cifar_rows, image_files, main, random_batches_of,
                    random_ordinals, tree_bytes, version_of)

COLUMNS = {'image': 'bytes', 'label': 'int'}
TAKE = 1000


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
    data, size = StreamingDataset(local=str(out), batch_size=512, shuffle=False), tree_bytes(out)

    def run():
        return sum(1 for _ in data), size
    return Job(run, 'StreamingDataset, in order, one process')


def random_cifar(context) -> Job:
    data = StreamingDataset(local=str(context.made('mds-cifar')), batch_size=1, shuffle=False)
    ordinals = random_ordinals(TAKE, data.size)

    def run():
        return TAKE, sum(len(data[ordinal]['image']) for ordinal in ordinals)
    return Job(run, 'dataset[i]')


def random_batches(context) -> Job:
    data = StreamingDataset(local=str(context.made('mds-cifar')), batch_size=RANDOM_BATCH, shuffle=False)
    batches = random_batches_of(data.size)

    def run():
        return RANDOM_BATCHES * RANDOM_BATCH, sum(len(data[ordinal]['image']) for batch in batches for ordinal in batch)
    return Job(run, 'dataset[i], 128 times')


if __name__ == '__main__':
    main('mds', version_of('mosaicml-streaming'), {
        'pack-cifar': lambda context: pack(context, 'mds-cifar', cifar_rows),
        'pack-files': lambda context: pack(context, 'mds-files', image_files),
        'read-cifar': read_cifar, 'random-cifar': random_cifar, 'random-batches': random_batches})
