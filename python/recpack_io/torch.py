"""Loader for PyTorch: batches are tuples or dictionaries of tensors, on the host or on a GPU.

    from recpack_io.torch import Loader
    loader = Loader(recpack_io.open("shards"), "imagenet-train", batch_size=256, device="cuda:0")
    for images, labels in loader:
        loss = criterion(model(images), labels)
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, Literal, TypeVar, overload

import torch
from torch import distributed

from recpack_io import _core
from recpack_io._cuda import HostMemory
from recpack_io.adapting.ahead import AheadLoader
from recpack_io.arguments import checks_arguments
from recpack_io.audits import Audit, merged
from recpack_io.errors import InvalidArgumentError, UnsupportedError, warn
from recpack_io.fields import Field, recipe as fields_of
from recpack_io.adapting.torch_batches import Batch, TupleBatch
from recpack_io.adapting.torch_iterable import IterableDataset
from recpack_io.adapting.torch_map import MapDataset

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Unpack

    from recpack_io.mixtures import Mixture
    from recpack_io.options import LoaderOptionsWithoutFields
    from recpack_io.reading import Dataset, Path
    from recpack_io.views import View

__all__ = ['Batch', 'IterableDataset', 'Loader', 'MapDataset', 'TupleBatch', 'tensors']


def tensors(core) -> dict[str, torch.Tensor]:
    """Returns tensors that share the memory of `core`, a batch of the core, and keep it alive."""
    return {name: torch.from_dlpack(core.dlpack(name)) for name in core.keys()}


def _device(device: str | torch.device | None) -> torch.device | None:
    """Returns the device, or None for the host."""
    if device is None or torch.device(device).type == 'cpu':
        return None
    device = torch.device(device)
    if device.type == 'cuda':
        return device if device.index is not None else torch.device(
            'cuda', torch.cuda.current_device())
    try:
        torch.empty(0, device=device)
    except (AssertionError, RuntimeError) as error:
        raise UnsupportedError(f'this PyTorch has no device {device}: {error}') from error
    return device


def _page_locked(page_lock: bool | None, pin_memory: bool | None) -> bool | None:
    """Returns the one that is given; False, with a warning, where there is no CUDA device."""
    if page_lock is not None and pin_memory is not None and page_lock != pin_memory:
        raise InvalidArgumentError('page_lock and pin_memory are two names of one option: give one')
    locked = pin_memory if page_lock is None else page_lock
    if locked and not torch.cuda.is_available():
        name = 'pin_memory' if page_lock is None else 'page_lock'
        warn(f'{name} has no effect: PyTorch finds no CUDA device')
        return False
    return locked


def _in_channels_last(fields: Sequence[Field]) -> frozenset[str]:
    """Returns the names of the image fields, which must have the layout "nhwc".

    Raises:
        InvalidArgumentError: If one has another layout, or there is none.
    """
    images = [field for field in fields if isinstance(field, _core.ImageField)]
    for field in images:
        if field.layout != 'nhwc':
            raise InvalidArgumentError(f"channels_last=True needs the field '{field.name}' with "
                                       'layout="nhwc"')
    if not images:
        raise InvalidArgumentError('channels_last=True needs an image field, and there is none')
    return frozenset(field.name for field in images)


_Given = TypeVar('_Given', Batch, TupleBatch)


class Loader(AheadLoader, Generic[_Given]):
    """A recpack_io.Loader whose batches have tensors.

    A loader with a recipe of this name gives TupleBatch objects, as torch's DataLoader gives for
    ImageFolder: `for images, labels in loader`. One with `fields` gives Batch objects, dictionaries.
    Both have the arrays by name, batch["image"] and batch.image, and a `mask`.

    state_dict() and load_state_dict() follow torch's StatefulDataLoader and Lightning: a state
    that was taken after a batch continues with the next one, however many were on their way.

    It has the attributes of torch's DataLoader that other libraries read. `sampler`,
    `batch_sampler`, `collate_fn` and `generator` are None: the loader orders samples and makes
    batches itself, and its share is that of its rank.

    Args:
        device: None: the tensors share the batch's memory, without a copy. "cuda:0" or a
            torch.device: the tensors are copied there on a separate stream, `ahead` batches ahead;
            the stream that is current when a batch is given may use it at once, others need
            record_stream(). Another device, such as "mps": each batch is copied when it is given.
        ahead: Batches on their way to a CUDA device. At most prefetch - 1 are copied at a time.
        page_lock: Page-lock the batches' memory, which makes copies asynchronous. Default: if there
            is a CUDA device. Without a device it is for programs that copy themselves, with
            Batch.to(), or with non_blocking and record_stream(). Without a CUDA device it is left
            out, with a warning, as torch's DataLoader does.
        pin_memory: The same, by the name that torch's DataLoader has for it.
        as_tuple: Give TupleBatch objects, tuples of the tensors in the order of the fields, or,
            False, Batch objects, dictionaries. Default: tuples for a named recipe.
        channels_last: Give images with shape (samples, channels, height, width) in the memory
            format torch.channels_last, without a copy. Image fields in `fields` need layout="nhwc"
            for it, and batch functions get (samples, height, width, channels).
        options: As in recpack_io.Loader.

    Raises:
        DeviceError: If memory cannot be page-locked.
        InvalidArgumentError: If channels_last does not fit the fields.
        UnsupportedError: If the device is not supported.

    As recpack_io.Loader: the same arguments, order and state.
    """

    sampler = batch_sampler = collate_fn = generator = None
    _memory: HostMemory | None = None

    if TYPE_CHECKING:
        @overload
        def __init__(self: Loader[TupleBatch], dataset: Dataset | View | Mixture | Path, recipe: str, *,
                     fields: None = None,
                     device: str | torch.device | None = None, ahead: int = 1,
                     page_lock: bool | None = None, pin_memory: bool | None = None,
                     as_tuple: None = None, channels_last: bool = False,
                     **options: Unpack[LoaderOptionsWithoutFields]) -> None: ...

        @overload
        def __init__(self: Loader[Batch], dataset: Dataset | View | Mixture | Path, recipe: None = None, *,
                     fields: Sequence[Field] | None = None,
                     device: str | torch.device | None = None, ahead: int = 1,
                     page_lock: bool | None = None, pin_memory: bool | None = None,
                     as_tuple: None = None, channels_last: bool = False,
                     **options: Unpack[LoaderOptionsWithoutFields]) -> None: ...

        @overload
        def __init__(self: Loader[Batch], dataset: Dataset | View | Mixture | Path, recipe: str | None = None, *,
                     fields: Sequence[Field] | None = None,
                     device: str | torch.device | None = None, ahead: int = 1,
                     page_lock: bool | None = None, pin_memory: bool | None = None,
                     as_tuple: Literal[False], channels_last: bool = False,
                     **options: Unpack[LoaderOptionsWithoutFields]) -> None: ...

        @overload
        def __init__(self: Loader[TupleBatch], dataset: Dataset | View | Mixture | Path,
                     recipe: str | None = None, *, fields: Sequence[Field] | None = None,
                     device: str | torch.device | None = None, ahead: int = 1,
                     page_lock: bool | None = None, pin_memory: bool | None = None,
                     as_tuple: Literal[True], channels_last: bool = False,
                     **options: Unpack[LoaderOptionsWithoutFields]) -> None: ...

        def __iter__(self) -> Iterator[_Given]: ...

    @checks_arguments()
    def __init__(self, dataset: Dataset | View | Mixture | Path, recipe: str | None = None, *,
                 fields: Sequence[Field] | None = None,
                 device: str | torch.device | None = None, ahead: int = 1,
                 page_lock: bool | None = None, pin_memory: bool | None = None,
                 as_tuple: bool | None = None, channels_last: bool = False,
                 **options: Unpack[LoaderOptionsWithoutFields]):
        self._device = _device(device)
        on_cuda = self._device is not None and self._device.type == 'cuda'
        if (page_lock or pin_memory) and self._device is not None and not on_cuda:
            raise UnsupportedError('memory is page-locked for CUDA devices only, not for '
                                   f'{self._device}: leave page_lock out')
        page_lock = _page_locked(page_lock, pin_memory)
        self._stream = torch.cuda.Stream(self._device) if on_cuda else None
        self._page_lock = on_cuda if page_lock is None else page_lock
        self._memory = HostMemory() if self._page_lock or on_cuda else None
        self._as_tuple = recipe is not None if as_tuple is None else as_tuple
        self._workers = options.get('workers', 0)
        self._channels_last: frozenset[str] = frozenset()
        if channels_last:
            if recipe is not None and fields is None:
                recipe, fields = None, fields_of(recipe, layout='nhwc')
            self._channels_last = _in_channels_last(fields or ())
        super().__init__(dataset, recipe, fields=fields, ahead=ahead if on_cuda else 0, **options)

    @property
    def batch_size(self) -> int:
        """Samples per batch and rank."""
        return self._options['batch_size']

    @property
    def rank(self) -> int:
        """Rank of this process."""
        return self._options['rank']

    @property
    def world_size(self) -> int:
        """Number of ranks."""
        return self._options['world_size']

    @property
    def share(self) -> str:
        """Distribution of a step's samples over the ranks."""
        return self._options['share']

    @property
    def last_batch(self) -> str:
        """Treatment of samples that do not fill a batch."""
        return self._options['last_batch']

    @property
    def drop_last(self) -> bool:
        """True if samples that do not fill a batch are left out: last_batch="drop"."""
        return self._options['last_batch'] == 'drop'

    @property
    def num_workers(self) -> int:
        """Number of processes that call Functions: the option `workers`."""
        return self._workers

    @property
    def pin_memory(self) -> bool:
        """True if the batches' memory is page-locked."""
        return bool(self._page_lock)

    @property
    def arrays(self) -> dict[str, tuple[str, tuple[int | None, ...]]]:
        """Type, such as "f32" or "bf16", and sample shape of each tensor, by name."""
        return {name: (kind, (shape[2], *shape[:2]) if name in self._channels_last else shape)
                for name, (kind, shape) in super().arrays.items()}

    def gather_audit(self, before: str = '') -> Audit:
        """Returns the audit of all ranks: of what they were given of this epoch.

        All ranks of torch.distributed's default group call it, after the same number of batches.

        Args:
            before: str() of what it returned when the state was saved that this run goes on from,
                if that was in the same epoch; the state is then loaded without its own audit:
                `loader.load_state_dict(state | {"audit": ""})`.
        """
        parts = [''] * distributed.get_world_size()
        distributed.all_gather_object(parts, str(self.audit()))
        return merged([*parts, before])

    def _make_room(self) -> None:
        if self._memory is not None:
            prefetch, live = self._options['prefetch'], self._options['max_live_batches']
            self._memory.let_go(min(prefetch, live or prefetch) - 1)

    def _send(self, core):
        host = Batch(tensors(core))
        for name in self._channels_last:
            host[name] = host[name].permute(0, 3, 1, 2)
        # Copies: the batch outlives its slab.
        host.mask = torch.from_numpy(core.mask.astype(bool))
        host.ids = torch.from_numpy(core.ids.astype('int64'))
        host.epoch, host.number, host.token = core.epoch, core.number, core.token
        if self._stream is not None:
            return self._copy(host, core)
        if self._device is not None:
            return host._on(self._device, non_blocking=False), None
        if self._page_lock:
            self._lock(host, core)
            host._memory, host._core = self._memory, core
        return host, None

    def _lock(self, host: Batch, core) -> None:
        # What is ragged has another size in each batch: its copies are not asynchronous.
        rows = self._rows()
        even = [tensor for name, tensor in host.items() if rows[name] == 'samples']
        self._memory.lock(even, len(core), self._options['batch_size'])

    def _copy(self, host: Batch, core) -> tuple[Batch, torch.cuda.Event]:
        with torch.cuda.stream(self._stream):  # and on its device
            if self._page_lock:
                self._lock(host, core)
            there = host._on(self._device, non_blocking=True)
            copied = self._stream.record_event()
        self._memory.keep(core, copied)
        return there, copied

    def _receive(self, sent: tuple[Batch, torch.cuda.Event | None]) -> Batch | TupleBatch:
        batch, copied = sent
        if copied is not None:
            stream = torch.cuda.current_stream(self._device)
            stream.wait_event(copied)
            batch.record_stream(stream)
        return batch.as_tuple() if self._as_tuple else batch

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
