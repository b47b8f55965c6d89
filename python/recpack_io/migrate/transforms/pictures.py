"""Transforms of torchvision as a field of images."""
from __future__ import annotations

import ast

from recpack_io.migrate.syntax.script import arguments
from recpack_io.migrate.transforms.builders import Builders, Unclear
from recpack_io.migrate.transforms.nearest import nearest
from recpack_io.migrate.transforms.steps import SIZED, Constant, Steps, Unknown, constant, set_size, sides_of, value_of

BREAK = '\0'  # in the text of fields, where a line may end
# Arguments that are the size of images; another size is an error when the transform is called.
_SIZES = ('size', 'crop_size', 'input_size', 'img_size', 'image_size', 'resolution')
_SAFE = ('getattr', 'hasattr', 'isinstance', 'len')  # in a condition that is evaluated again


class Picture:
    """The field that a transform becomes.

    Args:
        builders: Functions and classes that make transforms.
        transform: Expression of the transform.
        is_cifar: Whether its images are CIFAR's.

    Raises:
        ValueError: If it cannot be told what the transform makes.
    """

    def __init__(self, builders: Builders, transform: ast.expr, is_cifar: bool = False):
        self._script, self._builders, self._is_cifar = builders.script, builders, is_cifar
        self._called: dict[str, Constant] = {}  # options of Image(then=...)
        self._conditions: list[str] = []  # for the options to be right; else the transform is called
        self._made = Steps(self._script, self._conditions, is_cifar)
        self._given = ''  # argument of Image(then=...)
        self.reason = ''  # for calling the transform itself
        whole = self._chosen(transform)
        steps: list[ast.expr] = []
        try:
            if line := self._script.changed_at(transform):
                raise Unknown(f'line {line} changes it')
            steps = self._steps(whole)
            for step in steps:
                self._made.add(step)
            self._made.finish()
        except Unknown as unknown:
            self.reason = str(unknown)
        if self.reason or self._conditions:
            self._call(steps or self._parts(whole), whole, transform)

    def note(self) -> str:
        """Returns why the transform, or when it, is called as it is; empty if it is not."""
        if self.reason:
            return f': {self.reason}'
        return f' unless {" and ".join(self._conditions)}' if self._conditions else ''

    def _chosen(self, transform: ast.expr) -> ast.expr:
        """Returns the value of a transform; of several, the one that can be told, with its condition."""
        script = self._script
        whole = script.resolve(transform)
        if not script.kind_of(whole):
            self._given = ', given="pil"'
        if not isinstance(whole, ast.Name) or not script.is_here(whole):
            return whole
        values = [each for each in script.assigned(whole.id, script.scope(whole)) if isinstance(each, ast.expr)]
        for value in values:
            if condition := self._condition(value, [each for each in values if each is not value]):
                try:
                    Picture(self._builders, value, self._is_cifar)
                except ValueError:
                    continue
                self._conditions.append(condition)
                return value
        return whole

    def _condition(self, value: ast.expr, others: list[ast.expr]) -> str:
        """Returns the condition of the branch that a value is assigned in, if the others are in the other one."""
        script = self._script
        node: ast.AST = script.statement(value)
        while isinstance(node, ast.stmt) and not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            above = script.parent(node)
            if isinstance(above, ast.If):
                rest = above.orelse if node in above.body else above.body
                inside = {each for part in rest for each in ast.walk(part)}
                calls = [each for each in ast.walk(above.test) if isinstance(each, ast.Call)]
                if others and all(each in inside for each in others) and all(
                        ast.unparse(each.func) in _SAFE for each in calls):
                    return self._text(above.test, node in above.body)
            node = above
        return ''

    def _text(self, test: ast.expr, is_true: bool) -> str:
        """Returns the expression of a test, or of its contrary."""
        if not is_true and isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self._text(test.operand, True)
        text = self._script.source(test)
        if not isinstance(test, (ast.Name, ast.Attribute, ast.Call, ast.Compare, ast.UnaryOp)):
            text = f'({text})'
        return text if is_true else f'not {text}'

    def _steps(self, whole: ast.expr) -> list[ast.expr]:
        script = self._script
        if script.kind_of(whole) == 'Compose' and isinstance(whole, ast.Call) and whole.args:
            if line := script.changed_at(whole.args[0]):
                raise Unknown(f'line {line} changes its list')
            listed = script.resolve(whole.args[0])
            if isinstance(listed, (ast.List, ast.Tuple)):
                return [script.resolve(each) for each in listed.elts]
            raise Unknown('its list is made elsewhere')
        try:
            built = self._builders.built(whole)
        except Unclear as unclear:
            raise Unknown(f'{script.source(whole).partition("(")[0]}: {unclear}') from None
        if built is None:
            return [whole]
        self._conditions += built.conditions
        return built.steps

    def _parts(self, whole: ast.expr) -> list[ast.expr]:
        """Returns the calls in a transform, and in the lines that make its list."""
        script, nodes = self._script, list(ast.walk(whole))
        listed = whole.args[0] if isinstance(whole, ast.Call) and whole.args else None
        if isinstance(listed, ast.Name) and script.is_here(listed):
            scope = script.binding(listed.id, script.scope(listed))
            makers = [script.statement(each) for each in script.assigned(listed.id, script.scope(listed))]
            makers += [script.statement(each) for each in script.uses(listed.id, scope)] if scope else []
            makers.sort(key=lambda each: each.lineno)
            nodes += [node for each in makers for node in ast.walk(each)]
        return [node for node in nodes if isinstance(node, ast.Call)]

    def _sizes_given(self, whole: ast.expr) -> list[Constant]:
        """Returns the sizes that code is given which cannot be followed."""
        words = whole.keywords if isinstance(whole, ast.Call) else []
        return [value_of(self._script, word.value) for word in words if word.arg in _SIZES]

    def _call(self, steps: list[ast.expr], whole: ast.expr, transform: ast.expr) -> None:
        """Calls the transform itself: Image(then=...)."""
        sizes = [value_of(self._script, size) for step in steps if isinstance(step, ast.Call)
                 and self._script.kind_of(step) in SIZED
                 and (size := arguments(step, ('size',)).get('size')) is not None]
        sizes = sizes or ([constant(32)] if self._is_cifar else self._sizes_given(whole))
        if not sizes:
            raise ValueError(f'the size of its images is not told ({self.reason})')
        self._called = {'then': Constant(self._script.source(transform) + self._given)}
        set_size(self._called, sides_of(self._script, sizes[-1]))

    def fields(self) -> str:
        """Returns the Loader's second argument: a recipe's name, in quotes, or the expression of a list."""
        called = self._listed(self._called) if self._called else ''
        if self.reason:
            return called
        made = self._made
        options = nearest(made.options, self._is_cifar, made.is_bilinear_policy) or self._listed(made.options)
        if not self._conditions:
            return options
        if options.startswith('"'):
            options = f'recpack_io.recipe({options})'
        return f'{options}{BREAK}if {" and ".join(self._conditions)} else{BREAK}{called}'

    def _listed(self, options: dict[str, Constant]) -> str:
        if self._is_cifar:
            options = options | {'raw_shape': constant((3, 32, 32))}
        image = ', '.join(f'{name}={each.text}' for name, each in options.items())
        return f'[recpack_io.Image({image}), recpack_io.Numbers("label")]'
