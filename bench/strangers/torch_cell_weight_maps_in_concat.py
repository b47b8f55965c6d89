"""U-Net on two microscopes' pictures of cells: a reference-style preset of joint transforms over a ConcatDataset.

environment: vision; cause: user function
"""
import argparse
import os
import random
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, Dataset
from torchvision.transforms import functional as F


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image, target):
        for transform in self.transforms:
            image, target = transform(image, target)
        return image, target


class RandomHorizontalFlip:
    def __call__(self, image, target):
        if random.random() < 0.5:
            return image[:, ::-1].copy(), target[:, ::-1].copy()
        return image, target


class BorderWeights:
    """Weights as in the U-Net paper: large where two cells nearly touch."""

    def __init__(self, w0=10.0, sigma=5.0, size=48):
        self.w0, self.sigma = w0, sigma
        self.grid = np.stack(np.meshgrid(np.arange(size), np.arange(size), indexing='ij'), -1).reshape(-1, 2)

    def distance_to(self, cell):
        pixels = np.argwhere(cell)
        return np.sqrt(((self.grid[:, None] - pixels[None]) ** 2).sum(-1)).min(1)  # planted

    def __call__(self, image, target):
        labels = np.unique(target)[1:]
        nearest = np.sort([self.distance_to(target == label) for label in labels], axis=0)
        weights = 1 + self.w0 * np.exp(-(nearest[0] + nearest[1]) ** 2 / (2 * self.sigma ** 2))
        return image, {'mask': target > 0, 'weights': weights.reshape(target.shape).astype(np.float32)}


class ToTensor:
    def __call__(self, image, target):
        return F.to_tensor(image), {key: torch.from_numpy(value).float() for key, value in target.items()}


class Cells(Dataset):
    def __init__(self, root, transforms):
        self.files = sorted(os.path.join(root, name) for name in os.listdir(root))
        self.transforms = transforms

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        with np.load(self.files[index]) as pair:
            return self.transforms(pair['image'], pair['cells'])


def write_cells(root, count, rng):
    os.makedirs(root)
    for number in range(count):
        cells = np.zeros((48, 48), np.int32)
        for label in range(1, 9):
            row, column = rng.integers(0, 40, 2)
            cells[row:row + 7, column:column + 7] = label
        image = (cells[..., None] > 0) * 120 + rng.integers(0, 100, (48, 48, 3))
        np.savez(os.path.join(root, f'{number:04}.npz'), image=image.astype(np.uint8), cells=cells)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch-size', type=int, default=4)
    parser.add_argument('--epochs', type=int, default=7)
    args = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(0)
        preset = Compose([RandomHorizontalFlip(), Compose([BorderWeights(), ToTensor()])])
        for scope, count in (('confocal', 40), ('brightfield', 24)):
            write_cells(os.path.join(folder, scope), count, rng)
        dataset = ConcatDataset([Cells(os.path.join(folder, scope), preset) for scope in ('confocal', 'brightfield')])
        loader = DataLoader(dataset, batch_size=args.batch_size, shuffle=True, num_workers=1, persistent_workers=True)
        model = nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(),
                              nn.Conv2d(12, 1, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        for epoch in range(args.epochs):
            for image, target in loader:
                output = model(image)[:, 0]
                loss = nn.functional.binary_cross_entropy_with_logits(output, target['mask'], target['weights'])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            print(f'epoch {epoch} loss {loss.item():.4f}')


if __name__ == '__main__':
    main()
