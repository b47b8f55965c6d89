"""Loader for PyTorch: batches are dictionaries of tensors, on the host or on a GPU.

    from recpack_io.torch import Loader
    loader = Loader(recpack_io.open("shards"), "imagenet-train", batch_size=256, device="cuda:0")
    for batch in loader:
        loss = criterion(model(batch["image"]), batch["label"])
"""
from __future__ import annotations

import torch

from recpack_io._cuda import HostMemory
from recpack_io.ahead import AheadLoader
from recpack_io.errors import UnsupportedError


class Batch(dict):
    """The tensors of a batch by name."""

    # Bool tensor on the host, per sample: False for padding of the last batch (last_batch="pad").
    # Exclude padding from metrics: right[batch.mask].sum().
    mask: torch.Tensor

    # Memory of the tensors, if it is page-locked.
    _memory: HostMemory | None = None
    _core = None

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


def tensors(core) -> dict[str, torch.Tensor]:
    """Returns tensors that share the memory of `core`, a batch of the core, and keep it alive."""
    return {name: torch.from_dlpack(core.dlpack(name)) for name in core.keys()}


def _device(device: str | torch.device | None) -> torch.device | None:
    """Returns the device, or None for the host."""
    if device is None or torch.device(device).type == 'cpu':
        return None
    device = torch.device(device)
    if device.type != 'cuda':
        raise UnsupportedError(f'batches go to the host or to CUDA devices, not to {device}: leave '
                               'the device out and copy them, tensor.to(device)')
    return device if device.index is not None else torch.device('cuda', torch.cuda.current_device())


class Loader(AheadLoader):
    """A recpack_io.Loader whose batches are Batch objects: dictionaries of tensors, with a `mask`.

    state_dict() and load_state_dict() follow torch's StatefulDataLoader and Lightning: a state
    that was taken after a batch continues with the next one, however many were on their way.

    Args:
        device: None: the tensors share the batch's memory, without a copy. "cuda:0" or a
            torch.device: the tensors are copied there on a separate stream, `ahead` batches ahead;
            the stream that is current when a batch is given may use it at once, others need
            record_stream().
        ahead: Batches on their way to the device. At most prefetch - 1 are copied at a time.
        page_lock: Page-lock the batches' memory, which makes copies asynchronous. Default: if there
            is a device. Without one it is for programs that copy themselves, with non_blocking and
            record_stream().
        options: As in recpack_io.Loader.

    Raises:
        DeviceError: If memory cannot be page-locked.
        UnsupportedError: If the device is not supported.

    As recpack_io.Loader: the same arguments, order and state.
    """

    _memory: HostMemory | None = None

    def __init__(self, dataset, recipe: str | None = None, *,
                 device: str | torch.device | None = None, ahead: int = 1,
                 page_lock: bool | None = None, **options):
        self._device = _device(device)
        self._stream = self._device and torch.cuda.Stream(self._device)
        self._page_lock = self._device is not None if page_lock is None else page_lock
        self._memory = HostMemory() if self._page_lock or self._device is not None else None
        super().__init__(dataset, recipe, ahead=ahead if self._device is not None else 0, **options)

    def _make_room(self) -> None:
        if self._memory is not None:
            prefetch, live = self._options['prefetch'], self._options['max_live_batches']
            self._memory.let_go(min(prefetch, live or prefetch) - 1)

    def _send(self, core):
        host = Batch(tensors(core))
        host.mask = torch.from_numpy(core.mask.astype(bool))  # a copy: the batch outlives its slab
        if self._device is not None:
            return self._copy(host, core)
        if self._page_lock:
            self._lock(host, core)
            host._memory, host._core = self._memory, core
        return host, None

    def _lock(self, host: Batch, core) -> None:
        self._memory.lock(list(host.values()), len(core), self._options['batch_size'])

    def _copy(self, host: Batch, core) -> tuple[Batch, torch.cuda.Event]:
        with torch.cuda.stream(self._stream):  # and on its device
            if self._page_lock:
                self._lock(host, core)
            there = Batch({name: tensor.to(self._device, non_blocking=True)
                           for name, tensor in host.items()})
            there.mask = host.mask
            copied = self._stream.record_event()
        self._memory.keep(core, copied)
        return there, copied

    def _receive(self, sent: tuple[Batch, torch.cuda.Event | None]) -> Batch:
        batch, copied = sent
        if copied is not None:
            stream = torch.cuda.current_stream(self._device)
            stream.wait_event(copied)
            batch.record_stream(stream)
        return batch

    def _begin(self, *place, **places) -> None:
        if self._memory is not None:
            self._memory.close()
        super()._begin(*place, **places)

    def close(self) -> None:
        try:
            if self._memory is not None:
                self._memory.close()  # CUDA has to be told before the slabs go with the loader
        finally:
            super().close()
