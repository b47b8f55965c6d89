"""Records of whole columns: {"image": array, "label": array}, as tf.data's from_tensor_slices takes them."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from recpack_io.errors import InvalidArgumentError


def _is_array(value: Any) -> bool:
    return hasattr(value, 'shape') and hasattr(value, 'dtype')


def _is_column(value: Any) -> bool:
    """Tells columns from lists of records: an array, or a list of other things than dictionaries."""
    if _is_array(value):
        return True
    return isinstance(value, (list, tuple)) and len(value) > 0 and not hasattr(value[0], 'keys')


def is_columns(source: Any) -> bool:
    """Tells whether it is a dictionary of columns, not of splits."""
    return isinstance(source, Mapping) and len(source) > 0 and all(map(_is_column, source.values()))


class Columns:
    """Records of columns, one a row.

    Args:
        columns: Arrays or lists by feature, whose first dimensions are equal.

    Raises:
        InvalidArgumentError: If they have different numbers of rows.
    """

    def __init__(self, columns: Mapping[str, Any]):
        self._columns = {name: np.asarray(values) if _is_array(values) else values
                         for name, values in columns.items()}
        rows = {name: _rows(name, values) for name, values in self._columns.items()}
        first, *others = rows
        for other in others:
            if rows[other] != rows[first]:
                raise InvalidArgumentError(f'the column {first!r} has {rows[first]:,} rows and {other!r} has '
                                           f'{rows[other]:,}: give columns of one length')
        self._length = rows[first]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in range(self._length):
            yield {name: values[row] for name, values in self._columns.items()}


def _rows(name: str, values: Any) -> int:
    if not getattr(values, 'shape', (0,)):
        raise InvalidArgumentError(f'the column {name!r} is one value, not an array of rows')
    return len(values)


def records_of(source: Any) -> Iterable[Mapping]:
    """Returns the records of a split: those of columns, or the iterable itself.

    Raises:
        InvalidArgumentError: If columns have different numbers of rows, or a dictionary is no columns.
    """
    if is_columns(source):
        return Columns(source)
    if isinstance(source, Mapping):
        raise InvalidArgumentError(f'a dictionary with {", ".join(map(repr, list(source)[:3]))} is neither columns nor '
                                   'splits: give arrays or lists of values by feature, or records by split')
    return source
