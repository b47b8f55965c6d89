"""Makers: the actors that make a loader's batches, each every N-th one."""
from __future__ import annotations

from typing import Any

import ray

from recpack_io import loading
from recpack_io.ray.made import Begun, Made

_TO_HAND_OVER = 2  # batches that a maker's loader makes ahead


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
        return Made({name: batch.numpy(name) for name in batch.keys()}, batch.ids, batch.mask, batch.sources,
                    batch.token, str(self.audit()))


@ray.remote
class Maker:
    """An actor that makes some of a loader's batches.

    Args:
        samples, recipe, options: As of recpack_io.Loader.
    """

    def __init__(self, samples: Any, recipe: str | None, options: dict[str, Any]):
        self._made_of = samples, recipe, {'prefetch': _TO_HAND_OVER, **options}
        self._loader: _Loader | None = None
        self._failure: Exception | None = None

    def begin(self, number: int, makers: int, token: str, epoch: int) -> Begun:
        """Begins at the token, or without one at the epoch, as rank `number` of `makers`."""
        samples, recipe, options = self._made_of
        if self._loader is not None:
            self._loader.close()
        try:
            self._failure = None
            self._loader = _Loader(samples, recipe, token, epoch, rank=number, world_size=makers, share='batches', **options)
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
