"""A LightningDataModule whose data set parses a large XML annotation of Pascal VOC's kind, with outlines, for each sample.

environment: lightning; cause: user function, parse
"""
import os
import random
import tempfile
import xml.etree.ElementTree as ElementTree

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

NAMES = ['car', 'person', 'bicycle', 'bus', 'dog']


def write_annotation(path, objects=220, points=18):
    parts = ['<annotation><folder>aerial</folder><size><width>4000</width><height>4000</height></size>']
    for _ in range(objects):
        x, y = random.randrange(3800), random.randrange(3800)
        outline = ''.join(f'<pt><x>{x + random.random() * 200:.2f}</x><y>{y + random.random() * 200:.2f}</y></pt>'
                          for _ in range(points))
        parts.append(f'<object><name>{random.choice(NAMES)}</name><difficult>0</difficult><truncated>0</truncated>'
                     f'<bndbox><xmin>{x}</xmin><ymin>{y}</ymin><xmax>{x + 200}</xmax><ymax>{y + 200}</ymax></bndbox>'
                     f'<polygon>{outline}</polygon></object>\n')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(''.join(parts) + '</annotation>')


class AerialAnnotations(Dataset):
    """Learns to tell how full a map's cells are from the classes about them."""

    def __init__(self, folder, length, cells=24):
        self.paths = sorted(os.path.join(folder, name) for name in os.listdir(folder))
        self.length, self.cells = length, cells

    def __len__(self):
        return self.length

    def _load_target(self, path):
        root = ElementTree.parse(path).getroot()  # planted
        boxes, labels, areas = [], [], []
        for obj in root.iter('object'):  # planted
            box = obj.find('bndbox')
            boxes.append([float(box.findtext(side)) for side in ('xmin', 'ymin', 'xmax', 'ymax')])
            labels.append(NAMES.index(obj.findtext('name')))
            outline = [(float(pt.findtext('x')), float(pt.findtext('y'))) for pt in obj.iter('pt')]  # planted
            areas.append(abs(sum(a[0] * b[1] - b[0] * a[1]  # planted
                                 for a, b in zip(outline, outline[1:] + outline[:1]))) / 2)
        return torch.tensor(boxes), torch.tensor(labels), torch.tensor(areas)

    def __getitem__(self, index):
        boxes, labels, areas = self._load_target(self.paths[index % len(self.paths)])  # planted
        cell = (boxes[:, :2] * self.cells / 4000).long()
        grid = torch.zeros(len(NAMES), self.cells, self.cells)
        grid[labels, cell[:, 1], cell[:, 0]] = 1
        full = torch.zeros(1, self.cells, self.cells)
        full[0, cell[:, 1], cell[:, 0]] = areas / 40_000
        return grid, full


class AerialData(L.LightningDataModule):
    def __init__(self, batch_size=8, steps=130):
        super().__init__()
        self.batch_size, self.steps = batch_size, steps
        self.folder = tempfile.TemporaryDirectory()

    def prepare_data(self):
        random.seed(5)
        for number in range(20):
            write_annotation(os.path.join(self.folder.name, f'{number:04}.xml'))

    def train_dataloader(self):
        data = AerialAnnotations(self.folder.name, self.batch_size * self.steps)
        return DataLoader(data, batch_size=self.batch_size, shuffle=True, num_workers=2)


class Filler(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(len(NAMES), 24, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(), nn.Conv2d(24, 1, 1))

    def training_step(self, batch, batch_idx):
        grid, full = batch
        return nn.functional.mse_loss(self.net(grid), full)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


if __name__ == '__main__':
    torch.set_num_threads(1)
    L.Trainer(max_epochs=1, accelerator='cpu', logger=False, enable_checkpointing=False, enable_progress_bar=False,
              enable_model_summary=False).fit(Filler(), datamodule=AerialData())
