"""TensorFlow: the usual conversion script, and tf.data at its best.

tf.data is measured on one live iterator over an endless list of files: its autotuner adds waits
at the end of an epoch, which would count against it. Records of 3 KB are read sequentially, which
is several times faster than with parallel reads.
"""
import os

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')

import tensorflow as tf

from common import (CIFAR_SPLITS, Context, Job, cifar_rows, image_files, image_paths, main,
                    read_batch, tree_bytes, version_of)

SHARDS = 4
PHOTO_BYTES = 400_000_000
ENDLESS = 100_000
FEATURES = {'image': tf.io.FixedLenFeature([], tf.string),
            'label': tf.io.FixedLenFeature([], tf.int64)}


def example(image: bytes, label: int) -> bytes:
    return tf.train.Example(features=tf.train.Features(feature={
        'image': tf.train.Feature(bytes_list=tf.train.BytesList(value=[image])),
        'label': tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
    })).SerializeToString()


def write_shards(folder, samples) -> int:
    """Deals the samples to SHARDS files; returns how many there were."""
    folder.mkdir(parents=True, exist_ok=True)
    writers = [tf.io.TFRecordWriter(str(folder / f'{i:05d}-of-{SHARDS:05d}.tfrecord'))
               for i in range(SHARDS)]
    count = 0
    for image, label in samples:
        writers[count % SHARDS].write(example(image, label))
        count += 1
    for writer in writers:
        writer.close()
    return count


def photos(context: Context):
    """Real photos of about 100 KB, over and over until there are enough bytes."""
    files = []
    for path, label in image_paths(context.data / 'imagenet-sample'):
        with open(path, 'rb') as file:
            files.append((file.read(), label))
    left = PHOTO_BYTES if files else 0
    while left > 0:
        for image, label in files:
            yield image, label
            left -= len(image)


def prepare(context: Context) -> Job:
    """The shards that every TFRecord reader reads."""
    def run():
        folder = context.work / 'shards'
        count = write_shards(folder / 'cifar', cifar_rows(context))
        if (context.data / 'imagenet-sample').is_dir():
            count += write_shards(folder / 'photo', photos(context))
        return count, tree_bytes(folder)
    return Job(run, f'{SHARDS} shards each')


def small(context: Context) -> Job:
    """10^4 and 10^6 records of 100 bytes: what memory is measured on."""
    def run():
        folder = context.work / 'small'
        folder.mkdir(parents=True, exist_ok=True)
        payload = example(bytes(80), 1)
        for count in 10_000, 1_000_000:
            with tf.io.TFRecordWriter(str(folder / f'{count}.tfrecord')) as writer:
                for _ in range(count):
                    writer.write(payload)
        return 1_010_000, tree_bytes(folder)
    return Job(run)


def pack_cifar(context: Context) -> Job:
    """The widespread script: one file a split, one Example a row."""
    def run():
        out = context.fresh('tensorflow-cifar')
        count = 0
        for split, names in CIFAR_SPLITS.items():
            with tf.io.TFRecordWriter(str(out / f'{split}.tfrecords')) as writer:
                for name in names:
                    rows, labels = read_batch(context.data / 'cifar-10-batches-py' / name)
                    for i in range(len(labels)):
                        writer.write(example(rows[i].tobytes(), labels[i]))
                    count += len(labels)
        return count, tree_bytes(out)
    return Job(run, 'tf.train.Example, TFRecordWriter')


def pack_files(context: Context) -> Job:
    def run():
        out = context.fresh('tensorflow-files')
        return write_shards(out, image_files(context)), tree_bytes(out)
    return Job(run, f'TFRecordWriter, {SHARDS} shards')


def live(dataset, files: list[str], config: str, records: int) -> Job:
    """One repetition takes an epoch's worth of records from an iterator that never ends.

    It reads ahead while others have their turn: what it gathered so is used up before the time.
    """
    iterator = iter(dataset)
    total = sum(os.path.getsize(name) for name in files)

    def run():
        count = 0
        while count < records:
            batch = next(iterator)
            label = batch[1] if isinstance(batch, tuple) else batch
            count += int(label.shape[0])
        return count, total * count // records
    return Job(run, config, run)


def count_records(files: list[str]) -> int:
    dataset = tf.data.TFRecordDataset(files).batch(512)
    return sum(int(batch.shape[0]) for batch in dataset)


def read_cifar(context: Context) -> Job:
    files = context.shards('cifar')
    dataset = tf.data.TFRecordDataset(files * ENDLESS).batch(512)
    return live(dataset, files, 'sequential, batch(512)', count_records(files))


def read_photo(context: Context) -> Job:
    files = context.shards('photo')
    parallel = 2 if context.threads > 1 else None
    dataset = tf.data.TFRecordDataset(files * ENDLESS, num_parallel_reads=parallel).batch(64)
    return live(dataset, files, f'num_parallel_reads={parallel}, batch(64)', count_records(files))


def parse(records):
    features = tf.io.parse_example(records, FEATURES)
    return tf.io.decode_raw(features['image'], tf.uint8), features['label']


def parse_cifar(context: Context) -> Job:
    files = context.shards('cifar')
    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    options.threading.max_intra_op_parallelism = 1
    dataset = tf.data.TFRecordDataset(files * ENDLESS).batch(512).map(parse).with_options(options)
    return live(dataset, files, 'sequential, batch(512), parse_example on batches, 1 thread',
                count_records(files))


def parse_cifar_parallel(context: Context) -> Job:
    """Two files at a time, a batch parsed where it was read: the best of the parallel ways."""
    files = context.shards('cifar')
    dataset = tf.data.Dataset.from_tensor_slices(files * (ENDLESS // 100)).interleave(
        lambda name: tf.data.TFRecordDataset(name).batch(512).map(parse),
        cycle_length=2, num_parallel_calls=2, deterministic=False).prefetch(2)
    return live(dataset, files, 'interleave 2 files, batch(512), parse_example on batches',
                count_records(files))


def start(context: Context) -> Job:
    def run():
        record = next(iter(tf.data.TFRecordDataset(context.shards('cifar'))))
        return 1, len(record.numpy())
    return Job(run, 'import, TFRecordDataset, next')


if __name__ == '__main__':
    main('tensorflow', version_of('tensorflow-cpu'), {
        'prepare': prepare, 'small': small, 'pack-cifar': pack_cifar, 'pack-files': pack_files,
        'read-cifar': read_cifar, 'read-photo': read_photo, 'parse-cifar': parse_cifar,
        'parse-cifar-parallel': parse_cifar_parallel,
        'start': start})
