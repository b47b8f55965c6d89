"""Gives two random views of each image, for contrastive learning."""
import torchvision.transforms as T
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

augment = T.Compose([T.RandomResizedCrop(32), T.RandomHorizontalFlip(), T.TrivialAugmentWide(), T.ToTensor()])
dataset = ImageFolder("photos/train", lambda image: (augment(image), augment(image)))
for (one, two), labels in DataLoader(dataset, batch_size=4, shuffle=True):
    print(tuple(one.shape), tuple(two.shape), "equal" if one.equal(two) else "different")
