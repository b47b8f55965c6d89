"""Mixtures: several data sets or views, sampled in fixed shares."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Union

from recpack_io import _core
from recpack_io.arguments import check_kind
from recpack_io.errors import InvalidArgumentError
from recpack_io.selecting import Selectable

if TYPE_CHECKING:
    from recpack_io.fields import Field
    from recpack_io.views import View

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
            check_kind('Mixture', 'a source', each[0], 'Dataset | View')
            check_kind('Mixture', 'a weight', each[1], 'float')
        check_kind('Mixture', 'period', period, 'int')
        check_kind('Mixture', 'epoch_samples', epoch_samples, 'int')
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


def core_mixture(samples: Selectable | Mixture) -> _core.Mixture:
    """Returns the samples as the core's loader takes them."""
    if isinstance(samples, Mixture):
        return samples._core
    return _core.Mixture(samples._view()._core)
