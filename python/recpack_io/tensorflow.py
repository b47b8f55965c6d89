"""TensorFlow: batches as dictionaries of tensors, and as a tf.data.Dataset.

    from recpack_io.tensorflow import Loader
    loader = Loader(recpack_io.open("shards"), "imagenet-train", batch_size=256)
    model.fit(loader.as_dataset().map(lambda batch: (batch["image"], batch["label"])), epochs=90)
"""
from __future__ import annotations

from functools import partial

import numpy as np
import tensorflow as tf

from recpack_io import loading
from recpack_io.errors import InvalidArgumentError

_TYPES = {'u8': tf.uint8, 'i32': tf.int32, 'i64': tf.int64, 'u64': tf.uint64, 'f16': tf.float16,
          'bf16': tf.bfloat16, 'f32': tf.float32}


class Batch(dict):
    """The tensors of a batch by name."""

    # By sample, a bool tensor: False where it only fills up the last batch (last_batch="pad").
    # Leave these out of what is counted: tf.boolean_mask(right, batch.mask). Elements of a Dataset
    # have it where as_dataset() is told under which name; give it to a tf.function as an argument.
    mask: tf.Tensor


def tensors(core) -> dict[str, tf.Tensor]:
    """Tensors over the memory of `core`, a batch as the loader makes it, which they keep."""
    return {name: tf.experimental.dlpack.from_dlpack(core.dlpack(name).__dlpack__())
            for name in core.keys()}


def _batch(core) -> Batch:
    batch = Batch(tensors(core))
    batch.mask = tf.constant(core.mask.astype(bool))  # a copy: the batch outlives its slab
    return batch


def _array(tensor: tf.Tensor) -> np.ndarray:
    return tensor.numpy() if tensor.dtype == tf.bfloat16 else np.asarray(memoryview(tensor))


def _arrays(batch: Batch, mask: str | None) -> dict[str, np.ndarray]:
    """Over the tensors' memory; bfloat16, which buffers of Python do not know, is copied."""
    named = batch if mask is None else {**batch, mask: batch.mask}
    return {name: _array(tensor) for name, tensor in named.items()}


class Loader(loading.Loader):
    """As recpack_io.Loader; each batch is a Batch, a dictionary of eager tensors on the host,
    without a copy, with a `mask`."""

    def __init__(self, dataset, recipe: str | None = None, **options):
        super().__init__(dataset, recipe, batch_type=_batch, **options)

    @property
    def element_spec(self) -> dict[str, tf.TensorSpec]:
        """Of a batch. The first dimension is None where the last batch is kept short."""
        return {name: self._spec(name, _TYPES[kind], shape)
                for name, (kind, shape) in self.arrays.items()}

    def _spec(self, name: str, kind: tf.DType, shape=()) -> tf.TensorSpec:
        samples = None if self._options['last_batch'] == 'keep' else self._options['batch_size']
        return tf.TensorSpec((samples, *shape), kind, name)

    def as_dataset(self, mask: str | None = None) -> tf.data.Dataset:
        """Batches as elements: each iteration is the loader's next epoch, one iteration at a time.

        mask: the name under which elements have Batch.mask too, which Keras takes for sample
            weights: .map(lambda batch: (batch["image"], batch["label"], batch["mask"])).

        Without a copy but for bfloat16, which is copied once. The state is behind the batch that
        TensorFlow took last: what the program puts behind, .prefetch(N) and .map() in parallel,
        takes and holds as many ahead. Raises InvalidArgumentError where an array has the mask's name.
        """
        spec = self.element_spec
        if mask is not None:
            if mask in spec:
                raise InvalidArgumentError(f"batches have an array '{mask}': choose another name for "
                                           'the mask')
            spec[mask] = self._spec(mask, tf.bool)
        dataset = tf.data.Dataset.from_generator(
            lambda: map(partial(_arrays, mask=mask), self), output_signature=spec)
        options = tf.data.Options()
        options.experimental_optimization.inject_prefetch = False  # the state would be ahead
        return dataset.with_options(options)
