"""Feed: a loader's batches in their order, made elsewhere, through lost makers."""
from __future__ import annotations

import itertools
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

from recpack_io import _core
from recpack_io.errors import InvalidArgumentError
from recpack_io.feeding.made import Begun, Made, MadeBatch
from recpack_io.feeding.makers import LateError, LostError, MakerError, Makers


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
    """How far the batches of a maker were taken.

    `skipped`: batches of the epoch `epoch` that came before its loader began, at `token`.
    """

    token: str
    epoch: int
    skipped: int = 0
    taken: int = 0  # in `epoch_taken`
    epoch_taken: int = -1
    losses: int = 0  # since its last batch

    def own(self, epoch: int, number: int) -> int:
        """Returns how its present loader counts the batch."""
        return number - self.skipped if epoch == self.epoch else number


@dataclass
class _Asked:
    worker: int
    epoch: int
    number: int  # of the worker's batches in the epoch
    made: Any


class Feed:
    """Gives batches as the core's loader does; `ahead` batches of each maker are made ahead.

    Step s of the consumer is made by maker s modulo their number, as the ranks of a larger world
    that deals whole batches. A maker that is lost is replaced by another, which begins after the
    last batch that was taken. Not thread-safe.
    """

    def __init__(self, makers: Makers, place: Place, *, ahead: int, max_restarts: int, token: str, epoch: int,
                 audit: str):
        self._makers, self._place, self._ahead, self._max_restarts = makers, place, ahead, max_restarts
        self._failure: Exception | None = None
        self._begun = self._begin(token, epoch)
        self._epoch, self._position = _core.token_place(self._begun.token)
        self._workers = [_Worker(self._begun.token, self._epoch) for _ in range(makers.count)]
        self._first = self._asked_epoch = self._epoch
        self._from = self._position  # of the first epoch
        self._step = self._asked_step = 0  # in the epoch
        self._asked: deque[_Asked] = deque()
        self._audits = {-1: audit} if audit else {}  # by worker; -1: of those that were lost, and earlier ones
        self._audited = _core.Audit._parse(audit).epoch if audit else self._epoch
        self.audit()
        self._counts = {'batches': 0, 'samples': 0, 'waits': 0, 'wait_seconds': 0.0, 'replaced': 0}

    def _begin(self, token: str, epoch: int) -> Begun:
        asked = [self._begin_one(i, token, epoch) for i in range(self._makers.count)]
        first, *others = [self._await_begun(i, each, token, epoch) for i, each in enumerate(asked)]
        for i, other in enumerate(others, 1):
            if (other.token, other.order, other.arrays) != (first.token, first.order, first.arrays):
                raise InvalidArgumentError(f'maker {i} makes batches of other fields, or of other data, than maker 0: all '
                                           'must make the same')
        return first

    def _await_begun(self, number: int, asked: Any, token: str, epoch: int) -> Begun:
        for losses in itertools.count(1):
            try:
                return self._makers.get(number, asked)
            except LateError as error:
                raise error.for_program() from None
            except LostError as error:
                if losses > self._max_restarts:
                    raise error.for_program() from None
            self._put_another(number)
            asked = self._begin_one(number, token, epoch)
        raise AssertionError

    def _put_another(self, number: int) -> None:
        try:
            self._makers.replace(number)
        except MakerError as error:
            self._failure = error.for_program()
            raise self._failure from None

    def _begin_one(self, number: int, token: str, epoch: int) -> Any:
        rank = number * self._place.world_size + self._place.rank
        return self._makers.begin(number, rank, self._makers.count * self._place.world_size, token, epoch)

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
            self._asked.append(_Asked(worker, self._asked_epoch, number, None))
            self._ask(self._asked[-1])
            self._asked_step += 1

    def _ask(self, asked: _Asked) -> None:
        own = self._workers[asked.worker].own(asked.epoch, asked.number)
        asked.made = self._makers.make(asked.worker, asked.epoch, own)

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
                if not self._makers.is_ready(asked.made):
                    self._counts['waits'] += 1
                made = self._makers.get(asked.worker, asked.made)
                self._counts['wait_seconds'] += time.monotonic() - begin
                return made
            except LateError as error:  # the next call waits again
                raise error.for_program() from None
            except LostError as error:
                self._replace(asked.worker, error)
            except Exception as error:
                self._failure = error
                raise

    def _replace(self, number: int, error: LostError) -> None:
        """Replaces a lost maker, and asks the new one for all that is missing."""
        worker = self._workers[number]
        worker.losses += 1
        if worker.losses > self._max_restarts:
            self._failure = error.for_program()
            raise self._failure from None
        self._counts['replaced'] += 1
        if number in self._audits:
            self._audits[-1] = self._merged([self._audits.pop(number), *filter(None, [self._audits.get(-1)])])
        self._put_another(number)
        if worker.epoch_taken >= 0:
            worker.epoch, worker.skipped = worker.epoch_taken, worker.taken
        self._begin_one(number, worker.token, 0)
        for asked in self._asked:
            if asked.worker == number:
                self._ask(asked)

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

    def arrays(self) -> list[tuple[str, str, tuple[int, ...], str]]:
        """Returns name, type, sample shape and kind of rows of each array."""
        return self._begun.arrays

    def substitutions(self) -> list[tuple]:
        """Returns none: bad records are errors."""
        return []

    def steps_per_epoch(self) -> int:
        """Returns the number of batches of an epoch."""
        return self._place.steps()

    def stats(self) -> dict[str, Any]:
        """Returns counts since the beginning."""
        return {**self._counts, 'makers': self._makers.count}

    def close(self) -> None:
        """Gives no more batches; those that are held stay valid."""
        self._failure = InvalidArgumentError('the loader was closed; make another')
