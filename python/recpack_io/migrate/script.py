"""Script: the syntax of a program, with names resolved by its imports, and edits of its text."""
from __future__ import annotations

import ast
from collections.abc import Iterator

# Where a class or a module of these may be imported from, by its last name.
_PACKAGES = ('torch', 'torchvision')


def is_none(node: ast.AST) -> bool:
    """Tells whether a node is None."""
    return isinstance(node, ast.Constant) and node.value is None


def arguments(call: ast.expr, positions: tuple[str, ...]) -> dict[str, ast.expr]:
    """Returns the arguments of a call by name; `positions`: the names of those given without."""
    assert isinstance(call, ast.Call)
    return dict(zip(positions, call.args)) | {word.arg: word.value for word in call.keywords
                                              if word.arg}


def is_name(node: ast.AST, name: str) -> bool:
    """Tells whether a node is this name."""
    return isinstance(node, ast.Name) and node.id == name


class Script:
    """A Python program.

    Args:
        text: Its text.

    Raises:
        SyntaxError: If it is none, by the syntax of this Python.
    """

    def __init__(self, text: str):
        self.text = text
        self.tree = ast.parse(text)
        self._bytes = text.encode()
        self._starts = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._edits: list[tuple[int, int, bytes]] = []
        self._names = dict(self._imported())
        self._scopes = dict(self._enclosing(self.tree, self.tree))

    def _imported(self) -> Iterator[tuple[str, str]]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for each in node.names:
                    name = each.name if each.asname else each.name.partition('.')[0]
                    yield each.asname or name, name
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for each in node.names:
                    yield each.asname or each.name, f'{node.module}.{each.name}'

    def _enclosing(self, node: ast.AST, scope: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        for child in ast.iter_child_nodes(node):
            yield child, scope
            is_scope = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            yield from self._enclosing(child, child if is_scope else scope)

    def scope(self, node: ast.AST) -> ast.AST:
        """Returns the function or class that a node is in, otherwise the module."""
        return self._scopes[node]

    def name_of(self, node: ast.AST | None) -> str:
        """Returns the full name of what is called, such as "torch.utils.data.DataLoader".

        Empty if it is not a name of torch or torchvision.
        """
        if isinstance(node, ast.Call):
            node = node.func
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._names:
            return ''
        name = '.'.join([self._names[node.id], *reversed(parts)])
        return name if name.partition('.')[0] in _PACKAGES else ''

    def kind_of(self, node: ast.AST | None) -> str:
        """Returns the last part of name_of(), such as "DataLoader"."""
        return self.name_of(node).rpartition('.')[2]

    def source(self, node: ast.AST) -> str:
        """Returns the text of a node."""
        return self._bytes[slice(*self._span(node))].decode()

    def assigned(self, name: str, scope: ast.AST) -> list[ast.expr]:
        """Returns the values that are assigned to a name in a scope, else in the module."""
        for where in (scope, self.tree):
            found = [node.value for node in ast.walk(where)
                     if isinstance(node, ast.Assign) and self.scope(node) is where
                     and any(isinstance(to, ast.Name) and to.id == name for to in node.targets)]
            if found:
                return found
        return []

    def resolve(self, node: ast.expr) -> ast.expr:
        """Returns the value of a name that is assigned once; other expressions as they are."""
        if isinstance(node, ast.Name):
            values = self.assigned(node.id, self.scope(node))
            if len(values) == 1 and values[0] is not node:
                return self.resolve(values[0])
        return node

    def _span(self, node) -> tuple[int, int]:
        return (self._starts[node.lineno - 1] + node.col_offset,
                self._starts[node.end_lineno - 1] + node.end_col_offset)

    def replace(self, node: ast.AST, text: str) -> None:
        """Replaces the text of a node."""
        begin, end = self._span(node)
        self._edits.append((begin, end, text.encode()))

    def add_imports(self, lines: list[str]) -> None:
        """Adds lines behind the last import at the top of the module."""
        imports = [node for node in self.tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        line = imports[-1].end_lineno if imports else 0
        at = self._starts[line or 0]
        self._edits.append((at, at, ''.join(f'{each}\n' for each in lines).encode()))

    def edited(self) -> str:
        """Returns the text with all edits."""
        out = self._bytes
        for begin, end, text in sorted(self._edits, reverse=True):
            out = out[:begin] + text + out[end:]
        return out.decode()
