"""A WebDataset pipeline whose map decodes arrays slowly, in a DataLoader's workers.

environment: streams; cause: user function
"""
import io
import os
import tarfile
import tempfile

import torch
import webdataset


def decode(sample):
    numbers = [byte * byte % 251 for _ in range(80) for byte in sample['bin']]  # planted
    return torch.tensor(numbers[:512], dtype=torch.float32), int(sample['cls']) % 10


def make_shard(path):
    with tarfile.open(path, 'w') as tar:
        for number in range(900):
            for ending, data in ('bin', os.urandom(2048)), ('cls', str(number).encode()):
                entry = tarfile.TarInfo(f'{number:05}.{ending}')
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))


def main():
    path = os.path.join(tempfile.mkdtemp(), 'train-0.tar')
    make_shard(path)
    data = webdataset.WebDataset([path, path], shardshuffle=False).map(decode).batched(8)
    model = torch.nn.Linear(512, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for row, label in torch.utils.data.DataLoader(data, batch_size=None, num_workers=2):
        loss = torch.nn.functional.cross_entropy(model(row), torch.as_tensor(label))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == '__main__':
    main()
