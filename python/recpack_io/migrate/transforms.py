"""Transforms of torchvision as a field of images."""
from __future__ import annotations

import ast
from typing import Any

from recpack_io import _core
from recpack_io.fields import recipe, recipe_names
from recpack_io.fields import Image as image_field
from recpack_io.migrate.script import Script
from recpack_io.options import ImageOptions

_PARAMETERS = {
    'Resize': ('size', 'interpolation', 'max_size', 'antialias'),
    'CenterCrop': ('size',),
    'RandomResizedCrop': ('size', 'scale', 'ratio', 'interpolation', 'antialias'),
    'RandomCrop': ('size', 'padding', 'pad_if_needed', 'fill', 'padding_mode'),
    'RandomHorizontalFlip': ('p',),
    'Normalize': ('mean', 'std', 'inplace'),
    'RandomErasing': ('p', 'scale', 'ratio', 'value', 'inplace'),
    'TrivialAugmentWide': (), 'RandAugment': (), 'ToTensor': (), 'PILToTensor': (), 'ToImage': (),
    'ConvertImageDtype': ('dtype',), 'ToDtype': ('dtype', 'scale'),
}
_OF_TENSORS = ('ToTensor', 'PILToTensor', 'ToImage', 'ConvertImageDtype', 'ToDtype')
_IGNORED = ('inplace', 'antialias', 'dtype')
_FLOATS = ('torch.float', 'torch.float32')


class _Unknown(Exception):
    """A transform that no option of Image is for."""


class Constant:
    """An argument of Image: its text, and its value if that is known."""

    def __init__(self, text: str, value: Any = None):
        self.text, self.value = text, value


def _constant(value: Any) -> Constant:
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return Constant(text, value)


