"""Plans of changes: what a DataLoader becomes, or why it stays."""
from __future__ import annotations

import ast
import dataclasses

from recpack_io.migrate.migration import Left, Migration
from recpack_io.migrate.programs.collates import Collates
from recpack_io.migrate.programs.datasets import Datasets
from recpack_io.migrate.programs.loaders import Held, Loaders
from recpack_io.migrate.programs.makers import Makers, Origin
from recpack_io.migrate.programs.samplers import Order, Samplers
from recpack_io.migrate.syntax.script import Script, is_none
from recpack_io.migrate.transforms.builders import Builders

# Arguments of DataLoader that the Loader needs no counterpart for.
_NEEDLESS = ('num_workers', 'pin_memory', 'persistent_workers', 'prefetch_factor', 'worker_init_fn',
             'generator', 'timeout', 'multiprocessing_context', 'pin_memory_device')
_POSITIONS = ('dataset', 'batch_size', 'shuffle', 'sampler', 'batch_sampler', 'num_workers',
              'collate_fn', 'pin_memory', 'drop_last')


@dataclasses.dataclass
class Plan:
    """The change of a DataLoader."""

    call: ast.Call
    dataset: ast.expr
    origin: Origin
    fields: str  # the Loader's second argument
    words: list[str]  # the others
    order: Order
    held: Held
    collate: list[tuple[ast.AST, str]] | None  # edits of its collate_fn, if that stays
    given: dict[str | None, ast.expr]
    called: str  # why, or when, the transform is called in Python


class Planner:
    """Plans the changes of a script.

    Args:
        script: The program.
        builders: The functions and classes that make its transforms.
        result: Gets what is said of the changes.
    """

    def __init__(self, script: Script, builders: Builders, result: Migration):
        self._script, self._result = script, result
        self.makers = Makers(script)
        self.datasets = Datasets(script, builders, self.makers, result)
        self.samplers = Samplers(script, self.makers, result)
        self.loaders = Loaders(script, self.makers, result)
        self._collates = Collates(script)

    def planned(self, call: ast.Call) -> Plan | None:
        """Returns the plan for a DataLoader; None if it stays, for a reason that is said."""
        try:
            return self._plan(call)
        except Left as left:
            self._result.left.append(f'{call.lineno}: DataLoader: {left}')
            return None

    def _plan(self, call: ast.Call) -> Plan:
        given: dict[str | None, ast.expr] = dict(zip(_POSITIONS, call.args))
        given |= {word.arg: word.value for word in call.keywords}
        if 'dataset' not in given:
            raise Left('its arguments are not in the call (**)' if None in given else 'it has no data set')
        dataset = given.pop('dataset')
        origin = self.datasets.origin(dataset)
        if None in given or any(isinstance(each, ast.Starred) for each in call.args):
            raise Left('its arguments are not in the call (**)')
        pictures = [self.datasets.pictures[value] for value in origin.values]
        fields = {picture.fields() for picture in pictures}
        if len(fields) != 1:
            raise Left('its data set has one transform here and another there')
        if 'batch_sampler' in given and not is_none(given['batch_sampler']):
            raise Left('it has a batch_sampler: select records with the methods of the data set: subset(), filter()')
        collate = self._collates.of_loader(given.get('collate_fn'))
        order = self.samplers.of_loader(call, given)
        size = self._script.source(given['batch_size']) if 'batch_size' in given else '1'
        words = [f'batch_size={size}', *order.words, self.samplers.last_batch(given.get('drop_last'), order)]
        unknown = set(given) - {*_NEEDLESS, *_POSITIONS}
        if unknown:
            raise Left(f'it has an argument {min(map(str, unknown))!r}')
        held = self.loaders.held(call, order.names, collate is not None)
        self.loaders.check(held)
        return Plan(call, dataset, origin, fields.pop(), [word for word in words if word], order, held, collate,
                     given, next((note for picture in pictures if (note := picture.note())), ''))
