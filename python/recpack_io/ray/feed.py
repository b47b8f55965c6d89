"""Feed: a loader's batches in their order, made by actors, through lost ones."""
from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ray

from recpack_io import _core
from recpack_io.errors import InvalidArgumentError, from_core
from recpack_io.ray.errors import in_caller
from recpack_io.ray.made import Begun, Made, MadeBatch

_ADVICE = 'see the logs of the cluster; a state of the loader continues from here'


@dataclass(frozen=True)
class Place:
    """Where the batches are in an epoch.

    Attributes:
        samples: Of an epoch, over all ranks.
        batch_size: Per rank.
        rank, world_size: Of the consumer.
        last_batch, epochs: As in recpack_io.Loader.
    """

    samples: int
    batch_size: int
    rank: int
    world_size: int
    last_batch: str
    epochs: int = 0

    @property
    def step(self) -> int:
        """Samples of a step of all ranks."""
        return self.batch_size * self.world_size

    def is_over(self, epoch: int) -> bool:
        """Returns True if the loader ended before the epoch."""
        return 0 < self.epochs <= epoch

    def steps(self, position: int = 0) -> int:
        """Steps in an epoch from a position on."""
        left = max(0, self.samples - position)
        return left // self.step if self.last_batch == 'drop' else -(-left // self.step)


@dataclass
class _Worker:
    """An actor and how far its batches were taken.

    `skipped`: batches of the epoch `epoch` that came before its loader began, at `token`.
    """

    actor: Any
    token: str
    epoch: int
    skipped: int = 0
    taken: int = 0  # in `epoch_taken`
    epoch_taken: int = -1
    losses: int = 0  # since its last batch

    def ask(self, epoch: int, number: int) -> Any:
        return self.actor.make.remote(epoch, number - self.skipped if epoch == self.epoch else number)


@dataclass
class _Asked:
    worker: int
    epoch: int
    number: int  # of the worker's batches in the epoch
    made: Any


