"""Data sets into folders of shards."""
from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recpack_io import _core
from recpack_io.errors import InvalidArgumentError, in_python
from recpack_io.pack_options import PathOptions, core_options
from recpack_io.writing import features_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

_SECONDS_BETWEEN = 0.1  # two calls of progress
Progress = Callable[[int, int | None], object]


@dataclass(frozen=True)
class PackResult:
    """What was packed.

    records, shards: how many there are, of a task its own. nbytes: of the shards.
    skipped: items that were left out, each with the reason.
    complete: False where shards of other tasks are missing; the last task writes the manifest.
    notices: what was left out of the source and the like, a line each.
    """

    records: int
    nbytes: int
    shards: int
    skipped: list[tuple[str, str]] = field(default_factory=list)
    complete: bool = True
    notices: list[str] = field(default_factory=list)


class _Meter:
    """Calls `progress` now and then; what it raises is the caller's."""

    def __init__(self, progress: Progress | None, total: int | None):
        self._progress, self._total, self._done = progress, total, 0
        self._next = time.monotonic() + _SECONDS_BETWEEN

    def add(self) -> None:
        self._done += 1
        if self._progress is not None and time.monotonic() >= self._next:
            self.tell()

    def tell(self) -> None:
        if self._progress is not None:
            self._progress(self._done, self._total)
            self._next = time.monotonic() + _SECONDS_BETWEEN


def _result(packed: tuple) -> PackResult:
    *rest, notices = packed
    return PackResult(*rest, [in_python(notice) for notice in notices])


def _total(splits: Mapping[str, Iterable]) -> int | None:
    try:
        return sum(len(records) for records in splits.values())
    except TypeError:  # a generator
        return None


def _pack_records(splits: Mapping[str, Iterable[Mapping]], options: dict,
                  progress: Progress | None) -> PackResult:
    stream = _core.PackStream(options)
    meter = _Meter(progress, _total(splits))
    try:
        for split, records in splits.items():
            stream.begin_split(split)
            for features in records:
                stream.add(features_of(features))
                meter.add()
        meter.tell()
        return _result(stream.finish())
    finally:
        stream.discard()  # what is not finished


def _pack_path(path: str, split: str, options: dict, progress: Progress | None) -> PackResult:
    if options['append'] and options['overwrite']:
        raise InvalidArgumentError('append adds to what overwrite removes: choose one of them')
    options |= {'path': path, 'split': '' if split == 'train' else split}
    return _result(_core.pack_path(options, progress))


def pack(source: str | os.PathLike | Iterable[Mapping] | Mapping[str, Iterable[Mapping]],
         out: str | os.PathLike, *, split: str = 'train', shard_bytes: int = 100_000_000,
         compression: str = 'none', level: int = 6, overwrite: bool = False, sync: bool = True,
         progress: Progress | None = None, class_names: Sequence[str] | None = None,
         **path_options: Unpack[PathOptions]) -> PackResult:
    """Packs a data set into the folder `out`: shards, index and manifest, for open() and
    `recpack verify`. A relative one is within the folder that the program is in now.

    source: a path, packed as `recpack pack` does (it says what it takes, and goes on where it was
        interrupted); or an iterable of records as Writer.write() takes them, in their order, once; or
        a dictionary of such by split.
    split: of an iterable, or of a tar.
    shard_bytes: about the size of a shard before compression.
    compression: "none", "gzip" or "zlib", of `level` 1 (fast) to 9 (small).
    overwrite: remove what was packed into `out` before; for an iterable once all its records came.
    sync: wait until files would survive a power cut.
    progress: called with (done, total) about ten times a second: bytes of a path, records of an
        iterable, whose total is None where it has no len(). What it raises stops the job.
    class_names: of an iterable's labels, from 0; labels are its feature image/class/label or label.

    Of paths alone, as `recpack pack --help` has them:

    kind: "cifar10", "folder", "imagenet", "tar", "list", "reviews", "tfrecord"; recognised.
    threads: 0: all processors. shards: number of shards of each split, instead of shard_bytes.
    splits: names of CIFAR's, ["train", "test"]. layout: what folders are, "splits" or "classes".
    fields: {"image": "jpg"}: which, under which names. columns: {"zip": "bytes"}: types of a list's.
    filters: of shards, ["label=3", "label!=4"]: records to keep. label_offset: number of the first
        class of foreign records.
    devkit, labels: of ImageNet's validation images: the kit, or a file of WordNet ids.
    resize: shorter side of images in pixels, as JPEG of `quality` 1 to 100 (90). jpeg: "tile":
        rewritten losslessly, so that crops decode alone. check_images: decode every image.
    max_tokens, vocabulary (how many) or vocabulary_file, seed (of the splits): of reviews.
    shuffle: a seed, None, or "auto": 0 where items lie by class. limit: records of each split.
    max_skip: share of all items, of all tasks together, that may be bad: they are left out and listed.
        0: the first one is an error.
    append: add to what `out` holds. task: (0, 4): the first of four parts, each a process, on a
        machine of its own say. dali_index: write NVIDIA DALI's, too.
    work_folder: of temporary files, such as unpacked archives.

    An iterable that fails, or Ctrl-C, leaves no shard. A path that does leaves whole shards without a
    manifest, for the next call to go on. Raises InvalidArgumentError (`out` holds something, a value
    has no place in a record), NotFoundError, CorruptError, IoError.
    """
    common = {'out': os.fspath(out), 'shard_bytes': shard_bytes, 'compression': compression,
              'level': level, 'overwrite': overwrite, 'sync': sync}
    if isinstance(source, (str, os.PathLike)):
        if class_names is not None:
            raise TypeError('class_names are for iterables; a path has its own')
        return _pack_path(os.fspath(source), split, common | core_options(**path_options), progress)
    if path_options:
        raise TypeError(f'{", ".join(path_options)}: for paths, and the source is an iterable')
    splits = source if isinstance(source, Mapping) else {split: source}
    return _pack_records(splits, common | {'class_names': list(class_names or [])}, progress)
