"""FFCV on the loaders' recipes, from its own format. It checks nothing.

Photos are encoded anew in its format (quality 94); its crops are resized by OpenCV's INTER_AREA.
"""
import numpy as np
from PIL import Image
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.decoders import (IntDecoder, RandomResizedCropRGBImageDecoder,
                                  SimpleRGBImageDecoder)
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import (NormalizeImage, RandomHorizontalFlip, RandomTranslate, Squeeze,
                             ToTensor, ToTorchImage)
from ffcv.writer import DatasetWriter

from cifar_arrays import Cifar
from common import image_paths, main, version_of
from recipes import (CIFAR_BATCH, CIFAR_MEAN, CIFAR_STD, CROP_BATCH, IMAGENET_MEAN, IMAGENET_STD,
                     SIDE, crop_jobs, live_cifar, live_crop)

LABEL = [IntDecoder(), ToTensor(), Squeeze()]


class Rows(Cifar):
    def __getitem__(self, i):
        return np.ascontiguousarray(self.rows[i].transpose(1, 2, 0)), self.labels[i]


class Photos:
    def __init__(self, folder):
        self.paths = image_paths(folder)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        path, label = self.paths[i]
        return Image.open(path).convert('RGB'), label


def packed(context, name: str, field, samples) -> str:
    """The data set in its format, made once."""
    path = context.work / 'loader' / f'{name}.beton'
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix('.part')
        writer = DatasetWriter(str(part), {'image': field, 'label': IntField()},
                               num_workers=context.threads)
        writer.from_indexed_dataset(samples())
        part.rename(path)
    return str(path)


def sizes(loader):
    def batches():
        for _, label in loader:
            yield len(label)
    return batches


def normalise(mean, std):
    return [NormalizeImage(np.array(mean), np.array(std), np.float32)]


def cifar(context):
    path = packed(context, 'cifar', RGBImageField(write_mode='raw'), lambda: Rows(context))
    image = [SimpleRGBImageDecoder(), RandomHorizontalFlip(),
             RandomTranslate(padding=4, fill=(0, 0, 0)), *normalise(CIFAR_MEAN, CIFAR_STD),
             ToTensor(), ToTorchImage()]
    loader = Loader(path, batch_size=CIFAR_BATCH, num_workers=context.threads, os_cache=True,
                    order=OrderOption.RANDOM, drop_last=True,
                    pipelines={'image': image, 'label': LABEL})
    return live_cifar(sizes(loader), f'raw rows, RANDOM, {context.threads} workers', 4)


def crop(job):
    path = packed(job.context, job.kind, RGBImageField(write_mode='jpg', jpeg_quality=94),
                  lambda: Photos(job.files))
    image = [RandomResizedCropRGBImageDecoder((SIDE, SIDE)), RandomHorizontalFlip(),
             *(normalise(IMAGENET_MEAN, IMAGENET_STD) if job.floats else []), ToTensor(),
             ToTorchImage()]
    loader = Loader(path, batch_size=CROP_BATCH, num_workers=job.context.threads, os_cache=True,
                    order=OrderOption.RANDOM, drop_last=True,
                    pipelines={'image': image, 'label': LABEL})
    return live_crop(sizes(loader), job, 'encoded anew at quality 94, filter INTER_AREA, '
                     f'{job.context.threads} workers', 4)


if __name__ == '__main__':
    main('ffcv', version_of('ffcv'), {'cifar': cifar, **crop_jobs(crop)})
