"""Workers take turns: each holds a lock of all while it reads its index.

environment: vision; cause: user function
"""
import multiprocessing
import time
import torch
from torch.utils.data import DataLoader, Dataset
class Index(Dataset):
    def __init__(self):
        self.lock = multiprocessing.Lock()

    def __len__(self):
        return 900

    def look_up(self, index):
        with self.lock:  # planted
            time.sleep(0.008)  # planted
        return index

    def __getitem__(self, index):
        return torch.full((3, 32, 32), self.look_up(index) / 900), index % 10

def main():
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()
    loader = DataLoader(Index(), batch_size=8, num_workers=3)
    for epoch in range(1):
        for image, target in loader:
            loss = criterion(model(image), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
