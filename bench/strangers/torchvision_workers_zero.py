"""Decodes large JPEGs on the training thread: the loader has no workers.

environment: vision; cause: training thread, user function, decode
"""
import io

import numpy as np
from PIL import Image
import torch
from torch.utils.data import DataLoader, Dataset
RANDOM = np.random.default_rng(0)


def photo(size):
    file = io.BytesIO()
    Image.fromarray(RANDOM.integers(0, 255, (size, size, 3), dtype=np.uint8)).save(file, 'JPEG')
    return file.getvalue()



class Photos(Dataset):
    def __init__(self):
        self.photos = [photo(600) for _ in range(4)]

    def __len__(self):
        return 1000

    def __getitem__(self, index):
        image = Image.open(io.BytesIO(self.photos[index % 4]))
        image = image.convert('RGB')  # planted
        image = image.crop((0, 0, 32, 32))
        return torch.from_numpy(np.asarray(image).copy()).permute(2, 0, 1).float() / 255, index % 10

def main():
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()
    loader = DataLoader(Photos(), batch_size=8)
    for epoch in range(1):
        for image, target in loader:
            loss = criterion(model(image), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
