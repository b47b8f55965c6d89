"""turboloader on the loaders' recipes: photos from a tar; CIFAR rows from its own format.

It has no pad-and-crop: CIFAR rows are cropped at random and resized in place of it. Its labels are
not part of what it hands out, and undecodable photos come out black.
"""
import numpy as np
import turboloader

from cifar_arrays import Cifar
from common import main, version_of
from recipes import (CIFAR_BATCH, CIFAR_MEAN, CIFAR_STD, CROP_BATCH, SIDE, crop_jobs, live_cifar,
                     live_crop)


def cifar_tar(context) -> str:
    """The rows as JPEG files in a tar, which its own converter reads."""
    import io
    import tarfile
    from PIL import Image
    path = context.work / 'loader' / 'turboloader-cifar.tar'
    if not path.exists():
        source = Cifar(context)
        with tarfile.open(path, 'w') as tar:
            for i in range(len(source)):
                row, _ = source[i]
                file = io.BytesIO()
                Image.fromarray(np.ascontiguousarray(row.transpose(1, 2, 0))).save(file, 'JPEG')
                member = tarfile.TarInfo(f'{i:06}.jpg')
                member.size = file.tell()
                file.seek(0)
                tar.addfile(member, file)
    return str(path)


def sizes(loader):
    def batches():
        for image, _ in loader:
            yield len(image)
    return batches


def cifar(context):
    path = context.work / 'loader' / 'turboloader-cifar.tbl'
    if not path.exists():
        turboloader.preprocess_to_tbl(cifar_tar(context), str(path), image_size=32)
    loader = turboloader.TblRawImageLoader(
        str(path), batch_size=CIFAR_BATCH, mean=[m / 255 for m in CIFAR_MEAN],
        std=[s / 255 for s in CIFAR_STD], drop_last=True, train_aug=True, hflip_prob=0.5,
        image_size=32)
    return live_cifar(sizes(loader),
                      'its own raw format, random-resized-crop in place of pad-and-crop, NCHW', 4)


def crop(job):
    loader = turboloader.DataLoader(
        job.tar, batch_size=CROP_BATCH, num_workers=job.context.threads, shuffle=True,
        image_size=SIDE, output_format='numpy_chw', train_aug=True, drop_last=True,
        antialias=job.antialias)
    return live_crop(sizes(loader), job, 'tar, fused crop, resize, normalise, NCHW', 8)


if __name__ == '__main__':
    main('turboloader', version_of('turboloader'), {'cifar': cifar, **crop_jobs(crop, ('f32',))})
