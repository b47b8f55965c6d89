"""torch's DataLoader on the loaders' recipes: arrays in memory, torchvision on files."""
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.io import ImageReadMode, decode_jpeg, read_file

from cifar_arrays import Cifar
from common import fastest, image_paths, main, version_of
from recipes import CIFAR_BATCH, CROP_BATCH, cifar_jobs, crop_jobs, live_cifar, live_crop, sizes
from torch_recipes import CropAndFlip, CropBatch, crop_transform, with_threads, worker_options


class PaddedRows(Dataset):
    """Whole batches at once."""

    def __init__(self, context, floats: bool):
        source = Cifar(context)
        self.rows = np.pad(source.rows, ((0, 0), (0, 0), (4, 4), (4, 4)))
        self.labels = np.array(source.labels)
        self.augment = CropAndFlip(floats)

    def __len__(self):
        return len(self.labels)

    def __getitems__(self, wanted):
        wanted = np.asarray(wanted)
        return self.augment.of_padded(self.rows, wanted), torch.from_numpy(self.labels[wanted])


class Photos(Dataset):
    def __init__(self, folder, transform):
        self.paths, self.transform = image_paths(folder), transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        path, label = self.paths[i]
        return self.transform(decode_jpeg(read_file(path), mode=ImageReadMode.RGB)), label


def cifar(context, floats: bool):
    rows = PaddedRows(context, floats)

    def way(options):
        loader = with_threads(lambda: DataLoader(rows, CIFAR_BATCH, shuffle=True, drop_last=True,
                                                 collate_fn=lambda batch: batch, **options), options, context.threads)
        return live_cifar(sizes(loader), f'arrays in memory, whole batches in numpy, NCHW, '
                          f"{options['num_workers']} workers", 8, floats)
    return fastest(context, way, worker_options(context.threads))


def crop(job):
    photos = Photos(job.files, crop_transform(job))

    def way(options):
        loader = with_threads(lambda: DataLoader(photos, CROP_BATCH, shuffle=True, drop_last=True,
                                                 collate_fn=CropBatch(job), **options), options, job.context.threads)
        return live_crop(sizes(loader), job, 'decode_jpeg of files, transforms.v2, whole batches normalised, NCHW, '
                         f"{options['num_workers']} workers", 8)
    return fastest(job.context, way, worker_options(job.context.threads))


if __name__ == '__main__':
    main('torchvision', version_of('torch', 'torchvision'), {**cifar_jobs(cifar), **crop_jobs(crop)})
