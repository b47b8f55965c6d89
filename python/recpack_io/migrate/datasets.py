"""Data sets of torchvision that a program makes, and what takes their place."""
from __future__ import annotations

import ast

from recpack_io.migrate.migration import Left, Migration, add_note
from recpack_io.migrate.script import Script, arguments, is_none
from recpack_io.migrate.transforms import Picture

_CIFAR = {'CIFAR10': 'cifar-10-batches-py', 'CIFAR100': 'cifar-100-python'}


class Datasets:
    """The data sets of a script's loaders.

    Args:
        script: The program.
        result: Gets what is said of the data sets.
    """

    def __init__(self, script: Script, result: Migration):
        self._script, self._result = script, result
        self.pictures: dict[ast.AST, tuple[Picture, bool]] = {}  # by value of a data set

    def values(self, call: ast.Call, node: ast.expr) -> list[ast.expr]:
        """Returns the values that a loader's data set may have."""
        found = [node]
        if isinstance(node, ast.Name):
            found = self._script.assigned(node.id, self._script.scope(call))
            if not found:
                raise Left(f'where {node.id} is made is not told: call '
                           'recpack_io.open() there, and Loader() here')
        values = []
        for value in found:
            kind, name = self._script.kind_of(value), self._script.name_of(value)
            if not name.startswith('torchvision.datasets') or (kind != 'ImageFolder'
                                                               and kind not in _CIFAR):
                if len(found) > 1 and kind == 'FakeData':
                    self._result.left.append(f'{value.lineno}: FakeData: the Loader cannot read '
                                             'it; leave this case out')
                    continue
                raise Left(self._other_dataset(value, kind))
            if value not in self.pictures:
                self.pictures[value] = self._picture(value, kind)
            values.append(value)
        return values

    def _other_dataset(self, value: ast.expr, kind: str) -> str:
        if kind in ('random_split', 'Subset', 'ConcatDataset'):
            return (f'its data set is made by {kind}: use the methods of the data set: '
                    'random_split(), subset(); Mixture')
        named = kind or self._script.source(value).partition('(')[0]
        return (f'recpack reads no {named}: pack its samples once, '
                'recpack_io.pack(({"image": image, "label": label} for image, label in samples), '
                '"shards"), and open that')

    def _picture(self, value: ast.expr, kind: str) -> tuple[Picture, bool]:
        given = arguments(value, ('root', 'transform') if kind == 'ImageFolder' else
                          ('root', 'train', 'transform'))
        for name in ('target_transform', 'loader', 'is_valid_file'):
            if name in given and not is_none(given[name]):
                raise Left(f'{kind} has a {name}: make it a Function')
        if 'transform' not in given:
            raise Left(f'{kind} has no transform')
        try:
            return Picture(self._script, given['transform']), kind in _CIFAR
        except ValueError as error:
            raise Left(f'its transform: {error}') from None

    def opened(self, value: ast.expr) -> str:
        """Returns what takes a data set's place."""
        kind, there = self._script.kind_of(value), f'{value.lineno}: '
        given = arguments(value, ('root', 'train'))
        self._result.done.append(f'{there}{kind} -> recpack_io.open()')
        if kind == 'ImageFolder':
            return f'recpack_io.open({self._script.source(given["root"])})'
        if 'download' in given:
            add_note(self._result, f'{there}{kind} is not downloaded any more: it must be there')
        evaluation, folder = 'eval', _CIFAR[kind]
        if kind == 'CIFAR10':  # opened as it is, its fifth batch is a split of its own
            source, folder, evaluation = folder, 'cifar10-shards', 'test'
            add_note(self._result, f'{there}pack CIFAR-10 once, into the splits that torchvision has: recpack pack '
                     f'{self._path(given["root"], source)} {self._path(given["root"], folder)} --splits train,test')
        train = given.get('train')
        split = '"train"' if train is None else self._split(train, evaluation)
        return f'recpack_io.open({self._inside(given["root"], folder)}, split={split})'

    def _split(self, train: ast.expr, evaluation: str) -> str:
        if isinstance(train, ast.Constant):
            return '"train"' if train.value else f'"{evaluation}"'
        return f'"train" if {self._script.source(train)} else "{evaluation}"'

    def _path(self, root: ast.expr, folder: str) -> str:
        """Returns a path as a user types it."""
        named = root.value if isinstance(root, ast.Constant) else self._script.source(root)
        return f'{str(named).rstrip("/")}/{folder}'

    def _inside(self, root: ast.expr, folder: str) -> str:
        if isinstance(root, ast.Constant) and isinstance(root.value, str):
            return f'"{root.value.rstrip("/")}/{folder}"'
        return f'f"{{{self._script.source(root)}}}/{folder}"'
