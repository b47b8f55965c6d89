"""FFCV on the loaders' recipes, from its own format. It checks nothing.

Photos are kept as JPEG of quality 94, as raw pixels, or half of them as either (`proportion`), as
they are or shrunk to 500 pixels at most, as its own ImageNet example does. Crops are resized by
OpenCV's INTER_AREA. Batches are NHWC in memory.
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
                     SIDE, cifar_jobs, crop_jobs, live_cifar, live_crop, made_once, sizes)

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
    def write(part):
        writer = DatasetWriter(str(part), {'image': field, 'label': IntField()},
                               num_workers=context.threads)
        writer.from_indexed_dataset(samples())
    return str(made_once(context.work / 'loader' / f'{name}.beton', write))


def normalise(mean, std):
    return [NormalizeImage(np.array(mean), np.array(std), np.float32)]


def cifar(context, floats: bool):
    path = packed(context, 'cifar', RGBImageField(write_mode='raw'), lambda: Rows(context))
    image = [SimpleRGBImageDecoder(), RandomHorizontalFlip(),
             RandomTranslate(padding=4, fill=(0, 0, 0)),
             *(normalise(CIFAR_MEAN, CIFAR_STD) if floats else []), ToTensor(), ToTorchImage()]
    loader = Loader(path, batch_size=CIFAR_BATCH, num_workers=context.threads, os_cache=True,
                    order=OrderOption.RANDOM, drop_last=True,
                    pipelines={'image': image, 'label': LABEL})
    return live_cifar(sizes(loader), f'raw rows, RANDOM, NHWC, {context.threads} workers', 4, floats)


# How photos are written, by the end of a job's name.
MODES = {'': {'write_mode': 'jpg', 'jpeg_quality': 94},
         '-raw': {'write_mode': 'raw'},
         '-proportion': {'write_mode': 'proportion', 'compress_probability': 0.5, 'jpeg_quality': 90},
         '-500-proportion': {'write_mode': 'proportion', 'compress_probability': 0.5, 'jpeg_quality': 90,
                             'max_resolution': 500},
         '-500-raw': {'write_mode': 'raw', 'max_resolution': 500},
         '-500': {'write_mode': 'jpg', 'jpeg_quality': 90, 'max_resolution': 500}}


def crop(job, mode: str):
    path = packed(job.context, job.kind + mode, RGBImageField(**MODES[mode]), lambda: Photos(job.files))
    image = [RandomResizedCropRGBImageDecoder((SIDE, SIDE)), RandomHorizontalFlip(),
             *(normalise(IMAGENET_MEAN, IMAGENET_STD) if job.floats else []), ToTensor(),
             ToTorchImage()]
    loader = Loader(path, batch_size=CROP_BATCH, num_workers=job.context.threads, os_cache=True,
                    order=OrderOption.RANDOM, drop_last=True,
                    pipelines={'image': image, 'label': LABEL})
    how = ', '.join(f'{name}={value}' for name, value in MODES[mode].items())
    return live_crop(sizes(loader), job, f'{how}, filter INTER_AREA, NHWC, {job.context.threads} workers', 4)


def jobs() -> dict:
    made = cifar_jobs(cifar)
    for mode in MODES:
        made |= {name + mode: job for name, job in
                 crop_jobs(lambda job, mode=mode: crop(job, mode)).items()}
    return made


if __name__ == '__main__':
    main('ffcv', version_of('ffcv'), jobs())
