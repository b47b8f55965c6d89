"""LitData on the loaders' recipes: its chunks, its StreamingDataLoader, torchvision."""
import torch
from litdata import StreamingDataLoader, StreamingDataset

from common import cifar_rows, files_of, main, version_of
from peer_litdata import write
from recipes import CIFAR_BATCH, CROP_BATCH, cifar_jobs, crop_jobs, live_cifar, live_crop, made_once, sizes
from torch_recipes import CropAndFlip, crop_transform, decoded

torch.set_num_threads(1)


class Photos(StreamingDataset):
    def __init__(self, crop, *more, **named):
        super().__init__(*more, **named)
        self.crop = crop

    def __getitem__(self, at):
        row = super().__getitem__(at)
        return self.crop(decoded(row['image'])), row['label']


def cifar(context, floats: bool):
    path = made_once(context.work / 'loader' / 'litdata-cifar', lambda part: write(part, cifar_rows(context)))
    loader = StreamingDataLoader(StreamingDataset(str(path), shuffle=True, drop_last=True), batch_size=CIFAR_BATCH,
                                 num_workers=context.threads, persistent_workers=True, collate_fn=CropAndFlip(floats).of_samples)
    return live_cifar(sizes(loader), f'shuffled, whole batches in numpy, NCHW, {context.threads} workers', 8, floats)


def crop(job):
    path = made_once(job.context.work / 'loader' / f'litdata-{job.kind}', lambda part: write(part, files_of(job.files)))
    data = Photos(crop_transform(job), str(path), shuffle=True, drop_last=True)
    loader = StreamingDataLoader(data, batch_size=CROP_BATCH, num_workers=job.context.threads,
                                 persistent_workers=True)
    return live_crop(sizes(loader), job, f'decode_jpeg, transforms.v2, NCHW, {job.context.threads} workers', 8)


if __name__ == '__main__':
    main('litdata', version_of('litdata', 'torchvision'), {**cifar_jobs(cifar), **crop_jobs(crop)})
