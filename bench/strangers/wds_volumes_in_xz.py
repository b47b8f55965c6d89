"""Organ segmentation on small CT volumes in WebDataset shards whose members are xz-compressed arrays.

environment: streams; cause: decompression, user function
"""
import io
import lzma
import os
import tempfile

import numpy as np
import torch
import webdataset as wds
from torch import nn

SIDE = 48
CASES = 72
BATCH = 2
EPOCHS = 6


def make_case(rng):
    z, y, x = np.mgrid[:SIDE, :SIDE, :SIDE]
    centre = rng.integers(16, SIDE - 16, 3)
    radius = rng.integers(8, 15)
    organ = (z - centre[0]) ** 2 + (y - centre[1]) ** 2 + (x - centre[2]) ** 2 < radius**2
    scan = rng.normal(-100, 60, organ.shape) + 180 * organ
    return scan.astype(np.int16), organ.astype(np.uint8)


def pack(array):
    raw = io.BytesIO()
    np.save(raw, array)
    return lzma.compress(raw.getvalue(), preset=0)


def unpack(data):
    raw = lzma.decompress(data)  # planted
    return np.load(io.BytesIO(raw))


def write_shards(folder, shards=4):
    rng = np.random.default_rng(31)
    for s in range(shards):
        with wds.TarWriter(os.path.join(folder, f"ct-{s:03d}.tar")) as sink:
            for c in range(CASES // shards):
                scan, organ = make_case(rng)
                sink.write({
                    "__key__": f"case{s:03d}{c:04d}",
                    "scan.npy.xz": pack(scan),
                    "organ.npy.xz": pack(organ),
                })
    return os.path.join(folder, "ct-{000..%03d}.tar" % (shards - 1))


def to_tensors(sample):
    scan = unpack(sample["scan.npy.xz"])
    organ = unpack(sample["organ.npy.xz"])
    scan = np.clip(scan, -200, 300).astype(np.float32) / 250.0
    return torch.from_numpy(scan)[None], torch.from_numpy(organ)[None].float()


class TinyUNet(nn.Module):
    def __init__(self, width=2):
        super().__init__()
        self.down = nn.Sequential(nn.Conv3d(1, width, 4, stride=4), nn.ReLU())
        self.middle = nn.Sequential(nn.Conv3d(width, width, 3, padding=1), nn.ReLU())
        self.up = nn.ConvTranspose3d(width, 1, 4, stride=4)

    def forward(self, x):
        x = self.down(x)
        return self.up(x + self.middle(x))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(31)
    with tempfile.TemporaryDirectory() as folder:
        urls = write_shards(folder)
        data = wds.WebDataset(urls, shardshuffle=False).shuffle(8, seed=31).map(to_tensors)
        loader = wds.WebLoader(data, batch_size=BATCH, num_workers=0)
        model = TinyUNet()
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
        loss_fn = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(5.0))
        for epoch in range(EPOCHS):
            running = 0.0
            for step, (scan, organ) in enumerate(loader):
                loss = loss_fn(model(scan), organ)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                running += loss.item()
            print(f"epoch {epoch}: {step + 1} steps, loss {running / (step + 1):.4f}")


if __name__ == "__main__":
    main()
