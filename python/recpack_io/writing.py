"""Writer of records into a shard."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from recpack_io import _core
from recpack_io.arguments import checks_arguments

if TYPE_CHECKING:
    from recpack_io.options import Compression


def features_of(record: Any) -> dict[str, Any]:
    """Returns a record as a dictionary, for the core.

    Raises:
        TypeError: If the record has no keys().
    """
    if type(record) is dict:
        return record
    if not hasattr(record, 'keys'):
        raise TypeError(f'a record is a dictionary of features, not {type(record).__name__}: give '
                        '{"image": image, "label": label}, say')
    return dict(record)


class Writer:
    """Writes records, which are dictionaries of features, into a TFRecord shard.

        with recpack_io.Writer("train-00000-of-00001.tfrecord") as writer:
            writer.write({"image": jpeg, "label": 3, "box": np.array([0.1, 0.2, 0.9, 0.8])})

    int, bool, and arrays of integers or bools become int64 values; float and arrays of floats
    become float32; str (as UTF-8) and bytes become bytes; a pathlib.Path becomes the contents of its
    file, and a Pillow image those of a PNG file. A uint8 array becomes bytes. Of an array of several dimensions, in C order, the shape is kept in another
    feature, NAME/shape, unless the record has one. A list holds several values of one kind; an empty one has no kind.

    Not thread-safe.

    Args:
        path: Path of the shard, or its s3:// or gs:// URL, to which it is sent while it is written; a
            relative path refers to the working directory at the time of the call. The shard appears when
            the writer is closed. An exception inside `with` leaves no shard, and leaves an existing one
            unchanged.
        compression: "none", "gzip" or "zlib".
        level: Compression level, from 1 (fast) to 9 (small).
        sync: Wait until the shard would survive a power failure.

    Raises:
        InvalidArgumentError: With the feature's name, if a value cannot be stored or does not fit
            (an int beyond 64 bits, a float beyond float32).
        IoError: If writing fails.
    """

    @checks_arguments()
    def __init__(self, path: str | os.PathLike, *, compression: Compression = 'none',
                 level: int = 6, sync: bool = True):
        self._core = _core.Writer(os.fspath(path), compression, level, sync)

    def write(self, features: Mapping) -> None:
        """Appends a record with these features. A rejected record leaves no trace."""
        self._core.write(features_of(features))

    def close(self) -> None:
        """Writes remaining data and gives the shard its name. Does nothing if already closed."""
        self._core.close()

    def discard(self) -> None:
        """Closes the writer without making a shard."""
        self._core.discard()

    def __len__(self) -> int:
        """Returns the number of records so far."""
        return len(self._core)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind, error, trace) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()
