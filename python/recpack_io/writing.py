"""Records into one shard."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from recpack_io import _core


def features_of(record: Any) -> dict[str, Any]:
    """A record as the core takes it: what has keys() as a dictionary. Raises TypeError for all
    else."""
    if type(record) is dict:
        return record
    if not hasattr(record, 'keys'):
        raise TypeError(f'a record is a dictionary of features, not {type(record).__name__}: give '
                        '{"image": image, "label": label}, say')
    return dict(record)


class Writer:
    """Writes records, dictionaries of features, into one TFRecord shard.

        with recpack_io.Writer("train-00000-of-00001.tfrecord") as writer:
            writer.write({"image": jpeg, "label": 3, "box": np.array([0.1, 0.2, 0.9, 0.8])})

    path: of the shard; a relative one is within the folder that the program is in when it opens the
        writer. It is there once it was closed: an exception inside `with` leaves nothing, and
        a shard that was there before as it was.
    compression: "none", "gzip" or "zlib", of `level` 1 (fast) to 9 (small).
    sync: wait until the shard would survive a power cut.

    int, bool, and arrays of integers or bools become int64 values; float and arrays of floats float32;
    str, in UTF-8, and bytes bytes; an image of Pillow the bytes of a PNG file of it. An array of uint8 is bytes whatever its shape, in C's order; other
    arrays have one dimension. A list holds several of one kind; an empty one has no kind.

    Raises InvalidArgumentError, which names the feature, for what has no place in a record or does
    not fit (an int beyond 64 bits, a float beyond float32), IoError. One thread writes.
    """

    def __init__(self, path: str | os.PathLike, *, compression: str = 'none', level: int = 6,
                 sync: bool = True):
        self._core = _core.Writer(os.fspath(path), compression, level, sync)

    def write(self, features: Mapping) -> None:
        """Appends a record of these features. One that is refused leaves no trace."""
        self._core.write(features_of(features))

    def close(self) -> None:
        """Writes what is left, and gives the shard its name. Again: does nothing."""
        self._core.close()

    def discard(self) -> None:
        """Closes without a shard."""
        self._core.discard()

    def __len__(self) -> int:
        """Records so far."""
        return len(self._core)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind, error, trace) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()
