"""Denoising with Lightning: the data module adds the sensor's noise to each batch in on_before_batch_transfer.

environment: lightning; cause: training thread, host, augment, batch function
"""
import argparse
import os
import tempfile

import lightning as L
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class CleanPatches(Dataset):
    def __init__(self, path):
        self.patches = np.load(path, mmap_mode='r')

    def __len__(self):
        return len(self.patches)

    def __getitem__(self, index):
        return torch.from_numpy(np.array(self.patches[index], np.float32) / 255)


class Sensor:
    """The mean of a burst of frames, each with the photons that arrived and a gain."""

    def __init__(self, full_well=1000.0, frames=3, seed=0):
        self.full_well, self.frames = full_well, frames
        self.random = np.random.default_rng(seed)

    def expose(self, light, gain):
        photons = self.random.poisson(light * self.full_well / gain, (self.frames, *light.shape))  # planted
        return photons.mean(0) * (gain / self.full_well)

    def __call__(self, light):
        gain = self.random.uniform(1, 8, (len(light), 1, 1, 1))
        return self.expose(light, gain).astype(np.float32)


class PatchModule(L.LightningDataModule):
    def __init__(self, path, batch_size):
        super().__init__()
        self.path, self.batch_size = path, batch_size
        self.sensor = Sensor()

    def setup(self, stage):
        self.train_set = CleanPatches(self.path)

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=self.batch_size, shuffle=True, num_workers=1,
                          persistent_workers=True)

    def on_before_batch_transfer(self, batch, dataloader_idx):
        if not self.trainer.training:
            return batch
        return torch.from_numpy(self.sensor(batch.numpy())), batch


class Denoiser(L.LightningModule):
    def __init__(self, width=8, lr=1e-3):
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(nn.PixelUnshuffle(4), nn.Conv2d(48, width, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(width, 48, 3, padding=1), nn.PixelShuffle(4))

    def training_step(self, batch, batch_idx):
        noisy, clean = batch
        loss = nn.functional.mse_loss(noisy - self.net(noisy), clean)
        self.log('train_loss', loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch_size', type=int, default=16)
    parser.add_argument('--max_epochs', type=int, default=3)
    args = parser.parse_args()
    torch.set_num_threads(1)
    L.seed_everything(0)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'patches.npy')
        np.save(path, np.random.default_rng(0).integers(0, 256, (800, 3, 64, 64), np.uint8))
        trainer = L.Trainer(max_epochs=args.max_epochs, accelerator='cpu', devices=1, logger=False,
                            enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
        trainer.fit(Denoiser(), datamodule=PatchModule(path, args.batch_size))


if __name__ == '__main__':
    main()
