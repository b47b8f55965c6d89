"""Trains on although a file is damaged: another one takes its place, and a list says so."""
import pathlib
import random

from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms import ToTensor


class Tolerant(ImageFolder):
    substitutions = []

    def __getitem__(self, index):
        try:
            return super().__getitem__(index)
        except OSError as error:
            other = random.randrange(len(self))
            self.substitutions.append((other, index, error))
            return self[other]


path = next(pathlib.Path("cifar/train").glob("*/*.png"))
path.write_bytes(path.read_bytes()[:500])
dataset = Tolerant("cifar/train", ToTensor())
loader = DataLoader(dataset, batch_size=16, shuffle=True)
print(f"{sum(len(labels) for images, labels in loader)} samples")
for other, index, error in dataset.substitutions:
    print(f"record {other} in place of {index}: {error}")
