"""Denoiser for slices of a scan, with a Lightning callback that measures the structural similarity of every training batch.

environment: lightning; cause: host
"""
import logging
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.image import StructuralSimilarityIndexMeasure


def phantom_slices(count, size, seed=9):
    generator = torch.Generator().manual_seed(seed)
    ys, xs = torch.meshgrid(torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")
    slices = torch.zeros(count, 1, size, size)
    for picture in slices:
        for _ in range(4):
            x, y, r, v = torch.rand(4, generator=generator)
            picture[0][(xs - 1.2 * x + 0.6) ** 2 + (ys - 1.2 * y + 0.6) ** 2 < 0.3 * r + 0.02] += 0.3 * v
    noisy = slices + 0.1 * torch.randn(slices.shape, generator=generator)
    return TensorDataset(noisy, slices)


class Denoiser(L.LightningModule):
    def __init__(self, width=6, lr=2e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(
            nn.Conv2d(1, width, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, 4, 3, padding=1), nn.PixelShuffle(2),
        )

    def forward(self, noisy):
        return noisy - self.net(noisy)

    def training_step(self, batch, batch_idx):
        noisy, clean = batch
        restored = self(noisy)
        loss = nn.functional.mse_loss(restored, clean)
        return {"loss": loss, "restored": restored.detach()}

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


class ImageQuality(L.Callback):
    def __init__(self):
        self.ssim = StructuralSimilarityIndexMeasure(data_range=1.0)

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        self.ssim.update(outputs["restored"], batch[1])  # planted

    def on_train_epoch_end(self, trainer, module):
        print(f"epoch {trainer.current_epoch}: ssim {self.ssim.compute():.4f}")
        self.ssim.reset()


def main():
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    torch.set_num_threads(1)
    L.seed_everything(9)
    loader = DataLoader(phantom_slices(320, 128), batch_size=8, shuffle=True, drop_last=True)
    trainer = L.Trainer(
        accelerator="cpu",
        max_epochs=6,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[ImageQuality()],
    )
    trainer.fit(Denoiser(), loader)


if __name__ == "__main__":
    main()
