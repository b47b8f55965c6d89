"""Parts in an object store, whose shards are copied to their names within the store."""
from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

import recpack_io
from recpack_io import _core
from recpack_io.adapting.attempts import Parts


class StoreParts(Parts):
    """Parts below `.parts-JOB/` of an s3:// or gs:// URL. Arguments: as in parts_at()."""

    def __init__(self, out: str, split: str, overwrite: bool, options: dict[str, Any]):
        self._job = out, split, uuid.uuid4().hex, overwrite
        self._split, self._options = split, options
        self._store()  # refuses what is no store

    def begin(self) -> None:
        """Lets tasks write."""
        self._store().begin()

    def publish(self, names: Iterable[str]) -> None:
        """Makes the data set of the parts of these names, in order of their tasks.

        Raises:
            InvalidArgumentError: If another job has written this split, or the manifest, since begin().
        """
        self._store().publish(sorted(names))

    def discard(self) -> None:
        """Removes all parts that have not been published."""
        self._store().discard()

    def _pack(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        store = self._store()
        store.refuse_ended()
        with tempfile.TemporaryDirectory(prefix='recpack-part-') as folder:
            part = os.path.join(folder, 'part')
            recpack_io.pack(rows, part, split=self._split, **{**self._options, 'sync': False})
            store.add(part, name)

    def _store(self) -> _core.StoreParts:
        return _core.StoreParts(*self._job)  # made where it is used: it cannot be pickled
