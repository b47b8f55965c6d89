"""Data iterators for MaxText: sequences of tokens from a data set of recpack.

    import recpack_io.maxtext
    from maxtext.trainers.pre_train import train
    recpack_io.maxtext.use()
    app.run(train.main)  # with dataset_type=grain grain_train_files=shards

MaxText has no place for pipelines of others: use() takes that of Grain. MaxText's own configuration says what is read:

- grain_train_files, grain_eval_files: path or URL of the data set.
- train_split, eval_split: split of it.
- train_data_columns, eval_data_columns: the feature with a record's tokens, integers: the first one named.
- tokenize_train_data, tokenize_eval_data: false, for records are tokens already.
- enable_data_shuffling, data_shuffle_seed: the order, which is another one in each epoch.
- num_epoch: epochs, after which MaxText stops.
- grain_num_threads, grain_num_threads_eval: threads that read.

A run may continue with another number of hosts: the state is a position in the order of the whole data set, the same on
all of them. MaxText's checkpoints have it in one file.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
from grain import MapDataset
from grain.experimental import ElasticIterator
from grain.sharding import ShardOptions
from jax.sharding import Mesh
from maxtext.input_pipeline import input_pipeline_interface
from maxtext.input_pipeline.multihost_dataloading import MultiHostDataLoadIterator

import recpack_io
from recpack_io.batches import Batch
from recpack_io.errors import InvalidArgumentError, UnsupportedError
from recpack_io.fields import Numbers
from recpack_io.loading import Loader

__all__ = ['make_eval_iterator', 'make_train_iterator', 'use']


def use() -> None:
    """Lets MaxText's trainer read data sets of recpack with dataset_type=grain: in this process, from now on."""
    input_pipeline_interface.make_grain_train_iterator = make_train_iterator
    input_pipeline_interface.make_grain_eval_iterator = make_eval_iterator


def make_train_iterator(config: Any, mesh: Mesh, process_indices: Sequence[int]) -> MultiHostDataLoadIterator:
    """Returns an iterator of global batches: dictionaries of arrays of int32 over all devices of the mesh.

    `inputs` and `targets`, the tokens that follow, have shape (global_batch_size_to_load, max_target_length), and so
    have their `_position` and `_segmentation`. A record is one sequence of max_target_length + 1 tokens, and one
    segment. Of a longer one the first are taken; a shorter one is an error of its record, with the lengths, which
    MaxText's trainer logs when it stops. What only fills up the last batch of an epoch has segment 0, which MaxText
    leaves out of the loss. For any number of hosts the batches are the same.

    Args:
        config: MaxText's configuration.
        mesh: Its devices.
        process_indices: Processes that read: all of them.

    Raises:
        InvalidArgumentError: If tokenize_train_data is true, or the records do not fit.
        UnsupportedError: If the configuration is not one for pre-training in which all hosts read.
    """
    _check(config, process_indices, 'tokenize_train_data')
    load = partial(_loader, config, config.grain_train_files, config.train_split, config.train_data_columns,
                   config.global_batch_size_to_load, epochs=config.num_epoch, threads=config.grain_num_threads,
                   order='auto' if config.enable_data_shuffling else 'sequential')
    part = _Sequences(load, config.max_target_length, config.num_epoch)
    return MultiHostDataLoadIterator(part, mesh, config.generate_padding_batch_train)


def make_eval_iterator(config: Any, mesh: Mesh, process_indices: Sequence[int]) -> MultiHostDataLoadIterator:
    """Returns an iterator of global batches for evaluation: as those for training, of one epoch in the records' order.

    Args:
        config: MaxText's configuration.
        mesh: Its devices.
        process_indices: Processes that read: all of them.

    Raises:
        InvalidArgumentError: If tokenize_eval_data is true, or the records do not fit.
        UnsupportedError: If the configuration is not one for pre-training in which all hosts read.
    """
    _check(config, process_indices, 'tokenize_eval_data')
    load = partial(_loader, config, config.grain_eval_files, config.eval_split, config.eval_data_columns,
                   config.global_batch_size_to_load_eval, epochs=1, threads=config.grain_num_threads_eval,
                   order='sequential')
    part = _Sequences(load, config.max_target_length, 1)
    return MultiHostDataLoadIterator(part, mesh, config.generate_padding_batch_eval)


