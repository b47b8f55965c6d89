"""Parts: shards that tasks of a cluster write, which become a data set once all of them are there."""
from __future__ import annotations

import itertools
import os
import tempfile
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

import recpack_io
from recpack_io import _core


class Parts:
    """A split in the making, in a folder or an object store.

    Each attempt of a task writes shards of its own, with names of their own. publish() names those
    that count, and then writes index and manifest; what other attempts wrote is removed. Can be
    pickled, for tasks elsewhere.

    Args:
        out: Folder, made if needed, that every node sees at the same path; or an s3:// or gs:// URL.
        split: Name of the split.
        overwrite: Remove the data set that is there, with all its splits, once the new one is complete.
        options: As in recpack_io.pack() of records: `shard_bytes`, `compression`, `level`, `sync`.

    Raises:
        InvalidArgumentError, UnsupportedError: If nothing can be written to a URL such as `out`.
    """

    def __init__(self, out: str | os.PathLike, split: str = 'train', *, overwrite: bool = False, **options: Any):
        path = os.fspath(out)
        self._job = path if '://' in path else os.path.abspath(path), split, uuid.uuid4().hex, overwrite
        self._options = {**options, 'split': split}
        self._parts()  # refuses what nothing can be written to

    def begin(self) -> None:
        """Lets tasks write.

        Raises:
            InvalidArgumentError: If the data set there has this split already, which is not to be
                overwritten, or if there is something else.
        """
        self._parts().begin()

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
        parts = self._parts()
        parts.refuse_ended()
        staging = parts.staging()
        # What goes on to a store need not be durable here.
        options = self._options if staging else {**self._options, 'sync': False}
        try:
            with tempfile.TemporaryDirectory(prefix='attempt-', dir=staging or None) as folder:
                part = os.path.join(folder, 'part')
                recpack_io.pack(itertools.chain([first], rows), part, **options)
                parts.add(part, name)
        except FileNotFoundError:
            parts.refuse_ended()  # that took the folder away
            raise
        return name

    def publish(self, names: Iterable[str]) -> None:
        """Makes the data set of the parts of these names, in order of their tasks.

        Raises:
            InvalidArgumentError: If another job has written this split, or the manifest, since begin().
        """
        self._parts().publish(sorted(names))

    def discard(self) -> None:
        """Removes all parts that have not been published."""
        self._parts().discard()

    def _parts(self) -> _core.Parts:
        return _core.open_parts(*self._job)  # made where it is used: it cannot be pickled
