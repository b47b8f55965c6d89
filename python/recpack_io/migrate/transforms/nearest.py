"""Recipes that are the nearest to the options of an image."""
from __future__ import annotations

from typing import Any

from recpack_io import _core
from recpack_io.fields import Image, recipe, recipe_names
from recpack_io.migrate.transforms.steps import Constant
from recpack_io.options import ImageOptions

_CHANGED = {'mean', 'std', 'height', 'width', 'resize', 'erasing'}


def nearest(options: dict[str, Constant], is_cifar: bool, is_bilinear_policy: bool) -> str:
    """Returns the recipe that differs least, with the changes; empty if none is like it.

    Args:
        options: Of the image.
        is_cifar: Whether it is CIFAR's.
        is_bilinear_policy: Whether its policy interpolates, which recipes have no option for, but do.
    """
    if is_bilinear_policy:
        name = f'imagenet-train-{options["policy"].value}'
        return _text(name, _differing(name, options, is_bilinear_policy) or {})
    near = {name: differing for name in recipe_names() if name.startswith('cifar') is is_cifar
            and (differing := _differing(name, options, is_bilinear_policy)) is not None
            and {each for each in differing if each not in options or options[each].value is not None} <= _CHANGED}
    if not near:
        return ''
    name = min(near, key=lambda each: len(near[each]))
    return _text(name, near[name])


def _differing(name: str, options: dict[str, Constant], is_bilinear_policy: bool) -> dict[str, str] | None:
    """Returns the options in which a recipe differs, as texts; None if it cannot be compared."""
    images = [field for field in recipe(name) if isinstance(field, _core.ImageField)]
    if len(images) != 1 or len(recipe(name)) != 2:
        return None
    known = {each: constant.value for each, constant in options.items() if constant.value is not None}
    ours = Image(**known)
    if 'crop' not in options:
        ours.crop = 'none'
    if 'policy' in options and not is_bilinear_policy and ours.policy == images[0].policy:
        return None  # the recipes' policies are bilinear
    unlike = {each: repr(getattr(ours, each)) for each in ImageOptions.__annotations__
              if each not in ('raw_shape', 'feature', 'view')
              and _plain(getattr(ours, each)) != _plain(getattr(images[0], each))}
    texts = {each: constant.text for each, constant in options.items()
             if each in unlike or each not in known}
    return texts | {each: text for each, text in unlike.items() if each not in texts}


def _text(name: str, changed: dict[str, str]) -> str:
    words = ''.join(f', {each}={text}' for each, text in changed.items())
    return f'recpack_io.recipe("{name}"{words})' if words else f'"{name}"'


def _plain(value: Any) -> Any:
    return [round(float(each), 6) for each in value] if isinstance(value, (list, tuple)) else value
