"""Steps of a transform of torchvision, as options of an image field."""
from __future__ import annotations

import ast
from typing import Any

from recpack_io.migrate.syntax.script import Script, arguments

SIZED = ('RandomResizedCrop', 'RandomCrop', 'CenterCrop', 'Resize')
_PARAMETERS = {
    'Resize': ('size', 'interpolation', 'max_size', 'antialias'),
    'CenterCrop': ('size',),
    'RandomResizedCrop': ('size', 'scale', 'ratio', 'interpolation', 'antialias'),
    'RandomCrop': ('size', 'padding', 'pad_if_needed', 'fill', 'padding_mode'),
    'RandomHorizontalFlip': ('p',),
    'Normalize': ('mean', 'std', 'inplace'),
    'RandomErasing': ('p', 'scale', 'ratio', 'value', 'inplace'),
    'TrivialAugmentWide': ('num_magnitude_bins', 'interpolation', 'fill'),
    'RandAugment': ('num_ops', 'magnitude', 'num_magnitude_bins', 'interpolation', 'fill'),
    'ToTensor': (), 'PILToTensor': (), 'ToImage': (), 'ToPureTensor': (),
    'ConvertImageDtype': ('dtype',), 'ToDtype': ('dtype', 'scale'),
}
_UNSCALED = ('PILToTensor', 'ToImage')  # give values from 0 to 255
_IGNORED = ('inplace', 'antialias', 'dtype')
_FLOATS = ('torch.float', 'torch.float32')


class Unknown(Exception):
    """A transform that no option of Image is for."""


class Constant:
    """An argument of Image: its text, and its value if that is known."""

    def __init__(self, text: str, value: Any = None, node: ast.expr | None = None):
        self.text, self.value, self.node = text, value, node


def constant(value: Any) -> Constant:
    text = f'"{value}"' if isinstance(value, str) else repr(value)
    return Constant(text, value)


def value_of(script: Script, node: ast.expr) -> Constant:
    """Returns an argument of a step."""
    resolved = script.resolve(node)
    try:
        return Constant(script.source(node), ast.literal_eval(resolved), resolved)
    except ValueError:
        return Constant(script.source(node), None, resolved)


def sides_of(script: Script, size: Constant) -> list[Constant]:
    """Returns height and width of a size, or the one number that it is."""
    if isinstance(size.node, (ast.Tuple, ast.List)) and 0 < len(size.node.elts) < 3:
        return [value_of(script, each) for each in size.node.elts]
    return [size]


def set_size(options: dict[str, Constant], sides: list[Constant]) -> None:
    """Sets the options height and width; `sides`: both of them, or the one that is both."""
    options |= {'height': sides[0], 'width': sides[-1]}


