"""Pads texts to one length in a collate_fn of nested loops.

environment: vision; cause: batch function
"""
import torch
from torch.utils.data import DataLoader, Dataset
class Texts(Dataset):
    def __len__(self):
        return 900

    def __getitem__(self, index):
        return [index % 17] * (30_000 + index % 7000), index % 10


def collate(samples):
    longest = max(len(tokens) for tokens, _ in samples)
    rows = []
    for tokens, _ in samples:
        row = []
        for at in range(longest):
            row.append(tokens[at] if at < len(tokens) else 0)  # planted
        rows.append(row[:3 * 32 * 32])
    return torch.tensor(rows, dtype=torch.float32), torch.tensor([label for _, label in samples])

def main():
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 32 * 32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    criterion = torch.nn.CrossEntropyLoss()
    loader = DataLoader(Texts(), batch_size=8, num_workers=2, collate_fn=collate)
    for epoch in range(1):
        for image, target in loader:
            loss = criterion(model(image), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


if __name__ == '__main__':
    main()
