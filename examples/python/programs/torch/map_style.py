"""Gives torch's own DataLoader a map-style data set of the records."""
from recpack_io.torch import MapDataset
from torch.utils.data import DataLoader
from torchvision.transforms import PILToTensor

if __name__ == "__main__":
    dataset = MapDataset("shards", PILToTensor(), raw_shape=(3, 32, 32))
    for images, labels in DataLoader(dataset, batch_size=16, shuffle=True, num_workers=2):
        print(tuple(images.shape), tuple(labels.shape))
