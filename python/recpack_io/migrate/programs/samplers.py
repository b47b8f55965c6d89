"""Samplers and the order of a DataLoader, as arguments of the Loader."""
from __future__ import annotations

import ast
import dataclasses

from recpack_io.migrate.migration import Left, Migration, add_left, add_note
from recpack_io.migrate.programs.makers import Makers, Origin
from recpack_io.migrate.syntax.script import Script, arguments, is_none, names_in

_INSTEAD = 'select records with the methods of the data set: weighted(), balanced(), subset()'
_KNOWN = ('DistributedSampler', 'RandomSampler', 'SequentialSampler')
# What a program of several ranks calls.
_OF_RANKS = ('init_process_group', 'init_distributed_mode', 'DistributedSampler', 'DistributedDataParallel')


@dataclasses.dataclass
class Order:
    """The order of a loader: arguments of the Loader."""

    words: list[str]
    other: str = '"keep"'  # last_batch, for samples that fill no batch
    cases: list[ast.AST] = dataclasses.field(default_factory=list)  # other samplers, which become errors
    names: list[tuple[str, ast.AST]] = dataclasses.field(default_factory=list)  # of the sampler, with their scopes
    note: str = ''


class Samplers:
    """The samplers of a script's loaders.

    Args:
        script: The program.
        makers: The functions that make its samplers.
        result: Gets what is said of the samplers.
    """

    def __init__(self, script: Script, makers: Makers, result: Migration):
        self._script, self._makers, self._result = script, makers, result
        self._several = any(ast.unparse(call.func).rpartition('.')[2] in _OF_RANKS for call in script.calls())

    def of_loader(self, call: ast.Call, given: dict[str | None, ast.expr]) -> Order:
        """Returns the order that a DataLoader has.

        Raises:
            Left: If the Loader has none like it.
        """
        shuffle, sampler = given.get('shuffle'), given.get('sampler')
        if sampler is not None and not is_none(sampler):
            return self._sampled(call, sampler, shuffle)
        if shuffle is None or isinstance(shuffle, ast.Constant):
            words = [] if shuffle is not None and shuffle.value else ['order="sequential"']
        else:
            words = [f'order="auto" if {self._script.source(shuffle)} else "sequential"']
        return self._whole(Order(words))

    def _whole(self, order: Order) -> Order:
        """Lets each rank read all records, as without a DistributedSampler."""
        if self._several:
            order.words.append('rank=0, world_size=1')
            order.note = ('each rank reads all records, as before: it has no DistributedSampler; without rank= and '
                          'world_size= the ranks share them')
        return order

    def _sampled(self, call: ast.Call, sampler: ast.expr, shuffle: ast.expr | None) -> Order:
        try:
            origin = self._makers.origin(sampler)
            self._makers.check_once(origin)
        except Left:
            raise Left(f'it has a sampler: {_INSTEAD}') from None
        kinds = {each: self._script.kind_of(each) for each in origin.values if not is_none(each)}
        made = [each for each, kind in kinds.items() if kind in _KNOWN]
        cases = [each for each in kinds if each not in made]
        if not made or any(not self._can_end(each) for each in cases):
            kind = self._script.source(next(iter(cases), sampler)).partition('(')[0]
            raise Left(f'it has a sampler: {kind}: {_INSTEAD}')
        orders = {self._is_shuffled(each) for each in made}
        if len(orders) != 1:
            raise Left('it has a sampler that shuffles, and one that does not')
        is_shuffled = orders.pop()
        words = [] if is_shuffled else ['order="sequential"']
        if any(map(is_none, origin.values)) and self._is_shuffled_alone(sampler, shuffle) is not is_shuffled:
            with_it, alone = ('auto', 'sequential') if is_shuffled else ('sequential', 'auto')
            words = [f'order="{with_it}" if {self._script.source(sampler)} is not None else "{alone}"']
        order = Order(words, cases=cases, names=origin.names)
        distributed = [each for each in made if kinds[each] == 'DistributedSampler']
        return self._shared(order, call, sampler, origin, distributed) if distributed else self._whole(order)

    def _is_shuffled_alone(self, sampler: ast.expr, shuffle: ast.expr | None) -> bool:
        """Tells whether a DataLoader shuffles where its sampler is None."""
        if shuffle is None or isinstance(shuffle, ast.Constant):
            return shuffle is not None and bool(shuffle.value)
        if ast.unparse(shuffle) == f'{ast.unparse(sampler)} is None':
            return True
        raise Left('whether it shuffles without its sampler is not told')

    def _can_end(self, value: ast.AST) -> bool:
        statement = self._script.statement(value)
        return isinstance(value, ast.Call) and self._script.parent(value) is statement and (
            self._script.stands_alone(statement) and isinstance(self._script.parent(statement), ast.If))

    def _is_shuffled(self, sampler: ast.AST) -> bool:
        assert isinstance(sampler, ast.Call)
        kind = self._script.kind_of(sampler)
        if kind == 'RandomSampler' and set(arguments(sampler, ('data_source', 'replacement', 'num_samples'))) - {
                'data_source', 'generator'}:
            raise Left(f'it has a RandomSampler that draws (line {sampler.lineno}): {_INSTEAD}')
        shuffle = arguments(sampler, ('dataset', 'num_replicas', 'rank', 'shuffle')).get('shuffle')
        if kind == 'DistributedSampler' and shuffle is not None:
            if not isinstance(shuffle, ast.Constant):
                raise Left('whether its sampler shuffles is not told')
            return bool(shuffle.value)
        return kind != 'SequentialSampler'

    def _shared(self, order: Order, call: ast.Call, sampler: ast.expr, origin: Origin,
                distributed: list[ast.AST]) -> Order:
        """Shares the records among the ranks, as a DistributedSampler does."""
        others = [each for each in origin.values if each not in distributed and each not in order.cases]
        is_shared = ''
        if others:
            is_shared = f'{self._script.source(sampler)} is not None'
            if not all(map(is_none, others)):
                kind = self._script.source(distributed[0].func)  # type: ignore[attr-defined]
                is_shared = f'isinstance({self._script.source(sampler)}, {kind})'
        # It repeats samples, so that all ranks have as many.
        order.other = f'"pad" if {is_shared} else "keep"' if is_shared else '"pad"'
        order.note = ('over several ranks its last batch is filled up with repeated samples, for which batch.mask is '
                      'False: leave them out of metrics')
        order.words += self._place(call, distributed, is_shared)
        return order

    def _place(self, call: ast.Call, distributed: list[ast.AST], is_shared: str) -> list[str]:
        """Returns the rank and the number of ranks, if samplers are given them."""
        places = {tuple(self._script.source(given[name]) for name in ('rank', 'num_replicas') if name in given)
                  for each in distributed
                  for given in [arguments(each, ('dataset', 'num_replicas', 'rank'))]}  # type: ignore[arg-type]
        if places == {()}:
            return []
        place = places.pop()
        scope = self._script.scope(distributed[0])
        theirs = self._script.variables(scope) if scope is not self._script.scope(call) else set()
        if places or len(place) != 2 or theirs & {name for text in place for name in names_in(text)}:
            line = self._script.statement(distributed[0]).lineno
            raise Left(f'its DistributedSampler (line {line}) is given a rank that is not known here: leave it out if '
                       'it is that of torch.distributed')
        if is_shared:
            place = tuple(f'{text} if {is_shared} else {alone}' for text, alone in zip(place, (0, 1)))
        return [f'rank={place[0]}', f'world_size={place[1]}']

    def last_batch(self, drop_last: ast.expr | None, order: Order) -> str:
        """Returns the argument last_batch."""
        if drop_last is None or isinstance(drop_last, ast.Constant):
            return '' if drop_last is not None and drop_last.value else f'last_batch={order.other}'
        return f'last_batch="drop" if {self._script.source(drop_last)} else {order.other}'

    def end_cases(self, order: Order) -> None:
        """Turns the branches with other samplers into errors."""
        for value in order.cases:
            kind = self._script.source(value).partition('(')[0]
            what = f'the Loader has no sampler like {kind}'
            statement = self._script.statement(value)
            if self._script.end_case(statement, f'{what}: leave this case out'):
                add_left(self._result, f'{statement.lineno}: {what}, so that this case is an error now: leave it out, '
                                       f'or {_INSTEAD}')

    def say(self, call: ast.Call, order: Order, words: list[str]) -> None:
        """Adds the note on an order; `words`: arguments of the Loader."""
        is_so = any('rank=0' in word or '"pad"' in word for word in words)
        is_said = any(note.partition(': ')[2] == order.note for note in self._result.notes)
        if order.note and is_so and not is_said:
            add_note(self._result, f'{call.lineno}: {order.note}')
