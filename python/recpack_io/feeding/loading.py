"""Loader whose batches are made elsewhere."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from recpack_io import loading
from recpack_io.errors import UnsupportedError
from recpack_io.feeding.feed import Feed, Place
from recpack_io.feeding.makers import Makers

if TYPE_CHECKING:
    from recpack_io.options import LastBatch


def last_batch_of_makers(last_batch: LastBatch) -> LastBatch:
    """Returns what makers do: they make odd last batches, and the consumer drops them."""
    return 'pad' if last_batch == 'pad' else 'keep'


def refuse_bfloat16(arrays: Mapping[str, tuple[str, tuple[int, ...]]]) -> None:
    """Refuses arrays, by name, that cannot travel."""
    if narrow := [name for name, (kind, _) in arrays.items() if kind == 'bf16']:
        raise UnsupportedError(f'{narrow[0]!r} is of bfloat16, which NumPy does not support: choose "f16" or "f32", '
                               'and convert on the device')


class FedLoader(loading.Loader):
    """A loader that takes batches from makers, which it ends when it is closed."""

    _kind = 'makers'  # for messages
    _makers: Makers | None = None
    _feeding: dict[str, Any] = {}  # arguments of a Feed

    def close(self) -> None:
        """Ends those who make the batches. Batches that are held stay valid. Called on destruction and at exit."""
        super().close()
        makers, self._makers = self._makers, None
        if makers is not None:
            makers.close()

    def _start_makers(self) -> Makers:
        """Called once, when the options are known to be good."""
        raise NotImplementedError

    def _make_core(self, options: dict[str, Any]) -> Feed:
        place = Place(len(self.dataset), options['batch_size'], options['rank'], options['world_size'],
                      options['last_batch'], options['epochs'])
        if place.world_size > 1 and options['share'] != 'batches':
            raise UnsupportedError(f'several ranks share whole batches of {self._kind}: give share="batches"')
        if self._makers is None:
            self._makers = self._start_makers()
        return Feed(self._makers, place, token=options['resume'], epoch=options['epoch'], audit=options['audit'],
                    **self._feeding)
