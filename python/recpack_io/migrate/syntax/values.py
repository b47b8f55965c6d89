"""Values of expressions, in code that makes a transform."""
from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from recpack_io.migrate.syntax.script import Script, is_none

if TYPE_CHECKING:
    from typing_extensions import Self

# Functions of Python that are kept in arguments.
_PLAIN = ('int', 'float', 'round', 'max', 'min', 'tuple', 'str', 'getattr', 'len')
Definition = tuple[Script, ast.FunctionDef | ast.ClassDef]


class Unclear(Exception):
    """Code of which it cannot be told what it makes: the reason."""


@dataclasses.dataclass
class Given:
    """An expression of the program, and the parameter's default."""

    node: ast.expr
    default: Any = None



class Values:
    """Evaluates expressions as far as it can be told what they are.

    Values are expressions, of the program or made ones; lists of them; Given; and dictionaries for `self`.

    Args:
        definition: Finds a function or class of a file beside the program, by its full name.
        main: The program.
        here: Script of the code, the program or a file.
        conditions: Gets the conditions under which defaults are what is given.
        depth: Calls that led here.
    """

    def __init__(self, definition: Callable[[str], Definition | None], main: Script, here: Script,
                 conditions: list[str], depth: int = 0):
        self._definition, self._main, self._here = definition, main, here
        self._variables: dict[str, Any] = {}
        self.conditions, self._depth = conditions, depth

    def given(self, node: ast.expr, default: Any = None) -> Any:
        """Returns an argument that the program gives: its value if it is constant."""
        resolved = self._main.resolve(node)
        try:
            ast.literal_eval(resolved)
        except ValueError:
            return Given(node, default)
        return resolved

    def call(self, place: Definition, args: list[Any], words: dict[str | None, Any]) -> Any:
        """Returns what a function returns, or what a class calls when it is called."""
        raise NotImplementedError

    def _in(self, script: Script) -> Self:
        """Returns what evaluates in another script."""
        return type(self)(self._definition, self._main, script, self.conditions, self._depth + 1)

    def _value(self, node: ast.expr) -> Any:
        of = getattr(self, f'_of_{type(node).__name__}', None)
        if of is None:
            raise Unclear(f'{ast.unparse(node)} in its code is not followed')
        return of(node)

    def _node(self, value: Any) -> ast.expr:
        """Returns a value as an expression, for an argument or a list."""
        if isinstance(value, Given):
            return value.node
        if isinstance(value, list):
            return ast.List(value, ast.Load())  # the list itself, which may be changed later
        if not isinstance(value, ast.expr):
            raise Unclear('its code is not followed')
        return value

    def _of_Constant(self, node: ast.Constant) -> Any:  # noqa: N802
        return node

    def _of_List(self, node: ast.List) -> list[ast.expr]:  # noqa: N802
        return [self._node(self._value(each)) for each in node.elts]

    def _of_Tuple(self, node: ast.Tuple) -> Any:  # noqa: N802
        return ast.Tuple([self._node(self._value(each)) for each in node.elts], ast.Load())

    def _of_Name(self, node: ast.Name) -> Any:  # noqa: N802
        if node.id in self._variables:
            return self._variables[node.id]
        if full := self._here.full_name(node):
            return self._main.made(full)
        values = self._here.assigned(node.id, self._here.tree)
        if len(values) == 1 and isinstance(values[0], ast.expr):
            return self.given(node) if self._here is self._main else self._in(self._here)._value(values[0])
        if values or node.id not in _PLAIN:
            raise Unclear(f'{node.id} in its code is not told')
        return node

    def _of_Attribute(self, node: ast.Attribute) -> Any:  # noqa: N802
        value = self._value(node.value)
        if isinstance(value, dict) and node.attr in value:
            return value[node.attr]
        if isinstance(value, Given):
            return Given(ast.Attribute(value.node, node.attr, ast.Load()))
        if isinstance(value, ast.Name):
            return self._main.made(f'{self._main.full_name(value)}.{node.attr}')
        raise Unclear(f'{ast.unparse(node)} in its code is not told')

    def _of_Call(self, node: ast.Call) -> Any:  # noqa: N802
        if isinstance(node.func, ast.Attribute) and node.func.attr in ('lower', 'upper') and not node.args:
            return ast.Constant(getattr(self._known(self._value(node.func.value)), node.func.attr)())
        args = [self._value(each) for each in node.args]
        words = {word.arg: self._value(word.value) for word in node.keywords}
        if isinstance(node.func, ast.Name) and node.func.id not in self._variables:
            own = self._here.definition(node.func.id)
            if own is not None:
                return self.call((self._here, own), args, words)
        function = self._value(node.func)
        name = self._main.full_name(function)
        if (place := self._definition(name)) is not None:
            return self.call(place, args, words)
        if not self._main.name_of(function) and not isinstance(function, ast.Name) or None in words:
            raise Unclear(f'{ast.unparse(node.func)}() in its code is not told')
        if name and not self._main.name_of(function):
            raise Unclear(f'{name} is not read')
        made = ast.Call(function, [self._node(each) for each in args],
                        [ast.keyword(word, self._node(each)) for word, each in words.items()])
        unknown = any(isinstance(each, Given) for each in [*args, *words.values()])
        return Given(made) if unknown and not name else made

    def _of_IfExp(self, node: ast.IfExp) -> Any:  # noqa: N802
        return self._value(node.body if self._known(self._value(node.test)) else node.orelse)

    def _of_BinOp(self, node: ast.BinOp) -> Any:  # noqa: N802
        left, right = self._value(node.left), self._value(node.right)
        if isinstance(left, list) and isinstance(right, list) and isinstance(node.op, ast.Add):
            return left + right
        both = ast.BinOp(self._node(left), node.op, self._node(right))
        if isinstance(left, Given) or isinstance(right, Given):
            return Given(both)
        return both

    def _of_UnaryOp(self, node: ast.UnaryOp) -> Any:  # noqa: N802
        if isinstance(node.op, ast.Not):
            return ast.Constant(not self._known(self._value(node.operand)))
        return ast.UnaryOp(node.op, self._node(self._value(node.operand)))

    def _of_BoolOp(self, node: ast.BoolOp) -> Any:  # noqa: N802
        stops = isinstance(node.op, ast.Or)
        for each in node.values:
            value = self._known(self._value(each))
            if bool(value) is stops:
                break
        return ast.Constant(value)

    def _of_Compare(self, node: ast.Compare) -> Any:  # noqa: N802
        if len(node.ops) != 1 or type(node.ops[0]) not in _COMPARED:
            raise Unclear(f'{ast.unparse(node)} in its code is not followed')
        left, right = (self._known(self._value(each)) for each in (node.left, node.comparators[0]))
        try:
            return ast.Constant(_COMPARED[type(node.ops[0])](left, right))
        except TypeError:
            raise Unclear(f'{ast.unparse(node)} in its code is not told') from None

    def _full_name(self, node: ast.expr) -> str:
        return self._main.full_name(self._value(node))

    def _known(self, value: Any) -> Any:
        """Returns the value that a condition is of; that of a default, if that is all that is known."""
        if isinstance(value, Given):
            if value.default is None:
                raise Unclear(f'{self._main.source(value.node)} decides what it makes')
            known = self._known(value.default)
            self._assume(value.node, value.default)
            return known
        if isinstance(value, list):
            return value
        try:
            return ast.literal_eval(value)
        except (ValueError, TypeError):
            raise Unclear('a condition in its code is not told') from None

    def _assume(self, node: ast.expr, default: ast.expr) -> None:
        text = self._main.source(node)
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
            text = f'({text})'
        if is_none(default):
            condition = f'{text} is None'
        elif isinstance(default, ast.Constant) and isinstance(default.value, bool):
            condition = text if default.value else f'not {text}'
        else:
            known = ast.literal_eval(default)
            condition = f'{text} == ' + (f'"{known}"' if isinstance(known, str) else repr(known))
        if condition not in self.conditions:
            self.conditions.append(condition)


_COMPARED: dict[type, Any] = {
    ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b, ast.Is: lambda a, b: a is b,
    ast.IsNot: lambda a, b: a is not b, ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b,
    ast.Lt: lambda a, b: a < b, ast.LtE: lambda a, b: a <= b, ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b}
