"""Samplers and the order of a DataLoader, as arguments of the Loader."""
from __future__ import annotations

import ast

from recpack_io.migrate.migration import Left, Migration, add_note
from recpack_io.migrate.script import Script, arguments, is_none

_INSTEAD = 'select records with the methods of the data set: weighted(), balanced(), subset()'


class Samplers:
    """The samplers of a script's loaders.

    Args:
        script: The program.
        result: Gets what is said of the samplers.
    """

    def __init__(self, script: Script, result: Migration):
        self._script, self._result = script, result
        self._loaders: dict[ast.AST, list[tuple[str, str]]] = {}  # by scope: sampler, loader

    def of_loader(self, call: ast.Call, given: dict) -> tuple[str, str]:
        """Returns the argument for the order, and last_batch for samples that fill no batch."""
        shuffle, sampler = given.get('shuffle'), given.get('sampler')
        if sampler is not None and not is_none(sampler):
            values = [sampler]
            if isinstance(sampler, ast.Name):
                values = self._script.assigned(sampler.id, self._script.scope(call))
            made = [each for each in values if not is_none(each)]
            kinds = {self._script.kind_of(each) for each in made}
            if not made or not kinds <= {'DistributedSampler', 'RandomSampler', 'SequentialSampler'}:
                raise Left(f'it has a sampler: {_INSTEAD}')
            orders = {self._is_shuffled(each) for each in made}
            if len(orders) != 1:
                raise Left('it has a sampler that shuffles, and one that does not')
            if isinstance(sampler, ast.Name):
                name = self._assigned_to(call)
                if name:
                    scope = self._script.scope(call)
                    self._loaders.setdefault(scope, []).append((sampler.id, name))
            order = '' if orders.pop() else 'order="sequential"'
            if 'DistributedSampler' not in kinds:
                return order, '"keep"'
            # It repeats samples, so that all ranks have as many.
            padded = len(made) == len(values) and len(kinds) == 1
            return order, ('"pad"' if padded else f'"pad" if {self._script.source(sampler)} is not None else "keep"')
        if shuffle is None or isinstance(shuffle, ast.Constant):
            return '' if shuffle is not None and shuffle.value else 'order="sequential"', '"keep"'
        return f'order="auto" if {self._script.source(shuffle)} else "sequential"', '"keep"'

    def _is_shuffled(self, sampler: ast.expr) -> bool:
        kind = self._script.kind_of(sampler)
        given = arguments(sampler, ('dataset', 'num_replicas', 'rank', 'shuffle'))
        shuffle = given.get('shuffle')
        if kind == 'DistributedSampler' and shuffle is not None:
            if not isinstance(shuffle, ast.Constant):
                raise Left('whether its sampler shuffles is not told')
            return bool(shuffle.value)
        return kind != 'SequentialSampler'

    def last_batch(self, drop_last: ast.expr | None, other: str) -> str:
        """Returns the argument last_batch; `other`: its value if such samples are not dropped."""
        if drop_last is None or isinstance(drop_last, ast.Constant):
            return '' if drop_last is not None and drop_last.value else f'last_batch={other}'
        return f'last_batch="drop" if {self._script.source(drop_last)} else {other}'

    def _assigned_to(self, call: ast.Call) -> str:
        for node in ast.walk(self._script.tree):
            if isinstance(node, ast.Assign) and node.value is call and (
                    len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)):
                return node.targets[0].id
        return ''

    def check_uses(self, call: ast.Call) -> None:
        """Notes uses of the loader's sampler, which it has not."""
        name = self._assigned_to(call)
        for node in ast.walk(self._script.tree):
            if isinstance(node, ast.Attribute) and node.attr in ('sampler', 'batch_sampler') and (
                    isinstance(node.value, ast.Name) and node.value.id == name):
                add_note(self._result, f'{node.lineno}: {name}.{node.attr} is None now: the loader '
                                       'shares the records among the ranks itself')

    def change_set_epoch(self, call: ast.Call) -> None:
        """Turns sampler.set_epoch(epoch) into the loader's."""
        function = call.func
        if not (isinstance(function, ast.Attribute) and function.attr == 'set_epoch'
                and isinstance(function.value, ast.Name)):
            return
        for sampler, loader in self._loaders.get(self._script.scope(call), []):
            if sampler == function.value.id:
                self._script.replace(function.value, loader)
                self._result.done.append(f'{call.lineno}: {sampler}.set_epoch() -> {loader}.set_epoch()')
