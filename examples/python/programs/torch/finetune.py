"""Fine-tunes the last layer of a ResNet of torchvision, with images in channels-last memory."""
import torch
from recpack_io.torch import Loader
from torchvision.models import resnet18

model = resnet18(num_classes=2).to(memory_format=torch.channels_last)
for name, parameter in model.named_parameters():
    parameter.requires_grad = name.startswith("fc.")
optimizer = torch.optim.AdamW(model.fc.parameters(), lr=1e-3)
loader = Loader("photos", "imagenet-train", batch_size=4, channels_last=True)
for images, labels in loader:
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}, {sum(p.numel() for p in model.parameters() if p.requires_grad)} variables trained")
