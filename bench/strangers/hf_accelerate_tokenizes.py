"""A loop of Accelerate whose data set tokenises by looking through its whole vocabulary.

environment: huggingface; cause: user function
"""
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, Dataset

VOCABULARY = [f'word{i}' for i in range(3000)]


class Sentences(Dataset):
    def __len__(self):
        return 800

    def __getitem__(self, index):
        words = [f'word{(index * 37 + i) % 3000}' for i in range(400)]
        ids = [VOCABULARY.index(word) for word in words]  # planted
        return torch.tensor(ids, dtype=torch.float32), index % 2


def main():
    accelerator = Accelerator(cpu=True)
    model = torch.nn.Linear(400, 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = DataLoader(Sentences(), batch_size=8, num_workers=2)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for ids, label in loader:
        loss = torch.nn.functional.cross_entropy(model(ids), label)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()


if __name__ == '__main__':
    main()
