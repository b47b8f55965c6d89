"""Workers that are spawned wait for a slow store.

environment: vision; cause: user function
"""
import time
import torch
from torch.utils.data import DataLoader, Dataset
class Remote(Dataset):
    def __len__(self):
        return 900

    def fetch(self, index):
        time.sleep(0.02)  # planted
        return torch.full((3, 32, 32), index / 900)

    def __getitem__(self, index):
        return self.fetch(index), index % 10

def main():
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()
    loader = DataLoader(Remote(), batch_size=8, num_workers=2, multiprocessing_context='spawn')
    for epoch in range(1):
        for image, target in loader:
            loss = criterion(model(image), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
