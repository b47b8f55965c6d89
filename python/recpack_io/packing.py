"""Packs data sets into folders of shards."""
from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from recpack_io import _core
from recpack_io.adapting.columns import is_columns, records_of
from recpack_io.adapting.huggingface_rows import Rows, is_of_hugging_face, named_classes, splits_of
from recpack_io.arguments import checks_arguments
from recpack_io.errors import InvalidArgumentError, in_python
from recpack_io.pack_options import PathOptions, core_options
from recpack_io.writing import features_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from recpack_io.options import Compression

_SECONDS_BETWEEN = 0.1  # two calls of progress
Progress = Callable[[int, int | None], object]


@dataclass(frozen=True)
class PackResult:
    """Result of packing.

    Attributes:
        records, shards: Numbers of records and shards; of a task, its own.
        nbytes: Size of the shards.
        skipped: Items that were skipped, with the reasons.
        complete: False if shards of other tasks are missing; the last task writes the manifest.
        notices: Notices, for example about ignored files of the source.
    """

    records: int
    nbytes: int
    shards: int
    skipped: list[tuple[str, str]] = field(default_factory=list)
    complete: bool = True
    notices: list[str] = field(default_factory=list)


class _Meter:
    """Calls `progress` from time to time; its exceptions reach the caller."""

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


def _pack_hugging_face(splits: Mapping[str, Rows], class_names: Sequence[str] | None, options: dict,
                       progress: Progress | None) -> PackResult:
    names = list(named_classes(splits.values()) if class_names is None else class_names)
    result = _pack_records(splits, options | {'class_names': names}, progress)
    renamed = {pair for rows in splits.values() for pair in rows.renamed.items()}
    notices = [f'the column {column!r} is the feature {feature!r}' for column, feature in sorted(renamed)]
    return replace(result, notices=result.notices + notices)


@checks_arguments(core_options)
def pack(source: str | os.PathLike | Iterable[Mapping] | Mapping[str, Any],
         out: str | os.PathLike, *, split: str | None = None, shard_bytes: int = 100_000_000,
         compression: Compression = 'none', level: int = 6, overwrite: bool = False,
         sync: bool = True, progress: Progress | None = None, class_names: Sequence[str] | None = None,
         **path_options: Unpack[PathOptions]) -> PackResult:
    """Packs a data set into the folder `out`, for open() and `recpack verify`.

    Writes shards, an index and a manifest.

    An iterable that fails, or Ctrl-C, leaves no shard. A path that fails leaves complete shards
    without a manifest; the next call continues.

    Args:
        source: A path, packed as by `recpack pack` (see its help for the sources; an interrupted
            run continues; "cifar10" and "cifar100" are downloaded); an iterable of records as for Writer.write(), which are
            packed in order in one pass; whole columns, {"image": array, "label": array}, arrays or lists with a row
            for each record; a dictionary of such iterables or columns by split; or a data set of Hugging Face, with
            its splits and names of classes: load_dataset("beans").
        out: Output folder, or an s3:// or gs:// URL. A relative path refers to the current working
            directory.
        split: Split of an iterable or of a tar. Default: "train", or that of the data set of Hugging Face.
        shard_bytes: Approximate size of a shard before compression.
        compression: "none", "gzip" or "zlib".
        level: Compression level, from 1 (fast) to 9 (small).
        overwrite: Remove what was packed into `out` before; for an iterable, after its last record.
        sync: Wait until files would survive a power failure.
        progress: Called with (done, total) about ten times per second: bytes of a path, or records
            of an iterable, with a total of None if it has no len(). An exception stops the job.
        class_names: Names of an iterable's labels, from 0; labels are in its feature
            image/class/label or label.

    For paths only, as in `recpack pack --help`:

        kind: "cifar10", "cifar100", "folder", "imagenet", "tar", "list", "reviews" or "tfrecord".
            Default: detected.
        threads: Number of threads. 0: all processors.
        shards: Number of shards per split, instead of shard_bytes.
        splits: Names of CIFAR's splits, such as ["train", "test"].
        layout: Meaning of folders: "splits" or "classes".
        fields: Fields to pack, and their names: {"image": "jpg"}.
        columns: Types of a list's columns: {"zip": "bytes"}.
        filters: Conditions on records of shards to keep: ["label=3", "label!=4"].
        label_offset: Number of the first class in foreign records.
        devkit, labels: Labels of ImageNet's validation images: the kit, or a file of WordNet ids.
        resize: Shorter side of images in pixels; they become JPEGs.
        quality: JPEG quality, 1 to 100. Default: 90.
        jpeg: "tile": rewrite losslessly, so that crops can be decoded alone.
        check_images: Decode every image.
        max_tokens, vocabulary (size) or vocabulary_file, seed (of the splits): For reviews.
        shuffle: A seed, None, or "auto": 0 if items are stored by class.
        limit: Maximum number of records per split.
        max_skip: Maximum share of bad items, over all tasks; they are skipped and listed. 0: the
            first bad item is an error.
        append: Add to the contents of `out`.
        task: (0, 4) is the first of four parts, each packed by its own process or machine. "auto":
            as the environment of an array job, mpirun, srun or torchrun tells.
        dali_index: Also write indexes for NVIDIA DALI.
        work_folder: Folder for temporary files, such as unpacked archives.

    Returns:
        A PackResult.

    Raises:
        InvalidArgumentError: If `out` is not empty or a value cannot be stored.
        NotFoundError, CorruptError, IoError: If the source cannot be read or `out` not be written.
    """
    common = {'out': os.fspath(out), 'shard_bytes': shard_bytes, 'compression': compression,
              'level': level, 'overwrite': overwrite, 'sync': sync}
    if isinstance(source, (str, os.PathLike)):
        if class_names is not None:
            raise TypeError('class_names are for iterables; a path has its own')
        return _pack_path(os.fspath(source), split or '', common | core_options(**path_options), progress)
    if path_options:
        raise TypeError(f'{", ".join(path_options)}: for paths, and the source is an iterable')
    if is_of_hugging_face(source):
        return _pack_hugging_face(splits_of(source, split), class_names, common, progress)
    by_split = isinstance(source, Mapping) and not is_columns(source)
    given = source if by_split else {'train' if split is None else split: source}
    splits = {name: records_of(records) for name, records in given.items()}
    return _pack_records(splits, common | {'class_names': list(class_names or [])}, progress)
