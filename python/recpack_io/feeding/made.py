"""Batches that were made elsewhere, as they travel and as the consumer sees them."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Made:
    """A batch as it travels; its arrays are read-only for the consumer.

    Attributes:
        arrays: By name.
        ids, mask, sources: As in recpack_io.Batch.
        token: From which the maker's next batches can be made.
        audit: Of the maker's batches in this epoch, as a line.
    """

    arrays: dict[str, np.ndarray]
    ids: np.ndarray
    mask: np.ndarray
    sources: np.ndarray
    token: str
    audit: str


@dataclass(frozen=True)
class Begun:
    """What a maker's loader is: as in recpack_io.Loader, with its token and audit at the beginning."""

    token: str
    audit: str
    order: str
    seed: int
    arrays: list[tuple[str, str, tuple[int, ...], str]]


class MadeBatch:
    """A batch that was made elsewhere, with the methods of the core's."""

    def __init__(self, made: Made, epoch: int, number: int, token: str):
        self._made, self.epoch, self.number, self.token = made, epoch, number, token
        self.ids, self.mask, self.sources = made.ids, made.mask, made.sources

    def __len__(self) -> int:
        return len(self.ids)

    def keys(self) -> list[str]:
        """Returns the names of the arrays."""
        return list(self._made.arrays)

    def ndarray(self, name: str) -> np.ndarray:
        """Returns the array where it lies, read-only."""
        return self._made.arrays[name]

    def dlpack(self, name: str) -> np.ndarray:
        """Returns a copy of the array, which others may write to."""
        return self._made.arrays[name].copy()
