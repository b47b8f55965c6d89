"""Trains a network on class folders that were packed, and validates it."""
import recpack_io
import torch
from recpack_io.torch import Loader
from torch import nn

recpack_io.pack("photos", "packed", shuffle=1)
train = Loader("packed", fields=recpack_io.recipe("imagenet-train", height=32, width=32), batch_size=4)
test = Loader(recpack_io.open("packed", split="validation"), batch_size=4, last_batch="keep",
              fields=recpack_io.recipe("imagenet-eval", height=32, width=32, resize=36))
model = nn.Sequential(nn.Conv2d(3, 8, 5, 2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    for batch in train:
        loss = nn.functional.cross_entropy(model(batch.image), batch.label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = sum((model(batch.image).argmax(1) == batch.label).sum().item() for batch in test)
    print(f"epoch {epoch}: loss {loss.item():.3f}, {right} of {len(test.dataset)} right")
