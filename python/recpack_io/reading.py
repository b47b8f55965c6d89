"""Data sets: access to records by number."""
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from recpack_io import _core, selecting
from recpack_io.arguments import checks_arguments
from recpack_io.errors import DatasetWarning, warn
from recpack_io.views import View

Path = str | os.PathLike


@dataclass(frozen=True)
class Feature:
    """Summary of a feature, from 100 records.

    Attributes:
        kind: "int64", "float", "bytes", or "mixed" if records differ.
        min_length, max_length: Number of values in a record; 0 if some records lack the feature.
        min_bytes, max_bytes: Size of a bytes value.
    """

    kind: str
    min_length: int
    max_length: int
    min_bytes: int
    max_bytes: int


class Dataset(_core.Dataset):
    """The records of one split: `ds[7]`, `ds[-1]`, `ds[10:20]`, `ds[[5, 3, 8]]`, iteration.

    subset(), filter(), random_split(), balanced() and weighted() return Views, which a Loader takes
    as well.

    Thread-safe. Can be pickled, and stays usable in a forked process: readers are made on demand.

    Reading raises IndexError, CorruptError (with path, offset and ordinal) or IoError.
    """

    subset = selecting.subset
    filter = selecting.filter
    random_split = selecting.random_split
    balanced = selecting.balanced
    weighted = selecting.weighted
    column = selecting.column

    def _view(self) -> View:
        return View(self)

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
        """Number of records per split in the manifest; without a manifest, of this split."""
        return dict(self._splits()) or {self.split: len(self)}

    @checks_arguments()
    def sheet(self, columns: int = 10, rows: int = 6, cell: int = 96, seed: int = 0,
              shape: Sequence[int] = (0, 0, 0)) -> bytes:
        """Draws a contact sheet, as `recpack sheet` does.

        Args:
            columns, rows: Records, with their labels.
            cell: Most pixels of a side of a picture.
            seed: Which records.
            shape: Channels, height and width of pictures that are raw planar bytes.

        Returns:
            A PNG file.

        Raises:
            NotFoundError: If no record holds a picture.
        """
        return self._sheet(columns, rows, cell, seed, list(shape))

    def __repr__(self) -> str:
        classes = f', {len(self.class_names):,} classes' if self.class_names else ''
        return f'<recpack_io.Dataset {self.path!r}, {self.split}: {len(self):,} records{classes}>'

    def _repr_html_(self) -> str:
        from recpack_io import notebook
        return notebook.of_dataset(self)


@checks_arguments()
def open(path: Path | Sequence[Path], *, split: str = '',  # noqa: A001
         fields: str | dict[str, str] = '', label_offset: int = 0, verify: bool = True) -> Dataset:
    """Opens shards, or a source of `recpack pack` (class folders, uncompressed tars, lists, CIFAR).

    Args:
        path: A folder, a manifest, a shard, a pattern such as "train-*", or a list of these.
            Relative paths refer to the current working directory. Shards may lie at a URL, such
            as "s3://bucket/data" (docs/guide/object-stores.md).
        split: Name of the split. Default: "train", or the only split.
        fields: Aliases of features: {"image": "jpg;jpeg", "label": "cls"}.
        label_offset: Number of the first class: 1 for labels 1 to N.
        verify: Check the CRCs of everything that is read.

    Raises:
        NotFoundError, CorruptError, IoError: If the data set cannot be read.
        InvalidArgumentError: If the path is none of these, or if a shard or tar is listed twice.
        UnsupportedError: If shards are compressed as one stream, which has no random access.

    Warns:
        DatasetWarning: If the files' names do not say to which split they belong.
    """
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    if isinstance(fields, dict):
        fields = ','.join(f'{name}={source}' for name, source in fields.items())
    dataset = Dataset([os.fspath(each) for each in paths], split, fields, label_offset, verify)
    for notice in dataset.notices():
        if 'assigned to the split' in notice:  # others tell what was chosen, not what is unclear
            warn(notice, DatasetWarning)
    return dataset


def opened(samples: Any, split: str = '') -> Any:
    """Returns the data set of a path, and other samples as they are.

    Raises:
        TypeError: If a split is given for what is open.
        NotFoundError, CorruptError, IoError, InvalidArgumentError, UnsupportedError: As open().
    """
    if isinstance(samples, (str, os.PathLike)):
        return open(samples, split=split)
    if split:
        raise TypeError('split is for a path; what is open has one: give the split to recpack_io.open()')
    return samples
