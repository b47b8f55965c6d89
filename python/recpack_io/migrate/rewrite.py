"""Rewriting: data sets of torchvision become recpack's, and DataLoaders its Loader."""
from __future__ import annotations

import ast
import os
import pathlib

from recpack_io.migrate.migration import Left, Migration, add_note
from recpack_io.migrate.programs.plans import Plan, Planner
from recpack_io.migrate.programs.uses import Uses
from recpack_io.migrate.syntax.script import Script, names_in
from recpack_io.migrate.transforms.builders import Builders
from recpack_io.migrate.transforms.pictures import BREAK

__all__ = ['Migration', 'migrate']

# Loaders of other libraries, by full name.
_OTHERS = {
    'timm.data.create_loader': 'open the data with recpack_io.open(), and make a recpack_io.torch.Loader with '
                               'fields=[recpack_io.Image(then=timm.data.create_transform(...), given="pil", ...), '
                               'recpack_io.Numbers("label")]; its Mixup takes batches, in the loop',
    'webdataset.WebLoader': 'the guide on migration shows the change for WebDataset',
    'ffcv.loader.Loader': 'the guide on migration shows the change for FFCV',
}


class _Rewriter:
    def __init__(self, text: str, folder: pathlib.Path | None):
        self.script = Script(text)
        self.result = Migration(text)
        self._planner = Planner(self.script, Builders(self.script, folder), self.result)
        self._uses = Uses(self.script, self.result)
        self._replaced: set[ast.AST] = set()
        self._carried: dict[str, str] = {}  # variables of fields that are made with a data set, by its name and them

    def run(self) -> Migration:
        calls = self.script.calls()
        loaders = [call for call in calls if self.script.name_of(call).startswith('torch.utils.data')
                   and self.script.kind_of(call) == 'DataLoader']
        if not loaders:
            self._say_others(calls)
        plans = [plan for call in loaders if (plan := self._planner.planned(call)) is not None]
        # A data set is changed for all that use it, or for none.
        while (unfit := self._unfit(plans)) is not None:
            plan, reason = unfit
            plans.remove(plan)
            self.result.left.append(f'{plan.call.lineno}: DataLoader: {reason}')
        for plan in plans:
            self._change(plan)
        self._planner.loaders.change_set_epochs([plan.held for plan in plans])
        if self.result.done:
            self._finish(any(plan.collate is not None for plan in plans))
        return self.result

    def _finish(self, is_wrapped: bool) -> None:
        for note in self._planner.makers.change():
            add_note(self.result, note)
        if any(each.endswith('recpack_io.open()') for each in self.result.done):
            add_note(self.result, 'for speed, pack each folder once, `recpack pack FOLDER SHARDS`, '
                                  'and open SHARDS')
        for lines in self.result.done, self.result.left, self.result.notes:
            lines.sort(key=lambda line: int(head) if (head := line.partition(':')[0]).isdigit()
                       else 0)
        names = ['IterableDataset', 'Loader'] if is_wrapped else ['Loader']
        free = [name for name in names if not self.script.has_name(name)]
        self.script.add_imports([f'import recpack_io{"" if free == names else ".torch"}',
                                 *([f'from recpack_io.torch import {", ".join(free)}'] if free else [])])
        self.result.text = self.script.edited()

    def _say_others(self, calls: list[ast.Call]) -> None:
        self.result.left.append('the program makes no torch.utils.data.DataLoader')
        for call in calls:
            name = self.script.full_name(call)
            if name in _OTHERS:
                self.result.left.append(f'{call.lineno}: {name}: {_OTHERS[name]}')

    def _unfit(self, plans: list[Plan]) -> tuple[Plan, str] | None:
        """Returns a plan whose data set is used by what stays as it is, and the reason."""
        changed = {plan.call for plan in plans}
        for plan in plans:
            returned = plan.origin.maker.returned if plan.origin.maker else None
            if used := self._uses.other(plan.origin, changed, returned):
                return plan, used
            try:
                self._check_carried(plan)
            except Left as left:
                return plan, str(left)
        return None

    def _check_carried(self, plan: Plan) -> None:
        maker = plan.origin.maker
        if not self._needs_carrying(plan):
            return
        if all(self.script.stands_alone(self.script.statement(value)) for value in plan.origin.values) and (
                maker is None or isinstance(maker.unpacked, ast.Assign) and len(maker.unpacked.targets) == 1):
            return
        where = f'of {maker.function.name}()' if maker is not None else 'that change'
        raise Left(f'its transform needs variables {where}: make the Loader where they are set')

    def _needs_carrying(self, plan: Plan) -> bool:
        """Tells whether fields are made of variables that the loader's function has not, or that change."""
        maker, names = plan.origin.maker, names_in(plan.fields.replace(BREAK, ' '))
        if maker is not None:
            return bool(names & self.script.variables(maker.function))
        return plan.dataset not in plan.origin.values and any(
            self.script.is_changed(name, self.script.scope(plan.call)) for name in names)

    def _change(self, plan: Plan) -> None:
        call = plan.call
        dataset = (self.script.source(plan.dataset) if isinstance(plan.dataset, ast.Name)
                   else self._planner.datasets.opened(plan.dataset))
        for value in plan.origin.values:
            if value not in self._replaced:
                self._replaced.add(value)
                if value is not plan.dataset:
                    self.script.replace(value, self._planner.datasets.opened(value))
        self._uses.change(plan.origin)
        self._planner.datasets.end_cases(plan.origin)
        self._planner.samplers.end_cases(plan.order)
        self._planner.samplers.say(call, plan.order, plan.words)
        self._planner.loaders.change_uses(plan.held)
        fields = plan.fields
        if self._needs_carrying(plan):
            fields = self._carry(plan)
        words = plan.words
        if not fields.startswith('"') or BREAK in fields:  # no recipe by name, whose batches are tuples
            fields, words = f'fields={fields}', [*words, 'as_tuple=True']
        self._replace(plan, [dataset, fields, *words])
        if plan.called:
            add_note(self.result, f'{call.lineno}: the transform is called as it is, in Python{plan.called}; '
                                  'workers=N calls it in N processes')

    def _carry(self, plan: Plan) -> str:
        """Makes the fields where the data set is made; if a maker does that, lets it return them."""
        maker = plan.origin.maker
        key = f'{plan.origin.names[-1][0] if plan.origin.names else "dataset"}\n{plan.fields}'
        if key not in self._carried:
            name = self._planner.makers.free_name(f'{key.partition(chr(10))[0]}_fields', self._carried.values())
            self._carried[key] = name
            if maker is not None:
                self._planner.makers.carry(maker, name)
            for value in plan.origin.values:
                statement = self.script.statement(value)
                text = plan.fields
                if BREAK in text:
                    text = f'({text.replace(BREAK, chr(10) + " " * (statement.col_offset + 4))})'
                self.script.add_line(statement, f'{name} = {text}', before=isinstance(statement, ast.Return))
        return self._carried[key]

    def _replace(self, plan: Plan, words: list[str]) -> None:
        call, script = plan.call, self.script
        if plan.collate is None:
            text = _wrapped(f'{self._named("Loader")}(', words, call.col_offset)
            self.result.done.append(f'{call.lineno}: DataLoader -> Loader of recpack_io.torch')
        else:
            text = self._wrapped_loader(plan, words)
            self.result.done.append(f'{call.lineno}: DataLoader -> Loader of recpack_io.torch, in a DataLoader that '
                                    'calls the collate_fn')
            add_note(self.result, f'{call.lineno}: its collate_fn gets a batch now, not samples')
        self.script.replace(call, text.replace(BREAK, '\n' + ' ' * (_column(script, call) + 4)))

    def _named(self, name: str) -> str:
        """Returns a class of recpack_io.torch as the program can name it."""
        return f'recpack_io.torch.{name}' if self.script.has_name(name) else name

    def _wrapped_loader(self, plan: Plan, words: list[str]) -> str:
        """Returns a DataLoader of the Loader's batches, which calls the collate_fn with them."""
        script, collate = self.script, plan.given['collate_fn']
        text = script.source(collate)
        inside = set(ast.walk(collate))
        for node, changed in plan.collate or ():
            if node in inside:
                text = text.replace(script.source(node), changed)
            elif node not in self._replaced:
                self._replaced.add(node)
                script.replace(node, changed)
        indent = ' ' * (_column(script, plan.call) + 4)
        pinned = f', pin_memory={script.source(plan.given["pin_memory"])}' if 'pin_memory' in plan.given else ''
        loader = _wrapped(f'{self._named("IterableDataset")}({self._named("Loader")}(', words, len(indent))
        return (f'{script.source(plan.call.func)}(\n{indent}{loader}),\n'
                f'{indent}batch_size=None, collate_fn={text}{pinned})')


def _column(script: Script, node: ast.AST) -> int:
    """Returns the column in which a node's statement begins."""
    return script.statement(node).col_offset


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


def migrate(text: str, folder: str | os.PathLike[str] | None = None) -> Migration:
    """Returns the change that makes a PyTorch program load its data with recpack.

    Data sets ImageFolder, CIFAR10 and CIFAR100 of torchvision become recpack_io.open(); their
    transforms become fields, or are called as they are where no field is for them; DataLoaders
    become Loaders. The program is not run.

    Args:
        text: The program.
        folder: Folder of the program: functions and classes that make its transforms are read
            from files there, which it imports. Default: there are none.

    Raises:
        SyntaxError: If it is no Python program.
    """
    return _Rewriter(text, None if folder is None else pathlib.Path(folder)).run()
