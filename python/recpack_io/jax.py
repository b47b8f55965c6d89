"""Loader for JAX: batches are dictionaries of jax.Arrays, on the host or ahead on devices.

    from recpack_io.jax import Loader
    for batch in Loader(recpack_io.open("shards"), "imagenet-train", batch_size=256,
                        device=jax.local_devices()):
        state, loss = step(state, batch["image"], batch["label"])
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding, SingleDeviceSharding

from recpack_io.adapting.ahead import AheadLoader
from recpack_io.arguments import checks_arguments
from recpack_io.audits import Audit, merged
from recpack_io.batches import described
from recpack_io.errors import InvalidArgumentError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from recpack_io.mixtures import Mixture
    from recpack_io.options import LoaderOptions
    from recpack_io.reading import Dataset, Path
    from recpack_io.views import View


class Batch(dict):
    """The arrays of a batch by name. A pytree of these and the mask, so that jit takes it whole."""

    # Bool array on the devices of the others, per sample: False for padding of the last batch
    # (last_batch="pad"). Exclude padding from metrics: (right & batch.mask).sum().
    mask: jax.Array

    def __repr__(self) -> str:
        return described('recpack_io.jax.Batch', self.items())


def _flatten(batch: Batch):
    names = tuple(sorted(batch))
    arrays = [(jax.tree_util.DictKey(name), batch[name]) for name in names]
    return (*arrays, (jax.tree_util.GetAttrKey('mask'), batch.mask)), names


def _unflatten(names: tuple[str, ...], children) -> Batch:
    *arrays, mask = children
    batch = Batch(zip(names, arrays))
    batch.mask = mask
    return batch


jax.tree_util.register_pytree_with_keys(Batch, _flatten, _unflatten)

Devices = jax.Device | Sequence[jax.Device] | Sharding | None


def arrays(core) -> dict[str, jax.Array]:
    """Returns arrays on JAX's CPU device that share the memory of `core`, and keep it alive.

    `core` is a batch of recpack_io.Loader or of the core. JAX computes asynchronously, and holds the
    batch until all steps that take it are computed; the program may end before. Without
    jax_enable_x64, JAX converts int64 to int32, a copy.
    """
    return {name: jax.dlpack.from_dlpack(core.dlpack(name)) for name in core.keys()}


def sharding_of(devices: Devices) -> Sharding | None:
    """Returns the sharding for `devices`: several devices share a batch, in contiguous parts."""
    if devices is None or isinstance(devices, Sharding):
        return devices
    if isinstance(devices, jax.Device):
        return SingleDeviceSharding(devices)
    devices = list(devices)
    if not devices:
        raise InvalidArgumentError('there is no device in the list: give jax.local_devices()')
    return NamedSharding(Mesh(np.array(devices), ('batch',)), PartitionSpec('batch'))


class Loader(AheadLoader):
    """A recpack_io.Loader whose batches are Batch objects: dictionaries of jax.Arrays and a `mask`.

    Rank and world size are JAX's if jax.distributed is initialized. A batch's memory is reused once
    JAX has copied it. For arrays without a copy, use recpack_io.jax.arrays() in programs that
    block_until_ready() before they take more batches than max_live_batches.

    Args:
        device: None: arrays on JAX's CPU device, copies of the batch, because JAX computes
            asynchronously and would hold the memory of all batches that wait for their turn. A
            jax.Device, a list of them, or a jax.sharding.Sharding of the first dimension: the
            arrays are put there, `ahead` batches ahead. A sharding over several processes makes
            global arrays, to which each process contributes its batch.
        ahead: Batches on their way.
        options: As in recpack_io.Loader.

    Raises:
        InvalidArgumentError: If the devices cannot share a batch of this size.

    As recpack_io.Loader: the same arguments, order and state.
    """

    @checks_arguments()
    def __init__(self, dataset: Dataset | View | Mixture | Path, recipe: str | None = None, *,
                 device: Devices = None, ahead: int = 1, **options: Unpack[LoaderOptions]):
        self._sharding = sharding_of(device)
        self._on_cpu = self._sharding is None or any(
            one.platform == 'cpu' for one in self._sharding.addressable_devices)
        if self._sharding is not None:
            self._check(options.get('batch_size', 256), options.get('last_batch', 'drop'))
        super().__init__(dataset, recipe, ahead=0 if self._sharding is None else ahead, **options)
        self._refuse_ragged()

    def gather_audit(self, before: str = '') -> Audit:
        """Returns the audit of all processes: of what they were given of this epoch.

        All processes of jax.distributed call it, after the same number of batches.

        Args:
            before: str() of what it returned when the state was saved that this run goes on from,
                if that was in the same epoch; the state is then loaded without its own audit:
                `loader.load_state_dict(state | {"audit": ""})`.
        """
        text = str(self.audit()).encode()
        size = int(multihost_utils.process_allgather(np.int32(len(text))).max())
        padded = np.frombuffer(text.ljust(size), np.uint8)
        parts = np.reshape(multihost_utils.process_allgather(padded), (-1, size))
        return merged([*(part.tobytes().decode().rstrip() for part in parts), before])

    def _refuse_ragged(self) -> None:
        if self._sharding is None or len(self._sharding.device_set) == 1:
            return
        if ragged := [name for name, rows in self._rows().items() if rows == 'ragged']:
            self.close()
            raise InvalidArgumentError(f"several devices cannot share the array '{ragged[0]}', which is ragged "
                                       'with offsets: let it be padded')

    def _check(self, batch_size: int, last_batch: str) -> None:
        devices = len(self._sharding.addressable_devices)
        if self._sharding.is_fully_replicated or devices == 1:
            return
        if batch_size % devices != 0:
            raise InvalidArgumentError(f'{devices} devices cannot share batches of {batch_size} '
                                       'samples: choose a multiple')
        if last_batch == 'keep':
            raise InvalidArgumentError('several devices cannot share a last batch that is kept '
                                       'short: choose last_batch="drop" or "pad"')

    def _send(self, core) -> Batch:
        host = {name: np.asarray(array) for name, array in arrays(core).items()}
        if self._on_cpu:  # which would share NumPy's memory
            host = {name: np.array(array, copy=True) for name, array in host.items()}
        there = Batch({name: self._put(array) for name, array in host.items()})
        there.mask = self._put(core.mask.astype(bool))  # a copy
        return there

    def _put(self, array: np.ndarray) -> jax.Array:
        if self._sharding is None:
            return jax.device_put(array, jax.local_devices(backend='cpu')[0])
        if self._sharding.is_fully_addressable:
            return jax.device_put(array, self._sharding)
        return jax.make_array_from_process_local_data(self._sharding, array)
