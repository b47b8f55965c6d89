"""MosaicML Streaming on the loaders' recipes: MDS shards, PyTorch's DataLoader, torchvision."""
import torch
from streaming import StreamingDataset
from torch.utils.data import DataLoader

from common import cifar_rows, files_of, main, version_of
from peer_mds import write
from recipes import CIFAR_BATCH, CROP_BATCH, cifar_jobs, crop_jobs, live_cifar, live_crop, made_once, sizes
from torch_recipes import CropAndFlip, crop_transform, decoded

torch.set_num_threads(1)


class Photos(StreamingDataset):
    def __init__(self, transform, **more):
        super().__init__(**more)
        self.transform = transform

    def __getitem__(self, at):
        row = super().__getitem__(at)
        return self.transform(decoded(row['image'])), row['label']


def cifar(context, floats: bool):
    path = made_once(context.work / 'loader' / 'mds-cifar', lambda part: write(part, cifar_rows(context)))
    loader = DataLoader(StreamingDataset(local=str(path), batch_size=CIFAR_BATCH, shuffle=True), CIFAR_BATCH,
                        drop_last=True, num_workers=context.threads, persistent_workers=True,
                        collate_fn=CropAndFlip(floats).of_samples)
    return live_cifar(sizes(loader), f'shuffled, whole batches in numpy, NCHW, {context.threads} workers', 8, floats)


def crop(job):
    path = made_once(job.context.work / 'loader' / f'mds-{job.kind}', lambda part: write(part, files_of(job.files)))
    data = Photos(crop_transform(job), local=str(path), batch_size=CROP_BATCH, shuffle=True)
    loader = DataLoader(data, CROP_BATCH, drop_last=True, num_workers=job.context.threads, persistent_workers=True)
    return live_crop(sizes(loader), job, f'decode_jpeg, transforms.v2, NCHW, {job.context.threads} workers', 8)


if __name__ == '__main__':
    main('mds', version_of('mosaicml-streaming', 'torchvision'), {**cifar_jobs(cifar), **crop_jobs(crop)})
