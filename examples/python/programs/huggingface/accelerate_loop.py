"""Trains with Accelerate, accumulating two batches for each step."""
import torch
from accelerate import Accelerator
from recpack_io.huggingface import prepare
from recpack_io.torch import Loader

accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model = torch.nn.Linear(3072, 10)
model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=1e-3))
loader = prepare(accelerator, Loader("shards", "cifar10-train", batch_size=8))
steps = 0
for batch in loader:
    with accelerator.accumulate(model):
        loss = torch.nn.functional.cross_entropy(model(batch["pixel_values"].flatten(1)), batch["labels"])
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        steps += accelerator.sync_gradients
print(f"{steps} steps, loss {loss.item():.2f}")
