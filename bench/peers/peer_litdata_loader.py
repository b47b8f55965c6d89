"""LitData on the loaders' recipes: its chunks, its StreamingDataLoader, torchvision.

Chunks are mapped in place, as it does by itself with local ones. It deserialises samples by windows
that are reused while shuffled samples fall into them; where a chunk is split between workers they do
not, so whole chunks and single samples are tried as well. Photos: single samples, its own choice for
its image types.
"""
from litdata import StreamingDataLoader, StreamingDataset

from common import cifar_rows, fastest, files_of, main, version_of
from peer_litdata import WINDOWS, write
from recipes import CIFAR_BATCH, CROP_BATCH, cifar_jobs, crop_jobs, live_cifar, live_crop, made_once, sizes
from torch_recipes import CropAndFlip, CropBatch, crop_transform, decoded, with_threads, worker_options


class Photos(StreamingDataset):
    def __init__(self, crop, *more, **named):
        super().__init__(*more, **named)
        self.crop = crop

    def __getitem__(self, at):
        row = super().__getitem__(at)
        return self.crop(decoded(row['image'])), row['label']


def loader_of(data, batch: int, collate, options: dict, threads: int):
    return with_threads(lambda: StreamingDataLoader(data, batch_size=batch, collate_fn=collate, **options),
                        options, threads)


def cifar(context, floats: bool):
    path = made_once(context.work / 'loader' / 'litdata-cifar', lambda part: write(part, cifar_rows(context)))

    def way(window, options):
        data = StreamingDataset(str(path), shuffle=True, drop_last=True, batch_decode=window)
        loader = loader_of(data, CIFAR_BATCH, CropAndFlip(floats).of_samples, options, context.threads)
        return live_cifar(sizes(loader), f'shuffled, batch_decode={window}, whole batches in numpy, NCHW, '
                          f"{options['num_workers']} workers", 8, floats)
    return fastest(context, way, WINDOWS, worker_options(context.threads))


def crop(job):
    path = made_once(job.context.work / 'loader' / f'litdata-{job.kind}', lambda part: write(part, files_of(job.files)))

    def way(options):
        data = Photos(crop_transform(job), str(path), shuffle=True, drop_last=True, batch_decode=0)
        loader = loader_of(data, CROP_BATCH, CropBatch(job), options, job.context.threads)
        return live_crop(sizes(loader), job, 'batch_decode=0, decode_jpeg, transforms.v2, whole batches normalised, '
                         f"NCHW, {options['num_workers']} workers", 8)
    return fastest(job.context, way, worker_options(job.context.threads))


if __name__ == '__main__':
    main('litdata', version_of('litdata', 'torchvision'), {**cifar_jobs(cifar), **crop_jobs(crop)})
