"""Data loader for torchtitan: sequences of tokens from a data set of recpack.

    from recpack_io.torchtitan import DataLoader
    config.dataloader = DataLoader.Config(dataset_path="shards", feature="tokens", seed=1)

A run may continue with another number of data-parallel ranks: the state is a position in the order
of the whole data set, the same on all ranks.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torchtitan.components.dataloader import BaseDataLoader

import recpack_io
from recpack_io.errors import InvalidArgumentError
from recpack_io.fields import Numbers
from recpack_io.options import OrderName
from recpack_io.torch import Loader

__all__ = ['DataLoader']


class DataLoader(BaseDataLoader):
    """Gives ({"input": tokens}, labels), both int64 of shape (local_batch_size, seq_len).

    A record is one sequence of seq_len + 1 tokens; labels are the tokens that follow. Of a longer one
    the first seq_len + 1 are taken; a shorter one is an error of its record, with the lengths.

    Args:
        config: The data set, and the order.
        dp_world_size: Number of data-parallel ranks.
        dp_rank: This process's rank among them.
        seq_len: Tokens of a sample.
        local_batch_size: Samples per batch and rank.
        others: What torchtitan also gives: its tokenizer, for instance, which is not needed.

    Raises:
        InvalidArgumentError: If there is no dataset_path, or the records do not fit.
    """

    @dataclass(kw_only=True, slots=True)
    class Config(BaseDataLoader.Config):
        """What to read, and in which order.

        Args:
            dataset_path: Path or URL of the data set; `dataset` is not used.
            split: Split of the data set.
            feature: Feature with a record's tokens, integers.
            seed: Seed of the order.
            order: As in recpack_io.Loader.
            infinite: Begin the next epoch, in another order, when one has ended. False: end with the first one.
            threads: Threads that read.
        """

        split: str = 'train'
        feature: str = 'tokens'
        seed: int = 0
        order: OrderName = 'auto'
        infinite: bool = True
        threads: int = 2

    def __init__(self, config: DataLoader.Config, *, dp_world_size: int, dp_rank: int, seq_len: int,
                 local_batch_size: int, **others: Any):
        if not config.dataset_path:
            raise InvalidArgumentError('dataset_path is missing: expected the path or URL of a data set')
        self._infinite = config.infinite
        tokens = Numbers('tokens', feature=config.feature, type='i64', length=seq_len + 1, ragged=True,
                         truncate=True)
        self._length = seq_len + 1
        self._loader = Loader(recpack_io.open(config.dataset_path, split=config.split), fields=[tokens],
                              batch_size=local_batch_size, rank=dp_rank, world_size=dp_world_size,
                              seed=config.seed, order=config.order, threads=config.threads,
                              last_batch='drop')

    def __iter__(self) -> Iterator[tuple[dict[str, torch.Tensor], torch.Tensor]]:
        while True:
            for batch in self._loader:
                self._check(batch)
                tokens = batch['tokens']
                yield {'input': tokens[:, :-1]}, tokens[:, 1:]
            if not self._infinite:
                return

    def _check(self, batch) -> None:
        short = (batch['tokens_length'] < self._length).nonzero()
        if len(short) > 0:
            sample = int(short[0])
            raise InvalidArgumentError(
                f'record {int(batch.ids[sample])} has {int(batch["tokens_length"][sample])} tokens, fewer than seq_len + 1 = '
                f'{self._length}: pack sequences of that length, or lower seq_len')

    def state_dict(self) -> dict[str, Any]:
        """Returns the position after the last batch given, which is the same on all ranks."""
        state = self._loader.state_dict()
        return {'version': state['version'], 'token': state['token']}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues from a state_dict(), also of another number of ranks. An empty one begins anew."""
        if state_dict:
            self._loader.load_state_dict(state_dict)