class Feed:
    """Gives batches as the core's loader does; `batches` of each actor are made ahead.

    Step s of the consumer is made by actor s modulo their number, as the ranks of a larger world
    that deals whole batches. An actor that is lost is replaced by another, which begins after the
    last batch that was taken. Not thread-safe.
    """

    def __init__(self, actors: list[Any], start: Callable[[], Any], place: Place, *, ahead: int, max_restarts: int,
                 timeout: float, token: str, epoch: int, audit: str):
        self._start, self._place, self._ahead = start, place, ahead
        self._max_restarts, self._timeout = max_restarts, timeout
        self._actors = actors  # shared with the loader: replaced ones are too
        self._makers = len(actors) * place.world_size
        self._begun = self._begin(token, epoch)
        self._epoch, self._position = _core.token_place(self._begun.token)
        self._workers = [_Worker(actor, self._begun.token, self._epoch) for actor in actors]
        self._first = self._asked_epoch = self._epoch
        self._from = self._position  # of the first epoch
        self._step = self._asked_step = 0  # in the epoch
        self._asked: deque[_Asked] = deque()
        self._failure: Exception | None = None
        self._audits = {-1: audit} if audit else {}  # by worker; -1: of those that were lost, and earlier ones
        self._audited = _core.Audit._parse(audit).epoch if audit else self._epoch
        self.audit()
        self._counts = {'batches': 0, 'samples': 0, 'waits': 0, 'wait_seconds': 0.0, 'replaced': 0}

    def _begin(self, token: str, epoch: int) -> Begun:
        refs = [self._begin_one(i, actor, token, epoch) for i, actor in enumerate(self._actors)]
        return [self._await_begun(i, ref, token, epoch) for i, ref in enumerate(refs)][0]

    def _await_begun(self, number: int, ref: Any, token: str, epoch: int) -> Begun:
        for losses in itertools.count(1):
            try:
                return ray.get(ref, timeout=self._timeout)
            except (ray.exceptions.RayTaskError, ray.exceptions.GetTimeoutError) as error:
                raise self._error(error, number) from None
            except ray.exceptions.RayError as error:
                if losses > self._max_restarts:
                    raise self._error(error, number) from None
            self._actors[number] = self._start()
            ref = self._begin_one(number, self._actors[number], token, epoch)
        raise AssertionError

    def _begin_one(self, number: int, actor: Any, token: str, epoch: int) -> Any:
        rank = number * self._place.world_size + self._place.rank
        return actor.begin.remote(rank, self._makers, token, epoch)

    def _error(self, error: Exception, worker: int) -> Exception:
        where = f'actor {worker} of {len(self._actors)}'
        if isinstance(error, ray.exceptions.GetTimeoutError):
            reason, advice = (f'no batch came from {where} for {self._timeout:.0f} s',
                              'the cluster may have no CPUs left for it: see `ray status`')
            return from_core('I/O', f'{reason}; {advice}', reason, advice, '', None, None)
        return in_caller(error, where, _ADVICE)

    def _steps(self, epoch: int) -> int:
        return self._place.steps(self._from if epoch == self._first else 0)

    def _ask_ahead(self) -> None:
        while len(self._asked) < self._ahead * len(self._workers):
            if self._asked_step >= self._steps(self._asked_epoch):
                if self._steps(self._asked_epoch + 1) == 0 or self._place.is_over(self._asked_epoch + 1):
                    return
                self._asked_epoch, self._asked_step = self._asked_epoch + 1, 0
                continue
            number, worker = divmod(self._asked_step, len(self._workers))
            made = self._workers[worker].ask(self._asked_epoch, number)
            self._asked.append(_Asked(worker, self._asked_epoch, number, made))
            self._asked_step += 1

    def next(self) -> MadeBatch | None:
        """Waits for the next batch; None at the end of an epoch."""
        if self._failure is not None:
            raise self._failure
        if self._place.is_over(self._epoch):
            raise InvalidArgumentError(f'all {self._place.epochs} epochs of the loader are over; raise `epochs`, or '
                                       'leave it out if the number is not known')
        if self._step >= self._steps(self._epoch):
            self._epoch, self._step, self._position = self._epoch + 1, 0, 0
            return None
        self._ask_ahead()
        made = self._wait()
        asked = self._asked.popleft()
        worker = self._workers[asked.worker]
        worker.token, worker.losses = made.token, 0
        worker.taken, worker.epoch_taken = asked.number + 1, asked.epoch
        if self._audited != asked.epoch:
            self._audits, self._audited = {}, asked.epoch
        self._audits[asked.worker] = made.audit
        number, self._step = self._step, self._step + 1
        self._position = min(self._position + self._place.step, self._place.samples)
        self._ask_ahead()
        self._counts['batches'] += 1
        self._counts['samples'] += len(made.ids)
        return MadeBatch(made, asked.epoch, number, self.token())

    def _wait(self) -> Made:
        begin = time.monotonic()
        while True:
            asked = self._asked[0]
            try:
                ready, _ = ray.wait([asked.made], timeout=0)
                if not ready:
                    self._counts['waits'] += 1
                made = ray.get(asked.made, timeout=self._timeout)
                self._counts['wait_seconds'] += time.monotonic() - begin
                return made
            except ray.exceptions.GetTimeoutError as error:  # the next call waits again
                raise self._error(error, asked.worker) from None
            except ray.exceptions.RayTaskError as error:
                self._failure = self._error(error, asked.worker)
                raise self._failure from None
            except ray.exceptions.RayError as error:
                self._replace(asked.worker, error)

    def _replace(self, number: int, error: Exception) -> None:
        """Replaces a lost actor, and asks the new one for all that is missing."""
        worker = self._workers[number]
        worker.losses += 1
        if worker.losses > self._max_restarts:
            self._failure = self._error(error, number)
            raise self._failure from None
        self._counts['replaced'] += 1
        ray.kill(worker.actor)  # one that only cannot be reached
        if number in self._audits:
            self._audits[-1] = self._merged([self._audits.pop(number), *filter(None, [self._audits.get(-1)])])
        worker.actor = self._actors[number] = self._start()
        if worker.epoch_taken >= 0:
            worker.epoch, worker.skipped = worker.epoch_taken, worker.taken
        self._begin_one(number, worker.actor, worker.token, 0)
        for asked in self._asked:
            if asked.worker == number:
                asked.made = worker.ask(asked.epoch, asked.number)

    @staticmethod
    def _merged(lines: list[str]) -> str:
        first, *others = (_core.Audit._parse(line) for line in lines)
        for other in others:
            first._merge(other)
        return first._text()

    def audit(self) -> _core.Audit:
        """Returns the audit of the batches given so far in the epoch."""
        lines = list(self._audits.values())
        if self._audited == self._first == self._epoch:
            lines.append(self._begun.audit)
        return _core.Audit._parse(self._merged(lines or [self._begun.audit]))

    def token(self) -> str:
        """Returns the token after the last batch given."""
        return _core.token_at(self._begun.token, self._epoch, self._position)

    def epoch(self) -> int:
        """Returns the epoch of the next batch."""
        return self._epoch

    def order(self) -> str:
        """Returns the resolved order."""
        return self._begun.order

    def seed(self) -> int:
        """Returns the seed."""
        return self._begun.seed

    def arrays(self) -> list[tuple[str, str, tuple[int, ...]]]:
        """Returns name, type and sample shape of each array."""
        return self._begun.arrays

    def substitutions(self) -> list[tuple]:
        """Returns none: bad records are errors."""
        return []

    def steps_per_epoch(self) -> int:
        """Returns the number of batches of an epoch."""
        return self._place.steps()

    def stats(self) -> dict[str, Any]:
        """Returns counts since the beginning."""
        return {**self._counts, 'actors': len(self._actors)}

    def close(self) -> None:
        """Gives no more batches; those that are held stay valid."""
        self._failure = InvalidArgumentError('the loader was closed; make another')
