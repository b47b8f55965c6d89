"""Fields: each one describes an array of the batch."""
from __future__ import annotations

import copyreg
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from recpack_io import _core
from recpack_io._core import recipe_names
from recpack_io.arguments import check_kind, unknown_argument
from recpack_io.functions import Function
from recpack_io.options import (AudioOptions, BytesOptions, ImageOptions, MultiHotOptions,
                                NumbersOptions)
from recpack_io.pictures import of_picture
from recpack_io.sounds import of_sound

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from recpack_io.options import Given

__all__ = ['Audio', 'Bytes', 'Field', 'Id', 'Image', 'MultiHot', 'Numbers', 'recipe',
           'recipe_names']

_OPTIONS: dict[type, Any] = {_core.ImageField: ImageOptions, _core.NumbersField: NumbersOptions,
                             _core.BytesField: BytesOptions, _core.MultiHotField: MultiHotOptions,
                             _core.AudioField: AudioOptions}
# Arguments that have no default.
_NEEDED: dict[type, dict[str, str]] = {_core.MultiHotField: {'classes': 'int | Sequence[str]'},
                                       _core.AudioField: {'length': 'int'}}


def _arguments(of: type) -> dict[str, Any]:
    """Returns the annotations of a field's arguments, by name."""
    options = _OPTIONS[of].__annotations__ if of in _OPTIONS else {}
    return {'name': 'str', **_NEEDED.get(of, {}), **options}


def _unpickled(of: type, values: dict[str, Any]):
    field = of()
    for name, value in values.items():
        setattr(field, name, value)
    return field


def _pickled(field):
    """Makes fields picklable; recipes set `_policy_interpolation`, which no argument does."""
    names = [*_arguments(type(field))]
    if isinstance(field, _core.ImageField):
        names.append('_policy_interpolation')
    return _unpickled, (type(field), {name: getattr(field, name) for name in names})


for _each in (*_OPTIONS, _core.IdField):
    copyreg.pickle(_each, _pickled)


def _set(field, values: Mapping[str, Any]):
    of = type(field).__name__.removesuffix('Field')
    known = _arguments(type(field))
    for name, value in values.items():
        if name not in known:
            raise unknown_argument(of, name, known)
        check_kind(of, name, value, known[name])
        try:
            setattr(field, name, value)
        except TypeError:  # which lists C++ signatures
            raise TypeError(f'{of}(): {name} cannot be {value!r}') from None
    return field


@overload
def Image(name: str = ..., *, then: None = ...,  # noqa: N802
          **values: Unpack[ImageOptions]) -> _core.ImageField: ...
@overload
def Image(name: str = ..., *, then: Callable[[Any], Any], given: Given | None = ...,  # noqa: N802
          result: Any = ..., stream: int | None = ...,
          **values: Unpack[ImageOptions]) -> Function: ...


def Image(name: str = 'image', *, then=None, given=None, result=None, stream=None,  # noqa: N802
          **values):
    """An image field: a JPEG, PNG, WebP, AVIF, TIFF, BMP or GIF, or an array of pixels.

    An array of uint8 that pack() or Writer wrote, of shape (height, width) or (height, width,
    channels) with 1, 3 or 4 channels, is found by its shape, which the record holds; the sizes may
    differ. `raw_shape` is for bytes without a shape, and for planar ones.

    Args:
        name: Name of the array in batches.
        feature: Feature that contains the image. Default: the first of image/encoded, image, jpg,
            jpeg, png, webp, bmp, gif, avif, tif, tiff that exists.
        raw_shape: Channels, height and width of raw bytes, all of one size.
        raw_layout: Order of raw bytes: "nchw" (planar, as in CIFAR-10) or "nhwc" (interleaved, as
            arrays of shape (height, width, channels) are written).
        height, width: Size of the result. Default: 224.
        crop: "none", "pad" (`pad` pixels, then a random crop), "random-resized" (`area`, `aspect`),
            "resize-centre" (shorter side to `resize`, then a centre crop) or "resize".
        interpolation: Filter for resizing: "bilinear" (with antialias, as in torchvision and
            Pillow), "bilinear-no-antialias" (as in OpenCV), "box" or "nearest" (as in Pillow; does
            not mix values).
        channels: 3, or 1 for masks and grayscale images: palette PNGs then give palette indices,
            grayscale ones their values, others their luma; 16-bit ones need `bits`.
        bits: 16 for PNGs and TIFFs of 16-bit gray, such as maps of depth: their values as they are
            (type="i32") or (value / 65535 - mean) / std (type="f32"). Needs channels=1 and
            interpolation="nearest"; they are cropped and flipped, and not augmented.
        flip: Probability of a horizontal flip.
        mean, std: The result is (value / 255 - mean) / std per channel, unless the type is "u8" or
            "i32".
        type: "u8", "f16", "bf16" or "f32"; with bits=16 "i32" or "f32".
        layout: "nchw" or "nhwc".
        policy: "none", "randaugment" or "trivialaugment".
        erasing: Probability of random erasing.
        apply_orientation, allow_damage, scaled: Decoding options; see docs/reference/loader.md.
        view: Fields with the same number draw the same crop and flip, for example an image and its
            mask with interpolation="nearest", channels=1, type="u8".
        then: Function that maps the image (uint8, not normalised) to the result of size `height` x
            `width`, for example a torchvision transform. Without a `crop`, encoded images are
            passed to it whole, as decoded.
        given: Kind of image that `then` takes: "numpy" (height, width, channels), "pil" or "torch"
            (channels, height, width). Default: "pil" for torchvision transforms, otherwise "numpy".
        result: (type, shape) that `then` returns, if it differs from `type`, `layout`, `height` and
            `width`.
        stream: As in Function.

    Returns:
        An image field; a Function if `then` is given.
    """
    field = _set(_core.ImageField(), {'name': name, **values})
    if then is None:
        return field
    return of_picture(field, then, given, result, stream)


