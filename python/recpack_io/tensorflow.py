"""Loader for TensorFlow: batches are dictionaries of tensors; also as a tf.data.Dataset.

    from recpack_io.tensorflow import Loader
    loader = Loader(recpack_io.open("shards"), "imagenet-train", batch_size=256)
    model.fit(loader.as_dataset(as_tuple=True), epochs=90)
"""
from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from recpack_io import loading
from recpack_io.batches import described
from recpack_io.errors import InvalidArgumentError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from recpack_io.mixtures import Mixture
    from recpack_io.options import LoaderOptions
    from recpack_io.reading import Dataset, Path
    from recpack_io.views import View

_TYPES = {'u8': tf.uint8, 'i32': tf.int32, 'i64': tf.int64, 'u64': tf.uint64, 'f16': tf.float16,
          'bf16': tf.bfloat16, 'f32': tf.float32}


class Batch(dict):
    """The tensors of a batch by name."""

    # Bool tensor, per sample: False for padding of the last batch (last_batch="pad"). Exclude
    # padding from metrics: tf.boolean_mask(right, batch.mask). Elements of a tf.data.Dataset have
    # it under the name given to as_dataset(); pass it to a tf.function as an argument.
    mask: tf.Tensor

    def __repr__(self) -> str:
        return described('recpack_io.tensorflow.Batch', self.items())


def tensors(core) -> dict[str, tf.Tensor]:
    """Returns tensors that share the memory of `core`, a batch of the core, and keep it alive."""
    return {name: tf.experimental.dlpack.from_dlpack(core.dlpack(name).__dlpack__())
            for name in core.keys()}


def _batch(core) -> Batch:
    batch = Batch(tensors(core))
    batch.mask = tf.constant(core.mask.astype(bool))  # a copy: the batch outlives its slab
    return batch


def _array(tensor: tf.Tensor) -> np.ndarray:
    return tensor.numpy() if tensor.dtype == tf.bfloat16 else np.asarray(memoryview(tensor))


def _arrays(batch: Batch, mask: str | None) -> dict[str, np.ndarray]:
    """Returns arrays that share the tensors' memory, except bfloat16, which is copied."""
    named = batch if mask is None else {**batch, mask: batch.mask}
    return {name: _array(tensor) for name, tensor in named.items()}


class Loader(loading.Loader):
    """A recpack_io.Loader whose batches are Batch objects: dictionaries of eager tensors, without a
    copy, with a `mask`.

    As recpack_io.Loader: the same arguments, order and state.
    """

    def __init__(self, dataset: Dataset | View | Mixture | Path, recipe: str | None = None,
                 **options: Unpack[LoaderOptions]):
        super().__init__(dataset, recipe, batch_type=_batch, **options)

    @property
    def element_spec(self) -> dict[str, tf.TensorSpec]:
        """Specification of a batch. The first dimension is None if the last batch may be short."""
        rows = self._rows()
        return {name: self._spec(name, _TYPES[kind], shape) if rows[name] == 'samples'
                else tf.TensorSpec(shape or (None,), _TYPES[kind], name)
                for name, (kind, shape) in self.arrays.items()}

    def _spec(self, name: str, kind: tf.DType, shape=()) -> tf.TensorSpec:
        samples = None if self._options['last_batch'] == 'keep' else self._options['batch_size']
        return tf.TensorSpec((samples, *shape), kind, name)

    def _is_at_begin(self) -> bool:
        """Tells whether the next iteration is a whole epoch."""
        return self._inside or self._core.position() == 0

    def as_dataset(self, mask: str | None = None, *, as_tuple: bool = False) -> tf.data.Dataset:
        """Returns a tf.data.Dataset of batches: each iteration is the loader's next epoch.

        Its cardinality, which Keras shows as the steps of an epoch, is len() of the loader; unknown if
        the loader is in the middle of an epoch, whose rest is shorter. So load a state first.

        Only one iteration may be active. Nothing is copied except bfloat16, once. The loader's
        state refers to the last batch that TensorFlow took: later .prefetch(N) or parallel
        .map() take and hold that many batches ahead.

        Args:
            mask: The name under which elements also have Batch.mask.
            as_tuple: Elements are tuples of the tensors in the order of the fields, as fit() and
                evaluate() take them: (image, label); with a mask (image, label, mask), which Keras
                takes as sample weights.

        Raises:
            InvalidArgumentError: If an array has the mask's name; in an iteration, if a state of the
                middle of an epoch was loaded after this call.
        """
        spec = self.element_spec
        whole = self._is_at_begin()
        if mask is not None:
            if mask in spec:
                raise InvalidArgumentError(f"batches have an array '{mask}': choose another name for "
                                           'the mask')
            spec[mask] = self._spec(mask, tf.bool)

        def batches() -> Iterator[dict[str, np.ndarray]]:
            if whole and not self._is_at_begin():
                raise InvalidArgumentError('a state of the middle of an epoch was loaded after as_dataset(): '
                                           'load it before')
            return map(partial(_arrays, mask=mask), self)

        dataset = tf.data.Dataset.from_generator(batches, output_signature=spec)
        if as_tuple:
            dataset = dataset.map(lambda batch: tuple(batch[name] for name in spec))
        if whole:
            dataset = dataset.apply(tf.data.experimental.assert_cardinality(len(self)))
        options = tf.data.Options()
        options.experimental_optimization.inject_prefetch = False  # the state would be ahead
        return dataset.with_options(options)
