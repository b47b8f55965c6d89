"""A LightningDataModule whose training set bends each picture by a field smoothed row by row in numpy.

environment: lightning; cause: user function, augment
"""
import argparse

import lightning as L
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Elastic:
    def __init__(self, size, alpha=12.0, width=15):
        self.size, self.alpha = size, alpha
        self.kernel = np.hanning(width) / np.hanning(width).sum()
        self.rows, self.columns = np.meshgrid(np.arange(size), np.arange(size), indexing='ij')

    def smooth(self, field):
        for axis in (0, 1):
            field = np.apply_along_axis(np.convolve, axis, field, self.kernel, mode='same')  # planted
        return field

    def __call__(self, image):
        down, across = (self.smooth(np.random.uniform(-1, 1, (self.size, self.size))) for _ in range(2))  # planted
        rows = np.clip(self.rows + self.alpha * down, 0, self.size - 1).astype(int)
        columns = np.clip(self.columns + self.alpha * across, 0, self.size - 1).astype(int)
        return image[rows, columns]


class Digits(Dataset):
    def __init__(self, length, size=112, transform=None):
        self.base = np.random.default_rng(0).random((32, size, size), np.float32)
        self.length, self.transform = length, transform

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        image = self.base[index % 32]
        if self.transform:
            image = self.transform(image)  # planted
        return torch.from_numpy(image[::2, ::2].copy())[None], index % 10


class DigitsModule(L.LightningDataModule):
    def __init__(self, batch_size, num_workers):
        super().__init__()
        self.batch_size, self.num_workers = batch_size, num_workers

    def setup(self, stage):
        self.train_set = Digits(2240, transform=Elastic(112))

    def train_dataloader(self):
        return DataLoader(self.train_set, self.batch_size, shuffle=True, num_workers=self.num_workers,
                          persistent_workers=True)


class Net(L.LightningModule):
    def __init__(self, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Conv2d(1, 16, 5, 2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                                 nn.LazyLinear(256), nn.ReLU(), nn.Linear(256, 10))
        self.net(torch.zeros(1, 1, 56, 56))

    def training_step(self, batch, batch_idx):
        image, label = batch
        return nn.functional.cross_entropy(self.net(image), label)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=16)
    parser.add_argument('--num_workers', type=int, default=2)
    args = parser.parse_args()
    L.seed_everything(1)
    trainer = L.Trainer(accelerator='cpu', devices=1, max_epochs=1, logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Net(), datamodule=DigitsModule(args.batch_size, args.num_workers))


if __name__ == '__main__':
    main()
