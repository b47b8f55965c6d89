"""Rows of data sets of Hugging Face, as records: files as they are stored, names of classes, nested columns."""
from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from recpack_io.errors import InvalidArgumentError

_FILES = 'Image', 'Audio', 'Video', 'Pdf', 'Nifti'  # decoded unless told otherwise


def is_of_hugging_face(source: Any) -> bool:
    """Returns true for a data set of the library `datasets`, with or without splits."""
    return any(kind.__module__.partition('.')[0] == 'datasets' for kind in type(source).__mro__)


def splits_of(source: Any, split: str | None) -> dict[str, Rows]:
    """Returns the rows of each split. `split`: name of the only one, if it is not the data set's."""
    if isinstance(source, Mapping):
        return {str(name): Rows(each) for name, each in source.items()}
    if split is None:
        named = re.fullmatch(r'(\w+)(\[.*\])?', str(getattr(source, 'split', None) or 'train'))
        split = named[1] if named else 'train'
    return {split: Rows(source)}


class Rows:
    """The rows of one split as records, each read once.

    Images, sound and videos are the files as they are stored, not decoded and encoded again. The only column of
    images is the feature `image` and the only one of classes `label`, whatever their names, if no other column has
    that name. A column of dictionaries, or of lists of them, becomes a feature per key: `objects/bbox`. Values that
    are None are left out.

    Attributes:
        class_names: Names of the classes, from 0.
        renamed: Names of features by column, where they differ.
    """

    def __init__(self, dataset: Any):
        features = dict(dataset.features or {})
        self.renamed = _renamed(features)
        self.class_names = next((list(feature.names) for name, feature in features.items()
                                 if self.renamed.get(name, name) == 'label' and _is(feature, 'ClassLabel')), [])
        self._features, self._dataset = features, dataset.with_format(None)
        for name, feature in features.items():
            stored = _stored(feature)
            if stored is not feature:
                self._dataset = self._dataset.cast_column(name, stored)

    def __len__(self) -> int:
        return len(self._dataset)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in self._dataset:
            record: dict[str, Any] = {}
            for name, value in row.items():
                _add(record, self.renamed.get(name, name), value, self._features.get(name))
            yield record


def _is(feature: Any, *kinds: str) -> bool:
    return type(feature).__name__ in kinds


def _renamed(features: Mapping[str, Any]) -> dict[str, str]:
    renamed = {}
    for kind, usual in ('Image', 'image'), ('ClassLabel', 'label'):
        names = [name for name, feature in features.items() if _is(feature, kind)]
        if len(names) == 1 and usual not in features:
            renamed[names[0]] = usual
    return renamed


def _stored(feature: Any) -> Any:
    """Returns the feature without decoding; itself if nothing of it is decoded."""
    if _is(feature, *_FILES):
        return dataclasses.replace(feature, decode=False) if feature.decode else feature
    if isinstance(feature, dict):
        stored = {name: _stored(each) for name, each in feature.items()}
        return stored if any(stored[name] is not feature[name] for name in stored) else feature
    inner = getattr(feature, 'feature', None)  # of a list
    if inner is None:
        return feature
    stored = _stored(inner)
    return feature if stored is inner else dataclasses.replace(feature, feature=stored)


def _add(record: dict[str, Any], name: str, value: Any, feature: Any) -> None:
    if value is None:
        return
    if _is(feature, *_FILES):
        record[name] = _file(name, value)
    elif isinstance(value, Mapping):
        for key, each in value.items():
            _add(record, f'{name}/{key}', each, feature.get(key) if isinstance(feature, Mapping) else None)
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        inner = getattr(feature, 'feature', None)
        if _is(inner, *_FILES):
            record[name] = [_file(name, each) for each in value]
            return
        for key in value[0]:
            record[f'{name}/{key}'] = _values([each[key] for each in value], name)
    elif hasattr(value, 'isoformat'):  # a date or a time
        record[name] = value.isoformat()
    else:
        record[name] = _values(value, name)


def _values(value: Any, name: str) -> Any:
    """Returns lists of lists as an array."""
    if not (isinstance(value, list) and value and isinstance(value[0], (list, np.ndarray))):
        return value
    try:
        return np.asarray(value)
    except ValueError as error:
        raise InvalidArgumentError(f'the feature {name!r} is lists of different lengths, {error}: make them one length, '
                                   'or one list, with map()') from error


def _file(name: str, value: Any) -> bytes:
    if value.get('bytes') is not None:
        return value['bytes']
    path = value.get('path')
    if path is None:
        raise InvalidArgumentError(f'the feature {name!r} is a file with neither bytes nor a path')
    from datasets.utils.file_utils import xopen  # also of URLs, and of members of archives
    with xopen(path, 'rb') as file:
        return file.read()


def named_classes(splits: Iterable[Rows]) -> list[str]:
    """Returns the names of the classes of the first split that has them."""
    return next((rows.class_names for rows in splits if rows.class_names), [])
