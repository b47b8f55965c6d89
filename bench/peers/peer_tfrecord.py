"""The `tfrecord` package: TFRecord without TensorFlow. It checks no CRC."""
import os

import tfrecord
from tfrecord.tools import tfrecord2idx

from common import Job, cifar_rows, image_files, main, tree_bytes, version_of


def pack(context, name: str, samples) -> Job:
    def run():
        out = context.fresh(name)
        writer = tfrecord.TFRecordWriter(str(out / 'data.tfrecord'))
        count = 0
        for image, label in samples(context):
            writer.write({'image': (image, 'byte'), 'label': (label, 'int')})
            count += 1
        writer.close()
        return count, tree_bytes(out)
    return Job(run, 'TFRecordWriter')


def total_bytes(files) -> int:
    return sum(os.path.getsize(name) for name in files)


def read(context, kind: str) -> Job:
    files = context.shards(kind)

    def run():
        count = sum(1 for name in files for _ in tfrecord.reader.tfrecord_iterator(name))
        return count, total_bytes(files)
    return Job(run, 'tfrecord_iterator, no CRC check')


def parse_cifar(context) -> Job:
    files = context.shards('cifar')
    features = {'image': 'byte', 'label': 'int'}

    def run():
        count = sum(1 for name in files for _ in tfrecord.tfrecord_loader(name, None, features))
        return count, total_bytes(files)
    return Job(run, 'tfrecord_loader, no CRC check')


def index(context) -> Job:
    files = context.shards('cifar')
    out = context.fresh('tfrecord-index')

    def run():
        count = 0
        for i, name in enumerate(files):
            path = str(out / f'{i}.idx')
            tfrecord2idx.create_index(name, path)
            with open(path, encoding='ascii') as lines:
                count += sum(1 for _ in lines)
        return count, total_bytes(files)
    return Job(run, 'tfrecord2idx.create_index, in a running process')


if __name__ == '__main__':
    main('tfrecord', version_of('tfrecord'), {
        'pack-cifar': lambda context: pack(context, 'tfrecord-cifar', cifar_rows),
        'pack-files': lambda context: pack(context, 'tfrecord-files', image_files),
        'read-cifar': lambda context: read(context, 'cifar'),
        'read-photo': lambda context: read(context, 'photo'),
        'parse-cifar': parse_cifar, 'index': index})
