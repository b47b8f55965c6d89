"""Evaluates on several ranks with equal steps, and counts each sample once: torchrun --nproc-per-node 3"""
from accelerate import Accelerator
from torch.utils.data import DataLoader
from torchvision.datasets import CIFAR10
from torchvision.transforms import ToTensor

accelerator = Accelerator(cpu=True)
dataset = CIFAR10("cifar", train=False, transform=ToTensor())
bright = total = 0
for images, labels in accelerator.prepare(DataLoader(dataset, batch_size=5)):
    means = accelerator.gather_for_metrics(images.mean((1, 2, 3)))
    bright += (means > 0.5).sum()
    total += len(means)
accelerator.print(f"{bright} of {total} are bright; the data set has {len(dataset)}")
