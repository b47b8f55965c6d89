"""A detection data set that makes a mosaic of four pictures for each sample, as YOLO's scripts do, at full size by PIL.

environment: vision; cause: user function, augment
"""
import argparse
import math
import random

import numpy as np
from PIL import Image
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def make_pictures(count, side):
    rng = np.random.default_rng(7)
    pictures = []
    for _ in range(count):
        coarse = Image.fromarray(rng.integers(0, 255, (side // 16, side // 16, 3), dtype=np.uint8))
        pictures.append(coarse.resize((side, side), Image.Resampling.BILINEAR))
    return pictures


def load_mosaic(pictures, indices, side):
    """Four pictures about a random centre of a canvas twice as large."""
    canvas = Image.new('RGB', (2 * side, 2 * side), (114, 114, 114))
    cx, cy = (int(random.uniform(0.5 * side, 1.5 * side)) for _ in range(2))
    for place, index in enumerate(indices):
        scale = random.uniform(0.8, 1.3)
        size = int(side * scale)
        picture = pictures[index].resize((size, size), Image.Resampling.BICUBIC)  # planted
        x = cx - size if place % 2 == 0 else cx
        y = cy - size if place < 2 else cy
        canvas.paste(picture, (x, y))  # planted
    return canvas


def random_affine(canvas, side, degrees=10):
    angle = math.radians(random.uniform(-degrees, degrees))
    cos, sin = math.cos(angle), math.sin(angle)
    matrix = (cos, sin, side / 2, -sin, cos, side / 2)
    return canvas.transform((side, side), Image.Transform.AFFINE, matrix, Image.Resampling.BICUBIC)  # planted


def augment_hsv(picture, gains=(0.02, 0.6, 0.4)):
    hue, saturation, value = picture.convert('HSV').split()  # planted
    r = [random.uniform(-1, 1) * gain + 1 for gain in gains]
    hue = hue.point([int(i * r[0]) % 256 for i in range(256)])
    saturation = saturation.point([min(255, int(i * r[1])) for i in range(256)])
    value = value.point([min(255, int(i * r[2])) for i in range(256)])
    return Image.merge('HSV', (hue, saturation, value)).convert('RGB')  # planted


class MosaicDataset(Dataset):
    def __init__(self, pictures, length, side, output=64):
        self.pictures, self.length, self.side, self.output = pictures, length, side, output

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        others = random.choices(range(len(self.pictures)), k=3)
        picture = load_mosaic(self.pictures, [index % len(self.pictures)] + others, self.side)  # planted
        picture = augment_hsv(random_affine(picture, self.side))  # planted
        picture = picture.reduce(self.side // self.output)
        array = np.array(picture, np.float32)[:self.output, :self.output] / 255
        return torch.from_numpy(array).permute(2, 0, 1), torch.rand(4)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch-size', type=int, default=4)
    parser.add_argument('--steps', type=int, default=140)
    parser.add_argument('--img-size', type=int, default=448)
    opt = parser.parse_args()
    torch.set_num_threads(1)
    dataset = MosaicDataset(make_pictures(32, opt.img_size), opt.steps * opt.batch_size, opt.img_size)
    loader = DataLoader(dataset, batch_size=opt.batch_size, shuffle=True, num_workers=2)
    model = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.SiLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.SiLU(),
                          nn.Conv2d(32, 32, 3, 2, 1), nn.SiLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                          nn.Linear(32, 4), nn.Sigmoid())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.937, nesterov=True)
    for step, (images, boxes) in enumerate(loader):
        loss = nn.functional.smooth_l1_loss(model(images), boxes)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 50 == 0:
            print(step, round(loss.item(), 4))


if __name__ == '__main__':
    main()
