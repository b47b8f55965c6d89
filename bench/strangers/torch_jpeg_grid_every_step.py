"""An autoencoder's loop that draws its pictures beside their reconstructions and saves them as a large JPEG after every step.

environment: vision; cause: host
"""
from dataclasses import dataclass
from pathlib import Path
import tempfile

from PIL import Image, ImageDraw
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
from torchvision.transforms.functional import to_pil_image
from torchvision.utils import make_grid


@dataclass
class Config:
    batch: int = 32
    steps: int = 120
    side: int = 48
    lr: float = 1e-3
    preview: int = 1400


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 8, 4, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 4, 2, 1), nn.ReLU())
        self.decoder = nn.Sequential(nn.ConvTranspose2d(16, 8, 4, 2, 1), nn.ReLU(),
                                     nn.ConvTranspose2d(8, 3, 4, 2, 1), nn.Sigmoid())

    def forward(self, x):
        return self.decoder(self.encoder(x))


class Preview:
    def __init__(self, folder, size):
        self.path = Path(folder) / 'preview.jpg'
        self.size = size

    def __call__(self, step, images, output):
        pairs = torch.stack([images, output.detach()], 1).flatten(0, 1)
        sheet = to_pil_image(make_grid(pairs, nrow=8, padding=1))
        sheet = sheet.resize((self.size, self.size), Image.Resampling.LANCZOS)  # planted
        draw = ImageDraw.Draw(sheet)
        draw.text((4, 4), f'step {step}', fill=(255, 255, 255))
        sheet.save(self.path, quality=95, optimize=True, subsampling=0)  # planted


def main(config=Config()):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    images = F.interpolate(torch.rand(config.batch * 20, 3, 6, 6), size=config.side, mode='bilinear')
    loader = DataLoader(TensorDataset(images), batch_size=config.batch, shuffle=True, drop_last=True)
    model = AutoEncoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=config.lr)
    with tempfile.TemporaryDirectory() as folder:
        preview = Preview(folder, config.preview)
        step = 0
        while step < config.steps:
            for batch, in loader:
                output = model(batch)
                loss = F.mse_loss(output, batch)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                preview(step, batch, output)  # planted
                step += 1
                if step == config.steps:
                    break


if __name__ == '__main__':
    main()
