"""Gives DLIO (dlio_benchmark) recpack's loader: `reader.data_loader_classname=recpack_dlio.RecpackLoader`.

Reads the TFRecord files of DLIO's workload, their feature `image`, unchanged, on `reader.read_threads` threads. With
RECPACK_DLIO_DATA in the environment it reads the same files there: a folder or a URL (s3://, gs://, https://).
"""
import itertools
import os

import recpack_io
from dlio_benchmark.common.enumerations import DatasetType, FormatType, Shuffle
from dlio_benchmark.data_loader.base_data_loader import BaseDataLoader


class RecpackLoader(BaseDataLoader):
    """One rank's batches, arrays of uint8. DLIO reads once, and takes the batches of an epoch from each next()."""

    def __init__(self, format_type, dataset_type, epoch_number):
        if format_type != FormatType.TFRECORD:
            raise ValueError(f"unknown format '{format_type}': expected tfrecord")
        super().__init__(format_type, dataset_type, epoch_number, None)
        self._loader = self._batches = None

    def read(self):
        args = self._args
        files = args.file_list_train if self.dataset_type is DatasetType.TRAIN else args.file_list_eval
        dataset = recpack_io.open(os.environ.get('RECPACK_DLIO_DATA', files))
        # All records of a DLIO file are of one size.
        size = len(dataset[0]['image'])
        self._loader = recpack_io.Loader(
            dataset, fields=[recpack_io.Bytes('image', shape=(size,))], batch_size=self.batch_size,
            seed=args.seed, rank=args.my_rank, world_size=args.comm_size, threads=max(1, args.read_threads),
            prefetch=max(2, args.prefetch_size),
            order='sequential' if args.sample_shuffle is Shuffle.OFF else 'auto')
        self._batches = itertools.chain.from_iterable(itertools.repeat(self._loader))

    def next(self):
        # DLIO leaves its loop at the last batch. The epochs of the loader go on, so that it may read ahead.
        steps = self.num_samples // self.batch_size // self._args.comm_size
        for batch in itertools.islice(self._batches, steps):
            yield batch['image']

    def finalize(self):
        """Called by DLIO after each epoch: there is nothing to end."""
