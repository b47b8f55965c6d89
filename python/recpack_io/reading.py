"""Records of a data set by number."""
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recpack_io import _core

Path = str | os.PathLike


@dataclass(frozen=True)
class Feature:
    """What records have under a name, by a look at 100 of them.

    kind: "int64", "float", "bytes"; "mixed" where records differ.
    min_length, max_length: values of a record; 0 where some lack it.
    min_bytes, max_bytes: size of a value of bytes.
    """

    kind: str
    min_length: int
    max_length: int
    min_bytes: int
    max_bytes: int


class Dataset(_core.Dataset):
    """Records of one split, by number: `ds[7]`, `ds[-1]`, `ds[10:20]`, `ds[[5, 3, 8]]`, iteration.
    Reading raises IndexError, CorruptError with path, offset and ordinal, IoError.

    Any number of threads may read. It can be pickled, and goes on in a forked process: readers are
    made where they are used.
    """

    def __reduce__(self):
        return (Dataset, self._opened_as())

    def __iter__(self) -> Iterator[_core.Record]:
        for begin in range(0, len(self), 256):
            yield from self[begin:begin + 256]

    @property
    def schema(self) -> dict[str, Feature]:
        """The features by name."""
        return {name: Feature(*rest) for name, *rest in self._schema()}

    @property
    def splits(self) -> dict[str, int]:
        """Records of each split there is beside this one, where a manifest says so; and of this."""
        return dict(self._splits()) or {self.split: len(self)}

    def __repr__(self) -> str:
        classes = f', {len(self.class_names):,} classes' if self.class_names else ''
        return f'<recpack_io.Dataset {self.path!r}, {self.split}: {len(self):,} records{classes}>'

    def _repr_html_(self) -> str:
        from recpack_io import notebook
        return notebook.of_dataset(self)


def open(path: Path | Sequence[Path], *, split: str = '',  # noqa: A001
         fields: str | dict[str, str] = '', label_offset: int = 0, verify: bool = True) -> Dataset:
    """Opens shards, or what `recpack pack` takes (class folders, uncompressed tars, lists, CIFAR).

    path: a folder, a manifest, a shard, a pattern such as "train-*", or a list of these; relative
        ones are within the folder that the program is in now.
    split: "train" unless said otherwise, or the only one there is.
    fields: features found under other names: {"image": "jpg;jpeg", "label": "cls"}.
    label_offset: the number of the first class: 1 for labels 1 to N.
    verify: check the CRCs of all that is read.

    Raises NotFoundError, CorruptError, IoError; InvalidArgumentError for what is none of these, and
    for a shard or tar that is listed twice; UnsupportedError for shards that are compressed as one
    stream, which have no random access.
    """
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    if isinstance(fields, dict):
        fields = ','.join(f'{name}={source}' for name, source in fields.items())
    return Dataset([os.fspath(each) for each in paths], split, fields, label_offset, verify)
