"""ArrayRecord: Google's format with an index in the file. A record is label and image."""
import struct

from array_record.python import array_record_data_source, array_record_module

from common import (RANDOM_BATCH, RANDOM_BATCHES, RANDOM_ITEMS, Job, cifar_rows, image_files, main,
                    random_batches_of, random_ordinals, tree_bytes, version_of)

# The fastest of several group sizes for packing and reading in order, and for random access.
OPTIONS = 'group_size:64,uncompressed'
RANDOM_OPTIONS = 'group_size:8,uncompressed'


def write(path, samples, options: str) -> int:
    writer = array_record_module.ArrayRecordWriter(str(path), options)
    count = 0
    for image, label in samples:
        writer.write(struct.pack('<q', label) + image)
        count += 1
    writer.close()
    return count


def pack(context, name: str, samples) -> Job:
    def run():
        out = context.fresh(name)
        return write(out / 'data.array_record', samples(context), OPTIONS), tree_bytes(out)
    return Job(run, OPTIONS)


def read_cifar(context) -> Job:
    out = context.made('array_record-cifar')
    reader = array_record_module.ArrayRecordReader(str(out / 'data.array_record'))
    size = tree_bytes(out)

    def run():
        return len(reader.read_all()), size
    return Job(run, OPTIONS + ', read_all')


def made_for_random_access(context):
    """The data set, written once, before anything is timed."""
    out = context.work / 'out' / 'array_record-cifar-random'
    path = out / 'data.array_record'
    if not path.exists():
        out.mkdir(parents=True, exist_ok=True)
        part = out / 'part.array_record'
        write(part, cifar_rows(context), RANDOM_OPTIONS)
        part.rename(path)
    return array_record_data_source.ArrayRecordDataSource([str(path)])


def random_cifar(context) -> Job:
    data = made_for_random_access(context)
    ordinals = random_ordinals(RANDOM_ITEMS, len(data))

    def run():
        return len(ordinals), sum(len(data[ordinal]) for ordinal in ordinals)
    return Job(run, RANDOM_OPTIONS + ', data[i]')


def random_batches(context) -> Job:
    data = made_for_random_access(context)
    batches = random_batches_of(len(data))

    def run():
        return RANDOM_BATCHES * RANDOM_BATCH, sum(len(each) for batch in batches for each in data.__getitems__(batch))
    return Job(run, RANDOM_OPTIONS + ', data.__getitems__(128 ordinals)')


if __name__ == '__main__':
    main('array_record', version_of('array_record'), {
        'pack-cifar': lambda context: pack(context, 'array_record-cifar', cifar_rows),
        'pack-files': lambda context: pack(context, 'array_record-files', image_files),
        'read-cifar': read_cifar, 'random-cifar': random_cifar, 'random-batches': random_batches})
