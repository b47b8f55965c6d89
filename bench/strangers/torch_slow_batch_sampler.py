"""A batch sampler that sorts all lengths anew for every batch, on the training thread.

environment: vision; cause: training thread, user function
"""
import torch
from torch.utils.data import DataLoader, Dataset
class ByLength:
    def __init__(self, count):
        self.lengths = [i * 7919 % 1009 for i in range(count)]

    def __iter__(self):
        for at in range(0, 800, 8):
            order = sorted(range(len(self.lengths)), key=self.lengths.__getitem__)  # planted
            yield order[at:at + 8]

    def __len__(self):
        return 100


class Images(Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        return torch.rand(3, 32, 32), index % 10

def main():
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()
    loader = DataLoader(Images(), batch_sampler=ByLength(100_000))
    for epoch in range(1):
        for image, target in loader:
            loss = criterion(model(image), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
