"""The recipes in NumPy and torchvision, for all loaders whose users write them so.

Pixels stay u8 until a batch is whole, as in torchvision's own advice, and are written once: into
the memory that a worker shares with the trainer's process, as torch's default_collate does it.
"""
import math
import warnings
from typing import Callable, Iterator

import numpy as np
import torch
from torch.utils.data import get_worker_info
from torchvision.io import ImageReadMode, decode_jpeg
from torchvision.transforms import v2

from recipes import CIFAR_MEAN, CIFAR_STD, IMAGENET_MEAN, IMAGENET_STD, SIDE
from torch_readers import worker_counts

warnings.filterwarnings('ignore', 'The given (buffer|NumPy array) is not writable')  # nor is it written


def empty_batch(floats: bool, *shape: int) -> torch.Tensor:
    """In shared memory where a worker makes it."""
    batch = torch.empty(0, dtype=torch.float32 if floats else torch.uint8)
    if get_worker_info() is None:
        return batch.resize_(shape)
    return batch.new(batch._typed_storage()._new_shared(math.prod(shape))).resize_(shape)


class Normalise:
    """In place."""

    def __init__(self, mean: tuple, std: tuple):
        self.mean = torch.tensor(mean).view(3, 1, 1)
        self.scale = 1 / torch.tensor(std).view(3, 1, 1)

    def __call__(self, image: torch.Tensor) -> None:
        image.sub_(self.mean).mul_(self.scale)


class CropAndFlip:
    """The recipe on a whole batch of CIFAR rows at once: the fastest way that was found."""

    def __init__(self, floats: bool):
        self.floats, self.draw = floats, None
        self.normalise = Normalise(CIFAR_MEAN, CIFAR_STD)
        self.padded = np.zeros((0, 3, 40, 40), np.uint8)  # its borders are never written

    def of_padded(self, padded: np.ndarray, chosen: np.ndarray) -> torch.Tensor:
        """Chosen ones of uint8 (n, 3, 40, 40) to (m, 3, 32, 32), uint8 or float32."""
        self.draw = self.draw or np.random.default_rng()  # each worker's own
        count = len(chosen)
        (y, x), flip = self.draw.integers(0, 9, (2, count)), self.draw.random(count) < 0.5
        windows = np.lib.stride_tricks.sliding_window_view(padded, (32, 32), axis=(2, 3))
        images = windows[chosen, :, y, x]
        images[flip] = images[flip][..., ::-1]
        batch = empty_batch(self.floats, count, 3, 32, 32).copy_(torch.from_numpy(images))
        if self.floats:
            self.normalise(batch)
        return batch

    def of_rows(self, rows: list[bytes]) -> torch.Tensor:
        """A batch of 3072 bytes each."""
        count = len(rows)
        if count > len(self.padded):
            self.padded = np.zeros((count, 3, 40, 40), np.uint8)
        self.padded[:count, :, 4:36, 4:36] = np.frombuffer(b''.join(rows), np.uint8).reshape(-1, 3, 32, 32)
        return self.of_padded(self.padded, np.arange(count))

    def of_samples(self, samples: list[dict]) -> tuple[torch.Tensor, torch.Tensor]:
        """A batch of {'image': 3072 bytes, 'label': number}."""
        return (self.of_rows([sample['image'] for sample in samples]),
                torch.tensor([sample['label'] for sample in samples]))


def crop_transform(job) -> v2.Transform:
    """Returns the transform of one decoded photo, which stays u8: CropBatch does the rest."""
    return v2.Compose([v2.RandomResizedCrop(SIDE, antialias=job.antialias), v2.RandomHorizontalFlip()])


class CropBatch:
    """Makes a batch of (cropped photo, label), and normalises it where the job wants floats."""

    def __init__(self, job):
        self.floats, self.normalise = job.floats, Normalise(IMAGENET_MEAN, IMAGENET_STD)

    def __call__(self, samples: list[tuple]) -> tuple[torch.Tensor, torch.Tensor]:
        batch = empty_batch(self.floats, len(samples), 3, SIDE, SIDE)
        for out, (image, _) in zip(batch, samples):  # a photo at a time stays in the processor's cache
            out.copy_(image)
            if self.floats:
                self.normalise(out)
        return batch, torch.tensor([label for _, label in samples])


def decoded(jpeg) -> torch.Tensor:
    """Decodes the bytes of a JPEG file, in any form."""
    return decode_jpeg(torch.frombuffer(jpeg, dtype=torch.uint8), mode=ImageReadMode.RGB)


def worker_options(threads: int) -> Iterator[dict]:
    """DataLoader's options, one by one of those that its users try."""
    for workers in worker_counts(threads):
        yield {'num_workers': workers, 'persistent_workers': workers > 0}


def with_threads(make: Callable, options: dict, threads: int):
    """A loader by make(); without workers, this process takes all threads."""
    torch.set_num_threads(1 if options['num_workers'] else threads)
    return make()