def _check(config: Any, process_indices: Sequence[int], tokenize: str) -> None:
    for name in 'use_sft', 'use_dpo', 'use_multimodal', 'colocated_python_data_input', 'elastic_enabled':
        if getattr(config, name):
            raise UnsupportedError(f'{name} is true: this is for pre-training on texts, with a process on each host')
    if config.expansion_factor_real_data != -1 or len(process_indices) != jax.process_count():
        raise UnsupportedError(f'expansion_factor_real_data is {config.expansion_factor_real_data}: all hosts read, '
                               'and a run continues with any number of them; set it to -1')
    if getattr(config, tokenize):
        raise InvalidArgumentError(f'{tokenize} is true: records are tokens already, set it to false')


def _loader(config: Any, path: str, split: str, columns: Sequence[str], global_batch_size: int,
            **options: Any) -> Loader:
    tokens = Numbers('tokens', feature=columns[0], type='i32', length=config.max_target_length + 1, ragged=True,
                     truncate=True)
    processes = jax.process_count()
    # In contiguous parts, so that the global batch does not depend on the number of processes.
    return Loader(recpack_io.open(path, split=split), fields=[tokens], batch_size=global_batch_size // processes,
                  rank=jax.process_index(), world_size=processes, share='batches', last_batch='pad',
                  seed=config.data_shuffle_seed, **options)


class _Sequences(ElasticIterator):
    """This process's part of each batch, from the beginning on with each iter().

    MaxText's checkpoints write the state of an ElasticIterator, and of no other, to one file for all processes.
    """

    _parent = None  # for MaxText asks for it when it closes

    def __init__(self, load: Callable[[], Loader], length: int, epochs: int):
        super().__init__(MapDataset.range(1), 1, ShardOptions(0, 1))  # which are not used
        self._load, self._length, self._epochs = load, length, epochs
        self._loader: Loader | None = None

    def __iter__(self) -> _Sequences:
        self.close()
        self._loader, self._epoch = self._load(), 0
        self._batches = self._given()
        return self

    def __next__(self) -> dict[str, np.ndarray]:
        return next(self._batches)

    def _given(self) -> Iterator[dict[str, np.ndarray]]:
        while self._epoch < self._epochs:
            for batch in self._loader:
                yield self._arrays(batch)
            self._epoch += 1

    def _arrays(self, batch: Batch) -> dict[str, np.ndarray]:
        short = np.flatnonzero(batch['tokens_length'] <= self._length)
        if len(short) > 0:
            record, tokens = batch.ids[short[0]], batch['tokens_length'][short[0]]
            raise InvalidArgumentError(
                f'record {record} has {tokens} tokens, fewer than max_target_length + 1 = {self._length + 1}: pack '
                'sequences of that length, or lower max_target_length')
        tokens = batch['tokens']
        shape = (len(tokens), self._length)
        position = np.broadcast_to(np.arange(self._length, dtype=np.int32), shape)
        segmentation = np.broadcast_to(batch.mask.astype(np.int32)[:, None], shape)
        # Copies, for JAX may hold them longer than the loader does.
        return {'inputs': tokens[:, :-1].copy(), 'inputs_position': position, 'inputs_segmentation': segmentation,
                'targets': tokens[:, 1:].copy(), 'targets_position': position, 'targets_segmentation': segmentation}

    def get_state(self) -> dict[str, Any]:
        """Returns the position after the last batch given, which is the same in all processes."""
        state = self._loader.state_dict()
        return {'version': state['version'], 'token': state['token'], 'epoch': self._epoch}

    def set_state(self, state: dict[str, Any]) -> None:
        """Continues from a get_state(), also of another number of processes."""
        self._loader.load_state_dict(state)
        self._epoch = state['epoch']
        self._batches = self._given()

    def close(self) -> None:
        if self._loader is not None:
            self._loader.close()
