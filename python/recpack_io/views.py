"""Views: selections of a data set's records."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from recpack_io import _core, selecting
from recpack_io.arguments import check_kind
from recpack_io.errors import CorruptError, InvalidArgumentError
# Pickles of earlier versions name _mixture here.
from recpack_io.mixtures import Mixture, _mixture  # noqa: F401

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from recpack_io.options import HashRange
    from recpack_io.reading import Dataset
    from recpack_io.selecting import Selectable, Wanted

__all__ = ['View', 'select']

_RECORDS_AT_ONCE = 256


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

    subset = selecting.subset
    filter = selecting.filter
    random_split = selecting.random_split
    split = selecting.random_split  # the same; a Dataset has its split's name there
    balanced = selecting.balanced
    weighted = selecting.weighted
    column = selecting.column

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


def _in_hash_range(view: View, hash_range: HashRange) -> View:
    given = *hash_range, *(0.0, 1.0, 0, '')[len(hash_range):]
    for name, value, kind in zip(('begin', 'end', 'seed', 'key'), given, ('float', 'float', 'int', 'str')):
        check_kind('hash_range', name, value, kind)
    if not 2 <= len(hash_range) <= 4 or not 0 <= given[0] < given[1] <= 1:
        raise InvalidArgumentError(f'hash_range {tuple(hash_range)} is invalid: give begin and end, from 0 to 1, '
                                   'and if needed a seed and the feature to hash')
    return view._with(view._core.hash_split(*given, False))


def select(records: Selectable | Mixture, *, subset: ArrayLike | None = None,  # noqa: A002
           filter: Callable[[_core.Record], Any] | Mapping[str, Wanted] | None = None,  # noqa: A002
           hash_range: HashRange | None = None, balanced: str = '',
           weights: ArrayLike | None = None) -> Selectable | Mixture:
    """Applies a Loader's arguments that select records, in this order."""
    if not balanced and all(each is None for each in (subset, filter, hash_range, weights)):
        return records
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
    if hash_range is not None:
        view = _in_hash_range(view, hash_range)
    if balanced:
        view = view.balanced(balanced)
    if weights is not None:
        view = view.weighted(weights)
    return view
