"""Views: selections of a data set's records, and mixtures of several."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Union, overload

import numpy as np

from recpack_io import _core
from recpack_io.errors import CorruptError, InvalidArgumentError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from recpack_io.fields import Field
    from recpack_io.reading import Dataset

Value = Union[int, str, bytes]
Wanted = Union[Value, Iterable[Value]]
_RECORDS_AT_ONCE = 256


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


def _list(wanted: Wanted) -> list[int | bytes]:
    values = [wanted] if isinstance(wanted, (int, str, bytes, np.integer)) else list(wanted)
    return [value.encode() if isinstance(value, str)
            else value if isinstance(value, bytes) else int(value) for value in values]


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
    view = self._view()
    if isinstance(keep, Mapping):
        keep, features = None, {**keep, **features}
    if keep is None and not features:
        raise InvalidArgumentError('filter() needs a function or values of a feature')
    if features:
        wanted = {name: _list(each) for name, each in features.items()}
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


def column(self: Selectable, feature: str = 'label') -> Any:
    """Returns one feature of all records, read by all threads.

    Returns:
        An array of int64 or float32, shape (records,), or (records, n) if each record has n values;
        for bytes, a list of bytes.

    Raises:
        InvalidArgumentError: If records differ in the number or kind of values.
    """
    return self._view()._core.column(feature)


class View:
    """Some of a data set's records, or drawn ones: what a Loader samples.

    Made by the methods subset(), filter(), random_split(), balanced() and weighted() of a Dataset or
    another View, which chain: `ds.filter(label=[3, 5]).random_split(0.9)[0].balanced()`. Balanced and
    weighted views draw records anew in each epoch: they come last.

    Immutable and thread-safe. Can be pickled. len() is the number of samples of an epoch. Records
    are numbered from 0: `view[7]`, `view[10:20]`, iteration. 4 bytes per record.

    Args:
        dataset: Result of recpack_io.open(): View(dataset) has all of its records.
    """

    # How records are drawn, and of which view.
    _drawn: tuple[Any, ...] = ()
    _of: View | None = None

    def __init__(self, dataset: Dataset):
        self.dataset = dataset
        self._core = _core.View(dataset)

    def _with(self, core: _core.View, *drawn: Any) -> View:
        """Returns the view of `core`, which was made of this one; `drawn`: by this call."""
        view = View(self.dataset)
        view._core = core
        if drawn:
            view._drawn, view._of = drawn, self
        return view

    subset = subset
    filter = filter
    random_split = random_split
    balanced = balanced
    weighted = weighted
    column = column

    def _view(self) -> View:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        of = self._of or self
        whole = of._core.digest == of.dataset.digest
        return _rebuilt, (self.dataset, None if whole else of._core.ids(), self._drawn)

    def __len__(self) -> int:
        """Returns the number of samples per epoch."""
        return self._core.samples

    @property
    def ids(self) -> NDArray[np.uint64]:
        """Ordinals of the records in the split, in the view's order; uint64 of shape (len,).

        Raises:
            InvalidArgumentError: If they are drawn, and so not the same in each epoch.
        """
        self._check_fixed()
        return self._core.ids()

    @property
    def digest(self) -> str:
        """Identifies the selected records."""
        return self._core.digest

    @property
    def class_names(self) -> list[str]:
        """Names by label, from 0; empty if they are not known."""
        return self.dataset.class_names

    def _check_fixed(self) -> None:
        if self._core.drawn:
            raise InvalidArgumentError(f'a {self._drawn[0]} view draws its records anew in each '
                                       'epoch: take those of the view that it was made of')

    @overload
    def __getitem__(self, number: int) -> _core.Record: ...
    @overload
    def __getitem__(self, number: slice | Sequence[int]) -> list[_core.Record]: ...

    def __getitem__(self, number: int | slice | Sequence[int]
                    ) -> _core.Record | list[_core.Record]:
        ids = self.ids[number]
        return self.dataset[int(ids) if np.ndim(ids) == 0 else ids.tolist()]

    def __iter__(self) -> Iterator[_core.Record]:
        for _, record in self._records():
            yield record

    def _records(self, leave_out_corrupt: bool = False) -> Iterator[tuple[int, _core.Record]]:
        ids = self.ids.tolist()
        for begin in range(0, len(ids), _RECORDS_AT_ONCE):
            some = ids[begin:begin + _RECORDS_AT_ONCE]
            try:
                records = [*enumerate(self.dataset[some], begin)]
            except CorruptError:
                if not leave_out_corrupt:
                    raise
                records = [*self._one_by_one(some, begin)]
            yield from records

    def _one_by_one(self, ids: list[int], begin: int) -> Iterator[tuple[int, _core.Record]]:
        for number, id_ in enumerate(ids, begin):
            try:
                record = self.dataset[id_]
                record.keys()  # parses it
            except CorruptError:
                continue
            yield number, record

    def __repr__(self) -> str:
        drawn = f', {self._drawn[0]}' if self._drawn else ''
        return (f'<recpack_io.View of {self.dataset.path!r}, {self.dataset.split}: '
                f'{len(self):,} samples of {len(self.dataset):,} records{drawn}>')


def _rebuilt(dataset: Dataset, ids: NDArray[np.uint64] | None, drawn: tuple[Any, ...]) -> View:
    view = View(dataset)
    if ids is not None:
        view = view.subset(ids)
    if not drawn:
        return view
    how, *arguments = drawn
    return view._with(getattr(view._core, how)(*arguments), *drawn)


# A mixture's source: records and weight; also with a recipe or fields of its own.
Source = Union[tuple[Selectable, float], tuple[Selectable, float, 'str | Sequence[Field]']]


class Mixture:
    """Samples several data sets or views in fixed shares: `Mixture([(photos, 0.7), (scans, 0.3)])`.

    Each source is sampled in its own order, again and again: none of its records comes again before
    all others have come. Large sources continue in the next epoch where the last one ended.

    Immutable. Can be pickled. len() is the number of samples of an epoch.

    Args:
        sources: Pairs of a Dataset or View and its weight, relative to the others. A third member
            is a recipe or a list of fields for that source; then all sources have one, and the
            Loader none. Their arrays must have the same names, types and shapes.
        period: Number of samples after which the shares are exact, 1 to 65,536: weights are rounded
            to whole counts per period.
        epoch_samples: Samples per epoch. Default: until each record of each source has come.

    Raises:
        InvalidArgumentError: If weights are not above 0, or too small for the period.
    """

    def __init__(self, sources: Iterable[Source], *, period: int = 100, epoch_samples: int = 0):
        given = list(sources)
        for each in given:
            if not isinstance(each, tuple) or len(each) not in (2, 3):
                raise InvalidArgumentError('a source of a mixture is (data set, weight) or '
                                           f'(data set, weight, recipe), not {each!r}')
        self._recipes = [each[2] for each in given if len(each) == 3]
        if self._recipes and len(self._recipes) < len(given):
            raise InvalidArgumentError('some sources of the mixture have a recipe and others none: '
                                       'give one to each, or to the loader')
        self._made_of = given, period, epoch_samples
        self._views = [each[0]._view() for each in given]
        self._core = _core.Mixture([(view._core, float(each[1]))
                                    for view, each in zip(self._views, given)],
                                   period, epoch_samples)

    def __reduce__(self) -> tuple[Any, ...]:
        return _mixture, self._made_of

    def __len__(self) -> int:
        """Returns the number of samples per epoch."""
        return self._core.samples

    @property
    def sources(self) -> list[View]:
        """The views, numbered as in Batch.sources."""
        return list(self._views)

    @property
    def recipes(self) -> list[str | Sequence[Field]]:
        """Recipe or fields of each source; empty if the loader has those of all."""
        return list(self._recipes)

    @property
    def counts(self) -> list[int]:
        """Samples of each source in a period."""
        return self._core.counts

    @property
    def period(self) -> int:
        """Number of samples after which the shares are exact."""
        return self._core.period

    @property
    def digest(self) -> str:
        """Identifies the sources, their records and their shares."""
        return self._core.digest

    def __repr__(self) -> str:
        shares = ', '.join(f'{count} of {view.dataset.path!r}'
                           for count, view in zip(self.counts, self._views))
        return f'<recpack_io.Mixture, {len(self):,} samples; of each {self.period}: {shares}>'


def _mixture(sources: list[Source], period: int, epoch_samples: int) -> Mixture:
    return Mixture(sources, period=period, epoch_samples=epoch_samples)


def select(records: Selectable | Mixture, *, subset: ArrayLike | None = None,  # noqa: A002
           filter: Callable[[_core.Record], Any] | Mapping[str, Wanted] | None = None,  # noqa: A002
           balanced: str = '', weights: ArrayLike | None = None) -> View | Mixture:
    """Applies a Loader's arguments that select records, in this order."""
    if subset is None and filter is None and not balanced and weights is None:
        return records if isinstance(records, Mixture) else records._view()
    if isinstance(records, Mixture):
        raise InvalidArgumentError('records of a mixture cannot be selected: select those of its '
                                   'sources')
    if balanced and weights is not None:
        raise InvalidArgumentError('records are balanced or weighted, not both')
    view = records._view()
    if subset is not None:
        view = view.subset(subset)
    if filter is not None:
        view = view.filter(filter)
    if balanced:
        view = view.balanced(balanced)
    if weights is not None:
        view = view.weighted(weights)
    return view


def core_mixture(samples: Selectable | Mixture) -> _core.Mixture:
    """Returns the samples as the core's loader takes them."""
    if isinstance(samples, Mixture):
        return samples._core
    return _core.Mixture(samples._view()._core)
