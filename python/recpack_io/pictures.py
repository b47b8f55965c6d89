"""Functions of a picture alone, as transforms are."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recpack_io import _core
from recpack_io.functions import TYPES, Declared, Function, Sample


class Then:
    """A function of the picture alone: gives it to `then`, as the kind of picture that it takes."""

    def __init__(self, name: str, then: Callable, given: str | None):
        of_torchvision = type(then).__module__.partition('.')[0] == 'torchvision'
        given = given or ('pil' if of_torchvision else 'numpy')
        if given not in _GIVEN:
            raise ValueError(f'there is no given {given!r}; choose one of {", ".join(_GIVEN)}')
        self.name, self.then, self.given = name, then, given
        self.__qualname__ = Declared(then).name

    def __call__(self, sample: Sample) -> dict:
        return {self.name: self.then(_GIVEN[self.given](sample.image))}


def _pil(image: np.ndarray):
    from PIL import Image
    return Image.fromarray(image[:, :, 0] if image.shape[2] == 1 else image)


def _torch(image: np.ndarray):
    import torch
    return torch.from_numpy(image).permute(2, 0, 1)


_GIVEN = {'numpy': lambda image: image, 'pil': _pil, 'torch': _torch}


def of_picture(image: _core.ImageField, then: Callable, given: str | None, result,
               stream: int | None) -> Function:
    """The field that Image(then=...) is."""
    if result is None:
        channels = image.raw_shape[0] or 3
        size = (image.height, image.width)
        kind = next((name for name, ours in TYPES.items() if ours == image.type), None)
        if kind is None:
            raise TypeError(f'NumPy has no {image.type}: choose another type, or convert it later')
        result = kind, (*size, channels) if image.layout == 'nhwc' else (channels, *size)
    return Function(Then(image.name, then, given), {image.name: result}, stream, image)
