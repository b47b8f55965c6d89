"""A data set that fetches each sample's rows from an SQLite table without an index, so that each query scans the whole table.

environment: vision; cause: user function
"""
import os
import sqlite3
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

CHANNELS = ('pulse', 'pressure', 'oxygen', 'breath')
PATIENTS, MINUTES, WINDOW = 160, 400, 64


def create_database(path):
    values = np.random.default_rng(0).normal(size=(PATIENTS, MINUTES, len(CHANNELS))).round(4).tolist()
    with sqlite3.connect(path) as connection:
        connection.execute('CREATE TABLE readings (patient INTEGER, minute INTEGER, channel INTEGER, value REAL)')
        connection.executemany('INSERT INTO readings VALUES (?, ?, ?, ?)',
                               ((patient, minute, channel, value)
                                for minute in range(MINUTES)
                                for patient in range(PATIENTS)
                                for channel, value in enumerate(values[patient][minute])))
    connection.close()


class Windows(Dataset):
    """Windows of one patient's vital signs, and whether the patient was discharged."""

    QUERY = ('SELECT minute, channel, value FROM readings '
             'WHERE patient = ? AND minute >= ? AND minute < ? ORDER BY minute, channel')

    def __init__(self, path, per_patient=8):
        self.path = path
        self.per_patient = per_patient
        self.connection = None

    def __len__(self):
        return PATIENTS * self.per_patient

    def __getitem__(self, index):
        if self.connection is None:  # each worker has its own
            self.connection = sqlite3.connect(self.path)
        patient, part = divmod(index, self.per_patient)
        start = part * (MINUTES - WINDOW) // self.per_patient
        rows = self.connection.execute(self.QUERY, (patient, start, start + WINDOW)).fetchall()  # planted
        window = np.zeros((len(CHANNELS), WINDOW), np.float32)
        for minute, channel, value in rows:
            window[channel, minute - start] = value
        return torch.from_numpy(window), patient % 2


class ConvNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(len(CHANNELS), width, 5, padding=2), nn.BatchNorm1d(width), nn.ReLU(),
            nn.Conv1d(width, width, 5, padding=2), nn.BatchNorm1d(width), nn.ReLU(),
            nn.AdaptiveAvgPool1d(1), nn.Flatten())
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        return self.head(self.body(x))


def train(path, epochs=1):
    loader = DataLoader(Windows(path), batch_size=8, shuffle=True, num_workers=2, drop_last=True)
    model = ConvNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        total = 0.
        for window, outcome in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = criterion(model(window), outcome)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f'epoch {epoch}: loss {total / len(loader):.4f}')


if __name__ == '__main__':
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, 'ward.sqlite')
        create_database(database)
        train(database)
