"""MosaicML Streaming on the loaders' recipes: MDS shards, PyTorch's DataLoader, torchvision.

All shards are local. So either all samples count as loaded ahead (`predownload`): by default two
threads take a file lock and count along for each sample. Or its samples are taken by dataset[i],
which needs no such threads, in the order of PyTorch's own sampler.
"""
from streaming import StreamingDataset
from streaming.base.util import clean_stale_shared_memory
from torch.utils.data import DataLoader

from common import cifar_rows, fastest, files_of, main, version_of
from peer_mds import ALL_AHEAD, write
from recipes import CIFAR_BATCH, CROP_BATCH, cifar_jobs, crop_jobs, live_cifar, live_crop, made_once, sizes
from torch_readers import Indexed
from torch_recipes import CropAndFlip, CropBatch, crop_transform, decoded, with_threads, worker_options

INDEXED = (False, True)


class Photos(StreamingDataset):
    def __init__(self, transform, **more):
        super().__init__(**more)
        self.transform = transform

    def __getitem__(self, at):
        row = super().__getitem__(at)
        return self.transform(decoded(row['image'])), row['label']


def loader_of(make, batch: int, collate, indexed: bool, options: dict, threads: int):
    """A loader, and its words. `make(**arguments of StreamingDataset)`."""
    clean_stale_shared_memory()  # of the configuration before
    data = make(batch_size=batch, shuffle=not indexed, predownload=ALL_AHEAD)
    if indexed:
        data, more = Indexed(data), {'shuffle': True}
    else:
        more = {}
    loader = with_threads(lambda: DataLoader(data, batch, drop_last=True, collate_fn=collate, **more, **options),
                          options, threads)
    how = 'dataset[i] by a RandomSampler' if indexed else 'iterated, all counts as loaded ahead'
    return loader, f"{how}, {options['num_workers']} workers"


def cifar(context, floats: bool):
    path = made_once(context.work / 'loader' / 'mds-cifar', lambda part: write(part, cifar_rows(context)))

    def way(indexed, options):
        loader, how = loader_of(lambda **more: StreamingDataset(local=str(path), **more), CIFAR_BATCH,
                                CropAndFlip(floats).of_samples, indexed, options, context.threads)
        return live_cifar(sizes(loader), f'shuffled, whole batches in numpy, NCHW, {how}', 8, floats)
    return fastest(context, way, INDEXED, worker_options(context.threads))


def crop(job):
    path = made_once(job.context.work / 'loader' / f'mds-{job.kind}', lambda part: write(part, files_of(job.files)))

    def way(indexed, options):
        loader, how = loader_of(lambda **more: Photos(crop_transform(job), local=str(path), **more), CROP_BATCH,
                                CropBatch(job), indexed, options, job.context.threads)
        return live_crop(sizes(loader), job, f'decode_jpeg, transforms.v2, whole batches normalised, NCHW, {how}', 8)
    return fastest(job.context, way, INDEXED, worker_options(job.context.threads))


if __name__ == '__main__':
    main('mds', version_of('mosaicml-streaming', 'torchvision'), {**cifar_jobs(cifar), **crop_jobs(crop)})
