"""WebDataset on the loaders' recipes: tar shards, its WebLoader, torchvision."""
import torch
import webdataset

from common import cifar_rows, files_of, main, version_of
from peer_webdataset import write
from recipes import CIFAR_BATCH, CROP_BATCH, cifar_jobs, crop_jobs, live_cifar, live_crop, made_once, sizes
from torch_recipes import CropAndFlip, crop_transform, decoded

torch.set_num_threads(1)
BUFFER = 1000  # samples that are shuffled among each other


def made(context, name: str, field: str, samples) -> list[str]:
    """Four tar files or more: its workers share them out."""
    def tars(part):
        part.mkdir(parents=True, exist_ok=True)
        write(part, samples, field, maxsize=6e7)
    return sorted(str(p) for p in made_once(context.work / 'loader' / name, tars).glob('*.tar'))


def loader_of(files: list[str], field: str, buffer: int, prepare, batch: int, collate, threads: int):
    def sample(row):
        return prepare(row[field]), int(row['cls'])
    data = webdataset.WebDataset(files, shardshuffle=len(files)).shuffle(buffer).map(sample)
    return webdataset.WebLoader(data.batched(batch, collation_fn=collate, partial=False), batch_size=None,
                                num_workers=threads, persistent_workers=True)


def cifar(context, floats: bool):
    augment = CropAndFlip(floats)

    def collate(rows):
        return augment.of_rows([image for image, _ in rows]), torch.tensor([label for _, label in rows])
    files = made(context, 'webdataset-cifar', 'bin', cifar_rows(context))
    loader = loader_of(files, 'bin', 10_000, lambda image: image, CIFAR_BATCH, collate, context.threads)
    return live_cifar(sizes(loader), f'shuffle(10000), whole batches in numpy, NCHW, {context.threads} workers', 8,
                      floats)


def crop(job):
    def collate(rows):
        return torch.stack([image for image, _ in rows]), torch.tensor([label for _, label in rows])
    transform = crop_transform(job)
    files = made(job.context, f'webdataset-{job.kind}', 'jpg', files_of(job.files))
    loader = loader_of(files, 'jpg', BUFFER, lambda jpeg: transform(decoded(jpeg)), CROP_BATCH, collate,
                       job.context.threads)
    return live_crop(sizes(loader), job, f'shuffle({BUFFER}), decode_jpeg, transforms.v2, NCHW, '
                     f'{job.context.threads} workers', 8)


if __name__ == '__main__':
    main('webdataset', version_of('webdataset', 'torchvision'), {**cifar_jobs(cifar), **crop_jobs(crop)})