class Steps:
    """Collects the options that a transform's steps are.

    Args:
        script: The program.
        conditions: Gets the conditions, expressions, under which the options are right.
        is_cifar: Whether the images are CIFAR's.
    """

    def __init__(self, script: Script, conditions: list[str], is_cifar: bool):
        self._script, self._conditions, self._is_cifar = script, conditions, is_cifar
        self.options: dict[str, Constant] = {}
        self._is_unscaled = self.is_bilinear_policy = False

    def _arguments(self, step: ast.Call, kind: str) -> dict[str, Constant]:
        names = _PARAMETERS[kind]
        given = arguments(step, names)
        unpacked = any(word.arg is None for word in step.keywords)
        if len(step.args) > len(names) or unpacked or not set(given) <= set(names):
            raise Unknown(f'{kind} has arguments that Image has not')
        return {name: value_of(self._script, node) for name, node in given.items()
                if name not in _IGNORED or kind == 'ToDtype'}

    def add(self, step: ast.expr) -> None:
        """Adds the options of a step.

        Raises:
            Unknown: If there are none for it.
        """
        kind = self._script.kind_of(step)
        if kind not in _PARAMETERS or not isinstance(step, ast.Call):
            named = kind or self._script.source(step).partition('(')[0]
            raise Unknown(f'{named} has no option of Image')
        given = self._arguments(step, kind)
        if kind in SIZED:
            self._add_crop(kind, given)
        elif kind == 'RandomHorizontalFlip':
            self.options['flip'] = given.get('p', constant(0.5))
        elif kind == 'Normalize' and 'erasing' not in self.options:
            self.options |= {'mean': given['mean'], 'std': given['std']}
        elif kind == 'RandomErasing' and set(given) <= {'p'}:
            self.options['erasing'] = given.get('p', constant(0.5))
        elif kind in ('TrivialAugmentWide', 'RandAugment'):
            self._add_policy(kind, given)
        elif kind in ('ConvertImageDtype', 'ToDtype'):
            self._add_type(step, kind, given)
        elif kind in _UNSCALED:
            self._is_unscaled = True
        elif kind not in ('ToTensor', 'ToPureTensor'):
            raise Unknown(f'{kind} has arguments that Image has not, or stands elsewhere')

    def _add_type(self, step: ast.Call, kind: str, given: dict[str, Constant]) -> None:
        if not step.args or self._script.name_of(step.args[0]) not in _FLOATS:
            raise Unknown(f'{kind} to another type than torch.float32')
        if kind == 'ToDtype' and given.get('scale', constant(False)).value is not True:
            raise Unknown('ToDtype without scale=True')
        self._is_unscaled = False

    def _add_policy(self, kind: str, given: dict[str, Constant]) -> None:
        interpolation = given.pop('interpolation', None)
        usual = {'num_ops': 2, 'magnitude': 9, 'num_magnitude_bins': 31, 'fill': None}
        if any(each.value != usual[name] or name == 'fill' and each.text != 'None' for name, each in given.items()):
            raise Unknown(f'{kind} with other numbers than its own')
        if 'policy' in self.options:
            raise Unknown(f'{kind} after another policy')
        self.is_bilinear_policy = interpolation is not None and 'nearest' not in interpolation.text.lower()
        if interpolation is not None and self.is_bilinear_policy:
            self._check_bilinear(kind, interpolation)
            if self._is_cifar:
                raise Unknown(f'{kind} with an interpolation')
        self.options['policy'] = constant(kind.removesuffix('Wide').lower())

    def _check_bilinear(self, kind: str, interpolation: Constant) -> None:
        """Checks that an interpolation is bilinear, or adds the condition for it."""
        node = interpolation.node
        if self._script.kind_of(node) == 'InterpolationMode' and isinstance(node, ast.Call) and node.args:
            mode = value_of(self._script, node.args[0])
            condition = f'{mode.text} == "bilinear"'
            if mode.value is None and condition not in self._conditions:
                self._conditions.append(condition)
            if mode.value in (None, 'bilinear'):
                return
        if 'bilinear' not in (self._script.source(node) if node is not None else interpolation.text).lower():
            raise Unknown(f'{kind} with another interpolation than bilinear')

    def _add_crop(self, kind: str, given: dict[str, Constant]) -> None:
        size, options = given.pop('size'), self.options
        self._check_bilinear(kind, given.pop('interpolation', constant('bilinear')))
        if {'policy', 'mean', 'erasing'} & set(options):
            raise Unknown(f'{kind} after steps that change colours')
        sides = sides_of(self._script, size)
        if kind == 'Resize' and len(sides) == 1 and 'crop' not in options:
            options |= {'crop': constant('resize-centre'), 'resize': sides[0]}
        elif kind == 'CenterCrop' and options.get('crop', constant('')).value == 'resize-centre':
            set_size(options, sides)
        elif 'crop' in options:
            raise Unknown(f'{kind} after another crop')
        elif kind == 'Resize':
            options['crop'] = constant('resize')
            set_size(options, sides)
        elif kind == 'RandomResizedCrop':
            options['crop'] = constant('random-resized')
            set_size(options, sides)
            for name, option in (('scale', 'area'), ('ratio', 'aspect')):
                if name in given:
                    options[option] = given.pop(name)
        elif kind == 'RandomCrop' and 'padding' in given:
            options |= {'crop': constant('pad'), 'pad': given.pop('padding')}
            set_size(options, sides)
        else:
            raise Unknown(f'{kind} alone has no option of Image')
        if given:
            raise Unknown(f'{kind} has arguments that Image has not')

    def finish(self) -> None:
        """Checks that the options are those of a whole transform, and adds what it leaves out.

        Raises:
            Unknown: If they are not.
        """
        if self.options.get('crop', constant('')).value == 'resize-centre' and (
                'height' not in self.options):
            raise Unknown('Resize of the shorter side gives images of different sizes')
        if self._is_unscaled:
            raise Unknown('it gives values from 0 to 255')
        if 'mean' not in self.options:
            self.options |= {'mean': constant((0, 0, 0)), 'std': constant((1, 1, 1))}
        if 'height' not in self.options:
            if not self._is_cifar:
                raise Unknown('it has no crop')
            self.options |= {'height': constant(32), 'width': constant(32)}
