"""Mixes each image with another of its batch (mixup), and their labels."""
from torch.utils.data import DataLoader
from torchvision.datasets import CIFAR10
from torchvision.transforms import ToTensor, v2

mixup = v2.MixUp(alpha=0.4, num_classes=10)
for images, labels in DataLoader(CIFAR10("cifar", transform=ToTensor()), batch_size=16, shuffle=True):
    images, targets = mixup(images, labels)
    print(tuple(images.shape), targets.sum(1).tolist()[:3])
