"""Fine-tunes the last layer of a ResNet of torchvision, with images in channels-last memory."""
import torch
import torchvision.transforms as T
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.models import resnet18

model = resnet18(num_classes=2).to(memory_format=torch.channels_last)
for name, parameter in model.named_parameters():
    parameter.requires_grad = name.startswith("fc.")
optimizer = torch.optim.AdamW(model.fc.parameters(), lr=1e-3)
augment = T.Compose([T.RandomResizedCrop(224), T.RandomHorizontalFlip(), T.ToTensor()])
for images, labels in DataLoader(ImageFolder("photos/train", augment), batch_size=4, shuffle=True):
    loss = torch.nn.functional.cross_entropy(model(images.to(memory_format=torch.channels_last)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}, {sum(p.numel() for p in model.parameters() if p.requires_grad)} variables trained")
