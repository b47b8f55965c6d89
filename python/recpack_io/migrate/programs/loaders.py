"""Loaders that a program has: what else it does with them, such as set_epoch()."""
from __future__ import annotations

import ast
import dataclasses

from recpack_io.migrate.migration import Left, Migration, add_left
from recpack_io.migrate.programs.makers import Makers
from recpack_io.migrate.syntax.script import Script, parameters

# What a DataLoader over batches, which a collate_fn is called with, has otherwise.
_OTHERWISE = ('dataset', 'batch_size', 'drop_last', 'sampler', 'batch_sampler')


@dataclasses.dataclass
class Held:
    """A loader, and the names of its sampler, with their scopes."""

    call: ast.Call
    name: str  # empty if no variable holds it
    scope: ast.AST
    sampler: list[tuple[str, ast.AST]]
    is_wrapped: bool  # in a DataLoader, which calls the collate_fn

    def reached(self, name: str) -> str:
        """Returns the expression of the Loader; `name`: a variable that holds what the program has."""
        return f'{name}.dataset.loader' if self.is_wrapped else name


class Loaders:
    """The loaders of a script.

    Args:
        script: The program.
        makers: The functions that make them.
        result: Gets what is said of them.
    """

    def __init__(self, script: Script, makers: Makers, result: Migration):
        self._script, self._makers, self._result = script, makers, result

    def held(self, call: ast.Call, sampler: list[tuple[str, ast.AST]], is_wrapped: bool) -> Held:
        """Returns how a program holds a loader."""
        script, statement = self._script, self._script.statement(call)
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
        name = next((each.id for each in targets if isinstance(each, ast.Name)
                     and call in script.assigned(each.id, script.scope(call))), '')
        scope = (script.binding(name, script.scope(call)) if name else None) or script.scope(call)
        return Held(call, name, scope, sampler, is_wrapped)

    def attributes(self, held: Held) -> list[ast.Attribute]:
        """Returns what is read of a loader, also in functions that it is passed to."""
        names, script = [(held.name, held.scope)] if held.name else [], self._script
        found = []
        for name, scope in names:  # which grows
            for use in script.uses(name, scope):
                parent = script.parent(use)
                if isinstance(parent, ast.Attribute):
                    found.append(parent)
                elif (there := self._passed(use) or self._given_back(use)) and there not in names:
                    names.append(there)
        return found

    def _given_back(self, use: ast.Name) -> tuple[str, ast.AST] | None:
        """Returns the variable that takes a name which a function returns."""
        script = self._script
        function = script.scope(use)
        if not isinstance(script.statement(use), ast.Return):
            return None
        for call in script.calls():
            if script.function(call) is function and (
                    maker := self._makers.of_function(function, reader := script.scope(call))):
                taken = self._makers.taken_as(maker, use.id)
                scope = script.binding(taken, reader) if taken else None
                return (taken, scope) if scope is not None else None
        return None

    def _passed(self, use: ast.Name) -> tuple[str, ast.AST] | None:
        """Returns the parameter that a name is passed for, with its function."""
        parent = self._script.parent(use)
        call = self._script.parent(parent) if isinstance(parent, ast.keyword) else parent
        function = self._script.function(call)
        if not isinstance(function, ast.FunctionDef) or not isinstance(call, ast.Call):
            return None
        if isinstance(parent, ast.keyword):
            return (parent.arg, function) if parent.arg in parameters(function) else None
        place = call.args.index(use) if use in call.args else len(function.args.args)
        return (function.args.args[place].arg, function) if place < len(function.args.args) else None

    def check(self, held: Held) -> None:
        """Checks that a program does nothing with a loader that has another meaning now.

        Raises:
            Left: If it does.
        """
        for read in self.attributes(held) if held.is_wrapped else ():
            if read.attr in _OTHERWISE and not self._is_set_epoch(read):
                raise Left(f'it has a collate_fn, and line {read.lineno} reads its {read.attr}: mix the batches in the '
                           'loop, and leave the collate_fn out')
        for read in self.attributes(held):
            of_dataset = self._script.parent(read) if read.attr == 'dataset' else None
            if isinstance(of_dataset, ast.Attribute) and of_dataset.attr != 'classes':
                raise Left(f'line {read.lineno} reads the {of_dataset.attr} of its data set')
        for use in [held.call, *self._script.uses(held.name, held.scope)]:
            call = self._script.parent(use)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == 'prepare' and (
                    'accelerate' in self._script.text):
                raise Left(f'line {call.lineno} prepares it with Accelerate: prepare a Loader by '
                           'recpack_io.huggingface.prepare(accelerator, loader)')

    def _is_set_epoch(self, read: ast.Attribute) -> bool:
        """Tells whether an attribute is `sampler` of loader.sampler.set_epoch()."""
        parent = self._script.parent(read)
        return read.attr == 'sampler' and isinstance(parent, ast.Attribute) and parent.attr == 'set_epoch'

    def change_uses(self, held: Held) -> None:
        """Changes what a program reads of a loader's sampler, which it has not."""
        script = self._script
        for read in self.attributes(held):
            name, parent = script.source(read.value), script.parent(read)
            if read.attr == 'dataset' and isinstance(parent, ast.Attribute):  # .classes
                script.replace(parent, f'{script.source(read)}.class_names')
            if read.attr not in ('sampler', 'batch_sampler'):
                continue
            loader = held.reached(name)
            if self._is_set_epoch(read):
                script.replace(read, loader)
                self._result.done.append(f'{read.lineno}: {name}.sampler.set_epoch() -> {loader}.set_epoch()')
            elif isinstance(parent, ast.Call) and ast.unparse(parent.func) == 'len':
                script.replace(parent, f'-(-len({loader}.dataset) // {loader}.world_size)')
                self._result.done.append(f'{read.lineno}: len({name}.sampler) -> the samples of a rank')
            else:
                add_left(self._result, f'{read.lineno}: {name}.{read.attr} is None now: the loader shares the records '
                                       'among the ranks itself')

    def change_set_epochs(self, loaders: list[Held]) -> None:
        """Turns sampler.set_epoch(epoch) into the loader's."""
        script = self._script
        for call in script.calls() if loaders else ():
            function = call.func
            if not isinstance(function, ast.Attribute) or function.attr != 'set_epoch' or (
                    not isinstance(function.value, ast.Name)):
                continue
            name = function.value.id
            here = script.binding(name, script.scope(call))
            loader = next((reached for held in loaders if (reached := self._of_sampler(held, name, here))), '')
            if loader:
                script.replace(function.value, loader)
                self._result.done.append(f'{call.lineno}: {name}.set_epoch() -> {loader}.set_epoch()')
            elif any(held.sampler for held in loaders) and not any((name, here) == (held.name, held.scope)
                                                                   for held in loaders):
                add_left(self._result, f'{call.lineno}: {name}.set_epoch(): call that of the loader')

    def _of_sampler(self, held: Held, name: str, scope: ast.AST | None) -> str:
        """Returns the expression for the loader of a sampler in a scope; empty if it is another's."""
        if not held.name:
            return ''
        if (name, scope) in held.sampler and scope is held.scope:
            return held.reached(name=held.name)
        maker = self._makers.of_function(held.scope, scope)
        if maker is None:
            return ''
        theirs = {self._makers.taken_as(maker, each) for each, where in held.sampler if where is held.scope}
        taken = self._makers.taken_as(maker, held.name)
        return held.reached(taken) if name in theirs and taken else ''
