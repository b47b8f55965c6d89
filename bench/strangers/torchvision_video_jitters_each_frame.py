"""Clip classifier on a small torchvision network whose frames each go through a colour jitter of their own at full size.

environment: vision; cause: augment
"""
import numpy as np
import torch
import torchvision
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms as T


class ClipDataset(Dataset):
    """Short clips of a coloured disc that moves to one of four sides."""

    def __init__(self, clips, frames, transform, size=224):
        rng = np.random.default_rng(11)
        self.transform = transform
        self.labels = rng.integers(0, 4, clips)
        self.clips = []
        ys, xs = np.mgrid[:size, :size]
        for label in self.labels:
            background = rng.integers(0, 255, (size // 8, size // 8, 3), dtype=np.uint8)
            background = background.repeat(8, 0).repeat(8, 1)
            colour = rng.integers(0, 255, 3)
            clip = []
            for t in range(frames):
                dx, dy = [(1, 0), (-1, 0), (0, 1), (0, -1)][label]
                inside = (xs - size // 2 - 12 * dx * t) ** 2 + (ys - size // 2 - 12 * dy * t) ** 2 < 400
                picture = background.copy()
                picture[inside] = colour
                clip.append(Image.fromarray(picture))
            self.clips.append(clip)

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, index):
        frames = [self.transform(frame) for frame in self.clips[index]]  # planted
        return torch.stack(frames), int(self.labels[index])


class ClipNet(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.backbone = torchvision.models.squeezenet1_1(weights=None).features
        self.head = nn.Linear(512 * 2, classes)

    def forward(self, clips):
        b, t = clips.shape[:2]
        features = self.backbone(clips.flatten(0, 1)).mean(dim=(2, 3)).view(b, t, -1)
        return self.head(torch.cat([features.mean(1), features[:, -1] - features[:, 0]], dim=1))


def train_one_epoch(model, loader, optimizer, epoch):
    model.train()
    seen = correct = 0
    for clips, labels in loader:
        logits = model(clips)
        loss = nn.functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen += len(labels)
        correct += (logits.argmax(1) == labels).sum().item()
    print(f"epoch {epoch}: loss {loss.item():.3f} acc {correct / seen:.3f}")


def main():
    torch.set_num_threads(1)
    torch.manual_seed(11)
    transform = T.Compose([
        T.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1),
        T.Resize(48),
        T.ToTensor(),
        T.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ])
    data = ClipDataset(clips=60, frames=4, transform=transform)
    loader = DataLoader(data, batch_size=4, shuffle=True, num_workers=0, drop_last=True)
    model = ClipNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    for epoch in range(5):
        train_one_epoch(model, loader, optimizer, epoch)


if __name__ == "__main__":
    main()
