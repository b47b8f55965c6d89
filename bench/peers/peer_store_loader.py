"""Loads photos of an S3 store for training by one loader: shuffled batches, cropped to 224 x 224, u8.

    peer_store_loader.py write LOADER FILES OUT             the files of class folders, in the loader's own format
    peer_store_loader.py read LOADER s3://BUCKET/KEY --names FILE --cache DIR --workers N [--variant V]

Store and credentials are those of the environment (AWS_ENDPOINT_URL ...). FILE lists the objects below KEY, for
loaders that must be told. Prints a line of JSON for each of two epochs: seconds, from the making of the loader
(imports not included) or from the end of the epoch before; cpu_seconds of this process and its workers; images.
A loader that keeps what it fetched does so in DIR. V: LitData's batch_decode; whether WebDataset keeps what it fetches
(cache, stream) or reads by curl, its own way (curl); how Lance's workers are started (spawn, forkserver).
"""
import argparse
import functools
import gc
import importlib
import importlib.metadata
import json
import multiprocessing.forkserver
import os
import pathlib
import shutil
import time

import torch
from torch.utils.data import DataLoader, Dataset

from common import files_of
from process_tree import cpu_seconds_of_tree
from recipes import CROP_BATCH, SIDE
from torch_recipes import CropBatch, crop_transform, decoded

AHEAD = 4  # batches of a worker
MEMBERS = 640  # of a tar: shards of 67 MB, as LitData and Streaming have them by default
BUFFER = 1000  # samples that WebDataset shuffles among each other
EPOCHS = 2


class Recipe:
    """The crop that torch_recipes.py is to do."""
    floats, antialias = False, True


class MakeSample:
    """(photo's bytes, label) to (cropped photo, label)."""

    def __init__(self):
        self.crop = crop_transform(Recipe)

    def __call__(self, photo, label):
        return self.crop(decoded(bytearray(photo))), int(label)


def torch_options(workers: int) -> dict:
    torch.set_num_threads(1)
    return {'num_workers': workers, 'persistent_workers': True, 'prefetch_factor': AHEAD, 'collate_fn': CropBatch(Recipe)}


def recpack_loader(options):
    import recpack_io
    from recpack_io.torch import Loader
    fields = [recpack_io.Image(height=SIDE, width=SIDE, crop='random-resized', flip=0.5, type='u8'),
              recpack_io.recipe('imagenet-train')[1]]
    loader = Loader(recpack_io.open(options.url), fields=fields, batch_size=CROP_BATCH, threads=options.workers, as_tuple=True)
    return loader, f'recpack_io.torch.Loader, {options.workers} threads, order auto'


WEBDATASET = {'cache': "s3fs's readahead of 8 MiB, cache_dir", 'stream': "s3fs's readahead of 8 MiB", 'curl': 'pipe:curl'}


def write_webdataset(samples, out: pathlib.Path) -> None:
    from peer_webdataset import write
    write(out, ({'jpg': photo, 'cls': str(label).encode()} for photo, label in samples), MEMBERS)


def webdataset_loader(options):
    import s3fs
    import webdataset
    from webdataset.gopen import gopen_schemes

    @functools.cache
    def files(process):  # not for use behind a fork
        return s3fs.S3FileSystem(endpoint_url=os.environ['AWS_ENDPOINT_URL'], skip_instance_cache=True,
                                 config_kwargs={'s3': {'addressing_style': 'path'}})
    gopen_schemes['s3'] = lambda path, mode, bufsize: files(os.getpid()).open(
        path, mode, cache_type='readahead', block_size=8 << 20)
    make, more = MakeSample(), torch_options(options.workers)
    url = options.url
    if options.variant == 'curl':
        url = url.replace('s3:/', f"pipe:curl -s -f {os.environ['AWS_ENDPOINT_URL']}", 1)
    kept = {'cache_dir': str(options.cache)} if options.variant == 'cache' else {}
    data = webdataset.WebDataset([f'{url}/{name}' for name in options.names], shardshuffle=len(options.names),
                                 empty_check=False, **kept)
    data = data.shuffle(BUFFER).map(lambda row: make(row['jpg'], row['cls']))
    data = data.batched(CROP_BATCH, collation_fn=more.pop('collate_fn'), partial=True)
    return (webdataset.WebLoader(data, batch_size=None, **more),
            f"shuffle({BUFFER}), {WEBDATASET[options.variant]}, {options.workers} workers")


