"""LitData: Lightning's chunks. A sample is bytes and a label."""
from litdata import StreamingDataset
from litdata.streaming.writer import BinaryWriter

from common import (RANDOM_BATCH, RANDOM_BATCHES, Job, cifar_rows, image_files, main, random_batches_of,
                    random_ordinals, tree_bytes, version_of)

TAKE = 1000


def write(out, samples) -> int:
    """By the writer that optimize() uses in its workers, which would first have to be given the
    samples one by one."""
    out.mkdir(parents=True, exist_ok=True)
    writer = BinaryWriter(str(out), chunk_bytes='64MB')
    count = 0
    for image, label in samples:
        writer[count] = {'image': image, 'label': label}
        count += 1
    writer.done()
    writer.merge()
    return count


def pack(context, name: str, samples) -> Job:
    def run():
        out = context.fresh(name)
        return write(out, samples(context)), tree_bytes(out)
    return Job(run, 'BinaryWriter, no compression, chunks of 64 MB')


def read_cifar(context) -> Job:
    out = context.made('litdata-cifar')
    data, size = StreamingDataset(str(out), shuffle=False), tree_bytes(out)

    def run():
        return sum(1 for _ in data), size
    return Job(run, 'StreamingDataset, in order, one process')


def random_cifar(context) -> Job:
    data = StreamingDataset(str(context.made('litdata-cifar')), shuffle=False)
    ordinals = random_ordinals(TAKE, len(data))

    def run():
        return TAKE, sum(len(data[ordinal]['image']) for ordinal in ordinals)
    return Job(run, 'dataset[i]')


def random_batches(context) -> Job:
    data = StreamingDataset(str(context.made('litdata-cifar')), shuffle=False)
    batches = random_batches_of(len(data))

    def run():
        return RANDOM_BATCHES * RANDOM_BATCH, sum(len(data[ordinal]['image']) for batch in batches for ordinal in batch)
    return Job(run, 'dataset[i], 128 times')


if __name__ == '__main__':
    main('litdata', version_of('litdata'), {
        'pack-cifar': lambda context: pack(context, 'litdata-cifar', cifar_rows),
        'pack-files': lambda context: pack(context, 'litdata-files', image_files),
        'read-cifar': read_cifar, 'random-cifar': random_cifar, 'random-batches': random_batches})
