"""torch's DataLoader on the loaders' recipes: arrays in memory, torchvision on files."""
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.io import ImageReadMode, decode_jpeg, read_file
from torchvision.transforms import v2

from cifar_arrays import Cifar
from common import image_paths, main, version_of
from recipes import (CIFAR_BATCH, CIFAR_MEAN, CIFAR_STD, CROP_BATCH, IMAGENET_MEAN, IMAGENET_STD,
                     SIDE, crop_jobs, live_cifar, live_crop)

torch.set_num_threads(1)


class PaddedRows(Dataset):
    """A whole batch at once in numpy: the fastest way that was found."""

    def __init__(self, context):
        source = Cifar(context)
        self.rows = np.pad(source.rows, ((0, 0), (0, 0), (4, 4), (4, 4)))
        self.labels = np.array(source.labels)
        self.draw = np.random.default_rng()
        self.mean = np.array(CIFAR_MEAN, np.float32).reshape(1, 3, 1, 1)
        self.scale = 1 / np.array(CIFAR_STD, np.float32).reshape(1, 3, 1, 1)

    def __len__(self):
        return len(self.labels)

    def __getitems__(self, wanted):
        wanted = np.asarray(wanted)
        count, line = len(wanted), np.arange(32)
        y, x = self.draw.integers(0, 9, count), self.draw.integers(0, 9, count)
        flip = self.draw.random(count)[:, None] < 0.5
        columns = np.where(flip, x[:, None] + 31 - line, x[:, None] + line)
        rows = y[:, None] + line
        image = self.rows[wanted[:, None, None, None], np.arange(3)[None, :, None, None],
                          rows[:, None, :, None], columns[:, None, None, :]].astype(np.float32)
        image -= self.mean
        image *= self.scale
        return torch.from_numpy(image), torch.from_numpy(self.labels[wanted])


class Photos(Dataset):
    def __init__(self, folder, transform):
        self.paths, self.transform = image_paths(folder), transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        path, label = self.paths[i]
        return self.transform(decode_jpeg(read_file(path), mode=ImageReadMode.RGB)), label


def sizes(loader):
    def batches():
        for _, label in loader:
            yield len(label)
    return batches


def cifar(context):
    loader = DataLoader(PaddedRows(context), CIFAR_BATCH, shuffle=True, drop_last=True,
                        num_workers=context.threads, persistent_workers=True,
                        collate_fn=lambda batch: batch)
    return live_cifar(sizes(loader), f'arrays in memory, whole batches in numpy, '
                      f'{context.threads} workers', 8)


def crop(job):
    steps = [v2.RandomResizedCrop(SIDE, antialias=job.antialias), v2.RandomHorizontalFlip()]
    if job.floats:
        steps += [v2.ToDtype(torch.float32, scale=True),
                  v2.Normalize([m / 255 for m in IMAGENET_MEAN], [s / 255 for s in IMAGENET_STD])]
    loader = DataLoader(Photos(job.files, v2.Compose(steps)), CROP_BATCH, shuffle=True,
                        drop_last=True, num_workers=job.context.threads, persistent_workers=True)
    return live_crop(sizes(loader), job,
                     f'decode_jpeg of files, transforms.v2, {job.context.threads} workers', 8)


if __name__ == '__main__':
    main('torchvision', version_of('torch', 'torchvision'), {'cifar': cifar, **crop_jobs(crop)})
