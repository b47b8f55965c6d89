"""What a batch is made of: each field becomes an array."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from recpack_io import _core
from recpack_io._core import recipe_names
from recpack_io.functions import Function
from recpack_io.pictures import of_picture

__all__ = ['Bytes', 'Field', 'Id', 'Image', 'Numbers', 'recipe', 'recipe_names']


def _set(field, values: dict):
    for name, value in values.items():
        if name.startswith('_') or not hasattr(field, name):
            known = ', '.join(sorted(n for n in dir(field) if not n.startswith('_')))
            raise TypeError(f'{type(field).__name__} has no {name!r}; it has {known}')
        setattr(field, name, value)
    return field


@overload
def Image(name: str = ..., *, then: None = ...,  # noqa: N802
          **values: Any) -> _core.ImageField: ...
@overload
def Image(name: str = ..., *, then: Callable[[Any], Any], given: str | None = ...,  # noqa: N802
          result: Any = ..., stream: int | None = ..., **values: Any) -> Function: ...


def Image(name: str = 'image', *, then=None, given=None, result=None, stream=None,  # noqa: N802
          **values):
    """A picture, JPEG, PNG or raw bytes of `raw_shape` (channels, height, width).

    name: of the array in batches.
    feature: where it is; empty: the first of image/encoded, image, jpg, jpeg, png.
    height, width: of the result, 224.
    crop: "none", "pad" (by `pad` pixels, then a random place), "random-resized" (`area`, `aspect`),
        "resize-centre" (shorter side to `resize`, then the middle), "resize".
    interpolation: of what is resized: "bilinear" (with antialias, as torchvision and Pillow),
        "bilinear-no-antialias" (as OpenCV), "box", "nearest" (as Pillow; mixes no values).
    channels: 3, or 1 for masks and gray pictures: a palette PNG gives the numbers of its entries, a
        gray one its values, any other its luma; a PNG of 16 bits is an error.
    flip: probability of a flip from left to right.
    mean, std: of the result (value / 255 - mean) / std, by channel; not of u8.
    type: "u8", "f16", "bf16", "f32". layout: "nchw", "nhwc".
    policy: "none", "randaugment", "trivialaugment". erasing: probability of random erasing.
    apply_orientation, allow_damage, scaled: how files become pixels; docs/loader.md.
    view: fields with the same number draw the same crop and flip: a picture, and its mask with
        interpolation="nearest", channels=1, type="u8".

    then: a function that is given the picture, as uint8 and not normalised, and gives the result,
        of `height` and `width`: a transform of torchvision, say. Where there is no `crop`, encoded
        pictures are given to it whole, as they were decoded.
    given: what it takes: "numpy" (height, width, channels), "pil", "torch" (channels, height,
        width); None: "pil" for a transform of torchvision, else "numpy".
    result: (type, shape) of what it gives, where that is not `type`, `layout`, height and width.
    stream: as a Function has it.
    """
    field = _set(_core.ImageField(), {'name': name, **values})
    if then is None:
        return field
    return of_picture(field, then, given, result, stream)


def Numbers(name: str, **values) -> _core.NumbersField:  # noqa: N802
    """Numbers of a feature, an array `name`: `type` "i64", "i32" or "f32"; `length` values a sample
    (1: shape (N,)), or, with `ragged`, at most that many, filled up with `padding`, and an array NAME_length.
    `feature`: its name in the records where it is another one; `truncate` what is longer."""
    return _set(_core.NumbersField(), {'name': name, **values})


def Bytes(name: str, **values) -> _core.BytesField:  # noqa: N802
    """Bytes of a feature as they are, an array `name` of uint8: of `shape`, or, with `ragged`, at most
    so many, filled up with 0, and an array NAME_length. `feature` and `truncate` as Numbers have
    them."""
    return _set(_core.BytesField(), {'name': name, **values})


def Id(name: str = 'id') -> _core.IdField:  # noqa: N802
    """The record's ordinal in the split, an array `name` of int64."""
    return _set(_core.IdField(), {'name': name})


Field = _core.ImageField | _core.NumbersField | _core.BytesField | _core.IdField | Function


def recipe(name: str, **image) -> list[Field]:
    """The fields of the recipe `name`, one of recipe_names(); `image` changes its picture:
    recipe("imagenet-train", height=128, width=128, type="f16"). Raises InvalidArgumentError for
    other names, TypeError for what a picture has not."""
    fields = _core.recipe(name)
    for field in fields:
        if isinstance(field, _core.ImageField):
            _set(field, image)
    return fields
