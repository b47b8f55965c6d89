"""LitData: Lightning's chunks. A sample is bytes and a label."""
from litdata import StreamingDataset
from litdata.streaming.writer import BinaryWriter

from common import (Job, cifar_rows, image_files, main, random_batches_of_items, random_items,
                    tree_bytes, version_of)


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
    data, size = opened(context), tree_bytes(out)

    def run():
        return sum(1 for _ in data), size
    return Job(run, 'StreamingDataset, in order, one process')


def opened(context) -> StreamingDataset:
    return StreamingDataset(str(context.made('litdata-cifar')), shuffle=False)


def random_cifar(context) -> Job:
    data = opened(context)
    return random_items(data, len(data))


def random_batches(context) -> Job:
    data = opened(context)
    return random_batches_of_items(data, len(data))


if __name__ == '__main__':
    main('litdata', version_of('litdata'), {
        'pack-cifar': lambda context: pack(context, 'litdata-cifar', cifar_rows),
        'pack-files': lambda context: pack(context, 'litdata-files', image_files),
        'read-cifar': read_cifar, 'random-cifar': random_cifar, 'random-batches': random_batches})
