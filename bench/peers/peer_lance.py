"""Lance: a columnar data set with random access."""
import lance
import pyarrow as pa

from common import (RANDOM_BATCH, RANDOM_BATCHES, RANDOM_ITEMS, Job, cifar_rows, image_files, main,
                    random_batches_of, random_ordinals, tree_bytes, version_of)

SCHEMA = pa.schema([('image', pa.binary()), ('label', pa.int64())])


def record_batches(samples, size: int):
    images, labels = [], []
    for image, label in samples:
        images.append(image)
        labels.append(label)
        if len(images) == size:
            yield pa.record_batch([pa.array(images, pa.binary()), pa.array(labels)], schema=SCHEMA)
            images, labels = [], []
    if images:
        yield pa.record_batch([pa.array(images, pa.binary()), pa.array(labels)], schema=SCHEMA)


def pack(context, name: str, samples) -> Job:
    def run():
        out = context.fresh(name)
        reader = pa.RecordBatchReader.from_batches(SCHEMA, record_batches(samples(context), 1000))
        written = lance.write_dataset(reader, str(out / 'data.lance'))
        return written.count_rows(), tree_bytes(out)
    return Job(run, 'write_dataset, record batches of 1000')


def read_cifar(context) -> Job:
    out = context.made('lance-cifar')
    data, size = lance.dataset(str(out / 'data.lance')), tree_bytes(out)

    def run():
        return sum(batch.num_rows for batch in data.to_batches(batch_size=512)), size
    return Job(run, 'to_batches(512)')


def labels(context) -> Job:
    """One column of all rows: what a columnar format is for."""
    out = context.made('lance-cifar')
    data = lance.dataset(str(out / 'data.lance'))

    def run():
        column = data.to_table(columns=['label']).column(0)
        return len(column), column.nbytes
    return Job(run, "to_table(columns=['label'])")


def random_cifar(context) -> Job:
    data = lance.dataset(str(context.made('lance-cifar') / 'data.lance'))
    ordinals = random_ordinals(RANDOM_ITEMS, data.count_rows())

    def run():
        size = 0
        for ordinal in ordinals:
            size += len(data.take([ordinal], columns=['image']).column(0)[0].as_py())
        return len(ordinals), size
    return Job(run, 'take(1)')


def random_batches(context) -> Job:
    data = lance.dataset(str(context.made('lance-cifar') / 'data.lance'))
    batches = random_batches_of(data.count_rows())

    def run():
        return RANDOM_BATCHES * RANDOM_BATCH, sum(data.take(batch, columns=['image']).nbytes for batch in batches)
    return Job(run, 'take(128 ordinals)')


if __name__ == '__main__':
    main('lance', version_of('pylance'), {
        'pack-cifar': lambda context: pack(context, 'lance-cifar', cifar_rows),
        'pack-files': lambda context: pack(context, 'lance-files', image_files),
        'read-cifar': read_cifar, 'random-cifar': random_cifar, 'random-batches': random_batches,
        'labels': labels})
