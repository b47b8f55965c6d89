"""Trains a linear classifier, and validates it on every sample of another split."""
import torch
from torch.utils.data import DataLoader
from torchvision.datasets import CIFAR10
from torchvision.transforms import ToTensor

train = DataLoader(CIFAR10("cifar", transform=ToTensor()), batch_size=16, shuffle=True)
test = DataLoader(CIFAR10("cifar", train=False, transform=ToTensor()), batch_size=16)
model = torch.nn.Linear(3072, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for epoch in range(3):
    for images, labels in train:
        loss = torch.nn.functional.cross_entropy(model(images.flatten(1)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = sum((model(images.flatten(1)).argmax(1) == labels).sum() for images, labels in test)
    print(f"epoch {epoch}: {right} of {len(test.dataset)} right")
