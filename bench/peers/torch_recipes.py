"""The recipes in NumPy and torchvision, for all loaders whose users write them so."""
import numpy as np
import torch
from torchvision.io import ImageReadMode, decode_jpeg
from torchvision.transforms import v2

from recipes import CIFAR_MEAN, CIFAR_STD, IMAGENET_MEAN, IMAGENET_STD, SIDE


class CropAndFlip:
    """The recipe on a whole batch of CIFAR rows at once: the fastest way that was found."""

    def __init__(self, floats: bool):
        self.floats, self.draw = floats, np.random.default_rng()
        self.mean = np.array(CIFAR_MEAN, np.float32).reshape(1, 3, 1, 1)
        self.scale = 1 / np.array(CIFAR_STD, np.float32).reshape(1, 3, 1, 1)

    def __call__(self, padded: np.ndarray) -> np.ndarray:
        """uint8 (n, 3, 40, 40) to (n, 3, 32, 32), uint8 or float32."""
        count, line = len(padded), np.arange(32)
        y, x = self.draw.integers(0, 9, count), self.draw.integers(0, 9, count)
        flip = self.draw.random(count)[:, None] < 0.5
        columns = np.where(flip, x[:, None] + 31 - line, x[:, None] + line)
        rows = y[:, None] + line
        image = padded[np.arange(count)[:, None, None, None], np.arange(3)[None, :, None, None],
                       rows[:, None, :, None], columns[:, None, None, :]]
        if not self.floats:
            return image
        image = image.astype(np.float32)
        image -= self.mean
        image *= self.scale
        return image

    def of_rows(self, rows: list[bytes]) -> torch.Tensor:
        """A batch of 3072 bytes each."""
        batch = np.frombuffer(b''.join(rows), np.uint8).reshape(-1, 3, 32, 32)
        return torch.from_numpy(self(np.pad(batch, ((0, 0), (0, 0), (4, 4), (4, 4)))))

    def of_samples(self, samples: list[dict]) -> tuple[torch.Tensor, torch.Tensor]:
        """A batch of {'image': 3072 bytes, 'label': number}."""
        return (self.of_rows([sample['image'] for sample in samples]),
                torch.tensor([sample['label'] for sample in samples]))


def crop_transform(job) -> v2.Transform:
    """Of one decoded photo."""
    steps = [v2.RandomResizedCrop(SIDE, antialias=job.antialias), v2.RandomHorizontalFlip()]
    if job.floats:
        steps += [v2.ToDtype(torch.float32, scale=True),
                  v2.Normalize([m / 255 for m in IMAGENET_MEAN], [s / 255 for s in IMAGENET_STD])]
    return v2.Compose(steps)


def decoded(jpeg) -> torch.Tensor:
    """Of the bytes of a JPEG file, in any form."""
    return decode_jpeg(torch.frombuffer(bytearray(jpeg), dtype=torch.uint8), mode=ImageReadMode.RGB)
