"""A WebDataset pipeline whose built-in decoder unpacks large PNG scans in a WebLoader's workers, of which a corner is used.

environment: streams; cause: decode
"""
import io
import os
import tempfile

import numpy as np
from PIL import Image
import torch
import webdataset as wds

SIDE = 720
CROP = 40


def scan(rng):
    paper = np.full((SIDE, SIDE, 3), 225, np.uint8) + rng.integers(0, 20, (SIDE, SIDE, 3), dtype=np.uint8)
    for _ in range(30):
        x, y = rng.integers(0, SIDE - 60, 2)
        paper[y:y + 3, x:x + 60] //= 4
    file = io.BytesIO()
    Image.fromarray(paper).save(file, 'PNG', compress_level=1)
    return file.getvalue()


def write_shards(folder, shards=2, samples=24, distinct=12):
    rng = np.random.default_rng(0)
    scans = [scan(rng) for _ in range(distinct)]
    for shard in range(shards):
        with wds.TarWriter(os.path.join(folder, f'scans-{shard:03}.tar')) as sink:
            for number in range(samples):
                sink.write({'__key__': f'{shard:03}{number:05}', 'png': scans[number % distinct],
                            'cls': number % 10})
    return [os.path.join(folder, f'scans-{shard:03}.tar') for shard in range(shards)]


def corner(image):
    array = np.asarray(image.crop((0, 0, CROP, CROP)), np.float32) / 255
    return torch.from_numpy(array).permute(2, 0, 1)


def identity(x):
    return x


def make_loader(urls, epochs, batch_size):
    dataset = (wds.WebDataset(urls * epochs, shardshuffle=False)
               .decode('pil')  # planted
               .to_tuple('png', 'cls')
               .map_tuple(corner, identity)
               .batched(batch_size, partial=False))
    return wds.WebLoader(dataset, batch_size=None, num_workers=2)


def main():
    torch.set_num_threads(1)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 24, 3, stride=2), torch.nn.ReLU(), torch.nn.Conv2d(24, 48, 3, stride=2), torch.nn.ReLU(),
        torch.nn.Flatten(), torch.nn.LazyLinear(10))
    model(torch.zeros(1, 3, CROP, CROP))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
    with tempfile.TemporaryDirectory() as folder:
        urls = write_shards(folder)
        for image, label in make_loader(urls, epochs=24, batch_size=8):
            loss = torch.nn.functional.cross_entropy(model(image), torch.as_tensor(label))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
