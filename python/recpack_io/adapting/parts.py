"""Parts: shards that tasks of a cluster write, which become a data set once all of them are there."""
from __future__ import annotations

import os
from typing import Any

from recpack_io.adapting.attempts import Parts
from recpack_io.adapting.folder_parts import FolderParts
from recpack_io.adapting.store_parts import StoreParts


def parts_at(out: str | os.PathLike, split: str = 'train', *, overwrite: bool = False, **options: Any) -> Parts:
    """Returns the parts of a split in a folder or an object store.

    Args:
        out: Folder, made if needed, that every node sees at the same path; or an s3:// or gs:// URL.
        split: Name of the split.
        overwrite: Remove the data set that is there, with all its splits, once the new one is complete.
        options: As in recpack_io.pack() of records: `shard_bytes`, `compression`, `level`, `sync`.

    Raises:
        InvalidArgumentError, UnsupportedError: If nothing can be written to a URL such as `out`.
    """
    path = os.fspath(out)
    kind = StoreParts if '://' in path else FolderParts
    return kind(path, split, overwrite, options)
