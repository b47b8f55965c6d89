"""Trains with Accelerate, accumulating two batches for each step."""
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from torchvision.datasets import CIFAR10
from torchvision.transforms import ToTensor

accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model = torch.nn.Linear(3072, 10)
model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=1e-3))
loader = accelerator.prepare(DataLoader(CIFAR10("cifar", transform=ToTensor()), batch_size=8, shuffle=True))
steps = 0
for images, labels in loader:
    with accelerator.accumulate(model):
        loss = torch.nn.functional.cross_entropy(model(images.flatten(1)), labels)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        steps += accelerator.sync_gradients
print(f"{steps} steps, loss {loss.item():.2f}")
