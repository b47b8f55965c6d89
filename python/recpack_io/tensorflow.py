"""TensorFlow: batches as dictionaries of tensors, and as a tf.data.Dataset.

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
    """Tensors over the memory of `core`, a batch as the loader makes it, which they keep."""
    return {name: tf.experimental.dlpack.from_dlpack(core.dlpack(name).__dlpack__())
            for name in core.keys()}


def _array(tensor: tf.Tensor) -> np.ndarray:
    return tensor.numpy() if tensor.dtype == tf.bfloat16 else np.asarray(memoryview(tensor))


def _arrays(batch: dict[str, tf.Tensor]) -> dict[str, np.ndarray]:
    """Over the tensors' memory; bfloat16, which buffers of Python do not know, is copied."""
    return {name: _array(tensor) for name, tensor in batch.items()}


class Loader(loading.Loader):
    """As recpack_io.Loader; each batch is a dictionary of eager tensors on the host, without a
    copy."""

    def __init__(self, dataset, recipe: str | None = None, **options):
        super().__init__(dataset, recipe, batch_type=tensors, **options)

    @property
    def element_spec(self) -> dict[str, tf.TensorSpec]:
        """Of a batch. The first dimension is None where the last batch is kept short."""
        samples = None if self._options['last_batch'] == 'keep' else self._options['batch_size']
        return {name: tf.TensorSpec((samples, *shape), _TYPES[kind], name)
                for name, (kind, shape) in self.arrays.items()}

    def as_dataset(self) -> tf.data.Dataset:
        """Batches as elements: each iteration is the loader's next epoch, one iteration at a time.

        Without a copy but for bfloat16, which is copied once. The state is behind the batch that
        TensorFlow took last: what the program puts behind, .prefetch(N) and .map() in parallel,
        takes and holds as many ahead.
        """
        dataset = tf.data.Dataset.from_generator(lambda: map(_arrays, self),
                                                 output_signature=self.element_spec)
        options = tf.data.Options()
        options.experimental_optimization.inject_prefetch = False  # the state would be ahead
        return dataset.with_options(options)
