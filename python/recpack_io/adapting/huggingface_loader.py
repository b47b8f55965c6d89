"""PreparedLoader: a loader as Accelerate's own loaders are."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from accelerate.data_loader import DataLoaderStateMixin
from accelerate.state import GradientState

from recpack_io.errors import UnsupportedError
from recpack_io.torch import Batch, Loader, TupleBatch

# Names of the models for images.
_COLUMNS = {'image': 'pixel_values', 'label': 'labels'}


class PreparedLoader(DataLoaderStateMixin):
    """A Loader as Accelerate's own loaders are: it says which batch is the last, for accumulation
    of gradients and for gather_for_metrics().

    Args:
        loader: The loader.
        columns: New names of arrays. Default: "image" becomes "pixel_values", "label" "labels".
        device: Device to which batches are copied; None: they stay where they are.
    """

    __module__ = 'recpack_io.huggingface'  # where programs import it from

    def __init__(self, loader: Loader, columns: Mapping[str, str] | None = None,
                 device: torch.device | None = None):
        self.loader, self.dataset = loader, loader.dataset
        self.gradient_state = GradientState()
        self._columns = _COLUMNS if columns is None else dict(columns)
        self._device = device
        self._state: dict[str, Any] | None = None  # after the last batch given, inside an epoch
        self._skip = 0

    @property
    def batch_size(self) -> int:
        """Samples per batch and rank."""
        return self.loader.batch_size

    @property
    def total_batch_size(self) -> int:
        """Samples per batch of all ranks."""
        return self.loader.batch_size * self.loader.world_size

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[Batch]:
        self._begin()
        skip, self._skip = self._skip, 0
        try:
            batches = iter(self.loader)
            following = [next(batches, None)]
            while (batch := following.pop()) is not None:
                self._state = self._state_now()
                following.append(next(batches, None))
                self.end_of_dataloader = following[0] is None
                if skip > 0:
                    skip -= 1
                    continue
                given = [self._prepared(batch)]
                del batch  # no variable must keep it while the program uses it
                yield given.pop()
        finally:
            self._state = None
            self.end()

    def _begin(self) -> None:
        """As DataLoaderStateMixin.begin(), with the remainder of what is padded last."""
        self.reset()
        if self.pads_at_the_end:
            self.remainder = len(self.dataset) % self.total_batch_size
        self.gradient_state._add_dataloader(self)

    @property
    def pads_at_the_end(self) -> bool:
        """True if the padding of all ranks' last batches comes last when they are gathered."""
        if self.loader.last_batch == 'drop':
            return False
        return self.loader.world_size == 1 or (self.loader.share == 'batches'
                                               and self.loader.last_batch == 'pad')

    def _state_now(self) -> dict[str, Any] | None:
        try:
            return self.loader.state_dict()
        except UnsupportedError:  # in a run of recprobe gain, which must not be saved
            return None

    def _prepared(self, given: Batch | TupleBatch) -> Batch:
        batch = given.as_dict()
        there = Batch({self._columns.get(name, name): tensor for name, tensor in batch.items()})
        vars(there).update(vars(batch))
        return there if self._device is None else there.to(self._device, non_blocking=True)

    def set_epoch(self, epoch: int) -> None:
        """Makes the next iteration this epoch; the rest of it, if it is that of a loaded state.

        Args:
            epoch: The epoch.
        """
        self.loader.set_epoch(epoch)

    def skip_first(self, batches: int) -> PreparedLoader:
        """Leaves out batches at the beginning of the next iteration, which are made; returns self.

        Args:
            batches: Number of batches.
        """
        self._skip = batches
        return self

    def state_dict(self) -> dict[str, Any]:
        """Returns the loader's state after the last batch that was given."""
        return self.loader.state_dict() if self._state is None else self._state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues after the last batch before the state was taken.

        Args:
            state: Result of state_dict().
        """
        self.loader.load_state_dict(state)

    def __getattr__(self, name: str) -> Any:
        if name == 'loader':  # not yet set
            raise AttributeError(name)
        return getattr(self.loader, name)
