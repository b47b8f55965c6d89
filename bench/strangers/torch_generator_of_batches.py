"""The program's own generator makes batches, with no loader at all.

environment: vision; cause: training thread
"""
import torch
from torch.utils.data import DataLoader, Dataset
def batches(count):
    for number in range(count):
        image = torch.rand(8, 3, 32, 32)
        checksum = 0
        for i in range(600_000):
            checksum += i % 7  # planted
        yield image, torch.full((8,), (number + checksum) % 10)

def main():
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()

    for epoch in range(1):
        for image, target in batches(120):
            loss = criterion(model(image), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
