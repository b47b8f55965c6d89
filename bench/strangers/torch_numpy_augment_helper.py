"""A helper that __getitem__ calls adds noise to a large array.

environment: vision; cause: user function
"""
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
def add_noise(image):
    noise = np.random.normal(0, 0.1, (3, 500, 500))  # planted
    return image + noise[:, :32, :32].astype(np.float32)


class Arrays(Dataset):
    def __len__(self):
        return 800

    def __getitem__(self, index):
        image = np.zeros((3, 32, 32), np.float32)
        return torch.from_numpy(add_noise(image)), index % 10

def main():
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()
    loader = DataLoader(Arrays(), batch_size=8, num_workers=2)
    for epoch in range(1):
        for image, target in loader:
            loss = criterion(model(image), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
