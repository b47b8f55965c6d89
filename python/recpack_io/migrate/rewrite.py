"""Rewriting: data sets of torchvision become recpack's, and DataLoaders its Loader."""
from __future__ import annotations

import ast
import dataclasses
import difflib

from recpack_io.migrate.script import Script
from recpack_io.migrate.transforms import Picture

_CIFAR = {'CIFAR10': 'cifar-10-batches-py', 'CIFAR100': 'cifar-100-python'}
# Arguments of DataLoader that the Loader needs no counterpart for.
_NEEDLESS = ('num_workers', 'pin_memory', 'persistent_workers', 'prefetch_factor', 'worker_init_fn',
             'generator', 'timeout', 'multiprocessing_context', 'pin_memory_device')
_POSITIONS = ('dataset', 'batch_size', 'shuffle', 'sampler', 'batch_sampler', 'num_workers',
              'collate_fn', 'pin_memory', 'drop_last')
# What may get a data set of recpack as well.
_HARMLESS = ('DistributedSampler', 'RandomSampler', 'SequentialSampler')
_INSTEAD = {
    'collate_fn': 'make what it does a BatchFunction: Loader(batch_functions=[...])',
    'batch_sampler': 'select records with the methods of the data set: subset(), filter()',
    'sampler': 'select records with the methods of the data set: weighted(), balanced(), subset()',
}


@dataclasses.dataclass
class Migration:
    """Result of migrate().

    Args:
        text: The changed program; the given one if nothing can be changed.
        done: What was changed, a line each: "12: ImageFolder -> recpack_io.open()".
        notes: What to know of the changes.
        left: What was left as it is, a line each, with the reason and what to do.
    """

    text: str
    done: list[str] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)
    left: list[str] = dataclasses.field(default_factory=list)

    def diff(self, before: str, name: str) -> str:
        """Returns the change as `diff -u` prints it.

        Args:
            before: The program that was given.
            name: Its path.
        """
        return ''.join(difflib.unified_diff(before.splitlines(True), self.text.splitlines(True),
                                            name, name))


class _Left(Exception):
    """Something that is left as it is: the reason, and what to do."""


@dataclasses.dataclass
class _Plan:
    """The change of a DataLoader: arguments of the Loader behind the data set."""

    call: ast.Call
    dataset: ast.expr
    values: list[ast.expr]  # that the data set may have
    words: list[str]
    reason: str  # for calling the transform in Python


