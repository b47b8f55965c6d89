"""Applies transforms of torchvision to each image."""
import torchvision.transforms as T
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

augment = T.Compose([T.RandomResizedCrop(32), T.ColorJitter(0.4, 0.4, 0.4), T.RandomHorizontalFlip(), T.ToTensor()])
for images, labels in DataLoader(ImageFolder("photos/train", augment), batch_size=4, shuffle=True):
    print(tuple(images.shape), images.dtype, labels.tolist())
