"""Says which stage of the loader takes the time, and whether the training waited for it."""
import cProfile
import pstats
import time

import torchvision.transforms as T
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

augment = T.Compose([T.RandomResizedCrop(160), T.RandomHorizontalFlip(), T.ToTensor()])
loader = DataLoader(ImageFolder("photos/train", augment), batch_size=4, shuffle=True)
with cProfile.Profile() as profile:
    for _ in range(5):
        for images, labels in loader:
            time.sleep(0.001)  # the training
pstats.Stats(profile).sort_stats("cumulative").print_stats("__next__|default_loader|forward|to_tensor|collate")
