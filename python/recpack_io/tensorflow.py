"""Loader for TensorFlow: batches are dictionaries of tensors; also as a tf.data.Dataset.

    from recpack_io.tensorflow import Loader
    loader = Loader(recpack_io.open("shards"), "imagenet-train", batch_size=256)
    model.fit(loader.as_dataset().map(lambda batch: (batch["image"], batch["label"])), epochs=90)
"""
from __future__ import annotations

import numpy as np
import tensorflow as tf

from recpack_io import loading

_TYPES = {'u8': tf.uint8, 'i32': tf.int32, 'i64': tf.int64, 'u64': tf.uint64, 'f16': tf.float16,
          'bf16': tf.bfloat16, 'f32': tf.float32}


def tensors(core) -> dict[str, tf.Tensor]:
    """Returns tensors that share the memory of `core`, a batch of the core, and keep it alive."""
    return {name: tf.experimental.dlpack.from_dlpack(core.dlpack(name).__dlpack__())
            for name in core.keys()}


def _array(tensor: tf.Tensor) -> np.ndarray:
    return tensor.numpy() if tensor.dtype == tf.bfloat16 else np.asarray(memoryview(tensor))


def _arrays(batch: dict[str, tf.Tensor]) -> dict[str, np.ndarray]:
    """Returns arrays that share the tensors' memory, except bfloat16, which is copied."""
    return {name: _array(tensor) for name, tensor in batch.items()}


class Loader(loading.Loader):
    """A recpack_io.Loader whose batches are dictionaries of eager tensors, without a copy."""

    def __init__(self, dataset, recipe: str | None = None, **options):
        super().__init__(dataset, recipe, batch_type=tensors, **options)

    @property
    def element_spec(self) -> dict[str, tf.TensorSpec]:
        """Specification of a batch. The first dimension is None if the last batch may be short."""
        samples = None if self._options['last_batch'] == 'keep' else self._options['batch_size']
        return {name: tf.TensorSpec((samples, *shape), _TYPES[kind], name)
                for name, (kind, shape) in self.arrays.items()}

    def as_dataset(self) -> tf.data.Dataset:
        """Returns a tf.data.Dataset of batches: each iteration is the loader's next epoch.

        Only one iteration may be active. Nothing is copied except bfloat16, once. The loader's
        state refers to the last batch that TensorFlow took: later .prefetch(N) or parallel
        .map() take and hold that many batches ahead.
        """
        dataset = tf.data.Dataset.from_generator(lambda: map(_arrays, self),
                                                 output_signature=self.element_spec)
        options = tf.data.Options()
        options.experimental_optimization.inject_prefetch = False  # the state would be ahead
        return dataset.with_options(options)
