"""Accumulates the gradients of four batches for each step."""
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import CIFAR10
from torchvision.transforms import ToTensor

EVERY = 4
loader = DataLoader(CIFAR10("cifar", transform=ToTensor()), batch_size=4, shuffle=True)
model = torch.nn.Linear(3072, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
steps = 0
for number, (images, labels) in enumerate(loader, 1):
    loss = torch.nn.functional.cross_entropy(model(images.flatten(1)), labels) / EVERY
    loss.backward()
    if number % EVERY == 0:
        optimizer.step()
        optimizer.zero_grad()
        steps += 1
print(f"{number} batches, {steps} steps")