class _Rewriter:
    def __init__(self, text: str):
        self.script = Script(text)
        self.result = Migration(text)
        self._pictures: dict[ast.AST, tuple[Picture, bool]] = {}  # by value of a data set
        self._replaced: set[ast.AST] = set()
        self._loaders: dict[ast.AST, list[tuple[str, str]]] = {}  # by scope: sampler, loader

    def run(self) -> Migration:
        calls = [node for node in ast.walk(self.script.tree) if isinstance(node, ast.Call)]
        calls.sort(key=lambda node: (node.lineno, node.col_offset))
        loaders = [call for call in calls if self.script.name_of(call).startswith('torch.utils.data')
                   and self.script.kind_of(call) == 'DataLoader']
        if not loaders:
            self.result.left.append('the program makes no torch.utils.data.DataLoader')
        plans = [plan for call in loaders if (plan := self._planned(call)) is not None]
        # A data set is changed for all that use it, or for none.
        while (unfit := self._unfit(plans)) is not None:
            plan, reason = unfit
            plans.remove(plan)
            self.result.left.append(f'{plan.call.lineno}: DataLoader: {reason}')
        for plan in plans:
            self._change(plan)
        for call in calls:
            self._epoch(call)
        if self.result.done:
            if any(each.endswith('recpack_io.open()') for each in self.result.done):
                self._note('for speed, pack each folder once, `recpack pack FOLDER SHARDS`, and '
                           'open SHARDS')
            for lines in self.result.done, self.result.left, self.result.notes:
                lines.sort(key=lambda line: int(head) if (head := line.partition(':')[0]).isdigit()
                           else 0)
            self.script.add_imports(['import recpack_io', 'from recpack_io.torch import Loader'])
            self.result.text = self.script.edited()
        return self.result

    def _planned(self, call: ast.Call) -> _Plan | None:
        try:
            return self._plan(call)
        except _Left as left:
            self.result.left.append(f'{call.lineno}: DataLoader: {left}')
            return None

    def _plan(self, call: ast.Call) -> _Plan:
        given: dict[str | None, ast.expr] = dict(zip(_POSITIONS, call.args))
        given |= {word.arg: word.value for word in call.keywords}
        if None in given or any(isinstance(each, ast.Starred) for each in call.args):
            raise _Left('its arguments are not in the call (**)')
        for name in ('collate_fn', 'batch_sampler'):
            if name in given and not _is_none(given[name]):
                raise _Left(f'it has a {name}: {_INSTEAD[name]}')
        if 'dataset' not in given:
            raise _Left('it has no data set')
        dataset = given.pop('dataset')
        values = self._datasets(call, dataset)
        pictures = [self._pictures[value] for value in values]
        fields = {picture.fields(is_cifar) for picture, is_cifar in pictures}
        if len(fields) != 1:
            raise _Left('its data set has one transform here and another there')
        order, other = self._sampler(call, given)
        size = self.script.source(given['batch_size']) if 'batch_size' in given else '1'
        words = [fields.pop(), f'batch_size={size}', order,
                 self._last_batch(given.get('drop_last'), other), 'as_tuple=True']
        unknown = set(given) - {*_NEEDLESS, *_POSITIONS}
        if unknown:
            raise _Left(f'it has an argument {sorted(unknown)[0]!r}')
        return _Plan(call, dataset, values, [word for word in words if word],
                     next((picture.reason for picture, _ in pictures if picture.reason), ''))

    def _change(self, plan: _Plan) -> None:
        call = plan.call
        dataset = (self.script.source(plan.dataset) if isinstance(plan.dataset, ast.Name)
                   else self._opened(plan.dataset))
        for value in plan.values:
            if value not in self._replaced:
                self._replaced.add(value)
                if value is not plan.dataset:
                    self.script.replace(value, self._opened(value))
        for node in self._uses(plan.dataset):
            if isinstance(node, ast.Attribute) and node not in self._replaced:  # .classes
                self._replaced.add(node)
                self.script.replace(node, f'{self.script.source(node.value)}.class_names')
        self._check_uses(call)
        self.script.replace(call, _wrapped('Loader(', [dataset, *plan.words], call.col_offset))
        self.result.done.append(f'{call.lineno}: DataLoader -> Loader of recpack_io.torch')
        if plan.reason:
            self._note(f'{call.lineno}: the transform is called as it is, in Python: {plan.reason}')

    def _uses(self, dataset: ast.expr) -> list[ast.AST]:
        """Returns the uses of a data set's name that a change matters to."""
        if not isinstance(dataset, ast.Name):
            return []
        scope = self.script.scope(dataset)
        uses: list[ast.AST] = []
        for node in ast.walk(self.script.tree):
            if isinstance(node, ast.Attribute) and _is_name(node.value, dataset.id):
                within = node
            elif isinstance(node, ast.Call) and any(
                    _is_name(each, dataset.id)
                    for each in [*node.args, *(word.value for word in node.keywords)]):
                if _is_name(node.func, 'len') or self.script.kind_of(node) in _HARMLESS:
                    continue
                within = node
            else:
                continue
            if self.script.scope(within) is scope or scope is self.script.tree:
                uses.append(within)
        return uses

    def _unfit(self, plans: list[_Plan]) -> tuple[_Plan, str] | None:
        """Returns a plan whose data set is used by what stays as it is, and the reason."""
        changed = {plan.call for plan in plans}
        for plan in plans:
            for node in self._uses(plan.dataset):
                if node in changed or isinstance(node, ast.Attribute) and node.attr == 'classes':
                    continue
                used = self.script.source(node).partition('(')[0]
                return plan, f'line {node.lineno} uses its data set too: {used}'
        return None

    def _note(self, note: str) -> None:
        if note not in self.result.notes:
            self.result.notes.append(note)

    def _datasets(self, call: ast.Call, node: ast.expr) -> list[ast.expr]:
        """Returns the values that a loader's data set may have."""
        found = [node]
        if isinstance(node, ast.Name):
            found = self.script.assigned(node.id, self.script.scope(call))
            if not found:
                raise _Left(f'where {node.id} is made is not told: call '
                            'recpack_io.open() there, and Loader() here')
        values = []
        for value in found:
            kind, name = self.script.kind_of(value), self.script.name_of(value)
            if not name.startswith('torchvision.datasets') or (kind != 'ImageFolder'
                                                               and kind not in _CIFAR):
                if len(found) > 1 and kind == 'FakeData':
                    self.result.left.append(f'{value.lineno}: FakeData: the Loader cannot read it; '
                                            'leave this case out')
                    continue
                raise _Left(self._other_dataset(value, kind))
            if value not in self._pictures:
                self._pictures[value] = self._picture(value, kind)
            values.append(value)
        return values

    def _other_dataset(self, value: ast.expr, kind: str) -> str:
        if kind in ('random_split', 'Subset', 'ConcatDataset'):
            return (f'its data set is made by {kind}: use the methods of the data set: '
                    'random_split(), subset(); Mixture')
        named = kind or self.script.source(value).partition('(')[0]
        return (f'recpack reads no {named}: pack its samples once, '
                'recpack_io.pack(({"image": image, "label": label} for image, label in samples), '
                '"shards"), and open that')

    def _picture(self, value: ast.expr, kind: str) -> tuple[Picture, bool]:
        given = _arguments(value, ('root', 'transform') if kind == 'ImageFolder' else
                           ('root', 'train', 'transform'))
        for name in ('target_transform', 'loader', 'is_valid_file'):
            if name in given and not _is_none(given[name]):
                raise _Left(f'{kind} has a {name}: make it a Function')
        if 'transform' not in given:
            raise _Left(f'{kind} has no transform')
        try:
            return Picture(self.script, given['transform']), kind in _CIFAR
        except ValueError as error:
            raise _Left(f'its transform: {error}') from None

    def _opened(self, value: ast.expr) -> str:
        """Returns what takes a data set's place."""
        kind, there = self.script.kind_of(value), f'{value.lineno}: '
        given = _arguments(value, ('root', 'train'))
        self.result.done.append(f'{there}{kind} -> recpack_io.open()')
        if kind == 'ImageFolder':
            return f'recpack_io.open({self.script.source(given["root"])})'
        if 'download' in given:
            self._note(f'{there}{kind} is not downloaded any more: it must be there')
        train = given.get('train')
        split = '"train"' if train is None else self._split(train)
        return f'recpack_io.open({self._inside(given["root"], _CIFAR[kind])}, split={split})'

    def _split(self, train: ast.expr) -> str:
        if isinstance(train, ast.Constant):
            return '"train"' if train.value else '"eval"'
        return f'"train" if {self.script.source(train)} else "eval"'

    def _inside(self, root: ast.expr, folder: str) -> str:
        if isinstance(root, ast.Constant) and isinstance(root.value, str):
            return f'"{root.value.rstrip("/")}/{folder}"'
        return f'f"{{{self.script.source(root)}}}/{folder}"'

    def _sampler(self, call: ast.Call, given: dict) -> tuple[str, str]:
        """Returns the argument for the order, and last_batch for samples that fill no batch."""
        shuffle, sampler = given.get('shuffle'), given.get('sampler')
        if sampler is not None and not _is_none(sampler):
            values = [sampler]
            if isinstance(sampler, ast.Name):
                values = self.script.assigned(sampler.id, self.script.scope(call))
            made = [each for each in values if not _is_none(each)]
            kinds = {self.script.kind_of(each) for each in made}
            if not made or not kinds <= {'DistributedSampler', 'RandomSampler', 'SequentialSampler'}:
                raise _Left(f'it has a sampler: {_INSTEAD["sampler"]}')
            orders = {self._is_shuffled(each) for each in made}
            if len(orders) != 1:
                raise _Left('it has a sampler that shuffles, and one that does not')
            if isinstance(sampler, ast.Name):
                name = self._assigned_to(call)
                if name:
                    scope = self.script.scope(call)
                    self._loaders.setdefault(scope, []).append((sampler.id, name))
            order = '' if orders.pop() else 'order="sequential"'
            if 'DistributedSampler' not in kinds:
                return order, '"keep"'
            # It repeats samples, so that all ranks have as many.
            padded = len(made) == len(values) and len(kinds) == 1
            return order, ('"pad"' if padded else f'"pad" if {self.script.source(sampler)} is not None else "keep"')
        if shuffle is None or isinstance(shuffle, ast.Constant):
            return '' if shuffle is not None and shuffle.value else 'order="sequential"', '"keep"'
        return f'order="auto" if {self.script.source(shuffle)} else "sequential"', '"keep"'

    def _is_shuffled(self, sampler: ast.expr) -> bool:
        kind = self.script.kind_of(sampler)
        given = _arguments(sampler, ('dataset', 'num_replicas', 'rank', 'shuffle'))
        shuffle = given.get('shuffle')
        if kind == 'DistributedSampler' and shuffle is not None:
            if not isinstance(shuffle, ast.Constant):
                raise _Left('whether its sampler shuffles is not told')
            return bool(shuffle.value)
        return kind != 'SequentialSampler'

    def _last_batch(self, drop_last: ast.expr | None, other: str) -> str:
        if drop_last is None or isinstance(drop_last, ast.Constant):
            return '' if drop_last is not None and drop_last.value else f'last_batch={other}'
        return f'last_batch="drop" if {self.script.source(drop_last)} else {other}'

    def _assigned_to(self, call: ast.Call) -> str:
        for node in ast.walk(self.script.tree):
            if isinstance(node, ast.Assign) and node.value is call and (
                    len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
                return node.targets[0].id
        return ''

    def _check_uses(self, call: ast.Call) -> None:
        """Notes uses of the loader's sampler, which it has not."""
        name = self._assigned_to(call)
        for node in ast.walk(self.script.tree):
            if isinstance(node, ast.Attribute) and node.attr in ('sampler', 'batch_sampler') and (
                    isinstance(node.value, ast.Name) and node.value.id == name):
                self._note(f'{node.lineno}: {name}.{node.attr} is None now: the loader shares the '
                           'records among the ranks itself')

    def _epoch(self, call: ast.Call) -> None:
        """Turns sampler.set_epoch(epoch) into the loader's."""
        function = call.func
        if not (isinstance(function, ast.Attribute) and function.attr == 'set_epoch'
                and isinstance(function.value, ast.Name)):
            return
        for sampler, loader in self._loaders.get(self.script.scope(call), []):
            if sampler == function.value.id:
                self.script.replace(function.value, loader)
                self.result.done.append(f'{call.lineno}: {sampler}.set_epoch() -> {loader}.set_epoch()')


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _arguments(call: ast.expr, positions: tuple[str, ...]) -> dict[str, ast.expr]:
    assert isinstance(call, ast.Call)
    return dict(zip(positions, call.args)) | {word.arg: word.value for word in call.keywords
                                              if word.arg}


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _wrapped(begin: str, words: list[str], column: int) -> str:
    """Returns a call that begins in this column, in lines of 88 characters where that is possible."""
    indent = ' ' * (column + len(begin))
    lines, current = [], ' ' * column + begin
    for number, word in enumerate(words):
        word += ',' if number + 1 < len(words) else ')'
        if number > 0 and len(current) + len(word) > 88:
            lines.append(current.rstrip())
            current = indent
        current += word + ' '
    return '\n'.join([*lines, current.rstrip()])[column:]


def migrate(text: str) -> Migration:
    """Returns the change that makes a PyTorch program load its data with recpack.

    Data sets ImageFolder, CIFAR10 and CIFAR100 of torchvision become recpack_io.open(); their
    transforms become fields, or are called as they are where no field is for them; DataLoaders
    become Loaders. The program is not run.

    Args:
        text: The program.

    Raises:
        SyntaxError: If it is no Python program.
    """
    return _Rewriter(text).run()
