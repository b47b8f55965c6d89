"""Trains a network on class folders, and validates it."""
import torch
import torchvision.transforms as T
from torch import nn
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

augment = T.Compose([T.RandomResizedCrop(32), T.RandomHorizontalFlip(), T.ToTensor()])
centre = T.Compose([T.Resize(36), T.CenterCrop(32), T.ToTensor()])
train = DataLoader(ImageFolder("photos/train", augment), batch_size=4, shuffle=True)
test = DataLoader(ImageFolder("photos/val", centre), batch_size=4)
model = nn.Sequential(nn.Conv2d(3, 8, 5, 2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    for images, labels in train:
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = sum((model(images).argmax(1) == labels).sum().item() for images, labels in test)
    print(f"epoch {epoch}: loss {loss.item():.3f}, {right} of {len(test.dataset)} right")
