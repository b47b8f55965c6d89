"""Makers: what makes a loader's batches elsewhere, each every N-th one."""
from __future__ import annotations

from typing import Any, Protocol

from recpack_io import loading
from recpack_io.errors import RecpackError, from_core
from recpack_io.feeding.made import Begun, Made

_TO_HAND_OVER = 2  # batches that a maker's loader makes ahead


class MakerError(Exception):
    """A maker did not answer; `reason` says which, and why, and `advice` what to do."""

    def __init__(self, reason: str, advice: str):
        super().__init__(reason)
        self.reason, self.advice = reason, advice

    def for_program(self) -> RecpackError:
        """Returns what the program gets if no other maker takes over."""
        return from_core('I/O', f'{self.reason}; {self.advice}', self.reason, self.advice, '', None, None)


class LostError(MakerError):
    """A maker is gone, or cannot be reached; another can take its place."""


class LateError(MakerError):
    """No answer came in time; it may still come."""


class Makers(Protocol):
    """Makers by number, and what is asked of them. Answers come in the order of the questions.

    begin() and make() return at once, with what get() takes.
    """

    count: int

    def begin(self, number: int, rank: int, world_size: int, token: str, epoch: int) -> Any:
        """Asks for Begun: the maker is to begin at the token, or without one at the epoch, as this rank."""

    def make(self, number: int, epoch: int, batch: int) -> Any:
        """Asks for Made: the batch of this number, as the maker's loader counts."""

    def is_ready(self, asked: Any) -> bool:
        """Returns whether get() would not wait."""

    def get(self, number: int, asked: Any) -> Any:
        """Waits for the answer of the maker. Raises LostError, LateError, or what ended the making of batches."""

    def replace(self, number: int) -> None:
        """Puts another maker in the place of one that is lost. Raises what get() raises."""

    def close(self) -> None:
        """Ends the makers. Batches that were given stay valid."""


class _Loader(loading.Loader):
    """A loader that begins at a token, without making batches of its first epoch before."""

    def __init__(self, samples: Any, recipe: str | None, token: str, epoch: int, **options: Any):
        self._at = {'token': token, 'epoch': epoch}
        super().__init__(samples, recipe, **options)

    def _begin(self, epoch: int = 0, token: str = '', audit: str = '') -> None:
        super()._begin(**self._at)

    def begun(self) -> Begun:
        core = self._core
        return Begun(core.token(), str(self.audit()), core.order(), core.seed(), core.arrays())

    def find(self, epoch: int, number: int) -> Made:
        """Makes the batch of this number, counted as Batch.number is; passes over earlier ones."""
        while True:
            batch = self._core.next()
            if batch is not None and (batch.epoch, batch.number) == (epoch, number):
                break
        return Made({name: batch.ndarray(name) for name in batch.keys()}, batch.ids, batch.mask, batch.sources,
                    batch.token, str(self.audit()))


class Maker:
    """Makes some of a loader's batches. Not thread-safe.

    Args:
        samples, recipe, options: As of recpack_io.Loader.
    """

    def __init__(self, samples: Any, recipe: str | None, options: dict[str, Any]):
        self._made_of = samples, recipe, {'prefetch': _TO_HAND_OVER, **options}
        self._loader: _Loader | None = None
        self._failure: Exception | None = None

    def begin(self, rank: int, world_size: int, token: str, epoch: int) -> Begun:
        """Begins at the token, or without one at the epoch, as this rank."""
        samples, recipe, options = self._made_of
        self.close()
        try:
            self._failure = None
            self._loader = _Loader(samples, recipe, token, epoch, rank=rank, world_size=world_size, share='batches',
                                   **options)
            return self._loader.begun()
        except Exception as error:
            self._failure = error  # also for those who asked for batches already
            raise

    def make(self, epoch: int, number: int) -> Made:
        """Returns the maker's batch of this number in the epoch."""
        if self._failure is not None:
            raise self._failure
        assert self._loader is not None
        return self._loader.find(epoch, number)

    def close(self) -> None:
        """Ends the loader; batches stay valid."""
        if self._loader is not None:
            self._loader.close()
