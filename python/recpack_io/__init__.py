"""Recpack: random access to the records of TFRecord shards, and batches of them for training.

    import recpack_io
    ds = recpack_io.open("shards")                    # len(ds), ds[0]["label"], ds.schema
    for batch in recpack_io.Loader(ds, recipe="cifar10-train", batch_size=256):
        batch["image"], batch["label"]                # NumPy arrays, no copy
    recpack_io.pack(({"image": jpeg, "label": label} for jpeg, label in mine), "shards")

`recpack_io.torch.Loader` returns PyTorch tensors. See docs/guide/loading-python.md for the rest.
"""
from typing import TYPE_CHECKING

from recpack_io._core import Record, decode_image, is_gain_run
from recpack_io.audits import Audit, AuditReport, Difference, Substitution
from recpack_io.errors import (CorruptError, DatasetWarning, DeviceError, InvalidArgumentError, IoError,
                               NotFoundError, RecpackError, UnsupportedError)
from recpack_io.fields import Audio, Bytes, Id, Image, MultiHot, Numbers, recipe, recipe_names
from recpack_io.functions import BatchArrays, BatchFunction, Function, Ragged, Sample
from recpack_io.loading import Batch, Loader
from recpack_io.mixing import MixImages
from recpack_io.mixtures import Mixture
from recpack_io.packing import PackResult, pack
from recpack_io.reading import Dataset, Feature, open  # noqa: A004
from recpack_io.views import View
from recpack_io.writing import Writer

__all__ = ['Audio', 'Audit', 'AuditReport', 'Batch', 'BatchArrays', 'BatchFunction', 'Bytes', 'CorruptError', 'Dataset',
           'DatasetWarning', 'DeviceError', 'Difference', 'Feature', 'Function', 'Id', 'Image', 'InvalidArgumentError', 'IoError',
           'Loader', 'MixImages', 'Mixture', 'MultiHot', 'NotFoundError', 'Numbers', 'PackResult', 'Ragged', 'Record', 'RecpackError',
           'Sample', 'Substitution', 'UnsupportedError', 'View', 'Writer', 'decode_image', 'is_gain_run', 'open', 'pack',
           'recipe', 'recipe_names']

__version__: str  # of the installed package; '0+unknown' for files without its metadata

if not TYPE_CHECKING:  # else every name of the module would be known
    def __getattr__(name):
        if name == '__version__':  # read on request: importlib.metadata is slow to import
            from importlib.metadata import PackageNotFoundError, version
            try:
                return version('recpack-io')
            except PackageNotFoundError:  # a copy of the files alone
                return '0+unknown'
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
