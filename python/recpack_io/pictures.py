"""Functions that take only an image, such as transforms."""
from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from recpack_io import _core
from recpack_io.errors import InvalidArgumentError, IoError, NotFoundError
from recpack_io.functions import TYPES, Declared, Function, Sample

# The same as in the core.
USUAL_IMAGES = ('image/encoded', 'image', 'jpg', 'jpeg', 'png', 'webp', 'bmp', 'gif', 'avif', 'tif', 'tiff')
_FAST = 1  # PNG's compression: a tenth larger than by default, in a quarter of the time


class Whole:
    """Decodes the image of a sample, of any size; or takes it where it is an array."""

    def __init__(self, field: _core.ImageField):
        if field.flip or field.erasing or field.policy != 'none':
            raise ValueError('a picture that is given to `then` as it was decoded is not changed '
                             'before: choose a crop for that, or leave flip, policy and erasing to '
                             '`then`')
        self._features = [field.feature] if field.feature else list(USUAL_IMAGES)
        self._options = {'apply_orientation': field.apply_orientation,
                         'allow_damage': field.allow_damage}

    def __call__(self, sample: Sample) -> np.ndarray:
        there = (name for name in self._features if name in sample)
        value = sample[next(there, self._features[0])]
        pixels = rgb_of(value)
        return _core.decode_image(value, **self._options) if pixels is None else pixels


def rgb_of(value: Any) -> np.ndarray | None:
    """Returns a copy of an image that a record holds as an array: gray, RGB or RGBA. None for other values."""
    if not isinstance(value, np.ndarray) or value.dtype != np.uint8 or value.ndim not in (2, 3):
        return None
    pixels = value.reshape(*value.shape[:2], -1)
    return np.repeat(pixels, 3, 2) if pixels.shape[2] == 1 else pixels[:, :, :3].copy()


def _image_of(sample: Sample) -> np.ndarray:
    return sample.image


class Then:
    """Calls `then` with the image of a sample, converted to the kind that it takes."""

    def __init__(self, name: str, then: Callable, given: str | None, picture=_image_of):
        of_torchvision = type(then).__module__.partition('.')[0] == 'torchvision'
        given = given or ('pil' if of_torchvision else 'numpy')
        if given not in GIVEN:
            raise ValueError(f'there is no given {given!r}; choose one of {", ".join(GIVEN)}')
        self.name, self.then, self.given, self.picture = name, then, given, picture
        self.__qualname__ = Declared(then).name

    def __call__(self, sample: Sample) -> dict:
        return {self.name: self.then(GIVEN[self.given](self.picture(sample)))}


def _pil(image: np.ndarray):
    from PIL import Image
    return Image.fromarray(image[:, :, 0] if image.shape[2] == 1 else image)


def _torch(image: np.ndarray):
    import torch
    return torch.from_numpy(image).permute(2, 0, 1)


# Kinds of images that a function may be given, from (height, width, channels).
GIVEN = {'numpy': lambda image: image, 'pil': _pil, 'torch': _torch}


def of_picture(image: _core.ImageField, then: Callable, given: str | None, result,
               stream: int | None) -> Function:
    """Returns the field of Image(then=...)."""
    if image.bits == 16:
        raise InvalidArgumentError(f"`then` of the field '{image.name}' takes images of 8 bits: leave bits=16 out, or "
                                   'decode the feature in a Function')
    if result is None:
        channels = image.channels
        size = (image.height, image.width)
        kind = next((name for name, ours in TYPES.items() if ours == image.type), None)
        if kind is None:
            raise TypeError(f'NumPy has no {image.type}: choose another type, or convert it later')
        result = kind, (*size, channels) if image.layout == 'nhwc' else (channels, *size)
    arrays = {image.name: result}
    if image.crop == 'none' and not image.raw_shape[0]:
        return Function(Then(image.name, then, given, Whole(image)), arrays, stream)
    return Function(Then(image.name, then, given), arrays, stream, image)


def file_of(name: str, value: Any) -> bytes | None:
    """Returns the contents of the file of a pathlib.Path, and a Pillow image as a PNG file; None for other values.

    Raises:
        InvalidArgumentError: With the feature's name, if PNG does not support the image's mode.
        NotFoundError, IoError: With the feature's name, if the file cannot be read.
    """
    if isinstance(value, os.PathLike):
        return _contents(name, os.fspath(value))
    pillow = sys.modules.get('PIL.Image')
    if pillow is None or not isinstance(value, pillow.Image):
        return None
    file = io.BytesIO()
    try:
        value.save(file, 'PNG', compress_level=_FAST)
    except OSError as error:
        raise InvalidArgumentError(f'the feature {name!r}: {error}; give image.convert("RGB")'
                                   ) from error
    return file.getvalue()


def _contents(name: str, path: str | bytes) -> bytes:
    try:
        with open(path, 'rb') as file:
            return file.read()
    except OSError as error:
        kind = NotFoundError if isinstance(error, FileNotFoundError) else IoError
        raise kind(f'the feature {name!r}: {error.strerror}: {os.fsdecode(path)!r}') from error
