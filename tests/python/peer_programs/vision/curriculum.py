"""Trains on easy records first: another selection in each epoch, with the same loader options."""
from torch.utils.data import DataLoader, Subset
from torchvision.datasets import CIFAR10
from torchvision.transforms import ToTensor

dataset = CIFAR10("cifar", transform=ToTensor())
order = dataset.data.std((1, 2, 3)).argsort()
for epoch, share in enumerate((0.25, 0.5, 1.0)):
    easy = Subset(dataset, order[:int(share * len(dataset))])
    loader = DataLoader(easy, batch_size=8, shuffle=True)
    print(f"epoch {epoch}: {sum(len(labels) for images, labels in loader)} samples")
