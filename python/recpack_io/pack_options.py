"""Options of `recpack pack` as arguments of pack()."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from recpack_io import _core
from recpack_io.errors import InvalidArgumentError

if TYPE_CHECKING:
    from recpack_io.options import FolderLayout, Jpeg, SourceKind

Path = str | os.PathLike[str]


class PathOptions(TypedDict, total=False):
    """Options for paths only; see pack()."""

    threads: int
    kind: SourceKind
    splits: str | Sequence[str]
    layout: FolderLayout
    fields: str | Mapping[str, str]
    columns: str | Mapping[str, str]
    filters: str | Sequence[str]
    label_offset: int
    devkit: Path
    labels: Path
    check_images: bool
    resize: int
    quality: int
    jpeg: Jpeg
    max_tokens: int | None
    vocabulary: int | None
    vocabulary_file: Path
    seed: int | None
    shards: int
    shuffle: int | str | None
    limit: int
    max_skip: float
    append: bool
    task: tuple[int, int] | Literal['auto']
    dali_index: bool
    work_folder: Path


def _pairs(given: str | Mapping[str, str]) -> str:
    """Formats pairs as NAME=VALUE,... for the program."""
    if isinstance(given, str):
        return given
    return ','.join(f'{name}={value}' for name, value in given.items())


def _list(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _one_of(name: str, given: str, known: tuple[str, ...]) -> str:
    if given and given not in known:
        raise InvalidArgumentError(f'{name} cannot be {given!r}: choose {" or ".join(known)}, or '
                                   'leave it out')
    return given


def _within(name: str, given: int | None, least: int, most: int) -> int | None:
    if given is not None and not least <= given <= most:
        raise InvalidArgumentError(f'{name} cannot be {given!r}: choose {least} to {most}')
    return given


def core_options(*, threads: int = 0, kind: SourceKind = '', splits: str | Sequence[str] = '',
                 layout: FolderLayout = '', fields: str | Mapping[str, str] = '',
                 columns: str | Mapping[str, str] = '', filters: str | Sequence[str] = (),
                 label_offset: int = 0, devkit: Path = '', labels: Path = '',
                 check_images: bool = False, resize: int = 0, quality: int = 90, jpeg: Jpeg = '',
                 max_tokens: int | None = None, vocabulary: int | None = None,
                 vocabulary_file: Path = '', seed: int | None = None, shards: int = 0,
                 shuffle: int | str | None = 'auto', limit: int = 0, max_skip: float = 0.0,
                 append: bool = False, task: tuple[int, int] | Literal['auto'] = (0, 1), dali_index: bool = False,
                 work_folder: Path = '') -> dict[str, Any]:
    """Returns PathOptions with their defaults, for the core.

    Raises:
        TypeError: If there is no option of that name.
        InvalidArgumentError: If a value is invalid.
    """
    if vocabulary is not None and vocabulary_file:
        raise InvalidArgumentError('a vocabulary is made, or read of vocabulary_file: choose one')
    by_class = shuffle == 'auto'
    number, tasks = _core.find_task() if task == 'auto' else task
    return {'threads': threads, 'kind': kind, 'splits': ','.join(_list(splits)),
            'layout': _one_of('layout', layout, ('splits', 'classes')),
            'fields': _pairs(fields), 'columns': _pairs(columns), 'filters': _list(filters),
            'label_offset': label_offset, 'devkit': os.fspath(devkit),
            'labels': os.fspath(labels), 'check_images': check_images,
            'resize': _within('resize', resize, 0, 65535),
            'quality': _within('quality', quality, 1, 100),
            'jpeg': _one_of('jpeg', jpeg, ('tile',)),
            'max_tokens': _within('max_tokens', max_tokens, 1, 1 << 24),
            'vocabulary': _within('vocabulary', vocabulary, 1, 1 << 31),
            'vocabulary_file': os.fspath(vocabulary_file), 'seed': seed, 'shards': shards,
            'shuffle': None if by_class else shuffle, 'shuffle_classes': by_class, 'limit': limit,
            'max_skip': max_skip, 'append': append, 'task': number, 'tasks': tasks,
            'dali_index': dali_index, 'work_folder': os.fspath(work_folder)}
