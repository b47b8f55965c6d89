"""Uses of data sets: whether a program does something with one that a data set of recpack is not for."""
from __future__ import annotations

import ast

from recpack_io.migrate.migration import Migration, add_note
from recpack_io.migrate.programs.makers import Origin
from recpack_io.migrate.syntax.script import Script

_HARMLESS = ('DistributedSampler', 'RandomSampler', 'SequentialSampler')  # which may get a data set of ours as well


class Uses:
    """The uses of a script's data sets.

    Args:
        script: The program.
        result: Gets what is said of them.
    """

    def __init__(self, script: Script, result: Migration):
        self._script, self._result = script, result
        self._changed: set[ast.AST] = set()

    def _of(self, origin: Origin) -> list[ast.Name]:
        return [use for name, scope in origin.names for use in self._script.uses(name, scope)]

    def other(self, origin: Origin, loaders: set[ast.Call], returned: ast.Return | None) -> str:
        """Returns what else a data set is used for that matters, as a reason; empty if there is nothing.

        Args:
            origin: Of the data set.
            loaders: DataLoaders that are changed.
            returned: The statement that returns it.
        """
        for use in self._of(origin):
            within = self._within(use)
            if within in loaders or within is returned or self._is_harmless(within):
                continue
            used = self._script.source(within).partition('(')[0].partition('\n')[0]
            return f'line {use.lineno} uses its data set too: {used}'
        return ''

    def _within(self, use: ast.Name) -> ast.AST:
        """Returns the call, attribute or statement that a name is read in."""
        node: ast.AST = self._script.parent(use)
        while isinstance(node, (ast.keyword, ast.Tuple, ast.List)):
            node = self._script.parent(node)
        return node

    def _is_harmless(self, within: ast.AST) -> bool:
        script = self._script
        if isinstance(within, ast.Attribute):
            return within.attr == 'classes'
        if isinstance(within, ast.Call):
            name = ast.unparse(within.func)
            return name in ('len', 'print') or script.kind_of(within) in _HARMLESS or self._is_saved(within) or (
                self._is_case_of_sampler(within))
        if isinstance(within, ast.Compare):
            return isinstance(within.ops[0], (ast.Is, ast.IsNot))
        return isinstance(within, ast.FormattedValue)

    def _is_saved(self, call: ast.Call) -> bool:
        """Tells whether a call saves a data set: those of ours can be pickled as well."""
        return 'save' in ast.unparse(call.func).rpartition('.')[2]

    def _is_case_of_sampler(self, call: ast.Call) -> bool:
        """Tells whether a call makes a sampler by another class, in one branch of several."""
        statement = self._script.statement(call)
        return ast.unparse(call.func).endswith('Sampler') and self._script.parent(call) is statement and isinstance(
            self._script.parent(statement), ast.If)

    def change(self, origin: Origin) -> None:
        """Changes the uses that a data set of recpack has another name for."""
        for use in self._of(origin):
            within = self._within(use)
            if isinstance(within, ast.Attribute) and within not in self._changed:  # .classes
                self._changed.add(within)
                self._script.replace(within, f'{self._script.source(within.value)}.class_names')
            elif isinstance(within, ast.Call) and self._is_saved(within):
                add_note(self._result, f'{use.lineno}: saves the data set, of recpack now, without its transform')
