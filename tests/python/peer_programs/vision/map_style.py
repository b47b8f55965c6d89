"""Gives torch's own DataLoader a map-style data set."""
from torch.utils.data import DataLoader
from torchvision.datasets import CIFAR10
from torchvision.transforms import PILToTensor

if __name__ == "__main__":
    dataset = CIFAR10("cifar", transform=PILToTensor())
    for images, labels in DataLoader(dataset, batch_size=16, shuffle=True, num_workers=2):
        print(tuple(images.shape), tuple(labels.shape))