def write_mds(samples, out: pathlib.Path) -> None:
    from peer_mds import write
    write(out, samples)


def mds_loader(options):
    from peer_mds import ALL_AHEAD
    from streaming import StreamingDataset
    from streaming.base.util import clean_stale_shared_memory
    os.environ['S3_ENDPOINT_URL'] = os.environ['AWS_ENDPOINT_URL']
    clean_stale_shared_memory()
    make = MakeSample()

    class Photos(StreamingDataset):
        def __getitem__(self, at):
            row = super().__getitem__(at)
            return make(row['image'], row['label'])
    data = Photos(remote=options.url, local=str(options.cache), batch_size=CROP_BATCH, shuffle=True, predownload=ALL_AHEAD)
    for stream in data.streams:
        stream._downloader.clean_up()  # or the workers share the connection that read the index, and one waits for 60 s
    return DataLoader(data, CROP_BATCH, **torch_options(options.workers)), f'predownload of all, {options.workers} workers'


def write_litdata(samples, out: pathlib.Path) -> None:
    from peer_litdata import write
    write(out, samples)


def litdata_loader(options):
    from litdata import StreamingDataLoader, StreamingDataset
    from litdata.streaming import downloader
    downloader._OBSTORE_CLIENT_OPTIONS['allow_http'] = 'true'  # there is no setting for it
    make = MakeSample()

    class Photos(StreamingDataset):
        def __getitem__(self, at):
            row = super().__getitem__(at)
            return make(row['image'], row['label'])
    window = 0 if options.variant == '0' else options.variant
    data = Photos(options.url, cache_dir=str(options.cache), shuffle=True, batch_decode=window,
                  storage_options={'endpoint_url': os.environ['AWS_ENDPOINT_URL']})
    return (StreamingDataLoader(data, batch_size=CROP_BATCH, **torch_options(options.workers)),
            f'batch_decode={window}, {options.workers} workers')


def write_lance(samples, out: pathlib.Path) -> None:
    """With eight bytes behind each photo's end: it would store equal photos once."""
    import lance
    import pyarrow
    from peer_lance import SCHEMA, record_batches
    samples = ((photo + number.to_bytes(8, 'big'), label) for number, (photo, label) in enumerate(samples))
    lance.write_dataset(pyarrow.RecordBatchReader.from_batches(SCHEMA, record_batches(samples, 100)), str(out),
                        enable_v2_manifest_paths=True)


class LancePhotos(Dataset):
    """As lance.torch.data.SafeLanceDataset: each worker opens the data set, and takes a batch's rows at once."""

    def __init__(self, url: str, count: int, options: dict):
        self.url, self.count, self.options, self.data, self.make = url, count, options, None, None

    def __len__(self):
        return self.count

    def __getitems__(self, rows):
        if self.data is None:
            import lance
            self.data, self.make = lance.dataset(self.url, **self.options), MakeSample()
        taken = self.data.take(rows)
        return [self.make(photo.as_buffer(), label)
                for photo, label in zip(taken.column('image'), taken.column('label').to_pylist())]


def lance_loader(options):
    import lance
    where = {'version': 1, 'storage_options': {'endpoint': os.environ['AWS_ENDPOINT_URL'], 'allow_http': 'true',
                                               'virtual_hosted_style_request': 'false'}}
    data = LancePhotos(options.url, lance.dataset(options.url, **where).count_rows(), where)
    return (DataLoader(data, CROP_BATCH, shuffle=True, multiprocessing_context=options.variant, **torch_options(options.workers)),
            f'take(a batch of random rows), {options.workers} workers by {options.variant}')


