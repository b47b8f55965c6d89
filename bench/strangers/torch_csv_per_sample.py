"""Reads a table anew for each sample, by pandas.

environment: ffcv; cause: user function, parse
"""
import io

import pandas
import torch
from torch.utils.data import DataLoader, Dataset

TABLE = '\n'.join(['a,b,c'] + [f'{i},{i * 2},{i * 3}' for i in range(20_000)])


class Rows(Dataset):
    def __len__(self):
        return 900

    def __getitem__(self, index):
        table = pandas.read_csv(io.StringIO(TABLE))  # planted
        return torch.tensor(table.iloc[index].to_numpy(), dtype=torch.float32), index % 10


def main():
    model = torch.nn.Linear(3, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for row, target in DataLoader(Rows(), batch_size=8, num_workers=2):
        loss = torch.nn.functional.cross_entropy(model(row), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == '__main__':
    main()
