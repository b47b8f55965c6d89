"""An augmentation of the program's own among torchvision's, in pure Python, as in timm's older scripts.

environment: vision; cause: augment, user function
"""
from torchvision import transforms
import torch
from torch.utils.data import DataLoader, Dataset
class RandomErasing:
    def __init__(self, passes):
        self.passes = passes

    def __call__(self, image):
        total = 0
        for i in range(self.passes):
            total += i * i % 7  # planted
        image[:, :4, :4] = total % 2
        return image


class Images(Dataset):
    def __init__(self, transform):
        self.transform = transform

    def __len__(self):
        return 900

    def __getitem__(self, index):
        return self.transform(torch.rand(3, 40, 40)), index % 10

def main():
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()
    transform = transforms.Compose([transforms.CenterCrop(32), RandomErasing(150_000)])
    loader = DataLoader(Images(transform), batch_size=8, num_workers=2)
    for epoch in range(1):
        for image, target in loader:
            loss = criterion(model(image), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
