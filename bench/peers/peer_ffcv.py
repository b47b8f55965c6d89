"""FFCV: its own format with rows of equal size, read through a mapping. It checks nothing."""
import numpy as np
from ffcv.fields import BytesField, IntField, NDArrayField
from ffcv.fields.decoders import BytesDecoder, IntDecoder, NDArrayDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import ToTensor
from ffcv.writer import DatasetWriter

from cifar_arrays import Cifar
from common import Job, image_paths, main, tree_bytes, version_of

BATCH = 512


class Files:
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        path, label = self.paths[i]
        return np.fromfile(path, np.uint8), label


def pack(context, name: str, dataset, field) -> Job:
    def run():
        out = context.fresh(name)
        samples = dataset(context)
        writer = DatasetWriter(str(out / 'data.beton'), {'image': field, 'label': IntField()},
                               num_workers=context.threads)
        writer.from_indexed_dataset(samples)
        return len(samples), tree_bytes(out)
    return Job(run, f'DatasetWriter, {context.threads} workers')


def read(context, name: str, decoder, batch: int) -> Job:
    out = context.made(name)
    size = tree_bytes(out)
    loader = Loader(str(out / 'data.beton'), batch_size=batch, num_workers=context.threads,
                    order=OrderOption.SEQUENTIAL, os_cache=True,
                    pipelines={'image': [decoder, ToTensor()], 'label': [IntDecoder(), ToTensor()]})

    def run():
        return sum(len(labels) for _, labels in loader), size
    return Job(run, f'sequential, os_cache, {context.threads} workers, batch {batch}')


if __name__ == '__main__':
    main('ffcv', version_of('ffcv'), {
        'pack-cifar': lambda c: pack(c, 'ffcv-cifar', Cifar,
                                     NDArrayField(np.dtype('uint8'), (3, 32, 32))),
        'pack-files': lambda c: pack(c, 'ffcv-files', lambda c: Files(image_paths(c.images)),
                                     BytesField()),
        'pack-photo': lambda c: pack(c, 'ffcv-photo',
                                     lambda c: Files(image_paths(c.data / 'imagenet-sample') * 25),
                                     BytesField()),
        'read-cifar': lambda c: read(c, 'ffcv-cifar', NDArrayDecoder(), BATCH),
        'read-photo': lambda c: read(c, 'ffcv-photo', BytesDecoder(), 64)})
