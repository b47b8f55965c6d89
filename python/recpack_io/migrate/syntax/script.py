"""Script: the syntax of a program, with its names resolved by imports and assignments."""
from __future__ import annotations

import ast
from collections.abc import Iterator

from recpack_io.migrate.syntax.edits import Edits
from recpack_io.migrate.syntax.flow import reaching

# Where a class or a module of these may be imported from, by its last name.
_PACKAGES = ('torch', 'torchvision')
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Methods and attributes by which a list or a Compose is changed.
_CHANGING = ('append', 'extend', 'insert', 'pop', 'remove', 'reverse', 'transforms')


def is_none(node: ast.AST) -> bool:
    """Tells whether a node is None."""
    return isinstance(node, ast.Constant) and node.value is None


def arguments(call: ast.expr, positions: tuple[str, ...]) -> dict[str, ast.expr]:
    """Returns the arguments of a call by name; `positions`: the names of those given without."""
    assert isinstance(call, ast.Call)
    return dict(zip(positions, call.args)) | {word.arg: word.value for word in call.keywords
                                              if word.arg}


def parameters(scope: ast.AST) -> list[str]:
    """Returns the names of a function's parameters; none for a module or a class."""
    if not isinstance(scope, _FUNCTIONS):
        return []
    given = scope.args
    return [each.arg for each in [*given.posonlyargs, *given.args, *given.kwonlyargs,
                                  *filter(None, (given.vararg, given.kwarg))]]


def names_in(text: str) -> set[str]:
    """Returns the names of variables in an expression."""
    return {node.id for node in ast.walk(ast.parse(text, mode='eval')) if isinstance(node, ast.Name)}


