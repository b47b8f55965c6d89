"""A Compose with one expensive member, over a data set of the library.

environment: vision; cause: augment, user function
"""
from torchvision import datasets, transforms
import torch
from torch.utils.data import DataLoader, Dataset
def main_transform():
    return transforms.Compose([
        transforms.RandomHorizontalFlip(),
        transforms.GaussianBlur(31, sigma=(4.0, 5.0)),  # planted
        transforms.CenterCrop(32),
        transforms.ToTensor(),
    ])

def main():
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()
    loader = DataLoader(datasets.FakeData(900, (3, 160, 160), 10, main_transform()), batch_size=8, num_workers=2)
    for epoch in range(1):
        for image, target in loader:
            loss = criterion(model(image), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
