"""Tokenises text in Python as each sample is asked for.

environment: vision; cause: user function
"""
import re
import torch
from torch.utils.data import DataLoader, Dataset
TEXT = 'the quick brown fox jumps over the lazy dog ' * 4000
WORDS = {word: number for number, word in enumerate(sorted(set(TEXT.split())))}


def tokenize(text):
    return [WORDS[word] for word in re.findall(r'[a-z]+', text)]  # planted


class Texts(Dataset):
    def __len__(self):
        return 1500

    def __getitem__(self, index):
        return torch.tensor(tokenize(TEXT)[:3072], dtype=torch.float32), index % 10

def main():
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()
    loader = DataLoader(Texts(), batch_size=8, num_workers=2)
    for epoch in range(1):
        for image, target in loader:
            loss = criterion(model(image), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
