"""Networks of rectrain in PyTorch, with its names; the ResNet is tools/resnet_torch.py's."""
import torch
from torch import nn
from torch.nn import functional as F


class Alexnet(nn.Module):
    """Pictures of 32x32: two pools of 3x3 and stride 2 leave 7x7."""

    def __init__(self, filters: int, dense: int, classes: int = 10):
        super().__init__()
        pool = nn.MaxPool2d(3, 2)
        self.features = nn.Sequential(
            nn.Conv2d(3, filters, 5, padding=2), nn.ReLU(), pool,
            nn.Conv2d(filters, 3 * filters, 5, padding=2), nn.ReLU(), pool)
        self.classifier = nn.Sequential(
            nn.Linear(3 * filters * 7 * 7, dense), nn.ReLU(),
            nn.Linear(dense, dense), nn.ReLU(), nn.Linear(dense, classes))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


class Tower(nn.Module):
    def __init__(self, vocabulary: int, dims: int, filters: int, kernel: int, latent: int,
                 window: int = 0, positions: int = 1):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, dims, padding_idx=0)  # whose vector is 0
        self.conv = nn.Conv2d(dims, filters, (1, kernel))
        self.fc = nn.Linear(filters * positions, latent)
        self.window = window  # with a stride of 1; 0: all positions

    def forward(self, tokens):
        x = torch.tanh(self.conv(self.embedding(tokens).transpose(1, 2).unsqueeze(2)))
        x = F.max_pool2d(x, (1, self.window), 1).flatten(1) if self.window else x.amax((2, 3))
        return F.relu(self.fc(x))


class Machine(nn.Module):
    """Rendle 2010, by its definition: a weight for each value, a product for each pair."""

    def __init__(self, size: int, factors: int):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(1))
        self.weight = nn.Parameter(torch.randn(size) / 4)
        self.factors = nn.Parameter(torch.randn(size, factors) / 4)

    def forward(self, x):
        pairs = (self.factors @ self.factors.T).triu(1)
        return self.bias + x @ self.weight + ((x @ pairs) * x).sum(1)


class Deepconn(nn.Module):
    def __init__(self, vocabulary: int, dims: int, filters: int, kernel: int, latent: int,
                 factors: int, shared: bool = False, window: int = 0, positions: int = 1):
        super().__init__()
        if shared:
            self.embedding = nn.Embedding(vocabulary, dims, padding_idx=0)
        self.user = Tower(vocabulary, dims, filters, kernel, latent, window, positions)
        self.item = Tower(vocabulary, dims, filters, kernel, latent, window, positions)
        self.fm = Machine(2 * latent, factors)
        if shared:  # named as it is met first: embedding.weight
            self.user.embedding = self.item.embedding = self.embedding

    def forward(self, user, item):
        return self.fm(torch.cat([self.user(user), self.item(item)], 1))
