"""Saves model, optimizer and loader in one checkpoint in mid-epoch, and continues from it."""
import pathlib
import sys

import torch
from recpack_io.torch import Loader

loader = Loader("shards", "cifar10-train", batch_size=8, seed=1)
model = torch.nn.Linear(3072, 10)
torch.nn.init.zeros_(model.weight)
torch.nn.init.zeros_(model.bias)
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
