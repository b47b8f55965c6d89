"""Readers by PyTorch's DataLoader, of records: batches of rows and labels."""
import torch
from torch.utils.data import DataLoader, Dataset

from common import Job

BATCH = 512


class Indexed(Dataset):
    """A data set that PyTorch's samplers read by dataset[i], though it is iterable as well."""

    def __init__(self, data):
        self.data = data

    def __len__(self):
        return self.data.size

    def __getitem__(self, i):
        return self.data[i]


def rows_of(samples: list[dict]) -> tuple[torch.Tensor, torch.Tensor]:
    """A batch of {'image': bytes, 'label': number}, all images of one size."""
    joined = bytearray().join(sample['image'] for sample in samples)
    return (torch.frombuffer(joined, dtype=torch.uint8).view(len(samples), -1),
            torch.tensor([sample['label'] for sample in samples]))


def of_loader(loader, config: str, size: int) -> Job:
    """An epoch of batches (rows, labels)."""
    return Job(lambda: (sum(len(labels) for _, labels in loader), size), config)


def by_workers(data, workers: int, size: int, loader: type = DataLoader) -> Job:
    return of_loader(loader(data, batch_size=BATCH, num_workers=workers, persistent_workers=workers > 0,
                            collate_fn=rows_of), f'{loader.__name__}, batches of {BATCH}, {workers} workers', size)


def worker_counts(threads: int) -> list[int]:
    """The numbers of workers that its users try: on two processors 2, 3, 4, 1 and none."""
    return list(dict.fromkeys((threads, threads + 1, 2 * threads, 1, 0)))
