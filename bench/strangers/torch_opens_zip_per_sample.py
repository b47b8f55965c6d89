"""A data set that opens its zip archive anew for each sample, and so parses the directory of all members every time.

environment: vision; cause: user function, parse
"""
import argparse
import os
import tempfile
import zipfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class ZipFolder(Dataset):
    def __init__(self, archive, transform=None):
        self.archive = archive
        self.transform = transform
        with zipfile.ZipFile(archive) as opened:
            self.names = sorted(opened.namelist())

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        name = self.names[index]
        with zipfile.ZipFile(self.archive) as opened:  # planted
            image = np.frombuffer(opened.read(name), np.uint8).reshape(3, 32, 32)
        if self.transform is not None:
            image = self.transform(image)
        return image, int(name.split('/')[0])


def to_tensor(image):
    return torch.from_numpy(image.astype(np.float32) / 255)


def make_archive(path, count):
    random = np.random.default_rng(0)
    with zipfile.ZipFile(path, 'w') as archive:
        for number in range(count):
            archive.writestr(f'{number % 10}/{number:06}.bin', random.integers(0, 255, 3072, np.uint8).tobytes())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--members', type=int, default=2000)
    parser.add_argument('--batch-size', type=int, default=16)
    parser.add_argument('--workers', type=int, default=2)
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        archive = os.path.join(folder, 'train.zip')
        make_archive(archive, options.members)
        loader = DataLoader(ZipFolder(archive, to_tensor), options.batch_size, shuffle=True,
                            num_workers=options.workers)
        model = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(),
                              nn.Flatten(), nn.Linear(2048, 512), nn.ReLU(), nn.Linear(512, 10))
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for images, labels in loader:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        print(f'loss {loss.item():.3f}')


if __name__ == '__main__':
    main()
