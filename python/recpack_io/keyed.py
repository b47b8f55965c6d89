"""Random numbers for functions, keyed by the sample and independent of thread and process."""
from __future__ import annotations

import contextlib
import random
import sys

import numpy as np


class Key:
    """Key of the random generators of a call."""

    __slots__ = ('_low_high', '_rng', 'seed')

    def __init__(self, low: int, high: int, seed: int):
        self._low_high, self._rng, self.seed = low | high << 64, None, seed

    @property
    def rng(self) -> np.random.Generator:
        if self._rng is None:
            self._rng = np.random.Generator(np.random.Philox(key=self._low_high))
        return self._rng


def on_a_thread(seed: int):
    """Returns a context in which this thread has its own generator for torch's random numbers.

    The process's generator belongs to the training, and other threads draw from it concurrently.
    """
    if not hasattr(sys.modules.get('torch'), 'Generator'):
        return contextlib.nullcontext()
    from recpack_io.adapting.torch_draws import Draws
    return Draws(seed)


def in_a_process(seed: int):
    """Seeds the generators of a worker process.

    torch then draws the same numbers as on a thread.
    """
    random.seed(seed)
    np.random.seed(seed)
    if torch := sys.modules.get('torch'):
        torch.default_generator.manual_seed(seed)
    return contextlib.nullcontext()
