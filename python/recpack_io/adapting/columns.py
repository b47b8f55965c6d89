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
    """Tells whether it is a dictionary of columns, not of splits.

    Raises:
        InvalidArgumentError: If some values are arrays and others are no columns.
    """
    if not isinstance(source, Mapping) or not source:
        return False
    others = [name for name, values in source.items() if not _is_column(values)]
    if others and any(map(_is_array, source.values())):
        raise InvalidArgumentError(f'{others[0]!r} is no column, and others are: give an array or a list of values, a row '
                                   'for each record')
    return not others


def _prepared(values: Any) -> Any:
    """Returns what gives the value of a row by its number, of one kind."""
    if _is_array(values):
        # Files of arrays (h5py, zarr) are read by rows.
        return values if hasattr(values, 'chunks') else np.asarray(values)
    kinds = {type(value) for value in values}
    return list(map(float, values)) if kinds == {int, float} else values


def _is_of_single_bytes(values: Any) -> bool:
    """Tells whether rows are uint8 arrays of one element: numbers, such as the labels of Keras's CIFAR-10, not bytes."""
    return _is_array(values) and values.dtype == np.uint8 and tuple(values.shape[1:]) == (1,)


class Columns:
    """Records of columns, one a row.

    Args:
        columns: Arrays or lists by feature, whose first dimensions are equal.

    Raises:
        InvalidArgumentError: If they have different numbers of rows.
    """

    def __init__(self, columns: Mapping[str, Any]):
        self._columns = {name: _prepared(values) for name, values in columns.items()}
        rows = {name: _rows(name, values) for name, values in self._columns.items()}
        first, *others = rows
        for other in others:
            if rows[other] != rows[first]:
                raise InvalidArgumentError(f'the column {first!r} has {rows[first]:,} rows and {other!r} has '
                                           f'{rows[other]:,}: give columns of one length')
        self._length = rows[first]
        self._single = {name for name, values in self._columns.items() if _is_of_single_bytes(values)}

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in range(self._length):
            yield {name: values[row][0] if name in self._single else values[row]
                   for name, values in self._columns.items()}


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
