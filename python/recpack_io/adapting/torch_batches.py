"""Batches of tensors: the dictionaries and tuples that the Loader for PyTorch gives."""
from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, overload

import torch

from recpack_io.batches import described

if TYPE_CHECKING:
    from recpack_io._cuda import HostMemory

_Default = TypeVar('_Default')


class Batch(dict[str, torch.Tensor]):
    """The tensors of a batch by name, also as attributes: batch.image is batch["image"].

    What the batch carries beside them, and the methods of dictionaries, come first: an array that
    is called "mask" or "items" is batch["mask"] and batch["items"] only. Unpacking a batch gives
    the names, as with every dictionary: `images, labels = batch.as_tuple()` gives the tensors. A
    loader of a named recipe gives such tuples itself.

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

    def __repr__(self) -> str:
        beside = vars(self)
        return described('recpack_io.torch.Batch', self.items(), beside.get('number'), beside.get('epoch'))

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
        batch = _named(tuple(self))._make(self.values())
        batch._batch = self
        return batch

    def as_dict(self) -> Batch:
        """Returns the batch itself, which is a dictionary."""
        return self

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

    They are found by name too: batch["image"], batch.image, batch.items(), model(**batch). Iteration
    gives the tensors, `in` asks for a name. Beside them it has what a Batch has: mask, ids, epoch,
    number, token, to() and record_stream(). The methods of tuples come before arrays of their name.

    Libraries take it for a named tuple. A tuple that they make of changed tensors has the names, and
    nothing beside the tensors, unless they call to(), as Lightning and Accelerate do.

    Args:
        tensors: The tensors, or one list, tuple or iterator of them. TupleBatch itself gives them no names.
    """

    __module__ = 'recpack_io.torch'  # where programs import it from

    # As in Batch.
    mask: torch.Tensor
    ids: torch.Tensor
    epoch: int
    number: int
    token: str

    _fields: tuple[str, ...] = ()
    _batch: Batch | None = None

    def __new__(cls, *tensors: torch.Tensor | Iterable[torch.Tensor]) -> TupleBatch:
        # Libraries make named tuples of several arguments, and other tuples of one.
        if len(tensors) == 1 and isinstance(tensors[0], list | tuple | Iterator) and not isinstance(tensors[0], torch.Size):
            return super().__new__(cls, tensors[0])
        return super().__new__(cls, tensors)  # type: ignore[arg-type]

    @classmethod
    def _make(cls, tensors: Iterable[torch.Tensor]) -> TupleBatch:
        return tuple.__new__(cls, tensors)

    @overload
    def __getitem__(self, key: str | SupportsIndex, /) -> torch.Tensor: ...
    @overload
    def __getitem__(self, key: slice, /) -> tuple[torch.Tensor, ...]: ...

    def __getitem__(self, key: str | SupportsIndex | slice, /) -> torch.Tensor | tuple[torch.Tensor, ...]:
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in self._fields:
            raise KeyError(key)
        return super().__getitem__(self._fields.index(key))

    def __contains__(self, key: object, /) -> bool:
        return key in self._fields if isinstance(key, str) else any(each is key for each in self)

    def keys(self) -> tuple[str, ...]:
        """Returns the names."""
        return self._fields

    def values(self) -> tuple[torch.Tensor, ...]:
        """Returns the tensors."""
        return tuple(self)

    def items(self) -> list[tuple[str, torch.Tensor]]:
        """Returns the tensors with their names."""
        return list(zip(self._fields, self))

    @overload
    def get(self, name: str, default: None = None, /) -> torch.Tensor | None: ...
    @overload
    def get(self, name: str, default: _Default, /) -> torch.Tensor | _Default: ...

    def get(self, name: str, default: Any = None, /) -> Any:
        """Returns the tensor of this name, or `default` if there is none."""
        return self[name] if name in self._fields else default

    def __getattr__(self, name: str) -> torch.Tensor:
        if self._batch is not None and name in _BESIDE:
            return getattr(self._batch, name)
        if name in self._fields:
            return self[name]
        if self._batch is None:
            raise AttributeError(f'the tuple has no {name!r}: it was made without a batch')
        raise AttributeError(f'the batch has no {name!r}; its arrays are {", ".join(self._fields)}')

    def __repr__(self) -> str:
        beside = vars(self.as_dict())
        arrays = self.items() or list(enumerate(self))
        return described('recpack_io.torch.TupleBatch', arrays, beside.get('number'), beside.get('epoch'))

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (self._fields, tuple(self), self._batch)

    def _asdict(self) -> dict[str, torch.Tensor]:
        return dict(self.items())

    def as_tuple(self) -> TupleBatch:
        """Returns the batch itself, which is a tuple."""
        return self

    def as_dict(self) -> Batch:
        """Returns the batch as a dictionary, with what is beside the tensors."""
        return Batch(self._asdict()) if self._batch is None else self._batch

    def record_stream(self, stream: torch.cuda.Stream) -> None:
        """As Batch.record_stream().

        Args:
            stream: The stream.
        """
        self.as_dict().record_stream(stream)

    def to(self, device: str | int | torch.device, non_blocking: bool = False) -> TupleBatch:
        """Returns the tuple with its tensors on `device`.

        Args:
            device: The device.
            non_blocking: As in Batch.to().
        """
        if self._batch is None:
            return self._make(tensor.to(device, non_blocking=non_blocking) for tensor in self)
        return self._batch.to(device, non_blocking).as_tuple()


@functools.lru_cache
def _named(names: tuple[str, ...]) -> type[TupleBatch]:
    """Returns the TupleBatch of these fields: a type, so that tuples made of changed tensors keep the names."""
    return type('TupleBatch', (TupleBatch,), {'_fields': names, '__module__': TupleBatch.__module__})


def _remade(names: tuple[str, ...], tensors: tuple[torch.Tensor, ...], batch: Batch | None) -> TupleBatch:
    remade = (_named(names) if names else TupleBatch)._make(tensors)
    if batch is not None:
        remade._batch = batch
    return remade
