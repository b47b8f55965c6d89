"""Parses lines of JSON in an IterableDataset.

environment: vision; cause: user function
"""
import json

from torch.utils.data import IterableDataset
import torch
from torch.utils.data import DataLoader, Dataset
LINE = json.dumps({'image': list(range(40_000)), 'label': 3})


class Lines(IterableDataset):
    def __iter__(self):
        for _ in range(600):
            record = json.loads(LINE)  # planted
            yield torch.tensor(record['image'][:3072], dtype=torch.float32), record['label']

def main():
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()
    loader = DataLoader(Lines(), batch_size=8, num_workers=2)
    for epoch in range(1):
        for image, target in loader:
            loss = criterion(model(image), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
