"""Accumulates the gradients of four batches for each step."""
import torch
from recpack_io.torch import Loader

EVERY = 4
loader = Loader("shards", "cifar10-train", batch_size=4, seed=1)
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
