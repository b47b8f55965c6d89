"""Gives torch's own DataLoader a map-style data set of the records."""
import recpack_io
import torch
from torch.utils.data import DataLoader, Dataset


class Records(Dataset):
    def __init__(self, path):
        self.records = recpack_io.open(path)

    def __len__(self):
        return len(self.records)

    def __getitem__(self, number):
        record = self.records[number]
        return torch.from_numpy(record["image"].reshape(3, 32, 32).copy()), int(record["label"][0])


if __name__ == "__main__":
    for images, labels in DataLoader(Records("shards"), batch_size=16, shuffle=True, num_workers=2):
        print(tuple(images.shape), tuple(labels.shape))
