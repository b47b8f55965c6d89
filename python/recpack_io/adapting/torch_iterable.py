"""IterableDataset of a loader's batches, for libraries that insist on torch's DataLoader."""
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch

from recpack_io.errors import UnsupportedError
from recpack_io.adapting.torch_batches import Batch, TupleBatch

if TYPE_CHECKING:
    from recpack_io.torch import Loader


class IterableDataset(torch.utils.data.IterableDataset[Batch | TupleBatch]):
    """A loader's batches as an IterableDataset, for libraries that insist on torch's DataLoader.

    `DataLoader(IterableDataset(loader), batch_size=None)` gives the loader's batches. Where a
    Loader is taken, give it itself: it is faster to resume, and has a state.

    Args:
        loader: The loader, whose threads do the work: num_workers must be 0.
    """

    __module__ = 'recpack_io.torch'  # where programs import it from

    def __init__(self, loader: Loader):
        super().__init__()
        self.loader = loader

    def __iter__(self) -> Iterator[Batch | TupleBatch]:
        """Yields the batches of an epoch.

        Raises:
            UnsupportedError: In a worker process of a DataLoader.
        """
        if torch.utils.data.get_worker_info() is not None:
            raise UnsupportedError('the loader has threads of its own: give the DataLoader '
                                   'num_workers=0')
        yield from self.loader

    def __len__(self) -> int:
        """Returns the number of batches per epoch."""
        return len(self.loader)

    def set_epoch(self, epoch: int) -> None:
        """As Loader.set_epoch().

        Args:
            epoch: The epoch.
        """
        self.loader.set_epoch(epoch)
