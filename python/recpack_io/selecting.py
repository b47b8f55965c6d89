"""Selecting: functions that choose records, which are methods of data sets and of views."""
from __future__ import annotations

import operator
import reprlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, Union

import numpy as np

from recpack_io import _core
from recpack_io.arguments import check_kind, checks_arguments
from recpack_io.errors import InvalidArgumentError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from recpack_io.views import View

Value = Union[int, str, bytes]
Wanted = Union[Value, Iterable[Value]]


class Selectable(Protocol):
    """A Dataset or a View."""

    def _view(self) -> View: ...


# Methods of Dataset and of View. A class of the core, which Dataset derives from, allows no second
# base class.

def subset(self: Selectable, numbers: ArrayLike) -> View:
    """Selects records by number, in the given order.

    Args:
        numbers: Integers, or a mask: an array of bool, one per record. A record that is given twice
            is sampled twice.

    Raises:
        InvalidArgumentError: If there are none, if one is beyond the end, or if records of this
            view are drawn.
    """
    view = self._view()
    given = np.asarray(numbers)
    if given.dtype == bool:
        if given.shape != (len(view),):
            raise InvalidArgumentError(f'the mask has shape {given.shape}, for {len(view)} records')
        given = np.flatnonzero(given)
    if given.ndim != 1 or (given.size and given.dtype.kind not in 'iu'):
        raise InvalidArgumentError('a subset needs a list of integers or a mask of bool, not an '
                                   f'array of {given.dtype} with shape {given.shape}')
    if given.size and given.min() < 0:
        raise InvalidArgumentError(f'there is no record {given.min()} for a subset: records count '
                                   'from 0')
    return view._with(view._core.subset(np.ascontiguousarray(given, np.uint64)))


def _list(feature: str, wanted: Wanted) -> list[int | bytes]:
    values = [wanted] if isinstance(wanted, (str, bytes)) or not isinstance(wanted, Iterable) else list(wanted)
    for value in values:
        if not isinstance(value, (str, bytes)) and not hasattr(value, '__index__'):
            raise TypeError(f'filter(): {feature} cannot be {reprlib.repr(value)}: give integers, strings or bytes; '
                            'filter(function) compares other values')
    return [value.encode() if isinstance(value, str)
            else value if isinstance(value, bytes) else operator.index(value) for value in values]


def filter(self: Selectable,  # noqa: A001
           keep: Callable[[_core.Record], Any] | Mapping[str, Wanted] | None = None, *,
           leave_out_corrupt: bool = False, **features: Wanted) -> View:
    """Selects the records that a function or values of features ask for, in their order.

    Args:
        keep: A function, which is called with each record once and returns true for those to keep;
            or wanted values by feature, as `features`, for names that are no Python names.
        leave_out_corrupt: Leave out records that cannot be read. Otherwise they are an error.
        features: A value, or several, by feature: label=[3, 5], split="train". Of a feature with
            several values, one has to match. These are read by all threads.

    Raises:
        InvalidArgumentError: If no record is kept, if a record lacks a feature, or if records of
            this view are drawn.
        CorruptError, IoError: If a record cannot be read.
    """
    check_kind('filter', 'leave_out_corrupt', leave_out_corrupt, 'bool')
    view = self._view()
    if isinstance(keep, Mapping):
        keep, features = None, {**keep, **features}
    if keep is not None and not callable(keep):
        raise TypeError(f'filter(): keep cannot be {reprlib.repr(keep)}: give a function, or wanted values by feature')
    if keep is None and not features:
        raise InvalidArgumentError('filter() needs a function or values of a feature')
    if features:
        wanted = {name: _list(name, each) for name, each in features.items()}
        view = view._with(view._core.filter(wanted, leave_out_corrupt))
    if keep is not None:
        view = subset(view, [number for number, record in view._records(leave_out_corrupt)
                             if keep(record)])
    return view


def random_split(self: Selectable, *shares: float, seed: int = 0, key: str = '',
                 leave_out_corrupt: bool = False) -> tuple[View, ...]:
    """Splits the records at random: `train, rest = ds.random_split(0.9, seed=1)`.

    A record's place depends on its hash only: it stays there when others are added or removed.

    Args:
        shares: Shares of the parts, approximately, each above 0. If they add up to less than 1, the
            last part is the rest.
        seed: Seed of the hash.
        key: Feature to hash, with one value, such as the name of a patient: records with the same
            value are in the same part. Default: the record's ordinal.
        leave_out_corrupt: With a key: leave out records that cannot be read.

    Raises:
        InvalidArgumentError: If the shares are invalid, if a part has no records, or if records of
            this view are drawn.
    """
    for share in shares:
        check_kind('random_split', 'a share', share, 'float')
    check_kind('random_split', 'seed', seed, 'int')
    check_kind('random_split', 'key', key, 'str')
    view = self._view()
    ends = np.cumsum(shares).tolist()
    if not ends or min(shares) <= 0 or ends[-1] > 1 + 1e-9:
        raise InvalidArgumentError(f'shares {shares} are invalid: give numbers above 0 that add up '
                                   'to 1 at most')
    if ends[-1] > 1 - 1e-9:
        ends[-1] = 1.0
    else:
        ends.append(1.0)
    if len(ends) == 1:
        return (view,)
    return tuple(view._with(view._core.hash_split(begin, end, seed, key, leave_out_corrupt))
                 for begin, end in zip([0.0, *ends], ends))


@checks_arguments()
def balanced(self: Selectable, label: str = 'label', *, epoch_samples: int = 0,
             leave_out_corrupt: bool = False) -> View:
    """Samples each class equally often, however many records it has.

    No record comes again before all others of its class have come.

    Args:
        label: Feature with the class, one integer.
        epoch_samples: Samples per epoch, rounded up to a multiple of the number of classes.
            Default: as many as there are records.
        leave_out_corrupt: Leave out records that cannot be read.
    """
    view = self._view()
    drawn = label, epoch_samples, leave_out_corrupt
    return view._with(view._core.balanced(*drawn), 'balanced', *drawn)


@checks_arguments()
def weighted(self: Selectable, weights: ArrayLike, *, epoch_samples: int = 0) -> View:
    """Samples records in proportion to their weights, with repetition; anew in each epoch.

    As torch's WeightedRandomSampler, with less variance: a record's number of samples in an epoch
    differs by less than 2 from its share.

    Args:
        weights: One per record, at least 0, of any sum: `1 / np.bincount(labels)[labels]`.
        epoch_samples: Samples per epoch. Default: as many as there are records.

    Raises:
        InvalidArgumentError: If a weight is invalid, or if their number is not that of the records.
    """
    view = self._view()
    given = np.ascontiguousarray(weights, np.float64)
    if given.ndim != 1:
        raise InvalidArgumentError(f'weights have shape {given.shape}: give one per record')
    return view._with(view._core.weighted(given, epoch_samples), 'weighted', given, epoch_samples)


@checks_arguments()
def column(self: Selectable, feature: str = 'label') -> Any:
    """Returns one feature of all records, read by all threads.

    Returns:
        An array of int64 or float32, shape (records,), or (records, n) if each record has n values;
        for bytes, a list of bytes.

    Raises:
        InvalidArgumentError: If records differ in the number or kind of values.
    """
    return self._view()._core.column(feature)
