"""Gives DLIO (dlio_benchmark) recpack's loader: `reader.data_loader_classname=recpack_dlio.RecpackLoader`.

Reads the files of DLIO's workload unchanged, on `reader.read_threads` threads: TFRecord files (their feature `image`), or a
folder of JPEG or PNG files, which are decoded. With RECPACK_DLIO_DATA in the environment, a folder or a URL (s3://, gs://,
https://), it reads them there: TFRecord files of the same names, or the shards that `recpack pack` made of the images.
"""
import itertools
import os

import recpack_io
from dlio_benchmark.common.enumerations import DatasetType, FormatType, Shuffle
from dlio_benchmark.data_loader.base_data_loader import BaseDataLoader


class RecpackLoader(BaseDataLoader):
    """One rank's batches, arrays of uint8. DLIO reads once, and takes the batches of an epoch from each next()."""

    def __init__(self, format_type, dataset_type, epoch_number):
        if format_type not in (FormatType.TFRECORD, FormatType.JPEG, FormatType.PNG):
            raise ValueError(f"unknown format '{format_type}': expected tfrecord, jpeg or png")
        super().__init__(format_type, dataset_type, epoch_number, None)
        self._loader = self._batches = None

    def read(self):
        args = self._args
        dataset = recpack_io.open(self._source())
        if len(dataset) < self.num_samples:
            raise ValueError(f'{dataset.path} has {len(dataset)} samples, the workload {self.num_samples}')
        self._loader = recpack_io.Loader(
            dataset, fields=[self._field(dataset)], batch_size=self.batch_size,
            seed=args.seed, rank=args.my_rank, world_size=args.comm_size, threads=max(1, args.read_threads),
            prefetch=max(2, args.prefetch_size),
            order='sequential' if args.sample_shuffle is Shuffle.OFF else 'auto')
        self._batches = itertools.chain.from_iterable(itertools.repeat(self._loader))

    def _source(self):
        """TFRecord files are opened by name, images as the folder that they lie in."""
        train = self.dataset_type is DatasetType.TRAIN
        files = self._args.file_list_train if train else self._args.file_list_eval
        elsewhere = os.environ.get('RECPACK_DLIO_DATA', '').rstrip('/')
        if self.format_type is not FormatType.TFRECORD:
            return elsewhere or os.path.commonpath([os.path.dirname(file) for file in files])
        return [f'{elsewhere}/{os.path.basename(file)}' for file in files] if elsewhere else files

    def _field(self, dataset):
        if self.format_type is FormatType.TFRECORD:  # all records of a DLIO file are of one size
            return recpack_io.Bytes('image', shape=(len(dataset[0]['image']),))
        # DLIO's images are gray squares; its own readers give them in this size too.
        side = self._args.max_dimension
        return recpack_io.Image('image', height=side, width=side, crop='resize', channels=1, type='u8')

    def next(self):
        # DLIO leaves its loop at the last batch. The epochs of the loader go on, so that it may read ahead.
        steps = self.num_samples // self.batch_size // self._args.comm_size
        for batch in itertools.islice(self._batches, steps):
            yield batch['image']

    def finalize(self):
        """Called by DLIO after each epoch: there is nothing to end."""
