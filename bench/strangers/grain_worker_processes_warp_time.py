"""A grain.DataLoader with two worker processes whose random transformation warps a long recording in time, channel by channel.

environment: streams; cause: user function, augment
"""
from absl import app
from absl import flags
import grain.python as grain
import numpy as np
import torch
from torch import nn

_BATCH_SIZE = flags.DEFINE_integer('batch_size', 8, 'Recordings in a batch.')
_STEPS = flags.DEFINE_integer('steps', 130, 'Batches to train on.')
_WORKERS = flags.DEFINE_integer('grain_workers', 2, 'Processes that make samples.')

CHANNELS, LENGTH, POOLED = 96, 4000, 40


class Recordings:
    """A few recordings of an EEG, kept in memory, each told by its seed."""

    def __init__(self, length, distinct=8):
        self._length = length
        rng = np.random.default_rng(0)
        self._waves = rng.standard_normal((distinct, CHANNELS, LENGTH), np.float32)

    def __len__(self):
        return self._length

    def __getitem__(self, index):
        return {'wave': self._waves[index % len(self._waves)], 'label': np.int64(index % 5)}

    def __repr__(self):
        return f'Recordings({self._length})'


class TimeWarp(grain.RandomMapTransform):
    def __init__(self, strength=0.2, knots=6):
        self._strength, self._knots = strength, knots

    def random_map(self, element, rng):
        time = np.arange(LENGTH)
        warped = np.empty_like(element['wave'])
        for channel, wave in enumerate(element['wave']):
            speed = rng.uniform(1 - self._strength, 1 + self._strength, self._knots)
            path = np.cumsum(np.interp(time, np.linspace(0, LENGTH, self._knots), speed))  # planted
            path *= (LENGTH - 1) / path[-1]
            warped[channel] = np.interp(path, time, wave)  # planted
        return {**element, 'wave': warped}


class PoolAndScale(grain.MapTransform):
    def map(self, element):
        pooled = element['wave'].reshape(CHANNELS, POOLED, -1).mean(-1)
        return {'x': pooled / (pooled.std() + 1e-6), 'y': element['label']}


def main(argv):
    del argv
    torch.set_num_threads(1)
    records = _BATCH_SIZE.value * _STEPS.value
    sampler = grain.IndexSampler(num_records=records, shuffle=True, seed=17, num_epochs=1,
                                 shard_options=grain.NoSharding())
    loader = grain.DataLoader(
        data_source=Recordings(records),
        sampler=sampler,
        operations=[TimeWarp(), PoolAndScale(), grain.Batch(batch_size=_BATCH_SIZE.value, drop_remainder=True)],  # planted
        worker_count=_WORKERS.value,
        worker_buffer_size=2)
    model = nn.Sequential(nn.Conv1d(CHANNELS, 64, 5), nn.ReLU(), nn.Conv1d(64, 64, 5), nn.ReLU(),
                          nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, 5))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step, batch in enumerate(loader):
        loss = nn.functional.cross_entropy(model(torch.as_tensor(np.asarray(batch['x']))),
                                           torch.as_tensor(np.asarray(batch['y'])))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 0:
            print(step, loss.item())


if __name__ == '__main__':
    app.run(main)
