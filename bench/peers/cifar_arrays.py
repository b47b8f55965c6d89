"""CIFAR-10 in memory."""
import numpy as np

from common import CIFAR_FILES, read_batch


class Cifar:
    """All 60,000 pictures, uint8 (3, 32, 32), with their labels."""

    def __init__(self, context):
        folder = context.data / 'cifar-10-batches-py'
        batches = [read_batch(folder / name) for name in CIFAR_FILES]
        self.rows = np.concatenate([rows for rows, _ in batches]).reshape(-1, 3, 32, 32)
        self.labels = sum((list(labels) for _, labels in batches), [])

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.rows[i], self.labels[i]
