"""Saves model, optimizer and loader in one checkpoint in mid-epoch, and continues from it."""
import pathlib
import sys

import torch
from torchdata.stateful_dataloader import StatefulDataLoader
from torchvision.datasets import CIFAR10
from torchvision.transforms import ToTensor

torch.manual_seed(1)
loader = StatefulDataLoader(CIFAR10("cifar", transform=ToTensor()), batch_size=8, shuffle=True)
model = torch.nn.Linear(3072, 10)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
saved = pathlib.Path("checkpoint.pt")
if saved.exists():
    states = torch.load(saved, weights_only=True)
    for part, state in zip((model, optimizer, loader), states):
        part.load_state_dict(state)
for number, (images, labels) in enumerate(loader):
    loss = torch.nn.functional.cross_entropy(model(images.flatten(1)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.6f}")
    torch.save([part.state_dict() for part in (model, optimizer, loader)], saved)
    if "--stop" in sys.argv and number == 2:
        sys.exit()