@overload
def Audio(name: str = ..., *, length: int, then: None = ...,  # noqa: N802
          **values: Unpack[AudioOptions]) -> _core.AudioField: ...
@overload
def Audio(name: str = ..., *, length: int, then: Callable[[Any], Any], result: Any,  # noqa: N802
          stream: int | None = ..., **values: Unpack[AudioOptions]) -> Function: ...


def Audio(name: str = 'audio', *, length, then=None, result=None, stream=None,  # noqa: N802
          **values):
    """An audio field: a WAV file, of which a part of `length` frames is taken.

    A frame is one sample of each channel. Files are PCM of 8, 16, 24 or 32 bits or floats of 32 or
    64 bits; others, such as FLAC, MP3 and A-law, are UnsupportedErrors. The array is float32:
    integers are divided by 2**(bits - 1), as torchaudio and TensorFlow do. Sounds that are shorter
    end with zeros, and an array NAME_length (int32) has their frames.

    Args:
        name: Name of the array, of shape (length) with channels=1, else (channels, length).
        length: Frames of the result: seconds times frames per second.
        feature: Feature that contains the file. Default: the first of audio/encoded, audio, wav,
            sound, flac, mp3, ogg that exists.
        crop: Part that is taken of a longer sound: "start" (the default), "centre" or "random".
        channels: 1 for the mean of the file's channels; others: that many are required.
        rate: Frames per second that are required of each file, none of which is resampled.
            Default: any.
        view: Fields with the same number draw the same part of sounds of equal length.
        then: Function that maps the part, an array as above, to the result.
        result: (type, shape) that `then` returns, such as ("float32", (64, 100)).
        stream: As in Function.

    Returns:
        An audio field; a Function if `then` is given, and then without NAME_length.
    """
    field = _set(_core.AudioField(), {'name': name, 'length': length, **values})
    if then is not None:
        return of_sound(field, then, result, stream)
    if result is not None or stream is not None:
        raise TypeError('Audio(): result and stream are for `then`')
    return field


def Numbers(name: str, **values: Unpack[NumbersOptions]) -> _core.NumbersField:  # noqa: N802
    """A field of numbers from a feature.

    Args:
        name: Name of the array.
        feature: Name of the feature. Default: `name`.
        type: "i64", "i32" or "f32".
        length: Values per sample; 1 gives shape (N,).
        ragged: Accept up to `length` values, fill up with `padding`, and add an array NAME_length.
        truncate: Truncate longer lists of a ragged field.
        offsets: Do not fill up a ragged field: the values of all samples lie one behind the other,
            and an array NAME_offsets of int64 is added: sample i has the values offsets[i] to
            offsets[i + 1] - 1. Of the room for `length` values per sample only what is used takes
            memory.
    """
    return _set(_core.NumbersField(), {'name': name, **values})


def Bytes(name: str, **values: Unpack[BytesOptions]) -> _core.BytesField:  # noqa: N802
    """A field of bytes from a feature, unchanged: an array of uint8.

    Args:
        name: Name of the array.
        shape: Shape per sample.
        ragged: Accept up to that many bytes, fill up with 0, and add an array NAME_length.
        feature, truncate, offsets: As in Numbers.
    """
    return _set(_core.BytesField(), {'name': name, **values})


def MultiHot(name: str, classes: int | Sequence[str],  # noqa: N802
             **values: Unpack[MultiHotOptions]) -> _core.MultiHotField:
    """A field of zeros and ones, one per class: 1 for each class that the record lists.

    A record lists them as indices (int64), as names (values of bytes), or as names between
    separators (one value of bytes). An empty list, and an empty name, is none.

    Args:
        name: Name of the array, of shape (classes).
        classes: The names of the classes in the array's order, for example `dataset.class_names`;
            or how many there are, if records list indices.
        feature: Name of the feature. Default: `name`.
        separator: What stands between the names of a value, such as "|". White space around the
            names is dropped. Default: each value is one name, compared as it is.
        ignore_unknown: Skip names that are no class and indices out of range, which are
            InvalidArgumentErrors otherwise.
        missing_ok: A record without the feature lists none, such as a row of a CSV whose cell is
            empty. Default: it is an InvalidArgumentError, since the name may be wrong.
        type: "f32" or "u8".
    """
    if not isinstance(classes, str) and hasattr(classes, '__iter__'):
        classes = list(classes)
    return _set(_core.MultiHotField(), {'name': name, 'classes': classes, **values})


def Id(name: str = 'id') -> _core.IdField:  # noqa: N802
    """A field with the ordinal of the record in the split: an array `name` of int64."""
    return _set(_core.IdField(), {'name': name})


Field = (_core.ImageField | _core.NumbersField | _core.BytesField | _core.MultiHotField |
         _core.AudioField | _core.IdField | Function)


def recipe(name: str, **image: Unpack[ImageOptions]) -> list[Field]:
    """Returns the fields of a recipe.

    Args:
        name: One of recipe_names().
        image: Changes to the recipe's image field, for example
            recipe("imagenet-train", height=128, width=128, type="f16").

    Raises:
        InvalidArgumentError: If there is no such recipe.
        TypeError: If an image field has no such argument, or a value is of the wrong kind.
    """
    fields = _core.recipe(name)
    for field in fields:
        if isinstance(field, _core.ImageField):
            _set(field, image)
    return fields
