"""Trains for a number of steps, not of epochs."""
from torch.utils.data import DataLoader, RandomSampler
from torchvision.datasets import CIFAR10
from torchvision.transforms import ToTensor

dataset = CIFAR10("cifar", transform=ToTensor())
loader = DataLoader(dataset, batch_size=16, sampler=RandomSampler(dataset, num_samples=10 * 16))
for step, (images, labels) in enumerate(loader):
    print(step, *divmod(step, len(dataset) // 16))