def write_files(samples, out: pathlib.Path) -> None:
    for number, (photo, label) in enumerate(samples):
        (out / f'{number:06}-{label}.jpg').write_bytes(photo)


def s3torchconnector_loader(options):
    from s3torchconnector import S3ClientConfig, S3MapDataset, S3ReaderConstructor
    make = MakeSample()
    data = S3MapDataset.from_objects(
        [f'{options.url}/{name}' for name in options.names], region=os.environ['AWS_REGION'],
        endpoint=os.environ['AWS_ENDPOINT_URL'], s3client_config=S3ClientConfig(force_path_style=True),
        reader_constructor=S3ReaderConstructor.sequential(),
        transform=lambda reader: make(reader.read(), reader.key.rpartition('-')[2].removesuffix('.jpg')))
    return (DataLoader(data, CROP_BATCH, shuffle=True, **torch_options(options.workers)),
            f'S3MapDataset of an object a photo, sequential readers, {options.workers} workers')


WRITERS = {'webdataset': write_webdataset, 'mds': write_mds, 'litdata': write_litdata, 'lance': write_lance,
           's3torchconnector': write_files}
LOADERS = {'recpack': recpack_loader, 'webdataset': webdataset_loader, 'mds': mds_loader, 'litdata': litdata_loader,
           'lance': lance_loader, 's3torchconnector': s3torchconnector_loader}
# Imported before the time begins.
MODULES = {'recpack': ['recpack_io.torch'], 'webdataset': ['webdataset', 's3fs'], 'mds': ['streaming', 'peer_mds'],
           'litdata': ['litdata'], 'lance': ['lance'], 's3torchconnector': ['s3torchconnector']}
PACKAGES = {'recpack': 'recpack-io', 'mds': 'mosaicml-streaming', 'lance': 'pylance'}


def read(options) -> None:
    version = importlib.metadata.version(PACKAGES.get(options.loader, options.loader))
    shutil.rmtree(options.cache, ignore_errors=True)
    options.cache.mkdir(parents=True)
    options.names = options.names.read_text(encoding='utf-8').split()
    for module in MODULES[options.loader]:
        importlib.import_module(module)
    if options.variant == 'forkserver':
        multiprocessing.set_forkserver_preload(['peer_store_loader', 'lance'])
        multiprocessing.forkserver.ensure_running()
    began, cpu = time.perf_counter(), cpu_seconds_of_tree()
    loader, config = LOADERS[options.loader](options)
    for _ in range(EPOCHS):
        images = 0
        for image, label in loader:
            if image.shape != (len(label), 3, SIDE, SIDE) or image.dtype != torch.uint8:
                raise SystemExit(f'{options.loader}: a batch {image.dtype} {tuple(image.shape)}')
            images += len(label)
        now, used = time.perf_counter(), cpu_seconds_of_tree()
        print(json.dumps({'seconds': now - began, 'cpu_seconds': used - cpu, 'images': images, 'config': config,
                          'version': version}), flush=True)
        began, cpu = now, used
    del loader
    gc.collect()  # ends its workers: those of a fork server would not see that this process is gone
    os._exit(0)  # some threads outlive their work


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest='command', required=True)
    writing = commands.add_parser('write')
    writing.add_argument('loader', choices=WRITERS)
    writing.add_argument('files', type=pathlib.Path)
    writing.add_argument('out', type=pathlib.Path)
    reading = commands.add_parser('read')
    reading.add_argument('loader', choices=LOADERS)
    reading.add_argument('url')
    reading.add_argument('--names', type=pathlib.Path, required=True)
    reading.add_argument('--cache', type=pathlib.Path, required=True)
    reading.add_argument('--workers', type=int, default=2)
    reading.add_argument('--variant', default='')
    options = parser.parse_args()
    if options.command == 'write':
        options.out.mkdir(parents=True)
        WRITERS[options.loader](files_of(options.files), options.out)
    else:
        read(options)


if __name__ == '__main__':
    main()
