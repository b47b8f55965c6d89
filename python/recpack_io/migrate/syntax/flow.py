"""Flow of assignments: which of several values a name has where it is read."""
from __future__ import annotations

import ast
from collections.abc import Callable


def reaching(use: ast.Name, values: list[ast.AST], parent: Callable[[ast.AST], ast.AST]) -> ast.AST | None:
    """Returns the value that a name has where it is read; None if the order of lines alone does not tell.

    Args:
        use: The name.
        values: What it is bound to, in the function or module that it is read in.
        parent: Gives what a node is a part of.
    """
    by_statement = {_statement(value, parent): value for value in values}
    node: ast.AST = _statement(use, parent)
    while isinstance(node, ast.stmt) and not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        above = parent(node)
        block = next(each for _, each in ast.iter_fields(above) if isinstance(each, list) and node in each)
        for before in reversed(block[:block.index(node)]):
            if before in by_statement:
                return by_statement[before]
            if any(each in by_statement for each in ast.walk(before)):
                return None
        if isinstance(above, (ast.For, ast.While)) and any(each in by_statement for each in ast.walk(above)):
            return None
        node = above
    return None


def _statement(node: ast.AST, parent: Callable[[ast.AST], ast.AST]) -> ast.stmt:
    while not isinstance(node, ast.stmt):
        node = parent(node)
    return node
