"""Attempts of tasks: what each of them writes, until it is known which of them count."""
from __future__ import annotations

import abc
import itertools
import uuid
from collections.abc import Iterable, Mapping
from typing import Any


class Parts(abc.ABC):
    """A split in the making.

    Each attempt of a task writes shards of its own, with names of their own. publish() names those
    that count, and then writes index and manifest; what other attempts wrote is removed. Can be
    pickled, for tasks elsewhere.
    """

    @abc.abstractmethod
    def begin(self) -> None:
        """Lets tasks write.

        Raises:
            InvalidArgumentError: If the data set there has this split already, which is not to be
                overwritten, or if there is something else.
        """

    def write(self, task: int, rows: Iterable[Mapping[str, Any]]) -> str | None:
        """Packs the rows of a task; returns the name of what it wrote, or None without rows.

        Raises:
            FileNotFoundError: If the parts are published or discarded: this attempt came too late.
        """
        rows = iter(rows)
        first = next(rows, None)
        if first is None:
            return None
        name = f'{task:08}-{uuid.uuid4().hex}'
        self._pack(name, itertools.chain([first], rows))
        return name

    @abc.abstractmethod
    def _pack(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Packs rows as the part of that name."""

    @abc.abstractmethod
    def publish(self, names: Iterable[str]) -> None:
        """Makes the data set of the parts of these names, in order of their tasks."""

    @abc.abstractmethod
    def discard(self) -> None:
        """Removes all parts that have not been published."""
