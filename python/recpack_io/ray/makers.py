"""Makers of batches that are actors of a Ray cluster."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ray

from recpack_io.feeding.makers import LateError, LostError, Maker
from recpack_io.ray.errors import in_caller, lost

_ADVICE = 'see the logs of the cluster; a state of the loader continues from here'
_NO_CPUS = 'the cluster may have no CPUs left for it: see `ray status`'
_Actor = ray.remote(Maker)


class Actors:
    """feeding.makers.Makers on a cluster: as many actors, which close() ends.

    Args:
        given: Arguments of a Maker, or references to them.
        options: Of Ray, for each actor.
        timeout: Seconds that get() waits.
    """

    def __init__(self, count: int, given: tuple[Any, ...], options: Mapping[str, Any], timeout: float):
        self.count, self._timeout = count, timeout
        self._given, self._class = given, _Actor.options(**options)
        self._actors = [self._start() for _ in range(count)]

    def _start(self) -> Any:
        return self._class.remote(*self._given)

    def begin(self, number: int, rank: int, world_size: int, token: str, epoch: int) -> Any:
        return self._actors[number].begin.remote(rank, world_size, token, epoch)

    def make(self, number: int, epoch: int, batch: int) -> Any:
        return self._actors[number].make.remote(epoch, batch)

    def is_ready(self, asked: Any) -> bool:
        return bool(ray.wait([asked], timeout=0)[0])

    def get(self, number: int, asked: Any) -> Any:
        where = f'actor {number} of {self.count}'
        try:
            return ray.get(asked, timeout=self._timeout)
        except ray.exceptions.GetTimeoutError:
            raise LateError(f'no batch came from {where} for {self._timeout:.0f} s', _NO_CPUS) from None
        except ray.exceptions.RayTaskError as error:
            raise in_caller(error, where, _ADVICE) from None
        except ray.exceptions.RayError as error:
            raise LostError(lost(error, where), _ADVICE) from None

    def replace(self, number: int) -> None:
        ray.kill(self._actors[number])  # one that only cannot be reached
        self._actors[number] = self._start()

    def close(self) -> None:
        """Ends the actors. Batches that are held stay valid."""
        actors, self._actors = self._actors, []
        if ray.is_initialized():
            for actor in actors:
                ray.kill(actor)