class Picture:
    """The field that a transform becomes.

    Args:
        script: The program.
        transform: Expression of the transform.

    Raises:
        ValueError: If it cannot be told what the transform makes.
    """

    def __init__(self, script: Script, transform: ast.expr):
        self._script = script
        self.options: dict[str, Constant] = {}
        whole = script.resolve(transform)
        self.reason = ''  # for calling the transform itself
        try:
            for step in self._steps(whole):
                self._add(step)
            self._finish()
        except _Unknown as unknown:
            self.reason = str(unknown)
            self._call(whole, transform)

    def _steps(self, whole: ast.expr) -> list[ast.expr]:
        if self._script.kind_of(whole) == 'Compose' and isinstance(whole, ast.Call) and whole.args:
            listed = self._script.resolve(whole.args[0])
            if isinstance(listed, (ast.List, ast.Tuple)):
                return [self._script.resolve(each) for each in listed.elts]
            raise _Unknown('its list is made elsewhere')
        return [whole]

    def _arguments(self, step: ast.Call, kind: str) -> dict[str, Constant]:
        names = _PARAMETERS[kind]
        given = dict(zip(names, step.args)) | {word.arg: word.value for word in step.keywords}
        if len(step.args) > len(names) or not set(given) <= set(names):
            raise _Unknown(f'{kind} has arguments that Image has not')
        return {name: self._value(node) for name, node in given.items()
                if name not in _IGNORED or kind == 'ToDtype'}

    def _value(self, node: ast.expr) -> Constant:
        resolved = self._script.resolve(node)
        try:
            value = ast.literal_eval(resolved)
            return Constant(self._script.source(node), value)
        except ValueError:
            return Constant(self._script.source(node))

    def _add(self, step: ast.expr) -> None:
        kind = self._script.kind_of(step)
        if kind not in _PARAMETERS or not isinstance(step, ast.Call):
            raise _Unknown(f'{kind or self._script.source(step)} has no option of Image')
        given = self._arguments(step, kind)
        if kind in ('Resize', 'RandomResizedCrop', 'RandomCrop', 'CenterCrop'):
            self._add_crop(kind, given)
        elif kind == 'RandomHorizontalFlip':
            self.options['flip'] = given.get('p', _constant(0.5))
        elif kind == 'Normalize':
            self.options |= {'mean': given['mean'], 'std': given['std']}
        elif kind == 'RandomErasing' and set(given) <= {'p'}:
            self.options['erasing'] = given.get('p', _constant(0.5))
        elif kind in ('TrivialAugmentWide', 'RandAugment'):
            self.options['policy'] = _constant(kind.removesuffix('Wide').lower())
        elif kind in ('ConvertImageDtype', 'ToDtype'):
            if not step.args or self._script.name_of(step.args[0]) not in _FLOATS:
                raise _Unknown(f'{kind} to another type than torch.float32')
        elif kind not in _OF_TENSORS:
            raise _Unknown(f'{kind} has arguments that Image has not')

    def _add_crop(self, kind: str, given: dict[str, Constant]) -> None:
        size, options = given.pop('size'), self.options
        if 'bilinear' not in given.pop('interpolation', _constant('bilinear')).text.lower():
            raise _Unknown(f'{kind} with another interpolation than bilinear')
        sides = size.value if isinstance(size.value, (list, tuple)) else None
        if sides is not None and len(sides) == 1:
            size, sides = _constant(sides[0]), None
        if kind == 'Resize' and sides is None and 'crop' not in options:
            options |= {'crop': _constant('resize-centre'), 'resize': size}
        elif kind == 'CenterCrop' and options.get('crop', _constant('')).value == 'resize-centre':
            self._set_size(size, sides)
        elif 'crop' in options:
            raise _Unknown(f'{kind} after another crop')
        elif kind == 'Resize':
            options['crop'] = _constant('resize')
            self._set_size(size, sides)
        elif kind == 'RandomResizedCrop':
            options['crop'] = _constant('random-resized')
            self._set_size(size, sides)
            for name, option in (('scale', 'area'), ('ratio', 'aspect')):
                if name in given:
                    options[option] = given.pop(name)
        elif kind == 'RandomCrop' and 'padding' in given:
            options |= {'crop': _constant('pad'), 'pad': given.pop('padding')}
            self._set_size(size, sides)
        else:
            raise _Unknown(f'{kind} alone has no option of Image')
        if given:
            raise _Unknown(f'{kind} has arguments that Image has not')

    def _set_size(self, size: Constant, sides: Any) -> None:
        height, width = (size, size) if sides is None else map(_constant, sides)
        self.options |= {'height': height, 'width': width}

    def _finish(self) -> None:
        if self.options.get('crop', _constant('')).value == 'resize-centre' and (
                'height' not in self.options):
            raise _Unknown('Resize of the shorter side gives images of different sizes')
        if 'mean' not in self.options:
            self.options |= {'mean': _constant((0, 0, 0)), 'std': _constant((1, 1, 1))}

    def _call(self, whole: ast.expr, transform: ast.expr) -> None:
        """Calls the transform itself: Image(then=...)."""
        sizes = [self._arguments(step, self._script.kind_of(step))['size']
                 for step in ast.walk(whole) if isinstance(step, ast.Call)
                 and self._script.kind_of(step) in ('RandomResizedCrop', 'RandomCrop', 'CenterCrop',
                                                    'Resize')]
        if not sizes:
            raise ValueError(f'the size of its images is not told ({self.reason})')
        sides = sizes[-1].value if isinstance(sizes[-1].value, (list, tuple)) else None
        self.options = {'then': Constant(self._script.source(transform))}
        self._set_size(sizes[-1], sides)

    def fields(self, is_cifar: bool) -> str:
        """Returns the Loader's second argument: a recipe's name, or fields=."""
        if is_cifar and 'height' not in self.options:
            self.options |= {'height': _constant(32), 'width': _constant(32)}
        constant = all(each.value is not None for each in self.options.values())
        if constant and 'then' not in self.options:
            for name in recipe_names():
                differing = self._differing(name)
                if differing is not None and differing <= {'mean', 'std'}:
                    changed = ', '.join(f'{each}={self.options[each].text}'
                                        for each in sorted(differing))
                    return f'fields=recpack_io.recipe("{name}", {changed})' if changed else f'"{name}"'
        if is_cifar:
            self.options |= {'raw_shape': _constant((3, 32, 32))}
        image = ', '.join(f'{name}={each.text}' for name, each in self.options.items())
        return f'fields=[recpack_io.Image({image}), recpack_io.Numbers("label")]'

    def _differing(self, name: str) -> set[str] | None:
        """Returns the options in which a recipe differs; None if it cannot be compared."""
        images = [field for field in recipe(name) if isinstance(field, _core.ImageField)]
        if len(images) != 1 or len(recipe(name)) != 2:
            return None
        ours = image_field(**{each: constant.value for each, constant in self.options.items()})
        if self.options.get('crop') is None:
            ours.crop = 'none'
        unlike = {each for each in ImageOptions.__annotations__ if each not in ('raw_shape', 'feature', 'view')
                  and _plain(getattr(ours, each)) != _plain(getattr(images[0], each))}
        return unlike


def _plain(value: Any) -> Any:
    return [round(float(each), 6) for each in value] if isinstance(value, (list, tuple)) else value
