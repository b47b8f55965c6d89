"""Random numbers of functions: keyed by the sample, whatever thread or process it is made in."""
from __future__ import annotations

import contextlib
import random
import sys

import numpy as np


class Key:
    """What the generators of a call are made of."""

    __slots__ = ('_low_high', '_rng', 'seed')

    def __init__(self, low: int, high: int, seed: int):
        self._low_high, self._rng, self.seed = low | high << 64, None, seed

    @property
    def rng(self) -> np.random.Generator:
        if self._rng is None:
            self._rng = np.random.Generator(np.random.Philox(key=self._low_high))
        return self._rng


def on_a_thread(seed: int):
    """While it is entered, what this thread draws of torch comes from a generator of its own: the
    process's is the training's, on which other threads draw meanwhile."""
    if not hasattr(sys.modules.get('torch'), 'Generator'):
        return contextlib.nullcontext()
    from recpack_io.torch_draws import Draws
    return Draws(seed)


def in_a_process(seed: int):
    """Seeds the generators of a worker process, which are nobody else's. torch then draws what it
    draws on a thread."""
    random.seed(seed)
    np.random.seed(seed)
    if torch := sys.modules.get('torch'):
        torch.default_generator.manual_seed(seed)
    return contextlib.nullcontext()
