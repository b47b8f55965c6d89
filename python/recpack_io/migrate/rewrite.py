"""Rewriting: data sets of torchvision become recpack's, and DataLoaders its Loader."""
from __future__ import annotations

import ast
import dataclasses

from recpack_io.migrate.datasets import Datasets
from recpack_io.migrate.migration import Left, Migration, add_note
from recpack_io.migrate.samplers import Samplers
from recpack_io.migrate.script import Script, is_name, is_none

__all__ = ['Migration', 'migrate']

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
}


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
        self._datasets = Datasets(self.script, self.result)
        self._samplers = Samplers(self.script, self.result)
        self._replaced: set[ast.AST] = set()

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
            self._samplers.change_set_epoch(call)
        if self.result.done:
            if any(each.endswith('recpack_io.open()') for each in self.result.done):
                add_note(self.result, 'for speed, pack each folder once, `recpack pack FOLDER SHARDS`, '
                                      'and open SHARDS')
            for lines in self.result.done, self.result.left, self.result.notes:
                lines.sort(key=lambda line: int(head) if (head := line.partition(':')[0]).isdigit()
                           else 0)
            self.script.add_imports(['import recpack_io', 'from recpack_io.torch import Loader'])
            self.result.text = self.script.edited()
        return self.result

    def _planned(self, call: ast.Call) -> _Plan | None:
        try:
            return self._plan(call)
        except Left as left:
            self.result.left.append(f'{call.lineno}: DataLoader: {left}')
            return None

    def _plan(self, call: ast.Call) -> _Plan:
        given: dict[str | None, ast.expr] = dict(zip(_POSITIONS, call.args))
        given |= {word.arg: word.value for word in call.keywords}
        if None in given or any(isinstance(each, ast.Starred) for each in call.args):
            raise Left('its arguments are not in the call (**)')
        for name in ('collate_fn', 'batch_sampler'):
            if name in given and not is_none(given[name]):
                raise Left(f'it has a {name}: {_INSTEAD[name]}')
        if 'dataset' not in given:
            raise Left('it has no data set')
        dataset = given.pop('dataset')
        values = self._datasets.values(call, dataset)
        pictures = [self._datasets.pictures[value] for value in values]
        fields = {picture.fields(is_cifar) for picture, is_cifar in pictures}
        if len(fields) != 1:
            raise Left('its data set has one transform here and another there')
        order, other = self._samplers.of_loader(call, given)
        size = self.script.source(given['batch_size']) if 'batch_size' in given else '1'
        words = [fields.pop(), f'batch_size={size}', order,
                 self._samplers.last_batch(given.get('drop_last'), other), 'as_tuple=True']
        unknown = set(given) - {*_NEEDLESS, *_POSITIONS}
        if unknown:
            raise Left(f'it has an argument {sorted(unknown)[0]!r}')
        return _Plan(call, dataset, values, [word for word in words if word],
                     next((picture.reason for picture, _ in pictures if picture.reason), ''))

    def _change(self, plan: _Plan) -> None:
        call = plan.call
        dataset = (self.script.source(plan.dataset) if isinstance(plan.dataset, ast.Name)
                   else self._datasets.opened(plan.dataset))
        for value in plan.values:
            if value not in self._replaced:
                self._replaced.add(value)
                if value is not plan.dataset:
                    self.script.replace(value, self._datasets.opened(value))
        for node in self._uses(plan.dataset):
            if isinstance(node, ast.Attribute) and node not in self._replaced:  # .classes
                self._replaced.add(node)
                self.script.replace(node, f'{self.script.source(node.value)}.class_names')
        self._samplers.check_uses(call)
        self.script.replace(call, _wrapped('Loader(', [dataset, *plan.words], call.col_offset))
        self.result.done.append(f'{call.lineno}: DataLoader -> Loader of recpack_io.torch')
        if plan.reason:
            add_note(self.result, f'{call.lineno}: the transform is called as it is, in Python: '
                                  f'{plan.reason}')

    def _uses(self, dataset: ast.expr) -> list[ast.AST]:
        """Returns the uses of a data set's name that a change matters to."""
        if not isinstance(dataset, ast.Name):
            return []
        scope = self.script.scope(dataset)
        uses: list[ast.AST] = []
        for node in ast.walk(self.script.tree):
            if isinstance(node, ast.Attribute) and is_name(node.value, dataset.id):
                within = node
            elif isinstance(node, ast.Call) and any(
                    is_name(each, dataset.id)
                    for each in [*node.args, *(word.value for word in node.keywords)]):
                if is_name(node.func, 'len') or self.script.kind_of(node) in _HARMLESS:
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
