"""Batches of tensors: the dictionaries and tuples that the Loader for PyTorch gives."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from recpack_io._cuda import HostMemory


class Batch(dict[str, torch.Tensor]):
    """The tensors of a batch by name, also as attributes: batch.image is batch["image"].

    What the batch carries beside them, and the methods of dictionaries, come first: an array that
    is called "mask" or "items" is batch["mask"] and batch["items"] only. Unpacking a batch gives
    the names, as with every dictionary: `images, labels = batch.as_tuple()` gives the tensors.

    Libraries that make a new dictionary of the tensors drop the rest. Those that call to(), such as
    Lightning, keep it.
    """

    __module__ = 'recpack_io.torch'  # where programs import it from

    # Bool tensor on the host, per sample: False for padding of the last batch (last_batch="pad").
    # Exclude padding from metrics: right[batch.mask].sum().
    mask: torch.Tensor
    ids: torch.Tensor  # ordinals of the records in the split: int64, on the host, per sample
    epoch: int  # of the first sample
    number: int  # of the batch in the epoch, counted from where this run began
    token: str  # resume token for the position after this batch; part of a state

    # Memory of the tensors, if it is page-locked.
    _memory: HostMemory | None = None
    _core = None

    def __getattr__(self, name: str) -> torch.Tensor:
        if name in self:
            return self[name]
        raise AttributeError(f'the batch has no {name!r}; its arrays are {", ".join(self)}')

    def _on(self, device: torch.device, non_blocking: bool) -> Batch:
        there = Batch({name: tensor.to(device, non_blocking=non_blocking)
                       for name, tensor in self.items()})
        for name in _BESIDE & vars(self).keys():
            setattr(there, name, getattr(self, name))
        return there

    def to(self, device: str | int | torch.device, non_blocking: bool = False) -> Batch:
        """Returns the batch with its tensors on `device`; mask and ids stay on the host.

        Args:
            device: The device. Tensors that are there already are not copied.
            non_blocking: Copy to a CUDA device on its current stream, without waiting. The batch's
                memory is kept until then; record_stream() is not needed. Others wait.
        """
        device = torch.device(device)
        there = self._on(device, non_blocking and device.type == 'cuda')
        if self._memory is not None and device.type == 'cuda':
            self.record_stream(torch.cuda.current_stream(device))
        return there

    def as_tuple(self) -> TupleBatch:
        """Returns the tensors as a tuple, in the order of the fields."""
        batch = TupleBatch(self.values())
        batch._batch = self
        return batch

    def record_stream(self, stream: torch.cuda.Stream) -> None:
        """Keeps the tensors' memory until the work enqueued on `stream` so far is complete.

        Call this after enqueuing work on a stream other than the one that was current when the
        batch was given; otherwise the memory may be reused too early. For tensors on the host it is
        needed only if the loader page-locks its memory, for copies with non_blocking.
        """
        if self._memory is not None:
            self._memory.keep(self._core, stream.record_event())
        for tensor in self.values():
            if tensor.is_cuda:
                tensor.record_stream(stream)


_BESIDE = {'mask', 'ids', 'epoch', 'number', 'token'}


class TupleBatch(tuple[torch.Tensor, ...]):
    """The tensors of a batch in the order of the fields: `for images, labels in loader`.

    Has what a Batch has as attributes: mask, ids, epoch, number, token, record_stream(), and the
    tensors by name. The methods of tuples come first. Made from an `iterable` alone, it has none.
    """

    __module__ = 'recpack_io.torch'  # where programs import it from

    _batch: Batch | None = None

    def __getattr__(self, name: str) -> Any:
        if self._batch is None:
            raise AttributeError(f'the tuple has no {name!r}: it was made without a batch')
        return getattr(self._batch, name)

    def to(self, device: str | int | torch.device, non_blocking: bool = False) -> TupleBatch:
        """Returns the tuple with its tensors on `device`.

        Args:
            device: The device.
            non_blocking: As in Batch.to().
        """
        if self._batch is None:
            return TupleBatch(tensor.to(device, non_blocking=non_blocking) for tensor in self)
        return self._batch.to(device, non_blocking).as_tuple()
