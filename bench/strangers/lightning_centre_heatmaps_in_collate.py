"""Centre-point box detector in Lightning whose collate function draws the Gaussian target maps point by point.

environment: lightning; cause: batch function
"""
import logging
import math
import warnings

import lightning as L
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE, STRIDE, CLASSES = 128, 4, 3
GRID = SIZE // STRIDE


class BoxScenes(Dataset):
    """Noise with filled rectangles in three shades."""

    def __init__(self, count, seed=21):
        rng = np.random.default_rng(seed)
        self.pictures, self.boxes = [], []
        for _ in range(count):
            picture = rng.normal(0, 0.1, (1, SIZE, SIZE)).astype(np.float32)
            boxes = []
            for _ in range(rng.integers(3, 8)):
                w, h = rng.integers(16, 48, 2)
                x, y = rng.integers(0, SIZE - w), rng.integers(0, SIZE - h)
                kind = int(rng.integers(CLASSES))
                picture[0, y : y + h, x : x + w] += 0.5 * (kind + 1)
                boxes.append((x, y, w, h, kind))
            self.pictures.append(torch.from_numpy(picture))
            self.boxes.append(boxes)

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, index):
        return self.pictures[index], self.boxes[index]


def collate_detection(samples):
    pictures = torch.stack([picture for picture, _ in samples])
    heat = np.zeros((len(samples), CLASSES, GRID, GRID), dtype=np.float32)
    for n, (_, boxes) in enumerate(samples):
        for x, y, w, h, kind in boxes:
            cx, cy = (x + w / 2) / STRIDE, (y + h / 2) / STRIDE
            sigma = max(w, h) / STRIDE / 6
            for row in range(GRID):
                for column in range(GRID):  # planted
                    distance = (column - cx) ** 2 + (row - cy) ** 2  # planted
                    peak = math.exp(-distance / (2 * sigma**2))  # planted
                    heat[n, kind, row, column] = max(heat[n, kind, row, column], peak)  # planted
    return pictures, torch.from_numpy(heat)


class CentreNet(L.LightningModule):
    def __init__(self, width=12):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, width, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(2 * width, 2 * width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(2 * width, CLASSES, 1),
        )
        nn.init.constant_(self.net[-1].bias, -2.2)

    def training_step(self, batch, batch_idx):
        pictures, heat = batch
        guess = self.net(pictures).sigmoid().clamp(1e-4, 1 - 1e-4)
        positive = heat.gt(0.95).float()
        loss = -(positive * (1 - guess) ** 2 * guess.log())
        loss = loss - (1 - positive) * (1 - heat) ** 4 * guess**2 * (1 - guess).log()
        loss = loss.sum() / positive.sum().clamp(min=1)
        if batch_idx % 20 == 0:
            print(f"epoch {self.current_epoch} batch {batch_idx}: focal loss {loss.item():.3f}")
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def main():
    warnings.filterwarnings("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    torch.set_num_threads(1)
    L.seed_everything(21)
    loader = DataLoader(BoxScenes(160), batch_size=4, shuffle=True, collate_fn=collate_detection)
    trainer = L.Trainer(accelerator="cpu", max_epochs=8, logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(CentreNet(), loader)


if __name__ == "__main__":
    main()
