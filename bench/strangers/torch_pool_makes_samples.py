"""A multiprocessing pool makes the samples that a loop waits for.

environment: vision; cause: user function
"""
import multiprocessing
import torch
from torch.utils.data import DataLoader, Dataset
def make(number):
    total = 0
    for i in range(700_000):
        total += i % 5  # planted
    return number + total


def batches(count):
    with multiprocessing.Pool(2) as pool:
        for number in pool.imap(make, range(count)):
            yield torch.rand(8, 3, 32, 32), torch.full((8,), number % 10)

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
