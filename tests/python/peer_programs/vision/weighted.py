"""Draws records by a weight each."""
import torch
from torch.utils.data import DataLoader, WeightedRandomSampler
from torchvision.datasets import CIFAR10
from torchvision.transforms import ToTensor

dataset = CIFAR10("cifar", transform=ToTensor())
chosen = torch.tensor(dataset.targets) == 6
weights = torch.where(chosen, 5.0, 1.0)
loader = DataLoader(dataset, batch_size=100, sampler=WeightedRandomSampler(weights, 2000))
drawn = sum((labels == 6).sum() for images, labels in loader)
print(f"class 6: {drawn / 2000:.3f} of the samples, {weights[chosen].sum() / weights.sum():.3f} of the weights")
