"""Collate functions that change whole batches, such as mixup: they go on doing so with the Loader's batches."""
from __future__ import annotations

import ast

from recpack_io.migrate.migration import Left
from recpack_io.migrate.syntax.script import Script, is_none, parameters

_INSTEAD = 'make what it does a BatchFunction, or a MixImages where it is mixup or cutmix: Loader(batch_functions=[...])'


class Collates:
    """The collate functions of a script's loaders.

    Args:
        script: The program.
    """

    def __init__(self, script: Script):
        self._script = script

    def of_loader(self, node: ast.expr | None) -> list[tuple[ast.AST, str]] | None:
        """Returns the edits for which a DataLoader's collate_fn takes a batch; None if it needs none.

        Raises:
            Left: If it does not take what default_collate() gives.
        """
        if node is None:
            return None
        values: list[ast.AST] = [node]
        if isinstance(node, ast.Name) and not self._is_default(node):
            scope = self._script.binding(node.id, self._script.scope(node))
            values = self._script.assigned(node.id, self._script.scope(node))
            if scope is None or not values:
                raise Left(f'it has a collate_fn: {_INSTEAD}')
            uses = [each.lineno for each in self._script.uses(node.id, scope) if each is not node]
            if uses and not all(is_none(each) or self._is_default(each) for each in values):
                raise Left(f'it has a collate_fn that line {uses[0]} uses too: {_INSTEAD}')
        edits: list[tuple[ast.AST, str]] = []
        functions = 0
        for value in values:
            if self._is_default(value):
                edits.append((value, 'None'))
            elif not is_none(value):
                functions += 1
                edits += self._of_function(value)
        return edits if functions else None

    def _is_default(self, node: ast.AST) -> bool:
        return isinstance(node, (ast.Name, ast.Attribute)) and self._script.kind_of(node) == 'default_collate'

    def _of_function(self, value: ast.AST) -> list[tuple[ast.AST, str]]:
        """Returns the edits of a function of samples that calls default_collate() with them, and no more."""
        script = self._script
        if isinstance(value, ast.Lambda):
            names = [each.arg for each in value.args.args]
        else:
            names = parameters(value)
        used = [node for node in ast.walk(value) if isinstance(node, ast.Name) and node.id in names]
        edits: list[tuple[ast.AST, str]] = []
        for node in used:
            call = script.parent(node)
            if not isinstance(call, ast.Call) or call.args != [node] or call.keywords or (
                    script.kind_of(call) != 'default_collate'):
                used = []
                break
            unpacked = isinstance(script.parent(call), ast.Starred) or self._is_unpacked(call)
            edits.append((call, node.id if unpacked else f'list({node.id})'))
        if len(names) != 1 or not used:
            line = value.lineno  # type: ignore[attr-defined]
            raise Left(f'it has a collate_fn (line {line}) that takes samples: {_INSTEAD}')
        return edits

    def _is_unpacked(self, call: ast.Call) -> bool:
        parent = self._script.parent(call)
        return isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Tuple)
