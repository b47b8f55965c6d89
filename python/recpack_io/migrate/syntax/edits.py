"""Edits of a program's text: replacements of nodes, and added lines."""
from __future__ import annotations

import ast
from typing import Any


class Edits:
    """A program's text, and the changes of it.

    Args:
        text: The text.

    Raises:
        SyntaxError: If it is not Python, by the syntax of this Python.
    """

    def __init__(self, text: str):
        self.text = text
        self.tree = ast.parse(text)
        self._bytes = text.encode()
        self._starts = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._edits: list[tuple[int, int, bytes]] = []

    def text_of(self, node: ast.AST) -> str:
        """Returns the text of a node."""
        return self._bytes[slice(*self._span(node))].decode()

    def _span(self, node: Any) -> tuple[int, int]:
        return (self._starts[node.lineno - 1] + node.col_offset,
                self._starts[node.end_lineno - 1] + node.end_col_offset)

    def replace(self, node: ast.AST, text: str) -> None:
        """Replaces the text of a node."""
        begin, end = self._span(node)
        self._edits.append((begin, end, text.encode()))

    def append(self, node: ast.AST, text: str) -> None:
        """Adds text behind a node."""
        _, end = self._span(node)
        self._edits.append((end, end, text.encode()))

    def stands_alone(self, statement: ast.stmt) -> bool:
        """Tells whether a statement has its lines for itself."""
        begin, end = self._span(statement)
        before = self._bytes[self._starts[statement.lineno - 1]:begin]
        behind = self._bytes[end:self._end_of_line(end)].strip()
        return not before.strip() and (not behind or behind.startswith(b'#'))

    def _end_of_line(self, at: int) -> int:
        found = self._bytes.find(b'\n', at)
        return len(self._bytes) if found < 0 else found

    def add_line(self, statement: ast.stmt, line: str, before: bool = False) -> None:
        """Adds a line behind a statement that stands alone, or before it, indented as it is."""
        indent = ' ' * statement.col_offset
        begin, end = self._span(statement)
        at = begin if before else self._end_of_line(end)
        self._edits.append((at, at, (f'{line}\n{indent}' if before else f'\n{indent}{line}').encode()))

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
