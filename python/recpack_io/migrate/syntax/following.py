"""Following of code that makes a transform: its statements, as far as it can be told what they do.

Where an argument decides, of which only the default is known, the default is assumed, and the condition for it is kept.
"""
from __future__ import annotations

import ast
from typing import Any

from recpack_io.migrate.syntax.script import Script, arguments
from recpack_io.migrate.syntax.values import Definition, Given, Unclear, Values

_BY_CHANCE = ('RandomHorizontalFlip', 'RandomErasing')
_DEPTH = 8  # of calls


class _Returned(Exception):
    def __init__(self, value: Any):
        super().__init__()
        self.value = value


class Run(Values):
    """Follows the code of a function or class; arguments are those of Values."""

    def call(self, place: Definition, args: list[Any], words: dict[str | None, Any]) -> Any:
        """Returns what a function returns, or what a class calls when it is called."""
        script, definition = place
        if self._depth > _DEPTH or None in words or any(isinstance(each, ast.Starred) for each in args):
            raise Unclear(f'the arguments of {definition.name} are not told')
        if isinstance(definition, ast.ClassDef):
            return self._object(script, definition, args, words)
        if definition.decorator_list:
            raise Unclear(f'{definition.name} is decorated')
        run = self._in(script)
        run._bind(definition, args, words)
        return run._result(definition)

    def _object(self, script: Script, kind: ast.ClassDef, args: list[Any], words: dict[str | None, Any]) -> Any:
        methods = {each.name: each for each in kind.body if isinstance(each, ast.FunctionDef)}
        calls = methods.get('__call__') or methods.get('forward')
        name = _only_calls(calls) if calls is not None else ''
        if '__init__' not in methods or not name:
            raise Unclear(f'{kind.name} does more than to call transforms')
        itself: dict[str, Any] = {}
        run = self._in(script)
        run._bind(methods['__init__'], [itself, *args], words)
        run._result(methods['__init__'])
        if name not in itself:
            raise Unclear(f'{kind.name} has no {name}')
        return itself[name]

    def _bind(self, function: ast.FunctionDef, args: list[Any], words: dict[str | None, Any]) -> None:
        """Sets the parameters."""
        names = function.args
        positional = [each.arg for each in [*names.posonlyargs, *names.args]]
        known = {*positional, *(each.arg for each in names.kwonlyargs)}
        if names.vararg or names.kwarg or len(args) > len(positional) or not set(words) <= known:
            raise Unclear(f'the arguments of {function.name} are not told')
        defaults = dict(zip(reversed(positional), reversed(names.defaults)))
        defaults |= {each.arg: value for each, value in zip(names.kwonlyargs, names.kw_defaults) if value}
        values = {name: self._value(node) for name, node in defaults.items()}
        given: dict[str | None, Any] = dict(zip(positional, args))
        given |= words
        for name in known:
            if name not in given and name not in values:
                raise Unclear(f'{function.name} is not given its {name}')
            value = given.get(name, values.get(name))
            if isinstance(value, Given) and value.default is None:
                value = Given(value.node, values.get(name))
            self._variables[name] = value

    def _result(self, function: ast.FunctionDef) -> Any:
        try:
            self._block(function.body)
        except _Returned as returned:
            return returned.value
        return None

    def _block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            do = getattr(self, f'_do_{type(statement).__name__}', None)
            if do is None:
                raise Unclear(f'{type(statement).__name__.lower()} in its code is not followed')
            do(statement)

    def _do_Pass(self, statement: ast.stmt) -> None:  # noqa: N802
        """Does nothing. Names of imports are looked up where they are used."""

    _do_Import = _do_ImportFrom = _do_Assert = _do_Pass  # noqa: N815

    def _do_Return(self, statement: ast.Return) -> None:  # noqa: N802
        raise _Returned(self._value(statement.value) if statement.value is not None else None)

    def _do_If(self, statement: ast.If) -> None:  # noqa: N802
        if self._is_chance(statement):
            self._block(statement.body)
        else:
            self._block(statement.body if self._known(self._value(statement.test)) else statement.orelse)

    def _is_chance(self, statement: ast.If) -> bool:
        """Tells whether a branch is for a probability above 0: with 0, its steps do nothing."""
        test = statement.test
        name = ast.unparse(test.left) if isinstance(test, ast.Compare) else ''
        if statement.orelse or ast.unparse(test) != f'{name} > 0':
            return False
        for each in statement.body:
            call = each.value if isinstance(each, ast.Expr) else None
            step = call.args[0] if isinstance(call, ast.Call) and len(call.args) == 1 else None
            if not isinstance(step, ast.Call) or len(step.args) + len(step.keywords) != 1 or (
                    ast.unparse(arguments(step, ('p',)).get('p', step)) != name
                    or self._full_name(step.func).rpartition('.')[2] not in _BY_CHANCE):
                return False
        return isinstance(self._variables.get(name), Given)

    def _do_Assign(self, statement: ast.Assign) -> None:  # noqa: N802
        value = self._value(statement.value)
        for target in statement.targets:
            if isinstance(target, ast.Name):
                self._variables[target.id] = value
            elif isinstance(target, ast.Attribute) and isinstance(self._value(target.value), dict):
                self._value(target.value)[target.attr] = value
            else:
                raise Unclear(f'line {statement.lineno} of its code is not followed')

    def _do_AnnAssign(self, statement: ast.AnnAssign) -> None:  # noqa: N802
        if statement.value is not None:
            self._do_Assign(ast.copy_location(ast.Assign([statement.target], statement.value), statement))

    def _do_AugAssign(self, statement: ast.AugAssign) -> None:  # noqa: N802
        left, right = self._value(statement.target), self._value(statement.value)
        if not isinstance(left, list) or not isinstance(right, list):
            raise Unclear(f'line {statement.lineno} of its code is not followed')
        left.extend(right)

    def _do_Expr(self, statement: ast.Expr) -> None:  # noqa: N802
        call = statement.value
        if isinstance(call, ast.Constant):  # a docstring
            return
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            if ast.unparse(call.func) == 'super().__init__':
                return
            if isinstance(listed := self._value(call.func.value), list):
                self._change(listed, call.func.attr, [self._value(each) for each in call.args])
                return
        elif isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == 'print':
            return
        raise Unclear(f'line {statement.lineno} of its code is not followed')

    def _change(self, listed: list[Any], method: str, args: list[Any]) -> None:
        if method == 'append' and len(args) == 1:
            listed.append(self._node(args[0]))
        elif method == 'extend' and len(args) == 1 and isinstance(args[0], list):
            listed.extend(args[0])
        elif method == 'insert' and len(args) == 2:
            listed.insert(self._known(args[0]), self._node(args[1]))
        else:
            raise Unclear(f'{method}() of a list is not followed')


def _only_calls(method: ast.FunctionDef) -> str:
    """Returns the attribute of a method that does nothing but `return self.attribute(parameter)`."""
    body = [each for each in method.body
            if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    names = [each.arg for each in method.args.args]
    call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
    if not isinstance(call, ast.Call) or len(names) != 2 or len(call.args) != 1 or call.keywords:
        return ''
    function = call.func
    if isinstance(function, ast.Attribute) and [ast.unparse(function.value), ast.unparse(call.args[0])] == names:
        return function.attr
    return ''