class Script(Edits):
    """A Python program.

    Args:
        text: Its text.

    Raises:
        SyntaxError: If it is not Python, by the syntax of this Python.
    """

    def __init__(self, text: str):
        super().__init__(text)
        self._names = dict(self._imported())
        self._ended: set[tuple[ast.AST, bool]] = set()  # branches: an If, and whether it is its body
        self._made: dict[ast.AST, str] = {}  # nodes of no text, that name something of a package
        self._parents: dict[ast.AST, ast.AST] = {}
        self._scopes = dict(self._enclosing(self.tree, self.tree))
        self._stores: dict[tuple[ast.AST, str], list[ast.AST]] = {}
        for node, scope in self._scopes.items():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                if not isinstance(self._target(node)[0], ast.comprehension):
                    self._stores.setdefault((scope, node.id), []).append(self._assigned_value(node))
            elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                self._stores.setdefault((scope, node.name), []).append(node)

    def _imported(self) -> Iterator[tuple[str, str]]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for each in node.names:
                    name = each.name if each.asname else each.name.partition('.')[0]
                    yield each.asname or name, name
            elif isinstance(node, ast.ImportFrom) and node.module and node.level < 2:
                for each in node.names:
                    yield each.asname or each.name, f'{node.module}.{each.name}'

    def _enclosing(self, node: ast.AST, scope: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)):
                continue  # these are one object for all of a kind
            self._parents[child] = node
            yield child, scope
            is_scope = isinstance(child, (*_FUNCTIONS, ast.ClassDef))
            yield from self._enclosing(child, child if is_scope else scope)

    def _target(self, name: ast.Name) -> tuple[ast.AST, int | None]:
        """Returns what binds a name, and its place if it is one of several names."""
        parent, place = self._parents[name], None
        if isinstance(parent, (ast.Tuple, ast.List)):
            place, parent = parent.elts.index(name), self._parents[parent]
        return parent, place

    def _assigned_value(self, name: ast.Name) -> ast.AST:
        """Returns the value that a name is bound to; for other bindings, as by `for`, their statement."""
        by, place = self._target(name)
        if not isinstance(by, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) or by.value is None:
            return self.statement(name)
        if place is None:
            return by.value
        if isinstance(by.value, (ast.Tuple, ast.List)):
            parts = by.value.elts
            plain = not any(isinstance(each, ast.Starred) for each in parts)
            return parts[place] if plain and place < len(parts) else by
        part = ast.Subscript(by.value, ast.Constant(place), ast.Load())
        self._parents[part] = by
        return ast.copy_location(part, by.value)

    def parent(self, node: ast.AST) -> ast.AST:
        """Returns what a node is a part of."""
        return self._parents[node]

    def statement(self, node: ast.AST) -> ast.stmt:
        """Returns the statement that a node is in."""
        while not isinstance(node, ast.stmt):
            node = self._parents[node]
        return node

    def is_here(self, node: ast.AST) -> bool:
        """Tells whether a node is of this program's text."""
        return node in self._scopes

    def scope(self, node: ast.AST) -> ast.AST:
        """Returns the function or class that a node is in, otherwise the module."""
        return self._scopes[node]

    def binding(self, name: str, scope: ast.AST) -> ast.AST | None:
        """Returns the function, or the module, that a name in a scope is a variable of."""
        while True:
            if (scope, name) in self._stores or name in parameters(scope):
                return scope
            if scope is self.tree:
                return None
            scope = self._scopes[scope]

    def variables(self, scope: ast.AST) -> set[str]:
        """Returns the names of a function's variables."""
        return {name for where, name in self._stores if where is scope} | set(parameters(scope))

    def uses(self, name: str, scope: ast.AST) -> list[ast.Name]:
        """Returns where a variable of a scope is read."""
        return [node for node in self._scopes if isinstance(node, ast.Name) and node.id == name
                and isinstance(node.ctx, ast.Load) and self.binding(name, self._scopes[node]) is scope]

    def changed_at(self, node: ast.expr) -> int:
        """Returns the first line that changes the list or Compose that a name is of; 0 if none does."""
        if not isinstance(node, ast.Name) or node not in self._scopes:
            return 0
        scope = self.binding(node.id, self._scopes[node])
        if scope is None:
            return 0
        lines = [each.lineno for each in self.uses(node.id, scope)
                 if isinstance(parent := self._parents[each], (ast.Attribute, ast.Subscript))
                 and (isinstance(parent.ctx, ast.Store) or getattr(parent, 'attr', '') in _CHANGING)]
        return min(lines, default=0)

    def function(self, call: ast.AST) -> ast.FunctionDef | ast.ClassDef | None:
        """Returns the function or class of this program that is called, if it is one at its top."""
        called = call.func if isinstance(call, ast.Call) else None
        if not isinstance(called, ast.Name) or called not in self._scopes:
            return None
        return self.definition(called.id) if self.binding(called.id, self._scopes[called]) is self.tree else None

    def definition(self, name: str) -> ast.FunctionDef | ast.ClassDef | None:
        """Returns the only function or class of a name at the top of the program."""
        found = self._stores.get((self.tree, name), [])
        one = found[0] if len(found) == 1 else None
        return one if isinstance(one, (ast.FunctionDef, ast.ClassDef)) else None

    def has_name(self, name: str) -> bool:
        """Tells whether a name has a meaning in the program."""
        return name in self._names or any(each == name for _, each in self._stores)

    def end_case(self, statement: ast.stmt, reason: str) -> bool:
        """Turns a statement into an error; False if its branch ends with one already."""
        branch = self._parents[statement], statement in getattr(self._parents[statement], 'body', ())
        if branch in self._ended:
            return False
        self._ended.add(branch)
        self.replace(statement, f'raise ValueError("recpack: {reason}")')
        return True

    def calls(self) -> list[ast.Call]:
        """Returns all calls, in the order of the text."""
        return sorted((node for node in self._scopes if isinstance(node, ast.Call)),
                      key=lambda node: (node.lineno, node.col_offset))

    def made(self, name: str) -> ast.Name:
        """Returns a node that names something of a package, without a text of the program."""
        node = ast.Name(name, ast.Load())
        self._made[node] = name
        return node

    def full_name(self, node: ast.AST | None) -> str:
        """Returns the full name of what is called or named, by the imports; empty if none has it."""
        if isinstance(node, ast.Call):
            node = node.func
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ''
        first = self._made.get(node) or self._names.get(node.id, '')
        return '.'.join([first, *reversed(parts)]) if first else ''

    def name_of(self, node: ast.AST | None) -> str:
        """Returns the full name of what is called, such as "torch.utils.data.DataLoader".

        Empty if it is not a name of torch or torchvision.
        """
        name = self.full_name(node)
        return name if name.partition('.')[0] in _PACKAGES else ''

    def kind_of(self, node: ast.AST | None) -> str:
        """Returns the last part of name_of(), such as "DataLoader"."""
        return self.name_of(node).rpartition('.')[2]

    def source(self, node: ast.AST) -> str:
        """Returns the text of a node."""
        if node not in self._scopes:
            return ast.unparse(node)
        return self.text_of(node)

    def assigned(self, name: str, scope: ast.AST) -> list[ast.AST]:
        """Returns what a name in a scope is bound to: values; definitions; statements such as `for`.

        A part of an unpacked value is a Subscript of it, without a text. Parameters are bound to nothing.
        """
        return list(self._stores.get((self.binding(name, scope), name), []))  # type: ignore[arg-type]

    def reaching(self, node: ast.Name) -> list[ast.AST]:
        """Returns what a name may be bound to where it is read: one value, if the order of lines tells it."""
        scope = self._scopes[node]
        values = self.assigned(node.id, scope)
        if len(values) > 1 and self.binding(node.id, scope) is scope:
            one = reaching(node, values, self.parent)
            return values if one is None else [one]
        return values

    def is_changed(self, name: str, scope: ast.AST) -> bool:
        """Tells whether a variable, as a scope sees it, is bound more than once."""
        bound = self.binding(name, scope)
        return len(self.assigned(name, scope)) + (bound is not None and name in parameters(bound)) > 1

    def resolve(self, node: ast.expr) -> ast.expr:
        """Returns the value that a name has; names of which that is not told, and other expressions, as they are."""
        if isinstance(node, ast.Name) and node in self._scopes:
            values = self.reaching(node)
            bound = self.binding(node.id, self._scopes[node])
            if len(values) == 1 and isinstance(values[0], ast.expr) and values[0] is not node and (
                    bound is not None and node.id not in parameters(bound)):
                return self.resolve(values[0])
        return node
