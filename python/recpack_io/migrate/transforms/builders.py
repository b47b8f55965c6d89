"""Builders: functions and classes that make a transform, of the program or of a file beside it."""
from __future__ import annotations

import ast
import dataclasses
import pathlib
from typing import Any

from recpack_io.migrate.syntax.following import Run
from recpack_io.migrate.syntax.script import Script
from recpack_io.migrate.syntax.values import Unclear

__all__ = ['Builders', 'Built', 'Unclear']


@dataclasses.dataclass
class Built:
    """What a call makes: the steps of a transform, if the conditions, expressions, are true."""

    steps: list[ast.expr]
    conditions: list[str]


class Builders:
    """The builders that a program uses.

    Args:
        script: The program.
        folder: Folder of the program, for the files that it imports; None: there are none.
    """

    def __init__(self, script: Script, folder: pathlib.Path | None):
        self.script, self._folder = script, folder
        self._files: dict[str, Script | None] = {}

    def built(self, call: ast.expr) -> Built | None:
        """Returns what a call makes; None if it is no call of a function or class that can be read.

        Raises:
            Unclear: If that cannot be told.
        """
        if not isinstance(call, ast.Call):
            return None
        own = self.script.function(call)
        place = (self.script, own) if own is not None else self.definition(self.script.full_name(call))
        if place is None:
            return None
        run = Run(self.definition, self.script, self.script, [])
        made = run.call(place, [run.given(each) for each in call.args],
                        {word.arg: run.given(word.value) for word in call.keywords})
        return Built(self._steps(made), run.conditions)

    def _steps(self, made: Any) -> list[ast.expr]:
        if not isinstance(made, ast.Call):
            raise Unclear('what it makes is not told')
        if self.script.kind_of(made) != 'Compose':
            return [made]
        if len(made.args) != 1 or not isinstance(made.args[0], (ast.List, ast.Tuple)):
            raise Unclear('its list is made elsewhere')
        return list(made.args[0].elts)

    def definition(self, full_name: str) -> tuple[Script, ast.FunctionDef | ast.ClassDef] | None:
        """Returns the function or class of a file beside the program, such as "presets.Train"."""
        module, _, name = full_name.rpartition('.')
        file = self._file(module) if module else None
        found = file.definition(name) if file is not None else None
        return (file, found) if file is not None and found is not None else None

    def _file(self, module: str) -> Script | None:
        if self._folder is None or not module:
            return None
        if module not in self._files:
            self._files[module] = None
            try:
                path = self._folder.joinpath(*module.split('.')).with_suffix('.py')
                self._files[module] = Script(path.read_text(encoding='utf-8'))
            except (OSError, ValueError, SyntaxError):
                pass
        return self._files[module]
