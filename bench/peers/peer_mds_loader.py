"""MosaicML Streaming on the loaders' recipes: MDS shards, PyTorch's DataLoader, torchvision."""
import torch
from streaming import StreamingDataset
from torch.utils.data import DataLoader

from common import cifar_rows, image_paths, main, version_of
from peer_mds import write
from recipes import CIFAR_BATCH, CROP_BATCH, cifar_jobs, crop_jobs, live_cifar, live_crop
from torch_recipes import CropAndFlip, crop_transform, decoded

torch.set_num_threads(1)


class Photos(StreamingDataset):
    def __init__(self, transform, **more):
        super().__init__(**more)
        self.transform = transform

    def __getitem__(self, at):
        row = super().__getitem__(at)
        return self.transform(decoded(row['image'])), row['label']


def made(context, name: str, samples) -> str:
    """The data set in its format, made once."""
    path = context.work / 'loader' / name
    if not path.exists():
        part = path.with_name(name + '.part')
        write(part, samples())
        part.rename(path)
    return str(path)


def sizes(loader):
    def batches():
        for _, label in loader:
            yield len(label)
    return batches


def cifar(context, floats: bool):
    path = made(context, 'mds-cifar', lambda: cifar_rows(context))
    augment = CropAndFlip(floats)

    def collate(rows):
        return augment.of_rows([row['image'] for row in rows]), torch.tensor([row['label'] for row in rows])
    loader = DataLoader(StreamingDataset(local=path, batch_size=CIFAR_BATCH, shuffle=True), CIFAR_BATCH,
                        drop_last=True, num_workers=context.threads, persistent_workers=True,
                        collate_fn=collate)
    return live_cifar(sizes(loader), f'shuffled, whole batches in numpy, NCHW, {context.threads} workers', 8, floats)


def crop(job):
    def files():
        for path, label in image_paths(job.files):
            with open(path, 'rb') as file:
                yield file.read(), label
    path = made(job.context, f'mds-{job.kind}', files)
    data = Photos(crop_transform(job), local=path, batch_size=CROP_BATCH, shuffle=True)
    loader = DataLoader(data, CROP_BATCH, drop_last=True, num_workers=job.context.threads, persistent_workers=True)
    return live_crop(sizes(loader), job, f'decode_jpeg, transforms.v2, NCHW, {job.context.threads} workers', 8)


if __name__ == '__main__':
    main('mds', version_of('mosaicml-streaming', 'torchvision'), {**cifar_jobs(cifar), **crop_jobs(crop)})
