"""Makers: functions of a program, such as load_data(), that give their data sets and samplers to another."""
from __future__ import annotations

import ast
import dataclasses
from collections.abc import Collection

from recpack_io.migrate.migration import Left
from recpack_io.migrate.syntax.script import Script


@dataclasses.dataclass
class Maker:
    """A function that returns once."""

    function: ast.FunctionDef
    lines: list[int]  # that call it
    returned: ast.Return
    unpacked: ast.stmt  # that takes its result
    added: list[str] = dataclasses.field(default_factory=list)  # names that it returns as well

    @property
    def parts(self) -> list[ast.expr]:
        """What it returns."""
        value = self.returned.value
        return value.elts if isinstance(value, ast.Tuple) else [value]  # type: ignore[list-item]


@dataclasses.dataclass
class Origin:
    """Where the value of an expression comes from."""

    values: list[ast.AST]  # that it may have
    names: list[tuple[str, ast.AST]]  # variables that hold it, with their scopes
    maker: Maker | None = None


class Makers:
    """The functions of a script that make what other functions use.

    Args:
        script: The program.
    """

    def __init__(self, script: Script):
        self._script = script
        self._makers: dict[ast.AST, Maker] = {}  # by function

    def origin(self, node: ast.expr) -> Origin:
        """Returns where an expression of the program gets its value.

        Raises:
            Left: If that is not told.
        """
        if not isinstance(node, ast.Name):
            return Origin([node], [])
        script = self._script
        scope = script.binding(node.id, script.scope(node))
        found = script.reaching(node)
        if scope is None or not found:
            raise Left(f'where {node.id} is made is not told: call recpack_io.open() there, and Loader() here')
        origin = Origin(found, [(node.id, scope)])
        call, place = _called(found[0])
        if len(found) == 1 and call is not None:
            self._follow(origin, call, place)
        origin.values = [each for value in origin.values for each in _branches(value)]
        return origin

    def _follow(self, origin: Origin, call: ast.Call, place: int | None) -> None:
        """Goes on in the function that is called, if it is one of the program."""
        script = self._script
        function = script.function(call)
        if not isinstance(function, ast.FunctionDef):
            self._check_imported(call)
            return
        maker = self._maker(function, call)
        if (place is None) == isinstance(maker.returned.value, ast.Tuple) or place is not None and (
                place >= len(maker.parts)):
            raise Left(f'{function.name}() returns other things than line {call.lineno} takes')
        part = maker.parts[place or 0]
        origin.maker, origin.values = maker, [part]
        if isinstance(part, ast.Name):
            origin.names.append((part.id, function))
            origin.values = script.reaching(part)
            if not origin.values or script.binding(part.id, function) is not function:
                raise Left(f'where {part.id} of {function.name}() is made is not told')

    def _check_imported(self, call: ast.Call) -> None:
        script = self._script
        name = script.full_name(call)
        if isinstance(call.func, ast.Name) and '.' in name and not script.name_of(call) and (
                call.func.id[0].islower()):
            module = name.rpartition('.')[0]
            raise Left(f'{call.func.id}() of {module} (line {call.lineno}) makes its data set: call '
                       'recpack_io.open() there, and Loader() here')

    def _maker(self, function: ast.FunctionDef, call: ast.Call) -> Maker:
        if function in self._makers:
            return self._makers[function]
        script, name = self._script, function.name
        lines = [each.lineno for each in script.calls() if script.function(each) is function]
        returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)
                   and script.scope(node) is function]
        if len(returns) != 1 or returns[0].value is None:
            raise Left(f'{name}() (line {function.lineno}) returns in several places, or nothing: return once, '
                       'at its end')
        self._makers[function] = Maker(function, lines, returns[0], script.statement(call))
        return self._makers[function]

    def check_once(self, origin: Origin) -> None:
        """Checks that a maker is called once, so that its variables have one meaning.

        Raises:
            Left: If it is not.
        """
        if origin.maker is not None and len(origin.maker.lines) != 1:
            lines = ', '.join(map(str, origin.maker.lines))
            raise Left(f'{origin.maker.function.name}() is called in lines {lines}, each time for another data set: '
                       'call recpack_io.open() and Loader() in each place')

    def of_function(self, function: ast.AST, reader: ast.AST | None) -> Maker | None:
        """Returns a function as a Maker, if it is called once, and that in `reader`."""
        for call in self._script.calls():
            if self._script.function(call) is function and isinstance(function, ast.FunctionDef) and (
                    self._script.scope(call) is reader):
                try:
                    maker = self._maker(function, call)
                except Left:
                    return None
                return maker if len(maker.lines) == 1 else None
        return None

    def carry(self, maker: Maker, name: str) -> None:
        """Lets a maker return a variable as well; its caller, which assigns the result, takes it by its name."""
        if name not in maker.added:
            maker.added.append(name)

    def free_name(self, name: str, taken: Collection[str]) -> str:
        """Returns a name that the program has not, and that is not taken."""
        while name in self._script.text or name in taken:
            name += '_'
        return name

    def change(self) -> list[str]:
        """Makes the changes of carry(), and returns what to know of them."""
        notes = []
        for maker in self._makers.values():
            if maker.added:
                more = ''.join(f', {name}' for name in maker.added)
                target = maker.unpacked.targets[0]  # type: ignore[attr-defined]
                self._script.append(maker.parts[-1], more)
                self._script.append(target.elts[-1] if isinstance(target, ast.Tuple) else target, more)
                notes.append(f'{maker.returned.lineno}: {maker.function.name}() returns{more[1:]} as well: '
                             'programs that import it must take that')
        return notes

    def taken_as(self, maker: Maker, name: str) -> str:
        """Returns the name that a maker's caller has for a variable that it returns; empty if none."""
        target = maker.unpacked.targets[0] if isinstance(maker.unpacked, ast.Assign) else None
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        return next((to.id for part, to in zip(maker.parts, targets) if isinstance(part, ast.Name)
                     and part.id == name and isinstance(to, ast.Name)), '')


def _called(value: ast.AST) -> tuple[ast.Call | None, int | None]:
    """Returns the call that makes a value, and the value's place if it is a part of the result."""
    if isinstance(value, ast.Call):
        return value, None
    if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Call) and (
            isinstance(value.slice, ast.Constant) and isinstance(value.slice.value, int)):
        return value.value, value.slice.value
    return None, None


def _branches(value: ast.AST) -> list[ast.AST]:
    """Returns the values of a conditional expression; other values as they are."""
    if not isinstance(value, ast.IfExp):
        return [value]
    return [*_branches(value.body), *_branches(value.orelse)]
