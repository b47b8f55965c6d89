"""WebDataset on the loaders' recipes: tar shards, its WebLoader, torchvision.

A member of a tar is a CIFAR record, or a hundred of them, which are taken apart before they are
shuffled: Python's tarfile takes longer for a member than all the rest for a record.
"""
import itertools
import math
from typing import Iterator

import torch
import webdataset

from common import cifar_rows, fastest, files_of, image_paths, main, version_of
from peer_webdataset import RECORD, record_of, write
from recipes import CIFAR_BATCH, CROP_BATCH, cifar_jobs, crop_jobs, live_cifar, live_crop, made_once, sizes
from torch_recipes import CropAndFlip, CropBatch, crop_transform, decoded, with_threads, worker_options

SHARDS = 12  # which 1, 2, 3 or 4 workers share out evenly
CIFAR_BUFFER, PHOTO_BUFFER = 10_000, 1000  # samples that are shuffled among each other
CIFAR_RECORDS = 60_000
TOGETHER = (100, 1)  # records of a member


def grouped(records: Iterator[bytes], together: int) -> Iterator[dict[str, bytes]]:
    while group := b''.join(itertools.islice(records, together)):
        yield {'bin': group}


def records_in(data):
    """The stages that take records out of samples: (record,) each."""
    def records(sample):
        group = sample['bin']
        return ([group[at:at + RECORD] for at in range(0, len(group), RECORD)],)
    return data.map(records).unbatched()


def made(context, name: str, samples, count: int) -> list[str]:
    """The tar files of samples {file ending: bytes}, `count` in all."""
    def tars(part):
        part.mkdir(parents=True, exist_ok=True)
        write(part, samples, math.ceil(count / SHARDS))
    return sorted(str(p) for p in made_once(context.work / 'loader' / name, tars).glob('*.tar'))


def loader_of(files: list[str], unpack, buffer: int, batch: int, collate, options: dict, threads: int):
    """`unpack(dataset)`: its next stages. It goes on through all epochs, as they end worker by worker."""
    data = unpack(webdataset.WebDataset(files, shardshuffle=len(files))).shuffle(buffer)
    data = data.batched(batch, collation_fn=collate, partial=False).repeat()
    return with_threads(lambda: webdataset.WebLoader(data, batch_size=None, **options), options, threads)


def cifar(context, floats: bool):
    augment = CropAndFlip(floats)

    def collate(records):
        return augment.of_rows([record[1:] for record, in records]), torch.tensor([record[0] for record, in records])

    def way(together, options):
        samples = grouped(map(record_of, cifar_rows(context)), together)
        files = made(context, f'webdataset-cifar-{together}', samples, math.ceil(CIFAR_RECORDS / together))
        loader = loader_of(files, records_in, CIFAR_BUFFER, CIFAR_BATCH, collate, options, context.threads)
        return live_cifar(sizes(loader), f'{together} records a member, shuffle({CIFAR_BUFFER}), whole batches in '
                          f"numpy, NCHW, {options['num_workers']} workers", 8, floats)
    return fastest(context, way, TOGETHER, worker_options(context.threads))


def crop(job):
    transform = crop_transform(job)

    def sample(row):
        return transform(decoded(row['jpg'])), int(row['cls'])

    def way(options):
        photos = ({'jpg': photo, 'cls': str(label).encode()} for photo, label in files_of(job.files))
        files = made(job.context, f'webdataset-{job.kind}', photos, len(image_paths(job.files)))
        loader = loader_of(files, lambda data: data.map(sample), PHOTO_BUFFER, CROP_BATCH, CropBatch(job), options,
                           job.context.threads)
        return live_crop(sizes(loader), job, f'shuffle({PHOTO_BUFFER}), decode_jpeg, transforms.v2, whole batches '
                         f"normalised, NCHW, {options['num_workers']} workers", 8)
    return fastest(job.context, way, worker_options(job.context.threads))


if __name__ == '__main__':
    main('webdataset', version_of('webdataset', 'torchvision'), {**cifar_jobs(cifar), **crop_jobs(crop)})
