"""Data sets of torchvision that a program makes, and what takes their place."""
from __future__ import annotations

import ast

from recpack_io.migrate.migration import Left, Migration, add_left, add_note
from recpack_io.migrate.programs.makers import Makers, Origin
from recpack_io.migrate.syntax.script import Script, arguments, is_none
from recpack_io.migrate.transforms.builders import Builders
from recpack_io.migrate.transforms.pictures import Picture

_CIFAR = {'CIFAR10': 'cifar-10-batches-py', 'CIFAR100': 'cifar-100-python'}
# What a program makes in one branch of several: that becomes an error, if another branch makes a data set of ours.
_CASES = {'torchvision.datasets.FakeData': 'pack made-up images, or leave this case out',
          'torch.load': 'pack the folder once instead, recpack pack FOLDER SHARDS, and open SHARDS'}
_TARGETS = ('CocoDetection', 'VOCDetection', 'VOCSegmentation', 'SBDataset', 'Cityscapes', 'WIDERFace', 'Kitti')
_PACKED = ('pack its samples once, recpack_io.pack(({"image": image, "label": label} for image, label in samples), '
           '"shards"), and open that')


class Datasets:
    """The data sets of a script's loaders.

    Args:
        script: The program.
        builders: The functions and classes that make its transforms.
        makers: The functions that make its data sets.
        result: Gets what is said of the data sets.
    """

    def __init__(self, script: Script, builders: Builders, makers: Makers, result: Migration):
        self._script, self._builders, self._makers, self._result = script, builders, makers, result
        self.pictures: dict[ast.AST, Picture] = {}  # by value of a data set
        self._cases: dict[ast.AST, str] = {}  # values that become errors, with what to do

    def origin(self, node: ast.expr) -> Origin:
        """Returns the values that a loader's data set may have, and who makes them.

        Raises:
            Left: If one of them cannot be read, or is not told.
        """
        origin = self._makers.origin(node)
        values = []
        for value in origin.values:
            if self._is_ours(value):
                if value not in self.pictures:
                    self.pictures[value] = self._picture(value)
                values.append(value)
            elif (advice := self._case(value)) and len(origin.values) > 1:
                self._cases[value] = advice
            else:
                raise Left(self._other_dataset(value, node))
        if not values:
            raise Left(self._other_dataset(origin.values[0], node))
        self._makers.check_once(origin)
        origin.values = values
        return origin

    def _is_ours(self, value: ast.AST) -> bool:
        kind = self._script.kind_of(value)
        return isinstance(value, ast.Call) and self._script.name_of(value).startswith('torchvision.datasets') and (
            kind == 'ImageFolder' or kind in _CIFAR)

    def _case(self, value: ast.AST) -> str:
        """Returns what to do about a value that can become an error; empty if it cannot."""
        call = value.value if isinstance(value, ast.Subscript) else value
        statement = self._script.statement(value)
        alone = (self._script.parent(value) is statement and self._script.stands_alone(statement)
                 and isinstance(self._script.parent(statement), ast.If))
        return _CASES.get(self._script.name_of(call), '') if alone and isinstance(call, ast.Call) else ''

    def _other_dataset(self, value: ast.AST, node: ast.expr) -> str:
        """Returns why a value of an argument of a DataLoader cannot be read."""
        call = value.value if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Call) else value
        kind, script = self._script.kind_of(call), self._script
        if kind in ('random_split', 'Subset', 'ConcatDataset'):
            return (f'its data set is made by {kind}: use the methods of the data set: '
                    'random_split(), subset(); Mixture')
        named = kind or script.source(call).partition('(')[0].partition('\n')[0]
        where = f' (line {value.lineno})' if value.lineno != node.lineno else ''  # type: ignore[attr-defined]
        if kind in _TARGETS or isinstance(call, ast.Call) and any(word.arg == 'transforms' for word in call.keywords):
            return (f'recpack does not read {named}{where}: pack its images with their masks or boxes once, by '
                    'recpack_io.pack() of dictionaries, and open that; fields with the same view= crop and flip '
                    'an image and its mask alike')
        if 'load_dataset' in script.text and 'datasets' in {script.full_name(each).partition('.')[0]
                                                            for each in script.calls()}:
            return (f'{named}{where} is a data set of Hugging Face: pack it once, recpack_io.pack(dataset["train"], '
                    '"shards", class_names=...), and open that; with Accelerate, prepare the Loader by '
                    'recpack_io.huggingface.prepare(accelerator, loader)')
        if isinstance(call, ast.Call) and not kind and not script.full_name(call):
            return f'what {named}(){where} makes is not told: {_PACKED}'
        if not isinstance(call, ast.Call):
            return (f'where {named}{where} is made is not told: call recpack_io.open() there, and Loader() here')
        return f'recpack reads no {named}{where}: {_PACKED}'

    def _picture(self, value: ast.AST) -> Picture:
        assert isinstance(value, ast.Call)
        kind = self._script.kind_of(value)
        given = arguments(value, ('root', 'transform') if kind == 'ImageFolder' else
                          ('root', 'train', 'transform'))
        for name in ('target_transform', 'loader', 'is_valid_file'):
            if name in given and not is_none(given[name]):
                raise Left(f'{kind} has a {name}: make it a Function')
        if 'transform' not in given or is_none(given['transform']):
            raise Left(f'{kind} has no transform')
        try:
            return Picture(self._builders, given['transform'], kind in _CIFAR)
        except ValueError as error:
            raise Left(f'its transform: {error}') from None

    def end_cases(self, origin: Origin) -> None:
        """Turns the branches that make no data set of ours into errors."""
        names = {name for name, _ in origin.names}
        for value, advice in self._cases.items():
            statement = self._script.statement(value)
            if names & {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}:
                call = value.value if isinstance(value, ast.Subscript) else value
                what = f'the Loader does not read what {self._script.name_of(call)}() gives'
                if self._script.end_case(statement, f'{what}: {advice}'):
                    add_left(self._result, f'{statement.lineno}: {what}, so that this case is an error now: {advice}')

    def opened(self, value: ast.AST) -> str:
        """Returns what takes a data set's place."""
        assert isinstance(value, ast.Call)
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
